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
from typing import Protocol

import numpy as np

from veilset.arrays import BoolArray, Int64Array

Compare = Callable[[int, int, Fraction], BoolArray]
"""Whether the supports at some places reach the block's noisy threshold, each with noise at that share of epsilon."""

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


class NoisySupports(Protocol):
    """Exact supports, in a given order, and the exact threshold; they leave with discrete Laplace noise on each."""

    @property
    def number(self) -> int:
        """How many supports there are."""

    def threshold(self, scale: Fraction) -> int:
        """The threshold with new noise."""

    def supports(self, start: int, end: int, scale: Fraction) -> Int64Array:
        """The supports at the places from `start` up to, not including, `end`, each with new noise."""


def sparse_vector(noisy: NoisySupports, k: int, *, sensitivity: int, epsilon: Fraction) -> Comparisons:
    """The first k items whose noisy support reaches the noisy threshold (Sec. III.B)."""
    for_threshold = epsilon * SHARE_FOR_THRESHOLD
    for_each = (epsilon - for_threshold) / k
    noisy_threshold = noisy.threshold(sensitivity / for_threshold)
    reached = noisy.supports(0, noisy.number, sensitivity / for_each) >= noisy_threshold
    above = np.flatnonzero(reached)[:k].tolist()
    return Comparisons(tuple(above), (for_threshold, *([for_each] * len(above))))


def in_blocks(noisy: NoisySupports, k: int, *, sensitivity: int, epsilon: Fraction) -> Comparisons:
    """Up to k items whose noisy support reaches a noisy threshold that is new in each block (PFM, Alg. 2)."""
    step, left, place = epsilon / COMPARISON_STEPS, epsilon, 0
    above: list[int] = []
    account: list[Fraction] = []
    while len(above) < k and place < noisy.number:  # T1: ends before it divides by what is still wanted
        for_threshold = _rounded_down(left * SHARE_FOR_THRESHOLD / (k - len(above)), step)  # l. 2, 16
        if for_threshold == 0:
            break
        left -= for_threshold
        noisy_threshold = noisy.threshold(sensitivity / for_threshold)  # l. 3, 17

        def compare(start: int, end: int, share: Fraction, against: int = noisy_threshold) -> BoolArray:
            return noisy.supports(start, end, sensitivity / share) >= against  # l. 8-9

        places = range(place, noisy.number)
        block = _block(places, k - len(above), left=left, step=step, compare=compare)
        above += block.above
        account.append(for_threshold + block.for_last)
        left -= block.for_last
        place = block.end
    return Comparisons(tuple(above), tuple(account))


@dataclass(frozen=True, slots=True)
class _Block:
    """Where the next block begins, which were above, and what the last one cost: nothing, if no label differed."""

    end: int
    above: range
    for_last: Fraction


def _block(places: range, wanted: int, *, left: Fraction, step: Fraction, compare: Compare) -> _Block:
    """Compare until a label differs from the first one, enough are found, or no item is left (l. 5-18).

    A threshold was paid for with at least one step of a quarter of `left / wanted`: no share here is 0.
    """
    share = _rounded_down(left / wanted, step)  # l. 7
    if not compare(places[0], places[0] + 1, share)[0]:
        return _run_below(places[1:], share, compare)
    for place in places[1:wanted]:
        found = place - places[0]  # all items so far were above
        share = _rounded_down(left / (wanted - found), step)  # l. 7
        if not compare(place, place + 1, share)[0]:
            return _Block(place + 1, places[:found], share)
    above = places[:wanted]
    return _Block(above.stop, above, Fraction(0))


def _run_below(places: range, share: Fraction, compare: Compare) -> _Block:
    """The first item was below: go on at the same share, many at once, up to the first one above."""
    for start in range(places.start, places.stop, AT_ONCE):
        is_above = compare(start, min(start + AT_ONCE, places.stop), share)
        if is_above.any():
            found = start + int(is_above.argmax())
            return _Block(found + 1, range(found, found + 1), share)
    return _Block(places.stop, range(0), Fraction(0))


def _rounded_down(share: Fraction, step: Fraction) -> Fraction:
    return share // step * step
