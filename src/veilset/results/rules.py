"""Association rules from released supports, with 95 % intervals: post-processing, at no further cost."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from veilset.arrays import FloatArray
from veilset.deferred import Deferred
from veilset.errors import BadCall
from veilset.gate import Item
from veilset.results.rule_measures import RuleCounts, UncertainCounts, rule_intervals

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Deferred("polars")

CountInterval = tuple[int, int, int]
"""A noisy count, and both ends of its 95 % interval."""

ReleasedSupports = Mapping[frozenset[Item], CountInterval]

DEFAULT_THRESHOLDS = {
    "antecedent support": 0.0,
    "consequent support": 0.0,
    "support": 0.0,
    "confidence": 0.5,
    "lift": 1.0,
    "leverage": 0.0,
    "conviction": 1.0,
    "zhangs_metric": 0.0,
}
"""What rules must reach, by metric, where nothing else is said: all of them, or those that beat chance."""


def thresholds_of(metric: str, min_threshold: float | None, min_confidence: float | None) -> dict[str, float]:
    """What rules must reach, by metric, from what a caller handed in.

    >>> thresholds_of("confidence", None, None), thresholds_of("lift", 2, 0.5)
    ({'confidence': 0.5}, {'lift': 2, 'confidence': 0.5})
    """
    if metric not in DEFAULT_THRESHOLDS:
        raise BadCall(f"there is no metric {metric!r} of rules; give one of {', '.join(DEFAULT_THRESHOLDS)}")
    for given in (min_threshold, min_confidence):
        if given is not None and math.isnan(given):
            raise BadCall("no rule can be compared with nan; give a number as the threshold")
    if metric == "confidence" and min_confidence is not None:
        return {metric: max(min_confidence, -math.inf if min_threshold is None else min_threshold)}
    also = {} if min_confidence is None else {"confidence": min_confidence}
    return {metric: DEFAULT_THRESHOLDS[metric] if min_threshold is None else min_threshold, **also}


def rules_frame(
    supports: ReleasedSupports,
    *,
    transactions: CountInterval,
    thresholds: Mapping[str, float],
    surely: bool,
    item: "pl.DataType",
) -> "pl.DataFrame":
    """The rules whose three supports are known and whose measures, or their low ends, reach the thresholds.

    The highest by the metric that is named first come first; ties by support.
    """
    splits = list(_splits(supports))
    counts = _rule_counts(splits, supports, transactions)
    values = counts.measures()
    is_kept = np.all([values[metric] >= least for metric, least in thresholds.items()], axis=0)
    intervals = rule_intervals(counts.where(is_kept))
    frame = _frame(
        [split for split, kept in zip(splits, is_kept.tolist(), strict=True) if kept],
        {name: column[is_kept] for name, column in values.items()},
        intervals,
        item,
    )
    if surely:
        frame = frame.filter(pl.col(f"{metric}_low") >= least for metric, least in thresholds.items())
    return frame.sort(next(iter(thresholds)), "support", descending=True, maintain_order=True)


def _frame(
    splits: Sequence[tuple[frozenset[Item], frozenset[Item]]],
    values: Mapping[str, FloatArray],
    intervals: Mapping[str, tuple[FloatArray, FloatArray]],
    item: "pl.DataType",
) -> "pl.DataFrame":
    """The columns of mlxtend, then both ends of the interval of each measure."""
    sides = {
        name: pl.Series([_in_order(split[place]) for split in splits], dtype=pl.List(item))
        for place, name in enumerate(("antecedents", "consequents"))
    }
    ends = {
        f"{name}_{end}": pl.Series(columns[place])
        for name, columns in intervals.items()
        for place, end in enumerate(("low", "high"))
    }
    return pl.DataFrame({**sides, **{name: pl.Series(column) for name, column in values.items()}, **ends})


def _rule_counts(
    splits: Sequence[tuple[frozenset[Item], frozenset[Item]]],
    supports: ReleasedSupports,
    transactions: CountInterval,
) -> RuleCounts:
    """The four counts of each rule."""
    left, right = ([supports[split[place]] for split in splits] for place in (0, 1))
    both = [supports[left | right] for left, right in splits]
    return RuleCounts(*(_uncertain(rows) for rows in (left, right, both, [transactions] * len(splits))))


def _uncertain(rows: Sequence[CountInterval]) -> UncertainCounts:
    return UncertainCounts(*np.array(rows, dtype=np.float64).reshape(-1, 3).T)


def _splits(supports: ReleasedSupports) -> Iterator[tuple[frozenset[Item], frozenset[Item]]]:
    """Every way to split a released itemset into two released ones that occur."""
    occurring = {itemset for itemset, (support, _, _) in supports.items() if support > 0}
    for itemset in supports:
        for size in range(1, len(itemset)):
            for part in combinations(_in_order(itemset), size):
                antecedent = frozenset(part)
                if antecedent in occurring and itemset - antecedent in occurring:
                    yield antecedent, itemset - antecedent


def _in_order(itemset: frozenset[Item]) -> list[Item]:
    return sorted(itemset, key=lambda item: (isinstance(item, str), item))
