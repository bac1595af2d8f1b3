"""The engine for data that fits in this machine's memory: compiled counting over chunks, on all cores.

A chunk is truncated, then counted, then forgotten (see `chunks`), so a question needs little more memory than its
answer. Answers are sums of integers: they do not depend on which thread counted what.
"""

import math
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint32Array
from veilset.errors import BadCall
from veilset.raw.counts import ExactCounts, ExactItemsets, ExactRecords, ExactTree
from veilset.raw.cuts.owners import keep_per_owner
from veilset.raw.cuts.row_keys import NumberedRows
from veilset.raw.cuts.rows import CompressedRows, Keys, chosen_rows
from veilset.raw.cuts.truncation import KeepAll, Reshape, Truncation
from veilset.raw.engines import DrawKeys, levelwise, mining
from veilset.raw.engines.chunks import ROWS_IN_A_CHUNK, ChunkedRows, no_keys, rows_of
from veilset.raw.engines.derived_rows import joined_chunks, with_codes
from veilset.raw.engines.different_records import different_records, merged_records
from veilset.raw.engines.item_bitmaps import LARGEST_BY_SUBSETS, ItemBitmaps
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.remembered_search import RememberedSearch
from veilset.raw.kernels import (
    containment,
    length_weights,
    normalised_supports,
    prefix_tree,
    scans,
    supports,
    vertical,
)
from veilset.raw.transactions import Alphabet, Transactions

BYTES_OF_TOTALS = 1 << 30
"""Each thread has totals of its own, unless all of them together would take more memory than this."""

CHUNKS_BEFORE_BITMAPS = 2
"""Up to 2 chunks of rows are counted anew for each question; of more rows, bitmaps of frequent items are kept."""

MOST_MARGINAL_ITEMS = 16
"""The marginal of g items has 2^g cells."""

AddCounts = Callable[[CompressedRows, Int64Array], None]
"""Adds to the totals what some rows contribute, after truncation."""


def _check_different(items: Int32Array) -> None:
    if np.unique(items).size != items.size:
        raise BadCall(f"{items.size} items were given, some of them twice; give every item once")


def _places(chosen: Int32Array, alphabet_size: int) -> Int32Array:
    """Where each item stands among the chosen ones; all others stand behind them (see `kernels.vertical`)."""
    places = np.full(alphabet_size, chosen.size, np.int32)
    places[chosen] = np.arange(chosen.size, dtype=np.int32)
    return places


