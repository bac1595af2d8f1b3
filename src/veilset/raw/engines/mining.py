"""Exact frequent itemsets: the truth that releases are compared with, and what some questions ask for.

Items are recoded by ascending support, and an itemset is extended by items of larger support only. The search
is depth-first: over rows of what is still frequent, or over bitmaps where these are dense.
"""

import itertools

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint32Array, Uint64Array
from veilset.errors import BadCall
from veilset.raw.counts import ExactItemsets
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.large_arrays import empty_array
from veilset.raw.engines.shared_search import room_for_itemsets, search_in_shares
from veilset.raw.kernels import itemset_order, packed_itemsets
from veilset.raw.kernels.itemset_order import Keyed
from veilset.raw.kernels.maximal import mark_maximal
from veilset.raw.kernels.packed_itemsets import PackedItemsets
from veilset.raw.kernels.projection import (
    END,
    Projection,
    count_pairs,
    most_paired,
    project_rows,
    project_tails,
    row_ends,
    sort_rows,
)
from veilset.raw.kernels.row_search import bitmaps_pay
from veilset.raw.kernels.scans import add_items
from veilset.raw.kernels.search_state import NUMBER, SUPPORT_FLOOR, FoundItemsets, Search, record_items
from veilset.raw.threads import equal_parts, useful_threads, work_on

UNLIMITED = np.iinfo(np.int64).max
"""More than any number of itemsets, and any size."""

MANY_ITEMSETS = 1 << 17
"""For as many itemsets there is room from the start where more than these are wanted: it need not be made anew."""

PARTS_OF_A_THREAD = 4
"""What is sorted is cut into 4 parts for each thread: some take longer than others."""

MOST_ITEMS_PAIRED = 2048
"""Of how many items all pairs are counted before the search: a table of 16 MB."""


def frequent(
    rows: CompressedRows, which: ItemsetFilter, *, alphabet_size: int, threads: int = 1
) -> ExactItemsets:
    """All itemsets that the filter lets through."""
    return top(rows, UNLIMITED, which, alphabet_size=alphabet_size, threads=threads)


def top(
    rows: CompressedRows,
    k: int,
    which: ItemsetFilter,
    *,
    alphabet_size: int,
    supports: Int64Array | None = None,
    threads: int = 1,
) -> ExactItemsets:
    """The k itemsets of largest support, of all that the filter lets through; fewer where there are fewer.

    Of the itemsets that tie for the last places, some are chosen: always the same ones, and none without its
    subsets of `min_size` items or more. Who knows `supports`, those of the items, saves counting them. Threads
    share a search for all itemsets, and bring what is found in order; the best k are found by one.
    """
    if supports is None:
        supports = np.zeros(alphabet_size, np.int64)
        add_items(rows.offsets, rows.items, supports)
    check_rank(k)
    min_count = min(which.min_count, rows.offsets.size)  # one more than there are rows
    candidates = _by_support(allowed_items(which, supports.size), supports, min_count)
    search = Search(
        k=min(k, UNLIMITED),
        min_size=which.min_size,
        max_size=UNLIMITED if which.max_size is None else min(which.max_size, UNLIMITED),
        tally=np.zeros(int(supports.max(initial=0)) + 2, np.int64),
        progress=np.array([0, min_count, 0], np.int64),
    )
    found = room_for_itemsets(candidates.size if k < MANY_ITEMSETS else max(candidates.size, MANY_ITEMSETS))
    record_items(found, search, candidates, supports[candidates])
    if search.max_size > 1:
        found = _extended(found, search, rows, supports, threads=threads)
    return _wanted(found, search, min_count, threads=threads)


def check_rank(k: int) -> None:
    """BadCall where no itemset is wanted."""
    if k < 1:
        raise BadCall(f"k is {k}; give at least 1")


def allowed_items(which: ItemsetFilter, alphabet_size: int) -> Int64Array:
    """The items that the filter lets through, ascending; BadCall where the alphabet does not hold them."""
    allowed = np.arange(alphabet_size) if which.items is None else np.unique(which.items).astype(np.int64)
    if allowed.size and not 0 <= allowed[0] <= allowed[-1] < alphabet_size:
        raise BadCall(f"items holds a code outside 0 to {alphabet_size - 1}; give codes of the alphabet")
    return allowed


def only_maximal(itemsets: ExactItemsets) -> ExactItemsets:
    """Those of a complete result that are in no larger itemset of it.

    Complete is what `frequent` and `top` return: with an itemset come its subsets, down to the smallest size.
    """
    words = _mixed_words(int(itemsets.items.max(initial=-1)) + 1)
    chosen = np.flatnonzero(mark_maximal(itemsets.offsets, itemsets.items, words))
    offsets = offsets_by_sizes(np.diff(itemsets.offsets)[chosen])
    items = np.empty(offsets[-1], np.int32)
    itemset_order.take(itemsets.offsets, itemsets.items, chosen, offsets, items)
    return ExactItemsets(offsets, items, itemsets.supports[chosen])


