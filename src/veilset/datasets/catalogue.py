"""What a small supermarket sells, and what people come for: the public facts behind `datasets.groceries`."""

Weighted = dict[str, tuple[float, tuple[str, ...]]]
"""Lists of items by their title, each with a weight."""


def _weighted(weight: float, names: str) -> tuple[float, tuple[str, ...]]:
    return weight, tuple(names.split(", "))


DEPARTMENTS: Weighted = {
    "fruit and vegetables": _weighted(
        5.0,
        "bananas, apples, tomatoes, onions, potatoes, carrots, cucumber, lettuce, peppers, avocados, "
        "lemons, garlic, mushrooms, broccoli, strawberries, grapes, oranges, spinach, courgettes, "
        "sweet potatoes, spring onions, fresh coriander, fresh basil, ginger, limes, blueberries, celery, "
        "cauliflower, green beans, sweetcorn, pears, kiwis, rocket, chillies, mangoes",
    ),
    "dairy and eggs": _weighted(
        8.0,
        "milk, eggs, butter, yogurt, cheddar, cream, mozzarella, parmesan, cream cheese, feta, sour cream, "
        "oat milk, halloumi, cottage cheese",
    ),
    "bakery": _weighted(
        7.0,
        "bread, rolls, croissants, tortillas, bagels, burger buns, hot dog buns, naan, pitta, baguette",
    ),
    "meat and fish": _weighted(
        2.5,
        "chicken breast, minced beef, ham, bacon, sausages, salmon, beef steak, pork chops, prawns, "
        "smoked salmon, burgers, chicken thighs, salami, turkey, cod, tofu",
    ),
    "pantry": _weighted(
        2.5,
        "rice, spaghetti, tomato sauce, olive oil, chopped tomatoes, sugar, flour, penne, tinned tuna, "
        "baked beans, corn flakes, porridge oats, muesli, jam, honey, peanut butter, chickpeas, noodles, "
        "soy sauce, coconut milk, curry paste, kidney beans, lentils, stock cubes, mayonnaise, ketchup, "
        "mustard, barbecue sauce, pesto, olives, taco shells, taco seasoning, salsa, croutons, "
        "caesar dressing, vinegar, lasagne sheets, couscous, maple syrup, chocolate spread",
    ),
    "baking and spices": _weighted(
        0.7,
        "salt, black pepper, baking powder, vanilla extract, cocoa powder, icing sugar, chocolate chips, "
        "yeast, brown sugar, cinnamon, paprika, cumin, turmeric, oregano",
    ),
    "snacks and sweets": _weighted(
        3.5,
        "chocolate, crisps, biscuits, ice cream, nuts, popcorn, tortilla chips, sweets, crackers, "
        "cereal bars, hummus, marshmallows",
    ),
    "drinks": _weighted(
        5.0,
        "mineral water, coffee, orange juice, cola, beer, tea, red wine, white wine, lemonade, "
        "apple juice, tonic water, gin, prosecco, energy drink, hot chocolate",
    ),
    "frozen": _weighted(
        1.2,
        "frozen pizza, frozen peas, oven chips, fish fingers, frozen berries, puff pastry",
    ),
    "household": _weighted(
        1.8,
        "toilet paper, kitchen roll, washing-up liquid, bin bags, washing powder, dishwasher tablets, "
        "surface cleaner, sponges, fabric softener, bleach, kitchen foil, candles, batteries, napkins, "
        "paper plates, charcoal",
    ),
    "personal care": _weighted(
        1.2,
        "toothpaste, shampoo, soap, tissues, shower gel, deodorant, conditioner, razor blades, sun cream",
    ),
    "baby and pets": _weighted(
        0.5,
        "nappies, baby wipes, baby food, formula milk, cat food, cat litter, cat treats, dog food, "
        "dog treats",
    ),
}
"""Items by department, most popular first; the weight is how often people reach for the first of them."""

