"""Where few items carry the answer: choose them, and count them together.

Privacy argument. Of what is left, a share goes to draws of the exponential mechanism on supports of items (monotone,
sensitivity c, the transactions of one privacy unit), the rest to the joint patterns of those drawn: a transaction
shows one pattern, sensitivity c. How many are drawn follows from earlier answers. All else is post-processing.
"""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from veilset.choose import Estimates
from veilset.gate import Curator
from veilset.itemsets import Domain, Itemsets
from veilset.methods.aim import LARGEST_GROUP, Aim, fewest_items
from veilset.methods.beliefs import WIDEST_IN_SIGMA
from veilset.methods.privbasis import supersets_added_up

Floats = npt.NDArray[np.float64]

LEAST_FOR_CHOICE, MOST_FOR_CHOICE = Fraction(1, 10), Fraction(2, 5)
"""Of what is left, for choosing items; their joint patterns have the rest."""
GOOD_ENOUGH = Fraction(1, 50)
"""No more is paid for the choice than makes its noise this part of the k-th support."""
STEEP = 2.0
"""The part of the answer that is lost for each part of the k-th support by which counts err."""
LOST_WITH_AN_ITEM = 0.04


def ask_few_items(curator: Curator, aim: Aim) -> tuple[Estimates, tuple[str, ...]]:
    """Choose the items that carry the answer, and ask for their joint patterns."""
    size = group_size(aim, unit=curator.unit.transactions / float(aim.left * (1 - MOST_FOR_CHOICE)))
    for_choice = share_of_choice(aim, size, transactions=curator.unit.transactions)
    for_patterns = aim.left - for_choice
    every_item = Domain(items=aim.domain.items, max_size=1)
    chosen = curator.ask_best(size, domain=every_item, epsilon=for_choice)
    items = tuple(sorted(item for (item,) in chosen.itemsets))
    patterns = curator.ask_joint_patterns(items, epsilon=for_patterns)
    raw = supersets_added_up(patterns.values)
    likely = onto_simplex(patterns.values.astype(np.float64), aim.number)
    ranked = supersets_added_up(np.rint(likely).astype(np.int64))
    sizes = np.array([pattern.bit_count() for pattern in range(raw.size)])
    allowed = np.flatnonzero((sizes >= 1) & (sizes <= aim.domain.max_size))
    best = allowed[np.argsort(-ranked[allowed], kind="stable")][: aim.k]
    if aim.is_given:
        best = best[ranked[best] >= aim.about]
    spread = WIDEST_IN_SIGMA * math.sqrt(2) * float(patterns.mechanism.scale)
    estimates = Estimates(
        Itemsets.of(
            [items[place] for place in range(size) if pattern >> place & 1] for pattern in best.tolist()
        ),
        np.clip(raw[best], 0, aim.number),
        np.ceil(spread * 2.0 ** ((size - sizes[best]) / 2)).astype(np.int64),
    )
    why = (
        f"transactions hold much of the answer, so {size} items were chosen and counted together: "
        f"about {aim.rank} items are as frequent as the {aim.k}-th itemset"
    )
    return estimates, (why,)


def share_of_choice(aim: Aim, size: int, *, transactions: int) -> Fraction:
    """What choosing items costs: each of so many draws errs by size * transactions / epsilon."""
    enough = size * transactions / (GOOD_ENOUGH * aim.about)
    return min(aim.left * MOST_FOR_CHOICE, max(enough, aim.left * LEAST_FOR_CHOICE))


def group_size(aim: Aim, *, unit: float) -> int:
    """How many items are counted together: each one more finds more of the answer, and adds to the noise of all."""
    rank = aim.rank or 0

    def lost(size: int) -> float:
        noise = math.sqrt(2 * 2.0 ** (size - 3)) * unit  # of an itemset of three
        return LOST_WITH_AN_ITEM * (rank - size) + STEEP * noise / aim.about

    most = min(rank, LARGEST_GROUP, len(aim.domain.items))
    fewest = fewest_items(aim.k, max_size=aim.domain.max_size)
    return min(range(min(fewest, most), most + 1), key=lost)


def onto_simplex(values: Floats, total: int) -> Floats:
    """The closest values that are not negative and add up to the total.

    >>> onto_simplex(np.array([5.0, 3.0, -4.0]), 6).tolist()
    [4.0, 2.0, 0.0]
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)
    last = int(np.flatnonzero(falling > excess)[-1]) if total > 0 else 0
    moved: Floats = np.maximum(values - excess[last], 0.0)
    return moved
