"""The local engine counts what sets count: under every truncation, in any chunks, threads and representation."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from reference import Baskets
from row_keys_twin import keys_in_order, keys_of
from strategies import (
    ALPHABET_SIZE,
    arrays_of,
    baskets,
    itemsets,
    neighbours,
    transactions_of,
    truncations,
)
from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.row_keys import LongRows, RowKeys, SipKeys
from veilset.raw.cuts.rows import CompressedRows, Keys
from veilset.raw.cuts.truncation import KeepAll, KeepBest, KeepRandom, Truncation, l1_sensitivity
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.local import LocalEngine
from veilset.raw.kernels import vertical
from veilset.raw.transactions import Transactions

ALL_ITEMS = np.arange(ALPHABET_SIZE, dtype=np.int32)

secrets = st.integers(0, 99).map(keys_of)
chunk_sizes = st.sampled_from([1, 3, 64, 1_000])
chosen_items = st.permutations(range(ALPHABET_SIZE)).flatmap(
    lambda order: st.integers(0, ALPHABET_SIZE).map(lambda number: list(order[:number]))
)
"""Some different items, in any order."""

FORMS = {
    "bitmaps": {"CACHED_WORDS": 1 << 60},
    "lists": {"CACHED_WORDS": -1, "ROWS_FOR_A_BIT": 0},
    "lists and bitmaps": {"CACHED_WORDS": -1, "ROWS_FOR_A_BIT": 3},
}
"""Settings of `vertical` that bring about each form of it on small data."""


def no_keys() -> RowKeys:
    """For truncations that draw nothing."""
    pytest.fail("keys are drawn where nothing is left to chance")


def engine_of(rows: Baskets, chunk: int = 1_000, threads: int = 2) -> LocalEngine:
    """An engine over the small alphabet."""
    return LocalEngine(transactions_of(rows), threads=threads, rows_in_a_chunk=chunk)


@contextmanager
def settings_of(module: object, **values: int) -> Iterator[None]:
    """The constants of a module that decide on a representation, changed for a while."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setattr(module, name, value)
        yield


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@given(rows=baskets(), times=st.sampled_from([1, 20]), candidates=itemsets(), chunk=chunk_sizes)
def test_supports_match_the_obvious_loop_in_every_form(
    form: dict[str, int], rows: Baskets, times: int, candidates: list[list[int]], chunk: int
) -> None:
    """Bitmaps, lists and both together count the same, in one word or many, in one chunk or many."""
    with settings_of(vertical, **form):
        found = engine_of(rows * times, chunk).supports(*arrays_of(candidates), KeepAll(), no_keys)
    assert found.values.tolist() == reference.supports(rows * times, candidates)


@given(
    rows=baskets(),
    truncation=truncations(),
    drawn=secrets,
    candidates=itemsets(),
    chosen=chosen_items,
    chunk=chunk_sizes,
)
def test_every_question_under_every_truncation_matches_its_twin(
    rows: Baskets,
    truncation: Truncation,
    drawn: SipKeys,
    candidates: list[list[int]],
    chosen: list[int],
    chunk: int,
) -> None:
    """Each question truncates first and counts then; by keys that hang on the row alone."""
    left = reference.truncated(rows, truncation, keys_in_order(rows, truncation, drawn))
    engine, some = engine_of(rows, chunk), np.array(chosen, np.int32)
    assert engine.number().values.tolist() == [len(rows)]
    assert engine.lengths(truncation, lambda: drawn, limit=4).values.tolist() == reference.lengths(left, 4)
    assert engine.item_supports(truncation, lambda: drawn).values.tolist() == reference.item_supports(
        left, ALPHABET_SIZE
    )
    found = engine.supports(*arrays_of(candidates), truncation, lambda: drawn)
    assert found.values.tolist() == reference.supports(left, candidates)
    found = engine.marginal(some, truncation, lambda: drawn)
    assert found.values.tolist() == reference.marginal(left, chosen)


def moves(
    ask: Callable[[LocalEngine], ExactCounts], databases: tuple[Baskets, Baskets], chunk: int
) -> Int64Array:
    """By how much one more basket moves each value of an answer."""
    fewer, more = (ask(engine_of(rows, chunk)).values for rows in databases)
    return more - fewer