class LocalEngine:
    """Answers questions about transactions in memory; `threads` is the number of cores if not given."""

    def __init__(
        self,
        transactions: Transactions,
        *,
        threads: int | None = None,
        rows_in_a_chunk: int = ROWS_IN_A_CHUNK,
        numbers: Uint32Array | None = None,
        bitmaps_at: Path | None = None,
    ) -> None:
        """`numbers` are those of transactions among equal ones, where these are a part of more.

        `bitmaps_at` names a file in which processes that ask about the same transactions share bitmaps of items.
        """
        self.alphabet: Alphabet = transactions.alphabet
        self._rows = rows_of(transactions)
        self._owners = transactions.owners
        self._threads = threads or os.cpu_count() or 1
        self._chunks = ChunkedRows(
            self._rows, rows_in_a_chunk=rows_in_a_chunk, threads=self._threads, numbers=numbers
        )
        self._bitmaps_at = bitmaps_at

    @property
    def held(self) -> Transactions:
        """The transactions themselves, for engines that put several of these together."""
        return Transactions(self._rows.offsets, self._rows.items, self.alphabet, self._owners)

    def reshaped(self, reshape: Reshape, draw: DrawKeys) -> "LocalEngine":
        """An engine over the rows that the transactions become; chunk by chunk, on all cores."""
        if isinstance(reshape, Truncation):
            reshape.longest(len(self.alphabet))  # raises where it does not fit, as in `_sum`
        made = self._chunks.worked_on(reshape.apply, reshape, draw)
        return self._over(joined_chunks(made, made_of=self._rows), self.alphabet)

    def sample(self, draw: DrawKeys, *, below: int) -> "LocalEngine":
        """The same over the transactions whose random 32-bit key is below a bound."""
        keys = draw().of_rows(NumberedRows(self._rows, self._chunks.numbers(longer_than=-1)))
        drawn = chosen_rows(self._rows, keys < np.uint64(below))
        return self._over(drawn, self.alphabet)

    def of_each_owner(self, most: int, draw: DrawKeys) -> "LocalEngine":
        """An engine over at most that many transactions of each owner, drawn uniformly."""
        if self._owners is None:
            return self
        kept = keep_per_owner(self.held, most, draw())
        return LocalEngine(kept, threads=self._threads, rows_in_a_chunk=self._chunks.rows_in_a_chunk)

    def restricted(self, items: Int64Array) -> "LocalEngine":
        """An engine over the same transactions with no other items than these, in this order."""
        chosen = Alphabet([self.alphabet.names[code] for code in items.tolist()], is_given=True)
        places = np.full(len(self.alphabet), -1, np.int32)
        places[items] = np.arange(items.size)

        def renamed(rows: CompressedRows, _: Keys) -> CompressedRows:
            return with_codes(rows, places)

        made = self._chunks.worked_on(renamed, KeepAll(), no_keys)
        return self._over(joined_chunks(made, made_of=self._rows), chosen)

    def _over(self, rows: CompressedRows, alphabet: Alphabet) -> "LocalEngine":
        """An engine over other rows, which works as this one does."""
        held = Transactions(rows.offsets, rows.items, alphabet)
        return LocalEngine(held, threads=self._threads, rows_in_a_chunk=self._chunks.rows_in_a_chunk)

    def weighted_items(self, weights: Int64Array, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """For each item the sum of `weights[n]` over the transactions that hold it, of n items after truncation."""
        if weights.size <= truncation.longest(len(self.alphabet)):
            raise BadCall(
                f"{weights.size} weights are too few; give one for each length from 0 up to the longest"
            )

        def add(rows: CompressedRows, totals: Int64Array) -> None:
            length_weights.add_by_length(rows.offsets, rows.items, weights, totals)

        return self._sum(add, len(self.alphabet), truncation, draw)

    def number(self) -> ExactCounts:
        """How many transactions there are: one value."""
        return ExactCounts(np.array([self._rows.offsets.size - 1], np.int64))

    def transactions_by_owner(self, *, limit: int) -> ExactCounts:
        """How many owners have 1, 2, ..., limit transactions (the last value: or more)."""
        if limit < 1:
            raise BadCall(f"at most {limit} transactions of an owner counts nothing; give a limit from 1 up")
        owners = np.arange(self._rows.offsets.size - 1) if self._owners is None else self._owners
        _, owned = np.unique(owners, return_counts=True)
        return ExactCounts(np.bincount(np.minimum(owned, limit), minlength=limit + 1)[1:].astype(np.int64))

    def lengths(self, truncation: Truncation, draw: DrawKeys, *, limit: int) -> ExactCounts:
        """How many transactions have 0, 1, ..., limit items (the last value: or more) after truncation."""
        if limit < 0:
            raise BadCall(f"a longest length of {limit} counts nothing; give a limit of at least 0")

        def add(rows: CompressedRows, totals: Int64Array) -> None:
            scans.add_lengths(rows.offsets, totals)

        return self._sum(add, limit + 1, truncation, draw)

    def item_supports(self, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """How many transactions hold each item of the alphabet, after truncation."""
        if isinstance(truncation, KeepAll):
            return ExactCounts(self._item_supports.copy())

        def add(rows: CompressedRows, totals: Int64Array) -> None:
            scans.add_items(rows.offsets, rows.items, totals)

        return self._sum(add, len(self.alphabet), truncation, draw)

    def supports(
        self, offsets: Int64Array, items: Int32Array, truncation: Truncation, draw: DrawKeys
    ) -> ExactCounts:
        """How many transactions hold all of each itemset `items[offsets[i]:offsets[i + 1]]`, after truncation.

        The empty itemset is held by every transaction. Itemsets in lexicographic order are counted fastest.
        """
        set_offsets = np.array(offsets, np.int64)  # kernels meet one type of array
        bitmaps = self._bitmaps_of(items, truncation)
        if bitmaps is not None:
            return ExactCounts(bitmaps.supports(set_offsets, bitmaps.places[items]))
        places, sets = self._chosen(items)
        number = sets.max(initial=-1) + 1

        def add(rows: CompressedRows, totals: Int64Array) -> None:
            turned = vertical.turn(rows.offsets, rows.items, places, number)
            supports.add_supports(turned, rows.offsets.size - 1, set_offsets, sets, totals)

        return self._sum(add, offsets.size - 1, truncation, draw)

    def normalised_supports(
        self, limits: Int64Array, truncation: Truncation, draw: DrawKeys, *, steps: int
    ) -> ExactCounts:
        """The support of each item where a transaction of n items, after truncation, counts limit / n if longer.

        In integer steps, `steps` of them for a whole transaction, rounded down for each transaction. One row
        for each item, one column for each limit.
        """
        if limits.size == 0 or limits.min() < 1:
            raise BadCall("a length limit below 1 leaves nothing of a transaction; give limits of at least 1")

        def add(rows: CompressedRows, totals: Int64Array) -> None:
            normalised_supports.add_normalised(rows.offsets, rows.items, limits, steps, totals)

        def add_lost(rows: CompressedRows, totals: Int64Array) -> None:
            normalised_supports.add_lost(rows.offsets, rows.items, limits, steps, totals)

        knows_supports = isinstance(truncation, KeepAll)
        counted = self._sum(
            add_lost if knows_supports else add, len(self.alphabet) * limits.size, truncation, draw
        )
        values = counted.values.reshape(-1, limits.size)
        return ExactCounts(steps * self._item_supports[:, None] - values if knows_supports else values)

    def containment(self, offsets: Int64Array, items: Int32Array, *, limit: int) -> ExactCounts:
        """How many transactions hold 0, 1, ..., limit (the last value: or more) of the itemsets; none is empty."""
        set_offsets = np.array(offsets, np.int64)
        bitmaps = self._bitmaps_of(items)
        if bitmaps is not None and bitmaps.can_keep_contained(offsets.size):
            return ExactCounts(bitmaps.containment(set_offsets, bitmaps.places[items], limit=limit))
        places, sets = self._chosen(items)

        def add(rows: CompressedRows, totals: Int64Array) -> None:
            turned = vertical.turn_to_bitmaps(rows.offsets, rows.items, places, sets.max(initial=-1) + 1)
            numbers = containment.count_contained(turned.bitmaps, rows.offsets.size - 1, set_offsets, sets)
            totals += np.bincount(np.minimum(numbers, limit), minlength=limit + 1)

        return self._sum(add, limit + 1, KeepAll(), no_keys)

    def capped_counts(self, offsets: Int64Array, items: Int32Array, *, most: int, steps: int) -> ExactCounts:
        """The support of each itemset where a transaction that holds n of them counts most / n if that is less.

        In integer steps, `steps` of them for a whole transaction, rounded down for each transaction. No
        itemset may be empty.
        """
        numbers = np.arange(offsets.size)
        weights = np.where(numbers > most, steps * most // np.maximum(numbers, 1), steps)
        return self.weighted_counts(offsets, items, weights)

    def weighted_counts(self, offsets: Int64Array, items: Int32Array, weights: Int64Array) -> ExactCounts:
        """For each itemset the sum of `weights[n]` over the transactions that hold it, and n of the itemsets in all."""
        set_offsets, weights = np.array(offsets, np.int64), np.array(weights, np.int64)
        bitmaps = self._bitmaps_of(items)
        if bitmaps is not None and bitmaps.can_keep_contained(offsets.size):
            return ExactCounts(bitmaps.weighted_counts(set_offsets, bitmaps.places[items], weights))
        places, sets = self._chosen(items)

        def add(rows: CompressedRows, totals: Int64Array) -> None:
            turned = vertical.turn_to_bitmaps(rows.offsets, rows.items, places, sets.max(initial=-1) + 1)
            numbers = containment.count_contained(turned.bitmaps, rows.offsets.size - 1, set_offsets, sets)
            containment.add_weighted(turned.bitmaps, numbers, weights, set_offsets, sets, totals)

        return self._sum(add, offsets.size - 1, KeepAll(), no_keys)

    def marginal(self, items: Int32Array, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """How many transactions hold exactly which of up to 16 given items, after truncation.

        Bit i of a cell's number tells whether `items[i]` is held: 2^len(items) cells.
        """
        if items.size > MOST_MARGINAL_ITEMS:
            raise BadCall(
                f"the marginal of {items.size} items has too many cells; give at most {MOST_MARGINAL_ITEMS} items"
            )
        self._check_known(items)
        _check_different(items)
        bitmaps = self._bitmaps_of(items, truncation) if items.size <= LARGEST_BY_SUBSETS else None
        if bitmaps is not None:
            return ExactCounts(bitmaps.marginal(bitmaps.places[items]))
        places = _places(items, len(self.alphabet))

        def add(rows: CompressedRows, totals: Int64Array) -> None:
            scans.add_marginal(rows.offsets, rows.items, places, totals)

        return self._sum(add, 1 << items.size, truncation, draw)

    def records(self, places: Int32Array) -> ExactRecords:
        """Transactions and how often each comes, with `places[item]` in the place of an item.

        Items of place -1 are left out, and so are transactions that hold nothing else. See `merged_records` for those
        that stand more than once.
        """

        def of_chunk(rows: CompressedRows, _: Keys) -> ExactRecords:
            return different_records(rows, places)

        parts = self._chunks.worked_on(of_chunk, KeepAll(), no_keys)
        return merged_records(parts, made_of=self._rows)

    def prefix_tree(
        self, order: Int32Array, truncation: Truncation, draw: DrawKeys, *, depth: int
    ) -> ExactTree:
        """The tree of transactions as paths of up to `depth` items in this order, after truncation."""
        self._check_known(order)
        _check_different(order)
        truncation.longest(len(self.alphabet))
        rank = np.full(len(self.alphabet), -1, np.int64)
        rank[order] = np.arange(order.size)

        def grown(rows: CompressedRows, keys: Keys) -> prefix_tree.PrefixTree:
            kept = truncation.apply(rows, keys)
            return prefix_tree.of_rows(kept.offsets, kept.items, rank, depth)

        tree = prefix_tree.root_with_room(0)
        for part in self._chunks.worked_on(grown, truncation, draw):
            tree = prefix_tree.added(tree, part)
        number = int(tree.number[0])
        return ExactTree(tree.parents[:number], tree.ranks[:number], tree.counts[:number])

    def frequent(self, which: ItemsetFilter) -> ExactItemsets:
        """All itemsets that the filter lets through."""
        return self.top(mining.UNLIMITED, which)

    def top(self, k: int, which: ItemsetFilter) -> ExactItemsets:
        """The k itemsets of largest support that the filter lets through; of those that tie for the last, some."""
        found = None
        if self._has_many_rows and levelwise.may_be_few(self._item_supports, k, which):
            found = self._levelwise.top(k, which)
        return self._search.top(k, which) if found is None else found

    @cached_property
    def _search(self) -> RememberedSearch:
        """Searches for itemsets that are not few."""
        return RememberedSearch(self._rows, self._item_supports, threads=self._threads)

    @property
    def _has_many_rows(self) -> bool:
        """Whether what one question prepares is worth keeping for the next."""
        return self._chunks.number_of_rows > CHUNKS_BEFORE_BITMAPS * self._chunks.rows_in_a_chunk

    @cached_property
    def _item_supports(self) -> Int64Array:
        """How many transactions hold each item: counted once."""

        def add(rows: CompressedRows, totals: Int64Array) -> None:
            scans.add_items(rows.offsets, rows.items, totals)

        return self._sum(add, len(self.alphabet), KeepAll(), no_keys).values

    @cached_property
    def _bitmaps(self) -> ItemBitmaps:
        """Which transactions hold each of the most frequent items: made at the first question that needs them."""
        words = math.ceil(self._chunks.rows_in_a_chunk / 64)
        padded = words + 8 if words % 64 == 0 else words  # or all items share the same few lines of the cache
        return ItemBitmaps(
            self._rows, self._item_supports, words=padded, threads=self._threads, kept_at=self._bitmaps_at
        )

    @cached_property
    def _levelwise(self) -> levelwise.LevelwiseSearch:
        """A search that remembers what it counted."""
        return levelwise.LevelwiseSearch(self._bitmaps, self._item_supports)

    def _bitmaps_of(self, items: Int32Array, truncation: Truncation | None = None) -> ItemBitmaps | None:
        """Bitmaps that hold these items, for a question about whole transactions; None where it does without them."""
        if not self._has_many_rows or not isinstance(truncation, KeepAll | None):
            return None
        self._check_known(items)
        return self._bitmaps if self._bitmaps.hold(items) else None

    def _chosen(self, items: Int32Array) -> tuple[Int32Array, Int32Array]:
        """Numbers for the items of itemsets, 0, 1, ... by code: the place of every code, and these items by it."""
        self._check_known(items)
        is_chosen = np.zeros(len(self.alphabet), np.bool_)
        is_chosen[items] = True
        places = _places(np.flatnonzero(is_chosen).astype(np.int32), len(self.alphabet))
        return places, places[items]

    def _check_known(self, items: Int32Array) -> None:
        size = len(self.alphabet)
        if items.size and not 0 <= items.min() <= items.max() < size:
            raise BadCall(f"an item code lies outside the alphabet; give codes from 0 to {size - 1}")

    def _sum(self, add: AddCounts, size: int, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """The sum over all chunks of what their rows contribute after truncation."""
        truncation.longest(len(self.alphabet))  # raises where it does not fit; kernels do not check
        threads = max(1, min(self._chunks.threads, BYTES_OF_TOTALS // (8 * size + 1)))
        idle: SimpleQueue[Int64Array] = SimpleQueue()
        for _ in range(threads):
            idle.put(np.zeros(size, np.int64))

        def count(rows: CompressedRows, keys: Keys) -> None:
            totals = idle.get()
            try:
                add(truncation.apply(rows, keys), totals)
            finally:
                idle.put(totals)  # or the next chunk would wait for ever

        for _ in self._chunks.worked_on(count, truncation, draw, threads=threads):
            pass
        return ExactCounts(np.sum([idle.get() for _ in range(threads)], axis=0, dtype=np.int64))
