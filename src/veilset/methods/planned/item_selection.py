"""How the few items that carry an answer are chosen: how many, in how many draws, and at what share of epsilon.

Post-processing: everything here follows from earlier answers and public numbers.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from veilset.methods.planned.scouting import LARGEST_GROUP, Aim, fewest_items
from veilset.methods.shared.marginals import noise_of_marginal

HALF = Fraction(1, 2)
USUAL_SIZE = 3
"""Errors are predicted for itemsets of so many items."""
NOISE_OF_A_DRAW = 6.0
"""How far, in scales, the worst misplaced item is from the bar, where items are chosen in one draw."""
NOISE_OF_GROUPS = 6 * noise_of_marginal(8, USUAL_SIZE)
"""What to expect of joint patterns in several groups, before they are known: as of six groups of eight items."""
NOISE_OF_PAIRS_AND_GROUPS = (math.sqrt(NOISE_OF_A_DRAW) + math.sqrt(NOISE_OF_GROUPS)) ** 2
"""Of a choice of pairs and of what follows, where each has its best share."""
CROWDED = 0.8
"""One draw for all items chooses well while they are at most so many for each scale of its noise."""
STEEP = 2.0
"""The part of the answer that is lost for each part of the k-th support by which counts err."""
LOST_WITH_AN_ITEM = 0.04
ROOM = 3
"""The rank is noisy: up to so many items more may be as frequent."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What choosing items costs, and whether one draw chooses all of them."""

    epsilon: Fraction
    is_one: bool


@dataclass(frozen=True, slots=True)
class SeveralGroups:
    """How up to so many items are counted in several groups: what the choice of items, and that of pairs, costs."""

    size: int
    items: Choice
    for_pairs: Fraction


def several_groups(aim: Aim, *, transactions: int) -> SeveralGroups | None:
    """Several groups where one is too small, if one draw can choose the items and another one their pairs."""
    size = min((aim.rank or 0) + ROOM, len(aim.domain.items))
    if (aim.rank or 0) <= LARGEST_GROUP or aim.domain.max_size == 1:
        return None
    choice = choice_of(aim, size, noise_of_rest=NOISE_OF_PAIRS_AND_GROUPS, transactions=transactions)
    left = aim.left - choice.epsilon
    density = math.comb(size, 2) / (aim.about / 2)  # as if no pair was further from the bar than half of it
    enough = enough_for_one_draw(density, transactions)
    for_pairs = max(left * share_of_choice(NOISE_OF_A_DRAW, NOISE_OF_GROUPS), enough)
    return SeveralGroups(size, choice, for_pairs) if choice.is_one and for_pairs <= left * HALF else None


def choice_of(aim: Aim, size: int, *, noise_of_rest: float, transactions: int) -> Choice:
    """How to choose up to so many items: in one draw if there is enough for that, else in a draw for each.

    `noise_of_rest` is that of what follows, in scales at epsilon 1.
    """
    enough = enough_for_one_draw(density_of_items(aim), transactions)
    for_one = max(aim.left * min(share_of_choice(NOISE_OF_A_DRAW, noise_of_rest), HALF), enough)
    if for_one <= aim.left * HALF:
        return Choice(for_one, is_one=True)
    return Choice(aim.left * share_of_choice(size, noise_of_rest), is_one=False)


def density_of_items(aim: Aim) -> float:
    """How many items there are for each support: those that are as frequent as the bar, spread evenly above it."""
    return max(aim.rank or 1, 1) / max(aim.number - aim.about, 1)


def enough_for_one_draw(density: float, transactions: int) -> Fraction:
    """The epsilon with which candidates of such a density are chosen well in one draw."""
    return Fraction(round(1000 * crowding(density, transactions) / CROWDED), 1000)


def crowding(density: float, transactions: int) -> float:
    """The epsilon below which one draw for all fails: sets that lose more outnumber those that lose less.

    Within a loss of t on both sides of the bar are 2 t density candidates, and each of them doubles the number of sets;
    their chance falls by exp(-epsilon t / 2), less for a unit of several transactions.
    """
    return transactions * 4 * math.log(2) * density


def share_of_choice(noise: float, noise_of_rest: float) -> Fraction:
    """Of what is left, for a choice with so many scales of noise; what follows has the rest.

    Two errors a / share and b / (1 - share) add up to the least where shares are as the square roots of a and b.

    >>> share_of_choice(1, 9), share_of_choice(5, 5)
    (Fraction(1, 4), Fraction(1, 2))
    """
    part = math.sqrt(noise) / (math.sqrt(noise) + math.sqrt(noise_of_rest))
    return Fraction(round(100 * part), 100)


def group_size(aim: Aim, *, unit: float) -> int:
    """How many items are counted together: each one more finds more of the answer, and adds to the noise of all."""
    rank = (aim.rank or 0) + ROOM

    def lost(size: int) -> float:
        return (
            LOST_WITH_AN_ITEM * (rank - size) + STEEP * noise_of_marginal(size, USUAL_SIZE) * unit / aim.about
        )

    most = min(rank, LARGEST_GROUP, len(aim.domain.items))
    fewest = fewest_items(aim.k, max_size=aim.domain.max_size)
    return min(range(min(fewest, most), most + 1), key=lost)