@given(
    databases=neighbours(), truncation=truncations(), drawn=secrets, candidates=itemsets(), chunk=chunk_sizes
)
def test_one_more_basket_moves_supports_up_by_no_more_than_their_sensitivity(
    databases: tuple[Baskets, Baskets],
    truncation: Truncation,
    drawn: SipKeys,
    candidates: list[list[int]],
    chunk: int,
) -> None:
    """Every support moves by 0 or 1, and different itemsets together by no more than `l1_sensitivity`."""
    different = [list(itemset) for itemset in dict.fromkeys(map(tuple, candidates))]
    asked: list[tuple[Callable[[LocalEngine], ExactCounts], list[int]]] = [
        (lambda engine: engine.item_supports(truncation, lambda: drawn), [1] * ALPHABET_SIZE),
        (
            lambda engine: engine.supports(*arrays_of(different), truncation, lambda: drawn),
            list(map(len, different)),
        ),
    ]
    for ask, sizes in asked:
        moved = moves(ask, databases, chunk)
        number_by_size = {size: sizes.count(size) for size in sizes}
        assert set(moved.tolist()) <= {0, 1}
        assert moved.sum() <= l1_sensitivity(
            truncation, alphabet_size=ALPHABET_SIZE, candidates=number_by_size
        )


@given(
    databases=neighbours(), truncation=truncations(), drawn=secrets, chosen=chosen_items, chunk=chunk_sizes
)
def test_one_more_basket_adds_one_to_one_length_and_to_one_cell(
    databases: tuple[Baskets, Baskets],
    truncation: Truncation,
    drawn: SipKeys,
    chosen: list[int],
    chunk: int,
) -> None:
    """A basket has one length and one cell of a marginal: histograms have sensitivity 1."""
    some = np.array(chosen, np.int32)
    for moved in (
        moves(lambda engine: engine.lengths(truncation, lambda: drawn, limit=3), databases, chunk),
        moves(lambda engine: engine.marginal(some, truncation, lambda: drawn), databases, chunk),
    ):
        assert sorted(moved.tolist()) == [0] * (moved.size - 1) + [1]


def test_a_seeded_run_repeats_whatever_the_number_of_threads() -> None:
    """Keys hang on what a row holds, and on nothing else."""
    rng = np.random.default_rng(8)
    rows = [frozenset(rng.choice(ALPHABET_SIZE, 4, replace=False).tolist()) for _ in range(500)]
    seen = set()
    for threads in (1, 2, 7):
        engine = engine_of(rows, chunk=7, threads=threads)
        seen.add(tuple(engine.item_supports(KeepRandom(2), lambda: keys_of(9)).values.tolist()))
    assert len(seen) == 1


@pytest.mark.parametrize(
    "rows", [[], [frozenset()], [frozenset()] * 70], ids=["none", "one empty", "all empty"]
)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_rows_without_items_are_counted(rows: Baskets, form: dict[str, int]) -> None:
    """No rows and empty rows give zeros, the empty itemset and the cell of no item aside."""
    engine, number = engine_of(rows), len(rows)
    assert engine.number().values.tolist() == [number]
    assert engine.lengths(KeepAll(), no_keys, limit=2).values.tolist() == [number, 0, 0]
    assert engine.item_supports(KeepAll(), no_keys).values.tolist() == [0] * ALPHABET_SIZE
    assert engine.marginal(ALL_ITEMS[:2], KeepAll(), no_keys).values.tolist() == [number, 0, 0, 0]
    with settings_of(vertical, **form):
        found = engine.supports(*arrays_of([[], [0], [0, 1]]), KeepAll(), no_keys)
    assert found.values.tolist() == [number, 0, 0]