OCCASIONS: Weighted = {
    "breakfast": _weighted(100, "bread, butter, jam"),
    "coffee break": _weighted(80, "coffee, milk, biscuits"),
    "cereal": _weighted(50, "corn flakes, milk, bananas"),
    "muesli bowl": _weighted(25, "muesli, yogurt, blueberries, honey"),
    "porridge": _weighted(16, "porridge oats, milk, honey"),
    "full breakfast": _weighted(25, "bacon, eggs, sausages, baked beans, mushrooms"),
    "weekend brunch": _weighted(16, "bagels, cream cheese, smoked salmon, orange juice"),
    "continental breakfast": _weighted(25, "croissants, butter, jam, coffee, orange juice"),
    "pancakes": _weighted(9, "flour, eggs, milk, maple syrup, lemons"),
    "sandwich lunch": _weighted(65, "bread, ham, cheddar, lettuce"),
    "packed lunch": _weighted(25, "rolls, ham, apples, crisps, cereal bars"),
    "green salad": _weighted(65, "lettuce, tomatoes, cucumber"),
    "greek salad": _weighted(16, "feta, cucumber, tomatoes, olives, olive oil"),
    "caesar salad": _weighted(9, "lettuce, chicken breast, croutons, caesar dressing, parmesan"),
    "caprese": _weighted(16, "mozzarella, tomatoes, fresh basil, olive oil"),
    "tuna lunch": _weighted(9, "tinned tuna, mayonnaise, sweetcorn, bread"),
    "meze": _weighted(9, "hummus, pitta, olives, halloumi, cucumber"),
    "pasta night": _weighted(100, "spaghetti, tomato sauce, parmesan"),
    "pesto pasta": _weighted(16, "penne, pesto, parmesan"),
    "lasagne": _weighted(9, "lasagne sheets, minced beef, chopped tomatoes, mozzarella, onions"),
    "carbonara": _weighted(9, "spaghetti, bacon, eggs, parmesan, cream"),
    "taco night": _weighted(50, "taco shells, minced beef, taco seasoning, salsa"),
    "fajitas": _weighted(25, "tortillas, chicken breast, peppers, onions, sour cream"),
    "guacamole": _weighted(25, "avocados, limes, fresh coriander, tortilla chips"),
    "chilli": _weighted(16, "minced beef, kidney beans, chopped tomatoes, onions, rice"),
    "curry": _weighted(36, "chicken thighs, curry paste, coconut milk, rice, naan"),
    "lentil dal": _weighted(9, "lentils, coconut milk, turmeric, cumin, ginger, onions"),
    "stir fry": _weighted(25, "noodles, soy sauce, peppers, spring onions, ginger"),
    "roast dinner": _weighted(25, "chicken thighs, potatoes, carrots, broccoli"),
    "soup": _weighted(25, "onions, carrots, celery, potatoes, stock cubes"),
    "fish supper": _weighted(16, "salmon, potatoes, lemons, green beans"),
    "steak dinner": _weighted(16, "beef steak, potatoes, mushrooms, red wine"),
    "children's tea": _weighted(25, "fish fingers, oven chips, frozen peas, ketchup"),
    "barbecue": _weighted(50, "burgers, burger buns, sausages, charcoal, beer"),
    "hot dogs": _weighted(9, "hot dog buns, sausages, ketchup, mustard"),
    "movie night": _weighted(36, "popcorn, crisps, cola, frozen pizza"),
    "football evening": _weighted(36, "beer, crisps, nuts"),
    "cheese and wine": _weighted(16, "red wine, crackers, cheddar, grapes, baguette"),
    "gin and tonic": _weighted(9, "gin, tonic water, limes"),
    "birthday party": _weighted(9, "prosecco, candles, napkins, paper plates, lemonade, sweets"),
    "cake baking": _weighted(25, "flour, sugar, butter, eggs"),
    "cookies": _weighted(9, "flour, brown sugar, chocolate chips, butter, vanilla extract"),
    "brownies": _weighted(4, "cocoa powder, chocolate, baking powder, eggs"),
    "bread baking": _weighted(4, "flour, yeast, salt"),
    "smoothies": _weighted(16, "bananas, frozen berries, yogurt, spinach"),
    "fruit bowl": _weighted(65, "bananas, apples, grapes, oranges"),
    "strawberries and cream": _weighted(16, "strawberries, cream, ice cream"),
    "hot chocolate": _weighted(4, "hot chocolate, marshmallows, milk"),
    "tea time": _weighted(36, "tea, milk, biscuits"),
    "baby": _weighted(25, "nappies, baby wipes, baby food, formula milk"),
    "cat owner": _weighted(25, "cat food, cat litter, cat treats"),
    "dog owner": _weighted(25, "dog food, dog treats"),
    "cleaning": _weighted(16, "surface cleaner, bleach, sponges, bin bags, washing-up liquid"),
    "laundry": _weighted(16, "washing powder, fabric softener"),
    "paper goods": _weighted(25, "toilet paper, kitchen roll, tissues"),
    "bathroom": _weighted(16, "shampoo, conditioner, shower gel, toothpaste"),
}
"""What people come for; the weight is how often they do, in any unit."""
