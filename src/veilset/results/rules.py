"""Association rules from released supports: post-processing, at no further cost."""

import math
from collections.abc import Iterator, Mapping
from itertools import combinations

import polars as pl

from veilset.gate import Item

ReleasedSupports = Mapping[frozenset[Item], int]


_LEFT, _RIGHT, _BOTH = (pl.col(name) for name in ("antecedent support", "consequent support", "support"))


def rules_frame(
    supports: ReleasedSupports, *, transactions: int, min_confidence: float, item: pl.DataType
) -> pl.DataFrame:
    """Every rule whose three supports are known, with the measures and column names that mlxtend uses."""
    confident = _counted_rules(supports, item).filter(pl.col("confidence") >= min_confidence)
    shares = confident.with_columns(_LEFT / transactions, _RIGHT / transactions, _BOTH / transactions)
    return _with_measures(shares).sort("confidence", "support", descending=True, maintain_order=True)


def _counted_rules(supports: ReleasedSupports, item: pl.DataType) -> pl.DataFrame:
    """Both sides of each rule, how many transactions hold either side and both, and the confidence."""
    rows = [
        (_in_order(left), _in_order(right), supports[left], supports[right], supports[left | right])
        for left, right in _splits(supports)
        if supports[left] > 0
    ]
    schema: dict[str, pl.DataType] = {
        **dict.fromkeys(("antecedents", "consequents"), pl.List(item)),
        **dict.fromkeys(("antecedent support", "consequent support", "support"), pl.Float64()),
    }
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(confidence=_BOTH / _LEFT)


def _with_measures(rules: pl.DataFrame) -> pl.DataFrame:
    """The measures beside the confidence, where supports are shares of the transactions."""
    confidence, leverage = pl.col("confidence"), pl.col("leverage")
    strongest = pl.max_horizontal(_BOTH * (1 - _LEFT), _LEFT * (_RIGHT - _BOTH))
    return rules.with_columns(
        lift=_BOTH / (_LEFT * _RIGHT),
        leverage=_BOTH - _LEFT * _RIGHT,
        conviction=pl.when(confidence < 1).then((1 - _RIGHT) / (1 - confidence)).otherwise(math.inf),
    ).with_columns(zhangs_metric=pl.when(strongest > 0).then(leverage / strongest).otherwise(0.0))


def _splits(supports: ReleasedSupports) -> Iterator[tuple[frozenset[Item], frozenset[Item]]]:
    """Every way to split a released itemset into two released ones."""
    for itemset in supports:
        for size in range(1, len(itemset)):
            for part in combinations(_in_order(itemset), size):
                antecedent = frozenset(part)
                if antecedent in supports and itemset - antecedent in supports:
                    yield antecedent, itemset - antecedent


def _in_order(itemset: frozenset[Item]) -> list[Item]:
    return sorted(itemset, key=lambda item: (isinstance(item, str), item))
