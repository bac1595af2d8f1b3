"""Association rules from released supports: the usual measures, at no further cost."""

import math

import polars as pl
import pytest

from veilset import SeededNoise, mine


def test_rules_have_the_measures_of_a_hand_computed_example() -> None:
    """milk -> bread with supports 600, 800 and 500 of 1000, at an epsilon that leaves no noise."""
    rows = [["milk", "bread"]] * 500 + [["milk"]] * 100 + [["bread"]] * 300 + [["tea"]] * 100
    release = mine(rows, epsilon=10**6, public_items=True, k=3, noise=SeededNoise(1))
    rule = release.rules(min_confidence=0.7).row(0, named=True)
    assert (rule["antecedents"], rule["consequents"]) == (["milk"], ["bread"])
    expected = {
        "antecedent support": 0.6,
        "consequent support": 0.8,
        "support": 0.5,
        "confidence": 5 / 6,
        "lift": 0.5 / 0.48,
        "leverage": 0.02,
        "conviction": 0.2 / (1 / 6),
        "zhangs_metric": 0.02 / max(0.5 * 0.4, 0.6 * 0.3),
    }
    assert {name: pytest.approx(rule[name]) for name in expected} == expected
    assert list(rule)[2:] == list(expected)


def test_a_rule_that_always_holds_has_infinite_conviction() -> None:
    """As in mlxtend."""
    release = mine(
        [["a", "b"]] * 50 + [["b"]] * 50, epsilon=10**6, public_items=True, k=3, noise=SeededNoise(1)
    )
    rule = release.rules().filter(pl.col("confidence") == 1).row(0, named=True)
    assert rule["conviction"] == math.inf


def test_rules_only_come_from_released_supports() -> None:
    """Every side of every rule is an itemset of the release, and confidence never passes 1."""
    rows = [["milk", "bread"]] * 700 + [["milk", "tea"]] * 400 + [["cheese"]] * 100
    release = mine(rows, epsilon=1, public_items=True, k=6, noise=SeededNoise(5))
    known = {frozenset(found.items) for found in release.itemsets}
    rules = release.rules(min_confidence=0)
    assert rules.height > 0
    for row in rules.iter_rows(named=True):
        assert frozenset(row["antecedents"]) in known
        assert frozenset(row["consequents"]) in known
        assert 0 <= row["confidence"] <= 1
