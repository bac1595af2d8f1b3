"""A release: consistent, complete, and the same after a round trip through every format."""

import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset import Release, SeededNoise, mine
from veilset.errors import BadCall, BadInput
from veilset.itemsets import Itemsets
from veilset.results.estimates import by_support, consistent, count_of

BASKETS = [["milk", "bread, sliced"]] * 700 + [["milk", 'the "best" tea']] * 400 + [["käse"]] * 100


@pytest.fixture(scope="module")
def release() -> Release:
    """Named itemsets, with names that are hard to write down."""
    return mine(BASKETS, epsilon=1, k=6, noise=SeededNoise(5))


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_a_release_survives_a_round_trip(release: Release, suffix: str, tmp_path: Path) -> None:
    """Itemsets, intervals, trace, promise: all of it comes back equal."""
    path = tmp_path / f"release.{suffix}"
    release.save(path)
    assert Release.load(path) == release


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
@pytest.mark.parametrize("items", [[3, 2**64 - 1], [-5, 7]], ids=["unsigned", "signed"])
def test_numbered_items_come_back_as_numbers(items: list[int], suffix: str, tmp_path: Path) -> None:
    """Item ids of 64 bits keep their type and value."""
    release = mine([items] * 500, epsilon=1, k=3, noise=SeededNoise(1))
    path = tmp_path / f"release.{suffix}"
    release.save(path)
    assert Release.load(path) == release
    assert {item for found in release.itemsets for item in found.items} == set(items)


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_an_empty_release_survives_a_round_trip(suffix: str, tmp_path: Path) -> None:
    """Nothing found is a result, too."""
    release = mine(BASKETS, epsilon=1, min_support=10**9, noise=SeededNoise(1))
    path = tmp_path / f"release.{suffix}"
    release.save(path)
    assert Release.load(path) == release


def test_a_promise_of_next_to_nothing_can_be_told() -> None:
    """Also where the factor is larger than any float."""
    promise = mine(BASKETS, epsilon=10_000, k=1, noise=SeededNoise(1)).promise
    told = str(replace(promise, is_kept=True))
    assert "by a factor of at most e^10000 (10000-differential privacy)" in told


def test_a_file_that_is_no_release_is_refused_in_one_line(tmp_path: Path, release: Release) -> None:
    """Wrong suffix, wrong content, missing companion of a CSV."""
    with pytest.raises(BadCall, match=r"name it \.json, \.csv or \.parquet"):
        release.save(tmp_path / "release.xlsx")
    for name, content in [
        ("a.json", "{}"),
        ("b.json", "no"),
        ("c.parquet", "no"),
        ("d.csv", "items,support\n"),
    ]:
        (tmp_path / name).write_text(content)
        with pytest.raises(BadInput, match="is not a release that veilset wrote"):
            Release.load(tmp_path / name)


def test_a_seeded_release_is_not_private_for_life(tmp_path: Path, release: Release) -> None:
    """In Python, in words, and after a round trip; a release with real noise is."""
    release.save(tmp_path / "r.json")
    assert not release.is_private
    assert not Release.load(tmp_path / "r.json").is_private
    assert str(release.promise).startswith("NOT PRIVATE")
    real = mine(BASKETS, epsilon=1, k=2)
    assert real.is_private
    assert "1-differential privacy" in str(real.promise)


def test_the_promise_names_its_assumptions() -> None:
    """A given alphabet and a public number of transactions are said to be public."""
    from veilset import read  # noqa: PLC0415

    given_list = read(BASKETS, alphabet=["milk", "käse"])
    assert "given by the publisher" in str(mine(given_list, epsilon=1, k=2).promise)
    assert "occur in the data is public" in str(mine(BASKETS, epsilon=1, k=2).promise)
    assert "number of transactions is public" in str(mine(BASKETS, epsilon=1, k=2, transactions=1200).promise)


def test_frames_have_the_columns_that_are_documented(release: Release) -> None:
    """Polars and pandas show the same."""
    frame = release.to_frame()
    assert frame.columns == ["items", "support", "low", "high", "frequency"]
    assert frame["frequency"].max() <= 1  # type: ignore[operator]
    pandas = release.to_pandas()
    assert pandas["items"].tolist() == [frozenset(found.items) for found in release.itemsets]
    assert pandas["support"].tolist() == frame["support"].to_list()


def test_without_pandas_the_error_tells_what_to_install(tmp_path: Path) -> None:
    """pandas is optional: everything else works, `to_pandas` says what is missing."""
    (tmp_path / "pandas.py").write_text("raise ImportError")
    program = (
        "import veilset as vs\n"
        "release = vs.mine([['a', 'b']] * 99, epsilon=1, k=2)\n"
        "try: release.to_pandas()\n"
        "except vs.BadCall as error: print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "pip install 'veilset[pandas]'" in run.stdout


def test_rules_have_the_measures_of_a_hand_computed_example() -> None:
    """milk -> bread with supports 600, 800 and 500 of 1000, at an epsilon that leaves no noise."""
    rows = [["milk", "bread"]] * 500 + [["milk"]] * 100 + [["bread"]] * 300 + [["tea"]] * 100
    release = mine(rows, epsilon=10**6, k=3, noise=SeededNoise(1))
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
    release = mine([["a", "b"]] * 50 + [["b"]] * 50, epsilon=10**6, k=3, noise=SeededNoise(1))
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


itemsets_with_supports = st.dictionaries(
    st.frozensets(st.integers(0, 4), min_size=1, max_size=4), st.integers(-50, 200), max_size=12
)


@given(noisy=itemsets_with_supports)
def test_consistent_supports_never_rise_with_an_item(noisy: dict[frozenset[int], int]) -> None:
    """A subset is at least as frequent as its superset, nothing is negative, and consistent input stays."""
    itemsets, supports = Itemsets.of(noisy), np.array(list(noisy.values()), np.int64)
    result = consistent(itemsets, supports)
    by_set = dict(zip(map(frozenset, itemsets), result.tolist(), strict=True))
    assert all(support >= 0 for support in by_set.values())
    assert all(by_set[x] >= by_set[y] for x in by_set for y in by_set if x <= y)
    assert consistent(itemsets, result).tolist() == result.tolist()


@given(noisy=itemsets_with_supports)
def test_consistency_changes_no_support_by_more_than_half_the_worst_conflict(
    noisy: dict[frozenset[int], int],
) -> None:
    """Half-way between conflicting supports is the smallest largest change there is."""
    positive = {itemset: max(support, 0) for itemset, support in noisy.items()}
    itemsets, supports = Itemsets.of(positive), np.array(list(positive.values()), np.int64)
    worst = max((positive[y] - positive[x] for x in positive for y in positive if x <= y), default=0)
    changes = np.abs(consistent(itemsets, supports) - supports)
    assert changes.max(initial=0) <= -(-worst // 2)


def test_the_order_of_a_release_breaks_ties_by_size_then_items() -> None:
    """One rule for all methods."""
    itemsets = Itemsets.of([(1, 2), (2,), (0,), (3,)])
    assert by_support(itemsets, np.array([5, 5, 5, 9])) == [3, 2, 1, 0]


@given(
    share=st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000)),
    number=st.integers(0, 10**6),
)
def test_a_share_becomes_the_smallest_count_that_reaches_it(share: Fraction, number: int) -> None:
    """No float decides whether a support is at the threshold."""
    count = count_of(share, transactions=number)
    assert count - 1 < share * number <= count
