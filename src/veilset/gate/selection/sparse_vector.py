"""Items whose support reaches a threshold: the sparse vector technique, and PFM, which pays for blocks.

Both compare noisy supports of given items, in a given order, with a noisy threshold rho: the support of the
k-th of these items. Supports and threshold never leave; what leaves is a label for each item that was
compared: above (ties count as above, T5), or below.

Why this is private. Let D' be D with one more privacy unit of at most c transactions. Every support rises by
some a_j in 0..c, rho as the k-th largest of them by some r in 0..c. Noise of scale c / e has
P(x) <= exp(e) P(x + s) for |s| <= c, and so have its tails. Take comparisons with one noisy threshold x of
which any number have the same label, say "above", and one has the other, at a share of e_t for the
threshold and e_s for the support of that one:

* From D' to D: f'_j + noise >= x implies f_j + noise >= x - c, so put x - c for x. The noise of the threshold
  moves by c - r, that of the support with the other label by c - a: a factor of exp(e_t + e_s) at the most.
* From D to D': at the same x, the equal labels only become likelier. The noise of the threshold moves by r,
  that of the support with the other label by a: a factor of exp(e_t + e_s) again.

If the equal labels are "below", the two directions change places. Where no label differs, e_s is not needed;
where several do, each costs its own.

* Sparse vector technique: one noisy threshold for all items. "Above" is the label that is paid for:
  e_t = epsilon / 4, and e_s = 3/4 epsilon / k for each of at most k. Then it stops.
* PFM (Wang et al. 2019, Alg. 2): a new noisy threshold for each block, which ends with the first label that
  differs from the block's first. A block costs e_t + e_s, both computed from labels that are known by then.
  Shares may be chosen on the way as long as their sum never exceeds epsilon: the loop keeps that account
  in exact fractions and stops where nothing is left.

The account is a function of the labels, so it may be shown: post-processing. But it is no smaller guarantee. How
much was used depends on the outcome; what can be claimed before the look is epsilon, and that is charged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import BoolArray, Int64Array

AddNoise = Callable[[Int64Array, Fraction], Int64Array]
"""Adds discrete Laplace noise of a scale to values."""

Compare = Callable[[Int64Array, Fraction], BoolArray]
"""Whether supports reach the block's noisy threshold, with noise at that share of epsilon for each."""

SHARE_FOR_THRESHOLD = Fraction(1, 4)
COMPARISON_STEPS = 1 << 24
"""Shares are rounded down to epsilon / COMPARISON_STEPS: without it, their fractions would grow with every block."""
AT_ONCE = 64
"""64 items are compared together where the label that is expected changes nothing."""


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Which of the items, by their places, were above; and what each run of comparisons used of epsilon."""

    above: tuple[int, ...]
    account: tuple[Fraction, ...]


def sparse_vector(
    supports: Int64Array, k: int, *, threshold: int, sensitivity: int, epsilon: Fraction, add_noise: AddNoise
) -> Comparisons:
    """The first k items whose noisy support reaches the noisy threshold (Sec. III.B)."""
    for_threshold = epsilon * SHARE_FOR_THRESHOLD
    for_each = (epsilon - for_threshold) / k
    noisy_threshold = _one(threshold, sensitivity / for_threshold, add_noise)
    noisy = add_noise(supports, sensitivity / for_each)
    above = np.flatnonzero(noisy >= noisy_threshold)[:k].tolist()
    return Comparisons(tuple(above), (for_threshold, *([for_each] * len(above))))


def in_blocks(
    supports: Int64Array, k: int, *, threshold: int, sensitivity: int, epsilon: Fraction, add_noise: AddNoise
) -> Comparisons:
    """Up to k items whose noisy support reaches a noisy threshold that is new in each block (PFM, Alg. 2)."""
    step, left, place = epsilon / COMPARISON_STEPS, epsilon, 0
    above: list[int] = []
    account: list[Fraction] = []
    while len(above) < k and place < supports.size:  # T1: ends before it divides by what is still wanted
        for_threshold = _rounded_down(left * SHARE_FOR_THRESHOLD / (k - len(above)), step)  # l. 2, 16
        if for_threshold == 0:
            break
        left -= for_threshold
        noisy_threshold = _one(threshold, sensitivity / for_threshold, add_noise)  # l. 3, 17

        def compare(some: Int64Array, share: Fraction, against: int = noisy_threshold) -> BoolArray:
            return add_noise(some, sensitivity / share) >= against  # l. 8-9

        block = _block(supports[place:], k - len(above), left=left, step=step, compare=compare)
        above += [place + found for found in block.above]
        account.append(for_threshold + block.for_last)
        left -= block.for_last
        place += block.length
    return Comparisons(tuple(above), tuple(account))


@dataclass(frozen=True, slots=True)
class _Block:
    """How many items it took, which were above, and what the last one cost: nothing, if no label differed."""

    length: int
    above: list[int]
    for_last: Fraction


def _block(supports: Int64Array, wanted: int, *, left: Fraction, step: Fraction, compare: Compare) -> _Block:
    """Compare until a label differs from the first one, enough are found, or no item is left (l. 5-18).

    A threshold was paid for with at least one step of a quarter of `left / wanted`: no share here is 0.
    """
    share = _rounded_down(left / wanted, step)  # l. 7
    if not compare(supports[:1], share)[0]:
        return _run_below(supports, share, compare)
    for place in range(1, min(wanted, supports.size)):
        share = _rounded_down(
            left / (wanted - place), step
        )  # l. 7: all of the `place` items so far were above
        if not compare(supports[place : place + 1], share)[0]:
            return _Block(place + 1, list(range(place)), share)
    number = min(wanted, supports.size)
    return _Block(number, list(range(number)), Fraction(0))


def _run_below(supports: Int64Array, share: Fraction, compare: Compare) -> _Block:
    """The first item was below: go on at the same share, many at once, up to the first one above."""
    for start in range(1, supports.size, AT_ONCE):
        is_above = compare(supports[start : start + AT_ONCE], share)
        if is_above.any():
            found = start + int(is_above.argmax())
            return _Block(found + 1, [found], share)
    return _Block(supports.size, [], Fraction(0))


def _one(value: int, scale: Fraction, add_noise: AddNoise) -> int:
    return int(add_noise(np.array([value], dtype=np.int64), scale)[0])


def _rounded_down(share: Fraction, step: Fraction) -> Fraction:
    return share // step * step
