"""Smart truncation is DiffFIM's greedy algorithm, draws uniformly and refuses what it cannot compute with."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import reference
from laws import first_item_favoured
from reference import Baskets
from strategies import arrays_of, baskets, baskets_of, keys, rows_of, smart_truncations
from veilset.errors import BadCall
from veilset.raw.cuts.row_keys import LongRows
from veilset.raw.cuts.smart_cut import KeepSmart


def smart(limit: int, score_of: dict[tuple[int, ...], int]) -> KeepSmart:
    """A truncation by candidates with these scores."""
    scores = np.array(list(score_of.values()), np.int64)
    return KeepSmart(limit, *arrays_of(map(list, score_of)), scores)


def cut_one(truncation: KeepSmart, basket: set[int], given_keys: list[int] | None = None) -> set[int]:
    """One basket after truncation; without keys given, all are equal."""
    rows = rows_of([frozenset(basket)])
    drawn = np.array(given_keys or [0] * LongRows(rows, truncation.limit).keys, np.uint32)
    return set(truncation.apply(rows, drawn).items.tolist())


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    size=st.integers(2, 5),
    items=st.sampled_from([8, 60, 300]),
    limit=st.integers(1, 30),
)
def test_many_items_and_long_rows_are_cut_as_by_the_twin(
    seed: int, size: int, items: int, limit: int
) -> None:
    """The kernel agrees with the printed algorithm where items fill several words and few scores differ."""
    rng = np.random.default_rng(seed)
    pool = rng.permutation(items)[: rng.integers(size, items)]
    drawn = [rng.choice(pool, size, replace=False).tolist() for _ in range(rng.integers(1, 300))]
    score_of = {tuple(sorted(each)): int(rng.integers(-2, 10)) for each in drawn}
    rows = [frozenset(rng.choice(items, rng.integers(items), replace=False).tolist()) for _ in range(4)]
    truncation = smart(limit, score_of)
    given_keys = rng.integers(2**32, size=LongRows(rows_of(rows), truncation.limit).keys, dtype=np.uint32)
    found = baskets_of(truncation.apply(rows_of(rows), given_keys))
    assert found == reference.truncated(rows, truncation, iter(given_keys.tolist()))


def test_a_row_that_holds_thousands_of_candidates_is_cut_as_by_the_twin() -> None:
    """All pairs of 120 items in a row of 500."""
    rng = np.random.default_rng(4)
    truncation = smart(12, {pair: int(rng.integers(1000)) for pair in combinations(range(0, 360, 3), 2)})
    given_keys = rng.integers(2**32, size=500, dtype=np.uint32)
    rows = [frozenset(range(500))]
    found = baskets_of(truncation.apply(rows_of(rows), given_keys))
    assert len(found[0]) == 12
    assert found == reference.truncated(rows, truncation, iter(given_keys.tolist()))


@given(rows=baskets(), truncation=smart_truncations(), given_keys=keys(), seed=st.integers(0, 99))
def test_the_order_of_the_candidates_makes_no_difference(
    rows: Baskets, truncation: KeepSmart, given_keys: list[int], seed: int
) -> None:
    """Neither the order in which candidates are listed nor that of items within one changes what is kept."""
    order = np.random.default_rng(seed).permutation(truncation.scores.size)
    itemsets = truncation.items.reshape(truncation.scores.size, -1)[order, ::-1]
    other = KeepSmart(truncation.limit, truncation.offsets, itemsets.ravel(), truncation.scores[order])
    table = rows_of(rows)
    drawn = np.array(given_keys[: LongRows(table, truncation.limit).keys], np.uint32)
    assert baskets_of(other.apply(table, drawn)) == baskets_of(truncation.apply(table, drawn))


def test_weights_grow_with_the_items_that_are_kept() -> None:
    """The paper's example: {2, 3} passes {4, 5} once 2 is kept; without {1, 2} it does not."""
    assert cut_one(smart(3, {(1, 2): 10, (2, 3): 8, (4, 5): 9}), {1, 2, 3, 4, 5}) == {1, 2, 3}
    assert cut_one(smart(2, {(2, 3): 8, (4, 5): 9}), {1, 2, 3, 4, 5}) == {4, 5}


