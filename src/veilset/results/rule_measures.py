"""The measures of association rules, and how uncertain they are; from released supports alone, at no further cost.

A rule knows four counts: transactions with its left side, with its right side, with both, and all of them. Each was
released with a 95 % interval, and any of these may be the one that is off: so counts are drawn that agree with all
intervals, each measure is computed from every draw, and its interval holds the middle 95 % of what comes out.

A count is drawn from a law of two pieces, which has its median at what was released and its middle 95 % in the
interval: logistic on both sides, whose tails lie between those of Laplace noise and of sums of it. An end that was cut
off, at 0 or at the number of transactions, says less than noise could: there the piece is as wide as the other one. The
draws are then made possible: a superset is no more frequent than its subsets (both meet half-way, as in `consistent`),
no support is above the number of transactions, and support(A and B) >= support(A) + support(B) - number. Draws that
are moved, not left out, keep the intervals of supports near 0 where they were: left out, they would push them up.

The draws come from a public seed and are the same for every rule, so that the interval of a rule depends on nothing but
its own counts.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from veilset.arrays import BoolArray, FloatArray

RULE_DRAWS = 2000
"""Draws of the four counts of a rule; each count goes through evenly spaced quantiles, in random order."""
RULE_SEED = 20121

_RULES_AT_ONCE = 250
"""Bounds the memory of drawing to some 50 MB, whatever the number of rules."""
_TAIL = 0.025
_SCALES_TO_END = math.log((1 - _TAIL) / _TAIL)
"""The 97.5 % quantile of the logistic law of scale 1."""
_CUT_OFF = 1
"""An interval that starts at 0 or 1 was cut off there, or might have been: none starts below."""


@dataclass(frozen=True, slots=True, eq=False)
class UncertainCounts:
    """Noisy counts, and the ends of their 95 % intervals."""

    values: FloatArray
    low: FloatArray
    high: FloatArray

    def where(self, is_kept: BoolArray) -> "UncertainCounts":
        """Some of them."""
        return UncertainCounts(self.values[is_kept], self.low[is_kept], self.high[is_kept])

    def between(self, start: int, end: int) -> "UncertainCounts":
        """Those of some places in a row."""
        return UncertainCounts(self.values[start:end], self.low[start:end], self.high[start:end])


@dataclass(frozen=True, slots=True, eq=False)
class RuleCounts:
    """How many transactions hold the left side of each rule, the right side, and both; and how many there are."""

    left: UncertainCounts
    right: UncertainCounts
    both: UncertainCounts
    number: UncertainCounts

    def where(self, is_kept: BoolArray) -> "RuleCounts":
        """Those of some rules."""
        return RuleCounts(*(counts.where(is_kept) for counts in self._all()))

    def between(self, start: int, end: int) -> "RuleCounts":
        """Those of some rules in a row."""
        return RuleCounts(*(counts.between(start, end) for counts in self._all()))

    def measures(self) -> dict[str, FloatArray]:
        """Of the counts as they were released."""
        return rule_measures(*(counts.values for counts in self._all()))

    def _all(self) -> tuple[UncertainCounts, UncertainCounts, UncertainCounts, UncertainCounts]:
        return self.left, self.right, self.both, self.number


def rule_measures(
    left: FloatArray, right: FloatArray, both: FloatArray, number: FloatArray
) -> dict[str, FloatArray]:
    """The measures of rules by the names that mlxtend gives them, from counts of which all but `both` are above 0.

    >>> milk_to_bread = rule_measures(*(np.array([count]) for count in (600.0, 800.0, 500.0, 1000.0)))
    >>> {name: round(float(values[0]), 3) for name, values in milk_to_bread.items() if name in ("confidence", "lift")}
    {'confidence': 0.833, 'lift': 1.042}
    """
    share_left, share_right, share_both = left / number, right / number, both / number
    confidence = both / left
    leverage = share_both - share_left * share_right
    strongest = np.maximum(share_both * (1 - share_left), share_left * (share_right - share_both))
    is_certain, is_flat = confidence >= 1, strongest <= 0
    return {
        "antecedent support": share_left,
        "consequent support": share_right,
        "support": share_both,
        "confidence": confidence,
        "lift": confidence / share_right,
        "leverage": leverage,
        "conviction": np.where(
            is_certain, np.inf, (1 - share_right) / np.where(is_certain, 1, 1 - confidence)
        ),
        "zhangs_metric": np.where(is_flat, 0.0, leverage / np.where(is_flat, 1, strongest)),
    }


def rule_intervals(counts: RuleCounts) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Both ends of the 95 % interval of each measure; what was released lies within."""
    values = counts.measures()
    starts = range(0, counts.both.values.size, _RULES_AT_ONCE)
    blocks = [_ends(counts.between(start, start + _RULES_AT_ONCE)) for start in starts]
    return {
        name: (
            np.minimum(np.concatenate([np.empty(0), *(block[name][0] for block in blocks)]), value),
            np.maximum(np.concatenate([np.empty(0), *(block[name][1] for block in blocks)]), value),
        )
        for name, value in values.items()
    }


def _ends(counts: RuleCounts) -> dict[str, FloatArray]:
    """Of each measure a row with the low ends of its intervals, and one with the high ends."""
    places = [int(_TAIL * RULE_DRAWS), RULE_DRAWS - 1 - int(_TAIL * RULE_DRAWS)]
    drawn = rule_measures(*_possible_draws(counts))
    return {name: np.partition(values, places, axis=1)[:, places].T for name, values in drawn.items()}


def _possible_draws(counts: RuleCounts) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Draws of the four counts, made possible; a row for each rule."""
    of_left, of_right, of_both, of_number = _standard_draws()
    most = counts.number.high
    number = np.maximum(_drawn(counts.number, of_number, most=np.full_like(most, np.inf)), 1)
    left, right = _drawn(counts.left, of_left, most=most), _drawn(counts.right, of_right, most=most)
    both = _drawn(counts.both, of_both, most=most)
    smallest = np.minimum(both, np.minimum(left, right))
    left, right = (np.clip((np.maximum(side, both) + side) / 2, 1, number) for side in (left, right))
    possible = np.maximum(left + right - number, 0), np.minimum(left, right)
    return left, right, np.clip((smallest + both) / 2, *possible), number


def _drawn(counts: UncertainCounts, standard: FloatArray, *, most: FloatArray) -> FloatArray:
    """Draws of counts, a row each, from the law of two pieces that their intervals tell."""
    below, above = (
        np.maximum(width, 0) for width in (counts.values - counts.low, counts.high - counts.values)
    )
    wider = np.maximum(below, above)
    below, above = (
        np.where(counts.low <= _CUT_OFF, wider, below),
        np.where(counts.high >= most, wider, above),
    )
    drawn: FloatArray = counts.values[:, None] + standard * np.where(
        standard < 0, below[:, None], above[:, None]
    )
    return drawn


@cache
def _standard_draws() -> FloatArray:
    """Draws of four counts, of median 0 and with 95 % between -1 and 1: a Latin hypercube from the public seed."""
    rng = np.random.default_rng(RULE_SEED)
    quantiles = (np.stack([rng.permutation(RULE_DRAWS) for _ in range(4)]) + 0.5) / RULE_DRAWS
    standard: FloatArray = np.log(quantiles / (1 - quantiles)) / _SCALES_TO_END
    return standard
