"""The cells of a marginal: which transactions are near each other, and which cells hold many of them.

Post-processing: everything here follows from noisy answers.

A marginal of some items has a cell for each set of them; bits of its number tell which items those are.
"""

import math
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from veilset.arrays import BoolArray, FloatArray, Int64Array

Number = TypeVar("Number", np.int64, np.float64)

FLIPPED = 0.05
"""The probability that a transaction of a rare cell differs in an item from one of a frequent cell."""
USUAL_EXPONENT, SAY_OF_USUAL = 0.5, 3.0
"""Cells larger than a size are as many as that size to the power of -0.5, before any are seen: so say 3 of them."""
LEAST_LARGE, ONE_MORE = 4.0, 0.25
"""Cells of less than 4 scales of noise are no likelier to be large than those of 4; a quarter of a cell more than are
found are large: what is fitted to none would rule out all."""
ANYWHERE, SAY_OF_ANYWHERE = 0.3, 2.0
"""30 % of the large cells are anywhere, the others near other ones, before any are seen: so say 2 of them."""
STEPS_TO_LARGE = 8
"""8 steps find how many are."""


def flipped(values: FloatArray, chance: float) -> FloatArray:
    """Where the transactions of each cell go if each item is gained or lost with a probability.

    >>> flipped(np.array([0.0, 0.0, 0.0, 100.0]), 0.1).round(9).tolist()
    [1.0, 9.0, 9.0, 81.0]
    """
    moved, half = values.copy(), 1
    while half < moved.size:
        halves = moved.reshape(-1, 2, half)
        halves[:] = (1 - chance) * halves + chance * halves[:, ::-1]
        half *= 2
    return moved


def supersets_added_up(cells: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """From "holds exactly these" to "holds at least these": add every cell to those of all subsets.

    >>> supersets_added_up(np.array([1, 2, 4, 8])).tolist()
    [15, 10, 12, 8]
    """
    sums, half = cells.copy(), 1
    while half < sums.size:
        halves = sums.reshape(-1, 2, half)
        halves[:, 0] += halves[:, 1]
        half *= 2
    return sums


def least_seen(n_cells: int, scale: float) -> float:
    """The value above which a cell stands out from noise of a scale in that many."""
    return scale * (math.log(n_cells) - 1)


def large_or_noise(
    cells: Int64Array, is_seen: BoolArray, *, scale: float, flip: float = FLIPPED
) -> tuple[FloatArray, FloatArray]:
    """What cells hold that stand out from noise: mean and variance; nothing of the others.

    Of n empty cells some look large, too: n / 2 exp(-v / scale) reach a value v. How many are large, with which power
    of their size they become fewer, and whether they are anywhere or where few flips of an item lead from others that
    stand out, is learned from all values (expectation and maximisation).
    """
    means, variances = np.zeros(cells.size), np.zeros(cells.size)
    values, least = cells[is_seen].astype(np.float64), max(least_seen(cells.size, scale), 1.0)
    logs, sizes = np.log(np.maximum(values / least, 1.0)), np.maximum(values, LEAST_LARGE * scale)
    near = _near_others(np.where(is_seen, cells, 0).astype(np.float64), flip)[is_seen]
    by_noise, chances, anywhere = np.exp(-values / scale) / (2 * scale), np.ones(values.size), ANYWHERE
    for _ in range(STEPS_TO_LARGE):
        large = float(chances.sum())
        exponent = (large + SAY_OF_USUAL) / (float(chances @ logs) + SAY_OF_USUAL / USUAL_EXPONENT)
        likely = anywhere + (1 - anywhere) * near
        of_large = likely * (large + ONE_MORE) * exponent * np.exp(-exponent * logs) / sizes
        chances = of_large / (of_large + (cells.size - large) * by_noise)
        found = float(chances @ (anywhere / likely))
        anywhere = (found + ANYWHERE * SAY_OF_ANYWHERE) / (float(chances.sum()) + SAY_OF_ANYWHERE)
    means[is_seen] = chances * values
    variances[is_seen] = chances * 2 * scale * scale + chances * (1 - chances) * values**2
    return means, variances


def _near_others(seen: FloatArray, flip: float) -> FloatArray:
    """How likely each cell is large by what all others hold, as a multiple of the average cell.

    In proportion to the square root of what flips would bring from them: what is rare is less rare than that.
    """
    unchanged = (1 - flip) ** math.log2(seen.size)
    near = np.sqrt(np.maximum(flipped(seen, flip) - unchanged * seen, 1e-9))
    likely: FloatArray = near / near.mean()
    return likely