def test_a_longer_row_keeps_only_items_of_candidates_that_it_holds() -> None:
    """Repair Z8: the truncation ends when no candidate is left, also when there is room or was none at all."""
    truncation = smart(4, {(1, 2): 1, (3, 7): 9})
    assert cut_one(truncation, {1, 2, 3, 4, 5}) == {1, 2}
    assert cut_one(truncation, {3, 4, 5, 6, 8}) == set()
    assert cut_one(truncation, {3, 4, 5, 6}) == {3, 4, 5, 6}


def test_of_a_candidate_that_does_not_fit_the_items_of_smallest_key_are_kept() -> None:
    """Keys belong to the items of the row in order, those in no candidate included."""
    truncation = smart(3, {(0, 2): 9, (1, 3): 5, (5, 9): 4})
    assert cut_one(truncation, {0, 1, 2, 3, 4}, [0, 7, 0, 6, 0]) == {0, 2, 3}
    assert cut_one(truncation, {0, 1, 2, 3, 4}, [0, 6, 0, 7, 0]) == {0, 1, 2}


@pytest.mark.parametrize(("factor", "fits"), [(0.9, False), (1.0, True), (1.1, False)])
def test_of_a_candidate_that_does_not_fit_every_part_is_kept_equally_often(factor: float, fits: bool) -> None:
    """40,000 rows tell uniform keys from keys that favour or disfavour one item by a tenth.

    The false-alarm rate is one in a million; the seed is fixed.
    """
    number = 40_000
    rows = rows_of([frozenset(range(5))] * number)
    truncation = smart(2, {(0, 1, 2, 4): 1})
    kept = truncation.apply(rows, first_item_favoured(factor, number)).items.reshape(number, 2)
    seen = [int(np.all(kept == part, axis=1).sum()) for part in combinations((0, 1, 2, 4), 2)]
    assert sum(seen) == number
    assert (chisquare(seen).pvalue > 1e-6) == fits


@pytest.mark.parametrize(
    ("limit", "candidates", "scores", "message"),
    [
        (0, [[0, 1]], [1], "a truncation to 0 items keeps nothing"),
        (2, [], [], "needs candidates of one size; give at least one"),
        (2, [[0], [1]], [1, 1], "all of two items or more"),
        (2, [[0, 1], [0, 1, 2]], [1, 1], "needs candidates of one size"),
        (2, [[-1, 1]], [1], "candidates hold a negative code"),
        (2, [[1, 1]], [1], "a candidate holds an item twice"),
        (2, [[0, 1], [1, 0]], [1, 1], "a candidate stands twice"),
        (2, [[0, 1]], [1, 1], "2 scores for 1 candidates; give one score for each"),
        (2, [[0, 1]], [2**61], "a score is too large to compute with"),
        (2, [[0, 1]], [-(2**63)], "a score is too large to compute with"),
    ],
)
def test_candidates_that_make_no_sense_are_refused(
    limit: int, candidates: list[list[int]], scores: list[int], message: str
) -> None:
    """A truncation that the kernel could not compute is never made."""
    with pytest.raises(BadCall, match=message):
        KeepSmart(limit, *arrays_of(candidates), np.array(scores, np.int64))


def test_the_largest_scores_are_weighed_without_overflow() -> None:
    """Twice the size times the score still fits into 64 bits."""
    most = (2**63 - 1) // 4
    truncation = smart(3, {(0, 1): most, (1, 2): most - 1, (3, 4): -most})
    assert cut_one(truncation, {0, 1, 2, 3, 4}) == {0, 1, 2}


def test_what_lies_outside_the_lists_is_no_candidate() -> None:
    """Candidate c is `items[offsets[c]:offsets[c + 1]]`, wherever the first begins and the last ends."""
    listed = np.array([7, 8, 0, 1, 2, 3, 5, 6], np.int32)
    truncation = KeepSmart(2, np.array([2, 4, 6]), listed, np.array([1, 2]))
    assert cut_one(truncation, {0, 1, 2, 3, 5, 6, 7, 8}) == {2, 3}
