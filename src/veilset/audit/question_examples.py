"""An example of every question of the gate, as an audit asks it: small, under each kind of truncation.

Examples also try what must be refused: to spend more than there is, to name a partition or an itemset twice. Where it
is refused, that is all that is told; where it is not, the answers count, and the claim does not cover them.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.audit.lower_bound import Outcome
from veilset.audit.outcomes import checksum, seen_choice, seen_counts, seen_items, seen_tree
from veilset.audit.two_steps import TwoSteps
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import (
    Curator,
    DiscreteLaplace,
    DropLonger,
    KeepAll,
    KeepBest,
    KeepRandom,
    KeepSimilar,
    KeepSmart,
    NamingLaw,
    NoisyHistogram,
    OnlyItems,
    Partitions,
    PersonCurator,
    Refinement,
    SizeTest,
    Split,
    Truncation,
    UnnamedCurator,
)
from veilset.itemsets import Itemsets
from veilset.taxonomy import Taxonomy

AUDITED_DELTA = Fraction(1, 1000)
"""The largest delta there is: thresholds are at their lowest, where one unit's own items are named most easily."""

Ask = Callable[[Curator, Fraction], Outcome]
AskUnnamed = Callable[[UnnamedCurator, Fraction], Outcome]
AskPersons = Callable[[PersonCurator, Fraction], Outcome]
AskUnder = Callable[[Curator, Fraction, Truncation], Outcome]


def unless_refused(attempt: Callable[[], Outcome]) -> Outcome:
    """What an attempt tells that must be refused: that it was, or everything."""
    try:
        return {f"{name}, not refused": value for name, value in attempt().items()}
    except (BadCall, BudgetExceeded):
        return {"refused": 1}


def _all(curator: Curator) -> Int64Array:
    return np.arange(curator.alphabet_size)


def _above(scale: Fraction) -> int:
    """A threshold that three empty children seldom reach."""
    return math.ceil(scale)


def _of_sample(sample: Curator) -> Outcome:
    """Two answers on one sample, which together cost all that was set aside for it, and an attempt at a third."""
    half = sample.budget.total / 2
    lengths = sample.ask_lengths(limit=3, epsilon=half)
    items = sample.ask_item_supports(truncation=KeepRandom(2), epsilon=half)
    return {
        **seen_counts("length", lengths.values),
        **seen_counts("item", items.values),
        **unless_refused(lambda: {"number": sample.ask_number(epsilon=half).value}),
    }


def _search(curator: Curator, epsilon: Fraction) -> Outcome:
    """Two finds cost all there is; a third cannot be paid."""
    start, domain = TwoSteps(Fraction(7, 16) * epsilon), curator.domain(max_size=2)
    found = curator.ask_search(start, k=2, domain=domain, most=3, epsilon=epsilon)
    return {f"step {step}": -1 if place is None else place for step, place in enumerate(found.places)}


def _partitions(curator: Curator, epsilon: Fraction) -> Outcome:
    """Two levels of partitions: which of two groups of items a record meets, then which of a group's; not a third."""
    partitions = curator.ask_partitions(_two_groups(curator.alphabet_size), epsilon=epsilon)
    outcome: dict[str, int] = {}
    places, above = np.zeros(1, np.int64), ["all"]
    for level, share in enumerate((Fraction(1, 3), Fraction(2, 3))):
        found = partitions.ask_split(_all_alike(places, level, share * epsilon))
        above = [f"{above[parent]}/{mask}" for parent, mask in zip(found.parents, found.masks, strict=True)]
        outcome |= {f"size of {name}": int(size) for name, size in zip(above, found.sizes, strict=True)}
        places = np.arange(found.sizes.size)
    return {**outcome, **unless_refused(lambda: _sizes(partitions, _all_alike(places, 2, epsilon / 3)))}


