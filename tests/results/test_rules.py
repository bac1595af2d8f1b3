"""Association rules from released supports: the usual measures, at no further cost."""

import math

import polars as pl
import pytest
from mlxtend.frequent_patterns import association_rules

from veilset import BadCall, Release, SeededNoise, mine
from veilset.results.rules import DEFAULT_THRESHOLDS

ROWS = [["milk", "bread"]] * 700 + [["milk", "tea"]] * 400 + [["cheese"]] * 100 + [["tea", "cheese"]] * 90


@pytest.fixture(scope="module")
def release() -> Release:
    """Four items and their pairs, at an epsilon that leaves intervals."""
    return mine(ROWS, epsilon=1, k=8, public_items=True, noise=SeededNoise(5))


def test_rules_have_the_measures_of_a_hand_computed_example() -> None:
    """milk -> bread with supports 600, 800 and 500 of 1000, at an epsilon that leaves no noise."""
    rows = [["milk", "bread"]] * 500 + [["milk"]] * 100 + [["bread"]] * 300 + [["tea"]] * 100
    release = mine(rows, epsilon=10**6, k=3, public_items=True, noise=SeededNoise(1))
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
    assert list(rule)[2:10] == list(expected)
    assert list(rule)[10:] == [f"{name}_{end}" for name in expected for end in ("low", "high")]


def test_a_rule_that_always_holds_has_infinite_conviction() -> None:
    """As in mlxtend."""
    release = mine(
        [["a", "b"]] * 50 + [["b"]] * 50, epsilon=10**6, k=3, public_items=True, noise=SeededNoise(1)
    )
    rule = release.rules().filter(pl.col("confidence") == 1).row(0, named=True)
    assert rule["conviction"] == math.inf


def test_rules_only_come_from_released_supports(release: Release) -> None:
    """Every side of every rule is an itemset of the release, and confidence never passes 1."""
    known = {frozenset(found.items) for found in release.itemsets}
    rules = release.rules(min_confidence=0)
    assert rules.height > 0
    for row in rules.iter_rows(named=True):
        assert frozenset(row["antecedents"]) in known
        assert frozenset(row["consequents"]) in known
        assert 0 <= row["confidence"] <= 1


@pytest.mark.parametrize("metric", DEFAULT_THRESHOLDS)
def test_rules_are_chosen_by_any_metric_as_in_mlxtend(metric: str) -> None:
    """The same rules as mlxtend's, from the same supports; the highest first."""
    release = mine(ROWS, epsilon=10**6, min_support=50, public_items=True, noise=SeededNoise(5))
    every = release.rules(min_confidence=0)
    threshold = float(every[metric].median()) - 1e-9  # type: ignore[arg-type]
    chosen = release.rules(metric=metric, min_threshold=threshold)
    assert 0 < chosen.height < every.height
    assert chosen[metric].is_sorted(descending=True)
    frame = release.to_pandas()[["items", "frequency"]]
    frame.columns = ["itemsets", "support"]
    theirs = association_rules(frame, metric=metric, min_threshold=threshold, support_only=False)
    pairs = {
        (frozenset(left), frozenset(right))
        for left, right in chosen.select("antecedents", "consequents").rows()
    }
    assert pairs == set(zip(theirs["antecedents"], theirs["consequents"], strict=True))


def test_without_a_threshold_rules_beat_chance(release: Release) -> None:
    """Or have a confidence of a half."""
    assert release.rules()["confidence"].min() >= 0.5  # type: ignore[operator]
    assert release.rules(metric="lift")["lift"].min() >= 1  # type: ignore[operator]
    assert release.rules(metric="support").height == release.rules(min_confidence=0).height


def test_a_least_confidence_can_stand_beside_another_metric(release: Release) -> None:
    """Both must be reached; beside itself, the higher one."""
    both = release.rules(metric="lift", min_threshold=1.0, min_confidence=0.6)
    lifted = release.rules(metric="lift", min_threshold=1.0)
    assert both.equals(lifted.filter(pl.col("confidence") >= 0.6))
    assert both.height < lifted.height
    twice = release.rules(min_threshold=0.2, min_confidence=0.6)
    assert twice.equals(release.rules(min_confidence=0.6))


@pytest.mark.parametrize(("metric", "threshold"), [("confidence", 0.5), ("lift", 1.0), ("leverage", 0.01)])
def test_what_surely_holds_has_its_low_end_above_the_threshold(
    release: Release, metric: str, threshold: float
) -> None:
    """Fewer rules than those whose measure reaches it, and all of these whose interval does."""
    chosen = release.rules(metric=metric, min_threshold=threshold)
    sure = release.rules(metric=metric, min_threshold=threshold, surely=True)
    assert sure.equals(chosen.filter(pl.col(f"{metric}_low") >= threshold))
    assert 0 < sure.height < release.rules(min_confidence=0).height


def test_the_interval_of_a_rule_does_not_depend_on_what_was_asked_for(release: Release) -> None:
    """The same call gives the same; another threshold gives the same rules with the same intervals."""
    every = release.rules(min_confidence=0)
    assert every.equals(release.rules(min_confidence=0))
    assert release.rules(min_confidence=0.6).equals(every.filter(pl.col("confidence") >= 0.6))


def test_a_metric_that_is_unknown_is_answered_with_those_there_are(release: Release) -> None:
    """And nan, which nothing reaches, with what to give."""
    with pytest.raises(
        BadCall, match=r"no metric 'certainly' of rules; give one of antecedent support, .*, lift, lev"
    ):
        release.rules(metric="certainly")
    with pytest.raises(BadCall, match="is nan; give a number"):
        release.rules(min_threshold=math.nan)


def test_a_release_without_rules_has_an_empty_frame_with_all_columns() -> None:
    """Of the same types."""
    alone = mine([["a"]] * 100, epsilon=1, k=1, alphabet=["a"], noise=SeededNoise(1)).rules()
    some = mine([["a", "b"]] * 99, epsilon=10**6, k=3, alphabet=["a", "b"], noise=SeededNoise(1)).rules()
    assert alone.height == 0 < some.height
    assert alone.schema == some.schema


def test_a_side_that_never_occurs_makes_no_rule() -> None:
    """Its lift would be nothing by nothing."""
    release = mine([["a"]] * 1000, epsilon=10**6, k=3, alphabet=["a", "b"], noise=SeededNoise(1))
    assert release.rules(min_confidence=0).height == 0