def test_an_alphabet_of_one_item_is_enough() -> None:
    """One item has a support and two cells."""
    transactions = transactions_of([frozenset(), frozenset({0}), frozenset({0})], alphabet_size=1)
    engine, only = LocalEngine(transactions), np.zeros(1, np.int32)
    assert engine.item_supports(KeepAll(), no_keys).values.tolist() == [2]
    assert engine.marginal(only, KeepAll(), no_keys).values.tolist() == [1, 2]
    assert engine.supports(*arrays_of([[0], []]), KeepAll(), no_keys).values.tolist() == [2, 3]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_codes_beyond_sixteen_bits_are_told_apart(form: dict[str, int]) -> None:
    """A large alphabet has codes that differ by 2^16."""
    low, high = 7, 7 + (1 << 16)
    transactions = transactions_of([frozenset({low}), frozenset({low, high})], alphabet_size=1 << 17)
    engine = LocalEngine(transactions)
    with settings_of(vertical, **form):
        found = engine.supports(*arrays_of([[low], [high], [low, high]]), KeepAll(), no_keys)
    assert found.values.tolist() == [2, 1, 1]
    found = engine.marginal(np.array([high, low], np.int32), KeepAll(), no_keys)
    assert found.values.tolist() == [0, 0, 1, 1]


@given(before=baskets(), rows=baskets(), after=baskets(), candidates=itemsets())
def test_a_part_of_a_table_is_counted_alone(
    before: Baskets, rows: Baskets, after: Baskets, candidates: list[list[int]]
) -> None:
    """Transactions and candidates may be slices of larger arrays, read-only ones too."""
    table = transactions_of([*before, *rows, *after])
    offsets = table.offsets[len(before) : len(before) + len(rows) + 1]
    offsets.setflags(write=False)
    engine = LocalEngine(Transactions(offsets, table.items, table.alphabet))
    set_offsets, set_items = arrays_of([[0, 1], *candidates])
    found = engine.supports(set_offsets[1:], set_items, KeepAll(), no_keys)
    assert found.values.tolist() == reference.supports(rows, candidates)
    frequent = engine.frequent(ItemsetFilter(max_size=1))
    assert frequent.supports.sum() == sum(map(len, rows))


def test_the_engine_counts_where_the_data_lies() -> None:
    """Whole data is not copied."""
    transactions = transactions_of([frozenset({0, 1}), frozenset()])
    rows = LocalEngine(transactions)._rows
    assert np.shares_memory(rows.items, transactions.items)
    assert np.shares_memory(rows.offsets, transactions.offsets)


def test_mining_is_handed_the_data_and_all_limits() -> None:
    """`frequent` and `top` answer for the sizes, counts and items that were asked for."""
    engine = engine_of([frozenset({0, 1, 2})] * 3 + [frozenset({0, 1})])
    some = np.array([0, 1, 2], np.int32)
    found = engine.frequent(ItemsetFilter(min_count=3, min_size=2, max_size=2, items=some))
    assert found.supports.tolist() == [4, 3, 3]
    assert found.items.tolist() == [0, 1, 0, 2, 1, 2]
    best = engine.top(1, ItemsetFilter(min_size=2, max_size=3, items=some[:2]))
    assert (best.items.tolist(), best.supports.tolist()) == ([0, 1], [4])


