"""Association rules from released supports: post-processing, at no further cost."""

import math
from collections.abc import Iterator, Mapping
from itertools import combinations

import polars as pl

from veilset.gate import Item

Supports = Mapping[frozenset[Item], int]


def rules_frame(
    supports: Supports, *, transactions: int, min_confidence: float, item: pl.DataType
) -> pl.DataFrame:
    """Every rule whose three supports are known, with the measures and column names that mlxtend uses."""
    rows = [
        (
            _ordered(antecedent),
            _ordered(consequent),
            supports[antecedent],
            supports[consequent],
            supports[antecedent | consequent],
        )
        for antecedent, consequent in _splits(supports)
        if supports[antecedent] > 0
    ]
    columns: dict[str, pl.DataType] = {
        "antecedents": pl.List(item),
        "consequents": pl.List(item),
        "antecedent support": pl.Float64(),
        "consequent support": pl.Float64(),
        "support": pl.Float64(),
    }
    left, right, both = (pl.col(name) for name in ("antecedent support", "consequent support", "support"))
    confidence, leverage = pl.col("confidence"), pl.col("leverage")
    strongest = pl.max_horizontal(both * (1 - left), left * (right - both))
    return (
        pl.DataFrame(rows, schema=columns, orient="row")
        .with_columns(confidence=both / left)
        .filter(confidence >= min_confidence)
        .with_columns(left / transactions, right / transactions, both / transactions)
        .with_columns(
            lift=both / (left * right),
            leverage=both - left * right,
            conviction=pl.when(confidence < 1).then((1 - right) / (1 - confidence)).otherwise(math.inf),
        )
        .with_columns(zhangs_metric=pl.when(strongest > 0).then(leverage / strongest).otherwise(0.0))
        .sort("confidence", "support", descending=True, maintain_order=True)
    )


def _splits(supports: Supports) -> Iterator[tuple[frozenset[Item], frozenset[Item]]]:
    """Every way to cut a released itemset into two released ones."""
    for itemset in supports:
        for size in range(1, len(itemset)):
            for part in combinations(_ordered(itemset), size):
                antecedent = frozenset(part)
                if antecedent in supports and itemset - antecedent in supports:
                    yield antecedent, itemset - antecedent


def _ordered(itemset: frozenset[Item]) -> list[Item]:
    return sorted(itemset, key=lambda item: (isinstance(item, str), item))
