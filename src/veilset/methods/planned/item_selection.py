"""How the few items that carry an answer are selected: how many, in how many draws, and at what share of epsilon.

Post-processing: everything here follows from earlier answers and public numbers.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from veilset.methods.planned.scouting import DenseScouting


@dataclass(frozen=True, slots=True)
class ItemDraws:
    """At most `most` items, selected in one draw of a whole set, or in a draw for each."""

    most: int
    epsilon: Fraction
    is_one_draw: bool


@dataclass(frozen=True, slots=True)
class OneMarginal:
    """All selected items in one marginal, with all that remains of epsilon after a better number of transactions."""

    items: ItemDraws
    for_number: Fraction
    for_marginal: Fraction


@dataclass(frozen=True, slots=True)
class SeveralMarginals:
    """More items than one marginal can have: pairs are selected, then marginals that hold all of these."""

    items: ItemDraws
    for_pairs: Fraction
    for_number: Fraction
    for_marginals: Fraction


def choose_selection(scouting: DenseScouting) -> OneMarginal | SeveralMarginals:
    """Several marginals where one is too small and one draw can select the items, another one their pairs."""
    return _choose_several_marginals(scouting) or _choose_one_marginal(scouting)


def _choose_one_marginal(scouting: DenseScouting) -> OneMarginal:
    """One marginal, of as many items as are worth their noise."""
    settings = scouting.settings
    size = choose_group_size(
        scouting, noise=scouting.noise(scouting.remaining * (1 - settings.most_for_selection))
    )
    after = settings.noise_of_marginal(size, settings.usual_size)
    items = choose_draws(scouting, size, noise_after=after)
    remaining = scouting.remaining - items.epsilon
    for_number = remaining * part_for_number(scouting, noise_after=after)
    return OneMarginal(items, for_number, remaining - for_number)


def _choose_several_marginals(scouting: DenseScouting) -> SeveralMarginals | None:
    """Several marginals, if more items than one can have carry the answer and draws can select them well."""
    settings = scouting.settings
    if scouting.rank <= settings.largest_group or scouting.domain.max_size == 1:
        return None
    a_draw, marginals = settings.noise_of_a_draw, settings.noise_of_several_marginals
    most = min(scouting.rank + settings.spare_items, len(scouting.domain.items))
    items = choose_draws(scouting, most, noise_after=settings.noise_of_pairs_and_marginals)
    remaining = scouting.remaining - items.epsilon
    # As if no pair was further from the bar than half of it.
    density = math.comb(most, 2) / (scouting.threshold / 2)
    for_pairs = max(remaining * share_of_draw(a_draw, marginals), enough_for_one_draw(scouting, density))
    if not items.is_one_draw or for_pairs > remaining * settings.most_for_selection:
        return None
    remaining -= for_pairs
    for_number = remaining * part_for_number(scouting, noise_after=marginals)
    return SeveralMarginals(items, for_pairs, for_number, remaining - for_number)


def choose_draws(scouting: DenseScouting, most: int, *, noise_after: float) -> ItemDraws:
    """How to select items: in one draw if there is enough for that, else in a draw for each.

    `noise_after` is that of what follows, in scales at epsilon 1.
    """
    settings, remaining = scouting.settings, scouting.remaining
    enough = enough_for_one_draw(scouting, density_of_items(scouting))
    share = share_of_draw(settings.noise_of_a_draw, noise_after)
    for_one = max(remaining * min(share, settings.most_for_selection), enough)
    if for_one <= remaining * settings.most_for_selection:
        return ItemDraws(most, for_one, is_one_draw=True)
    return ItemDraws(most, remaining * share_of_draw(most, noise_after), is_one_draw=False)


def part_for_number(scouting: DenseScouting, *, noise_after: float) -> Fraction:
    """The part of what marginals get that goes to a better number of transactions, where itemsets are in most of them.

    Only where marginals have enough: as long as they have to find the answer, nothing may be taken from them.
    Cells that do not stand out from noise share what is left of all transactions, and an itemset is in about as many
    of these as it is frequent: that part of the error of the number is an error of its support. The squares of an error
    f / part and of `noise_after` / (1 - part) add up to the least where parts are as the cube roots of the squares.
    """
    settings, frequency = scouting.settings, min(scouting.threshold / scouting.number, 1.0)
    is_public = scouting.preliminaries.number.mechanism is None
    error = noise_after * scouting.noise(scouting.remaining * (1 - settings.most_for_selection))
    is_precise = error < settings.number_matters_below * scouting.threshold
    if is_public or frequency < settings.number_matters_from or not is_precise:
        return Fraction(0)
    of_number, of_marginals = frequency ** (2 / 3), noise_after ** (2 / 3)
    return Fraction(round(100 * of_number / (of_number + of_marginals)), 100)


def density_of_items(scouting: DenseScouting) -> float:
    """How many items there are for each support: those that are as frequent as the bar, spread evenly above it."""
    return max(scouting.rank, 1) / max(scouting.number - scouting.threshold, 1)


def enough_for_one_draw(scouting: DenseScouting, density: float) -> Fraction:
    """The epsilon with which candidates of such a density are selected well in one draw."""
    fails_below = crowding(density, scouting.unit_transactions)
    return Fraction(round(1000 * fails_below / scouting.settings.crowded), 1000)


def crowding(density: float, unit_transactions: int) -> float:
    """The epsilon below which one draw for all fails: sets that lose more outnumber those that lose less.

    Within a loss of t on both sides of the bar are 2 t density candidates, and each of them doubles the number of sets;
    their chance falls by exp(-epsilon t / 2), less for a unit of several transactions.
    """
    return unit_transactions * 4 * math.log(2) * density


def share_of_draw(noise: float, noise_after: float) -> Fraction:
    """The share of what remains for a draw with this noise, where what follows has the rest and that noise.

    Two errors a / share and b / (1 - share) add up to the least where shares are as the square roots of a and b.

    >>> share_of_draw(1, 9), share_of_draw(5, 5)
    (Fraction(1, 4), Fraction(1, 2))
    """
    part = math.sqrt(noise) / (math.sqrt(noise) + math.sqrt(noise_after))
    return Fraction(round(100 * part), 100)


def choose_group_size(scouting: DenseScouting, *, noise: float) -> int:
    """How many items one marginal has: each one more finds more of the answer, and adds to the noise of all."""
    settings, carriers = scouting.settings, scouting.rank + scouting.settings.spare_items

    def lost(size: int) -> float:
        error = settings.noise_of_marginal(size, settings.usual_size) * noise / scouting.threshold
        return settings.lost_with_an_item * (carriers - size) + settings.steepness * error

    most = min(carriers, settings.largest_group, len(scouting.domain.items))
    return min(range(min(scouting.fewest_items, most), most + 1), key=lost)