def _partition_twice(curator: Curator, epsilon: Fraction) -> Outcome:
    """One partition, named twice in a split: its records would be tested twice."""
    partitions = curator.ask_partitions(_two_groups(curator.alphabet_size), epsilon=epsilon)
    return unless_refused(lambda: _sizes(partitions, _all_alike(np.zeros(2, np.int64), 0, epsilon)))


def _two_groups(items: int) -> Taxonomy:
    half = items // 2
    return Taxonomy.of([list(range(half)), list(range(half, items))])


def _all_alike(places: Int64Array, node: int, epsilon: Fraction) -> Refinement:
    """Split all of these partitions by one node, under one test."""
    same = np.zeros(places.size, np.int64)
    return Refinement(places, same + node, (SizeTest(epsilon, 1),), same, same)


def _sizes(partitions: Partitions, split: Refinement) -> Outcome:
    found = partitions.ask_split(split)
    keys = zip(found.parents, found.masks, found.sizes, strict=True)
    return {f"size of {parent}/{mask}": int(size) for parent, mask, size in keys}


def _naming(law: NamingLaw, longest: int) -> AskUnnamed:
    """Which items are named, and their noisy weights in 16ths of a transaction; again, there is no delta for it."""

    def ask(curator: UnnamedCurator, epsilon: Fraction) -> Outcome:
        most = epsilon * MOST_FOR_NAMES
        told = _named(curator, law, longest, most)
        return {**told, **unless_refused(lambda: _named(curator, law, longest, epsilon - most))}

    return ask