def test_few_totals_are_kept_where_many_would_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question whose answer is large is counted by fewer threads, with the same result."""
    monkeypatch.setattr("veilset.raw.engines.local.BYTES_OF_TOTALS", 0)
    rows = [frozenset({0, 1}), frozenset({1})] * 5
    found = engine_of(rows, chunk=3, threads=4).item_supports(KeepAll(), no_keys)
    assert found.values.tolist() == reference.item_supports(rows, ALPHABET_SIZE)


@dataclass(frozen=True)
class FailingTruncation:
    """A truncation that never works."""

    def longest(self, alphabet_size: int) -> int:
        """Anything."""
        return alphabet_size

    def keys_needed(self, rows: CompressedRows) -> LongRows | None:  # noqa: ARG002
        """None."""
        return None

    def apply(self, rows: CompressedRows, keys: Keys) -> CompressedRows:  # noqa: ARG002
        """Fails."""
        raise MemoryError


def test_a_chunk_that_fails_ends_the_question() -> None:
    """An error in a thread reaches the caller and leaves no thread waiting."""
    with pytest.raises(MemoryError):
        engine_of([frozenset({0})] * 20, chunk=1, threads=2).item_supports(FailingTruncation(), no_keys)


ASKED_BADLY: dict[str, tuple[Callable[[LocalEngine], ExactCounts], str]] = {
    "outside": (
        lambda engine: engine.supports(*arrays_of([[ALPHABET_SIZE]]), KeepAll(), no_keys),
        "an item code lies outside the alphabet; give codes from 0 to 5",
    ),
    "negative": (
        lambda engine: engine.marginal(np.array([-1, 0], np.int32), KeepAll(), no_keys),
        "an item code lies outside the alphabet; give codes from 0 to 5",
    ),
    "twice": (
        lambda engine: engine.marginal(np.array([1, 1], np.int32), KeepAll(), no_keys),
        "2 items were given, some of them twice; give every item once",
    ),
    "too many": (
        lambda engine: engine.marginal(np.zeros(17, np.int32), KeepAll(), no_keys),
        "the marginal of 17 items has too many cells; give at most 16 items",
    ),
    "misfit truncation": (
        lambda engine: engine.lengths(KeepBest(1, np.arange(2)), no_keys, limit=1),
        "2 ranks for 6 items; give one rank for each item",
    ),
    "no length": (
        lambda engine: engine.lengths(KeepAll(), no_keys, limit=-1),
        "a longest length of -1 counts nothing; give a limit of at least 0",
    ),
}


@pytest.mark.parametrize(("ask", "message"), ASKED_BADLY.values(), ids=ASKED_BADLY)
def test_a_bad_question_is_refused(ask: Callable[[LocalEngine], ExactCounts], message: str) -> None:
    """The message says what was given and what is allowed, and does not depend on the data."""
    with pytest.raises(BadCall, match=message):
        ask(engine_of([frozenset({0})]))


@given(rows=baskets(), truncation=truncations(), drawn=secrets, chunk=chunk_sizes, threads=st.integers(1, 3))
def test_weighted_items_match_the_obvious_loop(
    rows: Baskets, truncation: Truncation, drawn: SipKeys, chunk: int, threads: int
) -> None:
    """Under every truncation, by what is left of a transaction, in any chunks and on any number of threads."""
    weights = np.array([5**length for length in range(ALPHABET_SIZE + 1)], np.int64)
    found = engine_of(rows, chunk, threads).weighted_items(weights, truncation, lambda: drawn)
    kept = reference.truncated(rows, truncation, keys_in_order(rows, truncation, drawn))
    assert found.values.tolist() == reference.weighted_items(kept, ALPHABET_SIZE, weights.tolist())


def test_weights_must_reach_up_to_the_longest_transaction() -> None:
    """Or a kernel would read past the last of them."""
    rows = [frozenset({0, 1, 2})]
    assert (
        engine_of(rows).weighted_items(np.array([0, 4, 2]), KeepRandom(2), lambda: keys_of(1)).values.sum()
        == 4
    )
    with pytest.raises(BadCall, match="2 weights are too few"):
        engine_of(rows).weighted_items(np.array([0, 4]), KeepRandom(2), lambda: keys_of(1))
    with pytest.raises(BadCall, match="too few"):
        engine_of(rows).weighted_items(np.array([0, 4, 2]), KeepAll(), no_keys)


@given(rows=baskets(), chosen=chosen_items, chunk=chunk_sizes, threads=st.integers(1, 3))
def test_restricted_transactions_hold_the_chosen_items_by_their_new_codes(
    rows: Baskets, chosen: list[int], chunk: int, threads: int
) -> None:
    """All rows stay, also those that become empty; their codes ascend, and names follow the new order."""
    restricted = engine_of(rows, chunk, threads).restricted(np.array(chosen, np.int64))
    kept = reference.restricted(rows, chosen)
    assert list(restricted.alphabet.names) == chosen
    assert restricted.number().values.tolist() == [len(rows)]
    assert restricted.lengths(KeepAll(), no_keys, limit=6).values.tolist() == reference.lengths(kept, 6)
    held = restricted._rows  # kernels rely on the order of codes
    parts = [held.items[start:end].tolist() for start, end in pairwise(held.offsets.tolist())]
    assert parts == [sorted(basket) for basket in kept]