def _mixed_words(number: int) -> Uint64Array:
    """The first words of the splitmix64 sequence: bits without a pattern, the same at every call."""
    words = np.arange(1, number + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _by_support(allowed: Int64Array, supports: Int64Array, min_count: int) -> Int32Array:
    """Those of the items that may occur, by ascending support."""
    allowed = allowed[supports[allowed] >= min_count]
    return allowed[np.argsort(supports[allowed], kind="stable")].astype(np.int32)


def _extended(
    found: FoundItemsets, search: Search, rows: CompressedRows, supports: Int64Array, *, threads: int
) -> FoundItemsets:
    """What was found of single items, and all that extends those that still matter."""
    matter = found.supports[: search.progress[NUMBER]] >= search.progress[SUPPORT_FLOOR]
    nodes = np.flatnonzero(matter)[::-1].copy()
    items = found.items[nodes]
    room = int(supports[items].sum()) + rows.offsets.size
    projected = project_rows(rows.offsets, rows.items, _new_codes(items, supports.size), room)
    if not bitmaps_pay(projected, items.size):
        paired = _paired(projected, items.size, found, search)
        nodes, items = nodes[paired], items[paired]
        codes = _new_codes(paired, matter.size)
        projected = project_tails(projected.flat, row_ends(projected)[:-1], codes, projected.flat.size)
        sort_rows(projected, items.size)
    threads = threads if search.k == UNLIMITED else 1
    return search_in_shares(found, search, nodes, items, projected, threads=threads)


def _new_codes(items: Int32Array | Int64Array, size: int) -> Uint32Array:
    """New codes for these items, in their order; all others are dropped."""
    codes = np.full(size, END, np.uint32)
    codes[items] = np.arange(items.size, dtype=np.uint32)
    return codes


def _paired(projected: Projection, n_items: int, found: FoundItemsets, search: Search) -> Int64Array:
    """The items of pairs that can be among the wanted; no other item is in a larger itemset that can."""
    if n_items > MOST_ITEMS_PAIRED:
        return np.arange(n_items)
    pairs = count_pairs(projected, n_items)
    singles = found.supports[: search.progress[NUMBER]]
    floor = int(search.progress[SUPPORT_FLOOR])
    if search.min_size == 1 and search.k <= singles.size + n_items * (n_items - 1) // 2:
        known = np.concatenate([singles, pairs[np.triu_indices(n_items, 1)]])
        floor = max(floor, int(np.partition(known, -search.k)[-search.k]))
    return np.flatnonzero(most_paired(pairs) >= floor)


def _wanted(found: FoundItemsets, search: Search, min_count: int, *, threads: int) -> ExactItemsets:
    """The wanted ones of what was found, in their final order.

    Above the floor there are fewer than k: what ties just below it fills up.
    """
    number = int(search.progress[NUMBER])
    sizes = empty_array(number, np.int64)
    packed_itemsets.write_sizes(found.parents, sizes)
    packed = _room_for(sizes, found.items[:number])
    packed_itemsets.pack_found(found, packed)
    least = max(int(search.progress[SUPPORT_FLOOR]) - 1, min_count)
    return _in_order(packed, found.supports[:number], search.k, (search.min_size, least), threads=threads)


def in_final_order(
    offsets: Int64Array, items: Int32Array, supports: Int64Array, k: int, *, min_count: int = 0
) -> ExactItemsets:
    """The first k itemsets of that support or more: by support, largest first, ties by size, then by codes."""
    packed = _room_for(np.diff(offsets), items)
    packed_itemsets.pack_rows(offsets, items, packed)
    return _in_order(packed, np.ascontiguousarray(supports), k, (1, min_count))


def _room_for(sizes: Int64Array, items: Int32Array) -> PackedItemsets:
    """Itemsets of these sizes and of some of the items, whose words are still to be written."""
    codes = packed_itemsets.codes_in(items)
    bits = packed_itemsets.bits_of_ranks(codes)
    offsets = empty_array(sizes.size + 1, np.int64)
    packed_itemsets.write_word_offsets(sizes, bits, offsets)
    return PackedItemsets(sizes, offsets, empty_array(int(offsets[-1]), np.int64), codes, bits)


def _in_order(
    packed: PackedItemsets, supports: Int64Array, k: int, least: tuple[int, int], *, threads: int = 1
) -> ExactItemsets:
    """The first k of those of the least size and support, by support, size and codes."""
    keyed, space = (Keyed(*(empty_array(supports.size, np.int64) for _ in Keyed._fields)) for _ in range(2))
    number, largest, longest = itemset_order.write_keys(packed, supports, *least, keyed)
    keyed, space = _part(keyed, slice(number)), _part(space, slice(number))
    if itemset_order.sort_by_keys(keyed, space):
        keyed, space = space, keyed
    offsets, ordered = empty_array(min(number, k) + 1, np.int64), empty_array(min(number, k), np.int64)
    itemset_order.read_keys(keyed.keys[:k], largest, longest, offsets, ordered)
    items = empty_array(int(offsets[-1]), np.int32)

    def order_part(part: slice) -> None:
        itemset_order.sort_equal_keys(_part(keyed, part), _part(space, part), packed, longest)
        own = _part(keyed, slice(part.start, min(part.stop, k)))
        packed_itemsets.unpack_in_order(packed, own.numbers, own.words, offsets[part.start :], items)

    threads = useful_threads(number, threads)
    parts = [slice(0, number)] if threads == 1 else _of_whole_keys(keyed.keys, PARTS_OF_A_THREAD * threads)
    work_on(parts, order_part, threads=threads)
    return ExactItemsets(offsets, items, ordered)


def _of_whole_keys(keys: Int64Array, number: int) -> list[slice]:
    """At most that many parts of sorted keys, of about the same size, none of which ends within a key."""
    lasts = keys[[part.stop - 1 for part in equal_parts(keys.size, number)]]
    ends = np.unique(np.searchsorted(keys, lasts, side="right")).tolist()
    return [slice(begin, end) for begin, end in itertools.pairwise([0, *ends])]


def _part(keyed: Keyed, part: slice) -> Keyed:
    """A part of some itemsets."""
    return Keyed(*(column[part] for column in keyed))


def offsets_by_sizes(sizes: Int64Array) -> Int64Array:
    """Where itemsets of these sizes begin, and where the last one ends."""
    offsets = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