def _named(curator: UnnamedCurator, law: NamingLaw, longest: int, epsilon: Fraction) -> Outcome:
    found = curator.ask_alphabet(
        law, longest=longest, epsilon=epsilon, delta=AUDITED_DELTA, lengths=NO_LENGTHS
    )
    names = found.names(tuple(range(found.alphabet_size)))
    told = found.discovery
    weights = [] if told is None else (16 * told.weights // told.mechanism.steps).tolist()
    outcome = {"number": len(names), "text of the names in order": checksum(str(names))}
    for name, weight in zip(names, weights, strict=True):
        outcome |= {f"{name} named": 1, f"weight of {name}": weight}
    return outcome


def ask_root_counts_twice(curator: Curator, epsilon: Fraction) -> Outcome:
    """Counts with Gaussian noise in 16ths of a transaction, two questions that cost all there is; not a third."""

    def ask(name: str) -> Outcome:
        counts = curator.ask_root_counts(THREE_ITEMSETS, most=2, epsilon=epsilon / 2)
        return seen_counts(name, 16 * counts.values // counts.mechanism.steps)

    return {**ask("itemset"), **ask("again itemset"), **unless_refused(lambda: ask("third"))}


MOST_FOR_NAMES = Fraction(9, 10)
NO_LENGTHS = NoisyHistogram(np.zeros(2, np.int64), DiscreteLaplace(1, Fraction(1)))
"""Goes along with a question that does not look at it."""
THREE_ITEMSETS = Itemsets.of([(0,), (1,), (0, 1)])
TWICE = Itemsets.of([(0,), (0,)])
SPLIT = Split(1, THREE_ITEMSETS.offsets, THREE_ITEMSETS.items, weights=np.array([5, 4, 3]))
"""Pieces of one item: every transaction of several becomes as many rows as it can."""

QUESTIONS: Mapping[str, Ask] = {
    "number": lambda curator, epsilon: {"number": curator.ask_number(epsilon=epsilon).value},
    "k-th support": lambda curator, epsilon: {
        "support": curator.ask_kth_support(3, domain=curator.domain(max_size=2), epsilon=epsilon).value
    },
    "largest support": lambda curator, epsilon: {
        "support": curator.ask_largest_support(2, floor=1, epsilon=epsilon).value
    },
    "best 2": lambda curator, epsilon: seen_choice(
        curator.ask_best(2, domain=curator.domain(max_size=2), epsilon=epsilon).itemsets
    ),
    "best 2 of a list, split": lambda curator, epsilon: seen_choice(
        curator.ask_best_of(2, THREE_ITEMSETS, reshape=SPLIT, epsilon=epsilon).itemsets
    ),
    "best 2, split": lambda curator, epsilon: seen_choice(
        curator.ask_best(2, domain=curator.domain(max_size=2), reshape=SPLIT, epsilon=epsilon).itemsets
    ),
    "supports, split": lambda curator, epsilon: seen_counts(
        "itemset", curator.ask_reshaped_supports(THREE_ITEMSETS, reshape=SPLIT, epsilon=epsilon).values
    ),
    "matching rank": lambda curator, epsilon: {
        "rank": curator.ask_matching_rank(
            4, domain=curator.domain(max_size=2), most=curator.alphabet_size, epsilon=epsilon
        )
    },
    "frequent items": lambda curator, epsilon: seen_items(
        curator.ask_frequent_items(
            4,
            domain=curator.domain(max_size=2),
            least=1,
            most=min(3, curator.alphabet_size),
            epsilon=epsilon,
        )
    ),
    "frequent ones of a list": lambda curator, epsilon: seen_choice(
        curator.ask_frequent_of(4, THREE_ITEMSETS, domain=curator.domain(max_size=2), epsilon=epsilon)
    ),
    "truncating length": lambda curator, epsilon: {
        "length": curator.ask_truncating_length(
            (1, 2, 4), k=1, price=Fraction(1, 2) / epsilon, epsilon=epsilon
        )
    },
    "truncating length on 2 items": lambda curator, epsilon: {
        "length": curator.ask_truncating_length(
            (1, 2), k=2, price=Fraction(0), epsilon=epsilon, items=np.array([0, 1])
        )
    },
    "normalised supports": lambda curator, epsilon: seen_counts(
        "item", curator.ask_normalised_supports(2, epsilon=epsilon).values
    ),
    "normalised supports of 2 items": lambda curator, epsilon: seen_counts(
        "item", curator.ask_normalised_supports(1, epsilon=epsilon, items=np.array([1, 0])).values
    ),
    "unlikeness": lambda curator, epsilon: {
        "sum": curator.ask_unlikeness(
            np.arange(curator.alphabet_size), limit=3, average=Fraction(9, 8), epsilon=epsilon
        ).value
    },
    "unlikeness in 2 items": lambda curator, epsilon: {
        "sum": curator.ask_unlikeness(
            np.array([1, 0]), limit=2, average=Fraction(9, 8), epsilon=epsilon
        ).value
    },
    "containment": lambda curator, epsilon: seen_counts(
        "class", curator.ask_containment(THREE_ITEMSETS, classes=(0, 1, 2), epsilon=epsilon).values
    ),
    "containment of items": lambda curator, epsilon: seen_counts(
        "class", curator.ask_containment(None, classes=(0, 1, 2, 4), epsilon=epsilon).values
    ),
    "capped counts": lambda curator, epsilon: seen_counts(
        "itemset", curator.ask_capped_counts(THREE_ITEMSETS, most=2, epsilon=epsilon).values
    ),
    "sum of supports": lambda curator, epsilon: {
        "sum": curator.ask_total(_all(curator), most=2, epsilon=epsilon).value
    },
    "above the 1st by blocks": lambda curator, epsilon: seen_items(
        curator.ask_above_kth(_all(curator), 1, epsilon=epsilon, by_blocks=True).items
    ),
    "above the 2nd by blocks": lambda curator, epsilon: seen_items(
        curator.ask_above_kth(_all(curator), 2, epsilon=epsilon, by_blocks=True).items
    ),
    "above the 2nd": lambda curator, epsilon: seen_items(
        curator.ask_above_kth(_all(curator), 2, epsilon=epsilon, by_blocks=False).items
    ),
    "search with free refusals": _search,
    "partitions": _partitions,
    "a partition named twice": _partition_twice,
    "an itemset given twice": lambda curator, epsilon: unless_refused(
        lambda: seen_counts(
            "itemset", curator.ask_supports(TWICE, truncation=KeepRandom(1), epsilon=epsilon).values
        )
    ),
}

QUESTIONS_ON_SAMPLES: Mapping[str, Ask] = {
    "lengths and items of a sample": lambda curator, epsilon: _of_sample(
        curator.on_sample(Fraction(1, 4), epsilon=epsilon)
    ),
}

QUESTIONS_BEFORE_NAMES: Mapping[str, AskUnnamed] = {
    "classes of lengths": lambda curator, epsilon: seen_counts(
        "class", curator.ask_length_classes((0, 1, 2, 4), epsilon=epsilon).values
    ),
    "k-th support of unnamed items": lambda curator, epsilon: {
        "support": curator.ask_kth_support(3, max_size=2, epsilon=epsilon).value
    },
    "items named by Gaussian noise": _naming("gaussian", 8),
    "items named by Gaussian noise, at most 2 of a transaction": _naming("gaussian", 2),
    "items named by Laplace noise": _naming("laplace", 8),
    "items named by Laplace noise, at most 2 of a transaction": _naming("laplace", 2),
}

QUESTIONS_ABOUT_PERSONS: Mapping[str, AskPersons] = {
    "transactions by person": lambda curator, epsilon: seen_counts(
        "class", curator.ask_transactions_by_person((1, 2, 3, 5), epsilon=epsilon).values
    ),
    "k-th support, one transaction of each person": lambda curator, epsilon: {
        "support": curator.ask_kth_support_of_one_each(3, max_size=2, epsilon=epsilon).value
    },
}
"""For databases of persons with several transactions, of which nobody knows yet how many count."""

QUESTIONS_UNDER_TRUNCATION: Mapping[str, AskUnder] = {
    "lengths": lambda curator, epsilon, truncation: seen_counts(
        "length", curator.ask_lengths(limit=4, truncation=truncation, epsilon=epsilon).values
    ),
    "item supports": lambda curator, epsilon, truncation: seen_counts(
        "item", curator.ask_item_supports(truncation=truncation, epsilon=epsilon).values
    ),
    "supports": lambda curator, epsilon, truncation: seen_counts(
        "itemset", curator.ask_supports(THREE_ITEMSETS, truncation=truncation, epsilon=epsilon).values
    ),
    "marginal": lambda curator, epsilon, truncation: seen_counts(
        "cell", curator.ask_marginal((0, 1, 2), truncation=truncation, epsilon=epsilon).values
    ),
    "prefix tree": lambda curator, epsilon, truncation: seen_tree(
        curator.ask_prefix_tree(
            (1, 0, 2),
            depth=2,
            threshold=_above(6 * curator.unit.transactions / epsilon),
            truncation=truncation,
            epsilon=epsilon,
        )
    ),
}

TRUNCATIONS: Mapping[str, Callable[[int], Truncation]] = {
    "no truncation": lambda _: KeepAll(),
    "DropLonger(2)": lambda _: DropLonger(2),
    "KeepRandom(2)": lambda _: KeepRandom(2),
    "KeepBest(1)": lambda items: KeepBest(1, np.arange(items, dtype=np.int64)),
    "KeepSmart(2)": lambda _: KeepSmart(
        2, np.array([0, 2, 4]), np.array([0, 1, 0, 2], dtype=np.int32), scores=np.array([5, 4])
    ),
    "KeepSimilar(2)": lambda _: KeepSimilar(
        2, np.array([2, 0, 1]), np.array([0, 2]), np.array([0, 1], dtype=np.int32)
    ),
    "OnlyItems, KeepRandom(1)": lambda _: OnlyItems(np.array([0, 1]), KeepRandom(1)),
}
"""Every truncation, for an alphabet of that size."""
