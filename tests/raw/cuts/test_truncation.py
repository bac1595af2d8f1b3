"""Truncations keep what they say, look at one row at a time, and draw uniformly."""

from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import chisquare

import reference
from laws import first_item_favoured
from reference import Baskets
from strategies import ALPHABET_SIZE, baskets, baskets_of, keys, rows_of, truncations
from veilset.errors import BadCall
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.cuts.truncation import DropLonger, KeepAll, KeepBest, KeepRandom, OnlyItems, Truncation


def number_of_keys(truncation: Truncation, rows: CompressedRows) -> int:
    """How many keys a truncation wants for these rows."""
    wanted = truncation.keys_needed(rows)
    return 0 if wanted is None else wanted.keys


def apply(truncation: Truncation, rows: CompressedRows, given_keys: list[int]) -> CompressedRows:
    """The rows after a truncation that takes the first of the given keys."""
    return truncation.apply(rows, np.array(given_keys[: number_of_keys(truncation, rows)], np.uint32))


@given(rows=baskets(), truncation=truncations(), given_keys=keys())
def test_every_truncation_keeps_what_its_twin_keeps(
    rows: Baskets, truncation: Truncation, given_keys: list[int]
) -> None:
    """The kernels agree with a loop over sets, equal keys and equal ranks included."""
    found = apply(truncation, rows_of(rows), given_keys)
    assert baskets_of(found) == reference.truncated(rows, truncation, iter(given_keys))


@given(rows=baskets(), truncation=truncations(), given_keys=keys())
def test_a_truncated_row_is_a_part_of_the_row_and_no_longer_than_promised(
    rows: Baskets, truncation: Truncation, given_keys: list[int]
) -> None:
    """`longest` bounds every row, and nothing is added, repeated or put out of order."""
    found = apply(truncation, rows_of(rows), given_keys)
    assert found.offsets.size == len(rows) + 1
    for before, after in zip(rows, baskets_of(found), strict=True):
        assert after <= before
        assert len(after) <= truncation.longest(ALPHABET_SIZE)
    for first, last in pairwise(found.offsets):
        assert np.all(np.diff(found.items[first:last]) > 0)


@given(rows=baskets(), truncation=truncations(), given_keys=keys())
def test_the_truncation_of_a_row_does_not_depend_on_the_other_rows(
    rows: Baskets, truncation: Truncation, given_keys: list[int]
) -> None:
    """Given its keys, a row truncated alone is the row truncated among others: neighbours stay neighbours."""
    alone, used = [], 0
    for basket in rows:
        row = rows_of([basket])
        alone += baskets_of(apply(truncation, row, given_keys[used:]))
        used += number_of_keys(truncation, row)
    together = rows_of(rows)
    assert used == number_of_keys(truncation, together)
    assert alone == baskets_of(apply(truncation, together, given_keys))


@given(before=baskets(), rows=baskets(), truncation=truncations(), given_keys=keys())
def test_a_slice_of_offsets_is_truncated_like_rows_of_their_own(
    before: Baskets, rows: Baskets, truncation: Truncation, given_keys: list[int]
) -> None:
    """Some rows of a table need no copy to be truncated."""
    table = rows_of([*before, *rows])
    part = CompressedRows(table.offsets[len(before) :], table.items)
    found = baskets_of(apply(truncation, part, given_keys))
    assert found == baskets_of(apply(truncation, rows_of(rows), given_keys))


@given(rows=baskets())
def test_a_limit_that_no_row_reaches_keeps_everything(rows: Baskets) -> None:
    """A huge limit costs no memory and takes nothing away."""
    for truncation in (DropLonger(10**12), KeepRandom(10**12), KeepBest(10**12, np.arange(ALPHABET_SIZE))):
        assert baskets_of(apply(truncation, rows_of(rows), [])) == rows


def test_keeping_all_copies_nothing() -> None:
    """The whole data is counted where it lies."""
    rows = rows_of([frozenset({0, 1}), frozenset()])
    assert KeepAll().apply(rows, np.empty(0, np.uint32)) is rows


@pytest.mark.parametrize(("factor", "fits"), [(0.9, False), (1.0, True), (1.1, False)])
def test_a_random_truncation_keeps_every_subset_equally_often(factor: float, fits: bool) -> None:
    """40,000 rows tell uniform keys from keys that favour or disfavour one item by a tenth.

    The false-alarm rate is one in a million; the seed is fixed.
    """
    number = 40_000
    rows = rows_of([frozenset(range(5))] * number)
    kept = KeepRandom(2).apply(rows, first_item_favoured(factor, number)).items.reshape(number, 2)
    subsets = list(combinations(range(5), 2))
    seen = [int(np.all(kept == subset, axis=1).sum()) for subset in subsets]
    assert sum(seen) == number
    assert (chisquare(seen).pvalue > 1e-6) == fits


def test_long_rows_keep_their_best_items() -> None:
    """A row far longer than the limit goes through many rounds of the heap."""
    rng = np.random.default_rng(3)
    rank = rng.permutation(5_000)
    rows = [frozenset(rng.choice(5_000, 2_000, replace=False).tolist()) for _ in range(3)]
    for limit in (1, 2, 100, 1_999, 2_000):
        truncation = KeepBest(limit, rank)
        assert baskets_of(apply(truncation, rows_of(rows), [])) == reference.truncated(
            rows, truncation, chain()
        )


@pytest.mark.parametrize("truncation", [DropLonger, KeepRandom, lambda limit: KeepBest(limit, np.arange(3))])
def test_a_limit_of_nothing_is_refused(truncation: type[DropLonger]) -> None:
    """A truncation must leave something."""
    with pytest.raises(BadCall, match="a truncation to 0 items keeps nothing; give a limit of at least 1"):
        truncation(0)


def test_ranks_that_do_not_fit_the_alphabet_are_refused() -> None:
    """Every item needs one rank, from 0 up."""
    with pytest.raises(BadCall, match="2 ranks for 3 items; give one rank for each item"):
        KeepBest(1, np.arange(2)).longest(3)
    with pytest.raises(BadCall, match="a rank is negative"):
        KeepBest(1, np.array([0, -1]))


def test_chosen_items_of_negative_code_are_refused() -> None:
    """A code counts from the front of the alphabet."""
    with pytest.raises(BadCall, match="a chosen item has a negative code"):
        OnlyItems(np.array([-1]), KeepAll())


@pytest.mark.parametrize("truncation", [DropLonger, KeepRandom, lambda limit: KeepBest(limit, np.arange(4))])
def test_no_row_is_longer_than_the_alphabet(truncation: type[DropLonger]) -> None:
    """Sensitivities are reckoned with no more than can be kept."""
    assert [truncation(limit).longest(4) for limit in (1, 4, 9)] == [1, 4, 4]


def test_no_row_is_longer_than_what_was_chosen() -> None:
    """Each item once, however often it was named; and no longer than the next truncation leaves it."""
    chosen = np.array([3, 1, 3, 3])
    assert OnlyItems(chosen, KeepAll()).longest(9) == 2
    assert OnlyItems(chosen, KeepRandom(1)).longest(9) == 1
    assert OnlyItems(chosen, KeepRandom(5)).longest(9) == 2
