"""Which of some candidates reach a threshold, as one draw of the exponential mechanism over sets of them.

A candidate has a margin: its support less the threshold, positive where it is above. The loss of a set is how far the
worst misplaced candidate is from the threshold: the largest margin of one left out, or minus the least margin of one
taken, and 0 where nobody is misplaced. Sets of `least` to `most` candidates take part, with minus the loss as score.

One transaction raises each support and the threshold by 0 or 1, so it moves every margin by at most 1, up or down. The
loss is a maximum of margins and of their negatives, so it moves by at most 1, too, however many are chosen. That is why
one draw for all beats a draw for each: its noise does not grow with their number.

There are too many sets to list, but they can be counted. Those that lose at most t take every candidate with a margin
above t, none below -t, and any of those between. So the loss is drawn first, weighted by how many sets have it, then a
set of that loss, uniformly.
"""

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate
from math import comb

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate.selection.exponential import draw_scores
from veilset.itemsets import Below


def draw_subset(margins: Int64Array, *, least: int, most: int, rate: Fraction, below: Below) -> list[int]:
    """The places of a set of candidates, with P proportional to exp(-rate * loss)."""
    numbers = sets_of_loss(margins, least=least, most=most)
    members = {-loss: number for loss, number in numbers.items()}
    loss = -next(draw_scores(members, draws=1, rate=rate, below=below))
    while True:  # sets of at most this loss, until one has no less
        chosen = _draw_within(margins, loss, least=least, most=most, below=below)
        if loss_of(margins, chosen) == loss:
            return chosen


def loss_of(margins: Int64Array, chosen: list[int]) -> int:
    """How far the worst misplaced candidate is from the threshold.

    >>> margins = np.array([5, 2, -1, -7])
    >>> loss_of(margins, [0, 1]), loss_of(margins, [0]), loss_of(margins, [0, 1, 3])
    (0, 2, 7)
    """
    gains = margins.copy()
    gains[chosen] *= -1
    return max(0, int(gains.max(initial=0)))


def sets_of_loss(margins: Int64Array, *, least: int, most: int) -> dict[int, int]:
    """How many sets of `least` to `most` candidates have each loss.

    >>> sets_of_loss(np.array([5, 2, -1]), least=1, most=2)
    {0: 1, 1: 0, 2: 2, 5: 3}
    """
    distances = np.sort(np.abs(margins))
    above = np.sort(margins)
    numbers, fewer = {}, 0
    for loss in np.unique(np.append(distances, 0)).tolist():
        taken = margins.size - int(np.searchsorted(above, loss, side="right"))
        free = int(np.searchsorted(distances, loss, side="right"))
        number = _subsets(free, least=least - taken, most=most - taken)
        numbers[loss], fewer = number - fewer, number
    return numbers


def _subsets(number: int, *, least: int, most: int) -> int:
    """How many sets of `least` to `most` out of `number` candidates there are."""
    if least <= 0 and most >= number:
        return 1 << number
    return sum(comb(number, size) for size in range(max(0, least), most + 1))


def _draw_within(margins: Int64Array, loss: int, *, least: int, most: int, below: Below) -> list[int]:
    """A set of at most this loss, uniformly: first how many of those near the threshold it takes, then which."""
    taken = np.flatnonzero(margins > loss).tolist()
    free = np.flatnonzero(np.abs(margins) <= loss).tolist()
    fewest, largest = max(0, least - len(taken)), min(most - len(taken), len(free))
    ways = list(accumulate(comb(len(free), size) for size in range(fewest, largest + 1)))
    size = fewest + bisect_right(ways, below(ways[-1]))
    for last in range(len(free) - 1, len(free) - 1 - size, -1):  # shuffle as many to the end as are taken
        other = below(last + 1)
        free[other], free[last] = free[last], free[other]
    return sorted(taken + free[len(free) - size :])
