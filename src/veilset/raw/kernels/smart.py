"""What smart truncation leaves of each row (see `raw.cuts.smart_cut`).

Row r is `items[offsets[r]:offsets[r + 1]]`. The items that stand in candidates are numbered 0, 1, ..., chosen - 1
in the order of their codes; all others share the number `chosen`, and what lands there is thrown away. In a
bitmap, item i is bit `i & 63` of word `i >> 6`.
"""

from typing import NamedTuple

import numpy as np

from veilset.arrays import BoolArray, Int32Array, Int64Array, Uint32Array, Uint64Array
from veilset.raw.kernels import inlined, kernel
from veilset.raw.kernels.popcount import popcount

LOWEST = np.iinfo(np.int64).min


class CandidateBlocks(NamedTuple):
    """Itemsets of one size, two items or more, in blocks that a row compares in one step.

    `codes[i]` is the code of item number i, `numbers[code]` the number of a code; codes beyond have the last.

    Candidate c is `itemsets[c]`, numbers ascending; candidates stand in lexicographic order. Those of a block
    differ in the last item alone, and their last items share a word of a bitmap: block b has a candidate for
    each bit of `bits[b]` in word `words[b]`, from candidate `firsts[b]` on. Blocks `starts[i]` to
    `starts[i + 1]` have i as first item.
    """

    codes: Int32Array
    numbers: Int32Array
    itemsets: Int32Array
    scores: Int64Array
    starts: Int64Array
    firsts: Int64Array
    words: Int64Array
    bits: Uint64Array


class RowAtHand(NamedTuple):
    """The row at hand: its numbered items, those that stand in a candidate that it holds, those to keep."""

    items: Int32Array
    held: Uint64Array
    useful: Uint64Array
    is_kept: BoolArray
    keys: Uint32Array


class HeldCandidates(NamedTuple):
    """The candidates that the row at hand holds, their items column by column, and how many of these it keeps."""

    candidates: Int64Array
    columns: Int32Array
    scores: Int64Array
    overlaps: Int64Array


@kernel
def keep_heaviest(
    offsets: Int64Array, items: Int32Array, keys: Uint32Array, candidates: CandidateBlocks, limit: int
) -> tuple[Int64Array, Int32Array]:
    """Rows of up to `limit` items as they are; of longer rows, the items of the heaviest candidates, up to `limit`.

    Only longer rows use up keys: one for each of their items, in order. The offsets returned start at 0.
    """
    kept_offsets = np.zeros(offsets.size, np.int64)
    kept_items = np.empty(offsets[-1] - offsets[0] + 1, np.int32)
    row_at_hand = _new_row_at_hand(candidates.codes.size)
    found = _new_held_candidates(candidates)
    kept = used = np.int64(0)
    for row in range(offsets.size - 1):
        start, end = offsets[row], offsets[row + 1]
        if end - start <= limit:
            for i in range(start, end):
                kept_items[kept] = items[i]
                kept += 1
        else:
            size = _fill(row_at_hand, items, start, end, candidates)
            number = _find(row_at_hand, size, candidates, found, limit)
            if _count(row_at_hand.useful) <= limit:  # then the heaviest do not crowd out the others
                for i in range(size):
                    row_at_hand.is_kept[row_at_hand.items[i]] = _has(row_at_hand.useful, row_at_hand.items[i])
            else:
                _look_up(candidates, found, number)
                last, room = _keep_heaviest(row_at_hand, found, number, limit)
                if room > 0:
                    for i in range(start, end):
                        row_at_hand.keys[_number(items[i], candidates)] = keys[used + i - start]
                    for _ in range(room):
                        row_at_hand.is_kept[_smallest_key(row_at_hand, found, last)] = True
            for i in range(size):
                kept_items[kept] = candidates.codes[row_at_hand.items[i]]  # stays only where `kept` moves on
                kept += row_at_hand.is_kept[row_at_hand.items[i]]
            _clear(row_at_hand, size)
            used += end - start
        kept_offsets[row + 1] = kept
    return kept_offsets, kept_items[:kept]


@inlined
def _new_row_at_hand(chosen: int) -> RowAtHand:
    """Room for any row, and one place more for the items without a number."""
    words = (chosen >> 6) + 1
    return RowAtHand(
        np.empty(chosen + 1, np.int32),
        np.zeros(words, np.uint64),
        np.zeros(words, np.uint64),
        np.zeros(chosen + 1, np.bool_),
        np.empty(chosen + 1, np.uint32),
    )


@inlined
def _new_held_candidates(candidates: CandidateBlocks) -> HeldCandidates:
    """Room for all candidates, should a row hold them all."""
    number, size = candidates.itemsets.shape
    return HeldCandidates(
        np.empty(number, np.int64),
        np.empty((size, number), np.int32),
        np.empty(number, np.int64),
        np.empty(number, np.int64),
    )


@inlined
def _fill(
    row_at_hand: RowAtHand, items: Int32Array, start: int, end: int, candidates: CandidateBlocks
) -> int:
    """Put the numbered items of a row into the row_at_hand; returns how many there are."""
    size = 0
    for i in range(start, end):
        row_at_hand.items[size] = _number(items[i], candidates)
        size += int(row_at_hand.items[size] < candidates.codes.size)
    for i in range(size):
        row_at_hand.held[row_at_hand.items[i] >> 6] |= _bit(row_at_hand.items[i])
    return size


@inlined
def _clear(row_at_hand: RowAtHand, size: int) -> None:
    """Forget a row."""
    for i in range(size):
        row_at_hand.is_kept[row_at_hand.items[i]] = False
        row_at_hand.held[row_at_hand.items[i] >> 6] = 0
        row_at_hand.useful[row_at_hand.items[i] >> 6] = 0


@inlined
def _number(code: np.int32, candidates: CandidateBlocks) -> np.int32:
    """The number of an item."""
    number: np.int32 = candidates.numbers[code if code < candidates.numbers.size else -1]
    return number


@inlined
def _bit(item: np.int32) -> np.uint64:
    """The bit of an item in its word."""
    return np.uint64(1) << np.uint64(item & 63)


@inlined
def _has(bitmap: Uint64Array, item: np.int32) -> np.uint64:
    """1 if the bit of an item is set, or 0."""
    word: np.uint64 = bitmap[item >> 6]
    return word >> np.uint64(item & 63) & np.uint64(1)


@inlined
def _count(bitmap: Uint64Array) -> int:
    """How many bits are set."""
    count = 0
    for word in range(bitmap.size):
        count += popcount(bitmap[word])
    return count


@inlined
def _hits(row_at_hand: RowAtHand, candidates: CandidateBlocks, block: int) -> np.uint64:
    """The bits of those candidates of a block that the row holds; it is known to hold the first item."""
    hits: np.uint64 = candidates.bits[block] & row_at_hand.held[candidates.words[block]]
    for j in range(1, candidates.itemsets.shape[1] - 1):
        hits *= _has(row_at_hand.held, candidates.itemsets[candidates.firsts[block], j])
    return hits


@inlined
def _find(
    row_at_hand: RowAtHand, size: int, candidates: CandidateBlocks, found: HeldCandidates, limit: int
) -> int:
    """Mark the items of all candidates that the row holds as useful.

    Where that may be more than `limit` items, write down the candidates, too; returns how many.
    """
    number = 0
    for i in range(size):
        item = row_at_hand.items[i]
        is_useful = False
        for block in range(candidates.starts[item], candidates.starts[item + 1]):
            hits = _hits(row_at_hand, candidates, block)
            is_useful |= hits != 0
            row_at_hand.useful[candidates.words[block]] |= hits
            for j in range(1, candidates.itemsets.shape[1] - 1):
                other = candidates.itemsets[candidates.firsts[block], j]
                row_at_hand.useful[other >> 6] |= _bit(other) * np.uint64(hits != 0)
            while hits and size > limit:
                before = (hits & -hits) - np.uint64(1)
                found.candidates[number] = candidates.firsts[block] + popcount(
                    candidates.bits[block] & before
                )
                number += 1
                hits &= hits - np.uint64(1)
        row_at_hand.useful[item >> 6] |= _bit(item) * np.uint64(is_useful)
    return number


@inlined
def _look_up(candidates: CandidateBlocks, found: HeldCandidates, number: int) -> None:
    """Copy what is asked again and again of the candidates that were found, none of whose items is kept yet."""
    for i in range(number):
        found.scores[i] = candidates.scores[found.candidates[i]]
        found.overlaps[i] = 0
    for j in range(candidates.itemsets.shape[1]):
        for i in range(number):
            found.columns[j, i] = candidates.itemsets[found.candidates[i], j]


@inlined
def _keep_heaviest(row_at_hand: RowAtHand, found: HeldCandidates, number: int, limit: int) -> tuple[int, int]:
    """Keep all items of the heaviest candidate, then of the next, as long as they fit.

    Returns the first candidate that does not fit, and the room that is left for some of its items. There is
    always a next one: the caller knows that all candidates together have more than `limit` items.
    """
    size = found.columns.shape[0]
    room, heaviest = limit, 0
    while room > 0:
        heaviest = _heaviest(found, number)
        missing = size - found.overlaps[heaviest]
        if missing > room:
            break
        room -= missing
        for j in range(size):
            item = found.columns[j, heaviest]
            if not row_at_hand.is_kept[item]:
                row_at_hand.is_kept[item] = True
                if room > 0:
                    _add_overlaps(found, number, item)
    return heaviest, room


@inlined
def _heaviest(found: HeldCandidates, number: int) -> int:
    """The candidate of largest weight among those with an item that is not kept; the first of equal ones.

    A weight is a score, plus score / size for every item that is kept; here it is multiplied by the size.
    """
    size = found.columns.shape[0]
    heaviest, largest = 0, LOWEST
    for i in range(number):
        weight = found.scores[i] * (size + found.overlaps[i])
        if weight > largest and found.overlaps[i] < size:
            heaviest, largest = i, weight
    return heaviest


@inlined
def _add_overlaps(found: HeldCandidates, number: int, item: np.int32) -> None:
    """Add 1 to the overlap of the candidates that hold an item: column by column, eight at a time."""
    for j in range(found.columns.shape[0]):
        for i in range(number):
            found.overlaps[i] += found.columns[j, i] == item


@inlined
def _smallest_key(row_at_hand: RowAtHand, found: HeldCandidates, candidate: int) -> np.int32:
    """The item of smallest key of those that a candidate misses; of equal keys, the first item."""
    smallest = np.int32(-1)
    for j in range(found.columns.shape[0]):
        item = found.columns[j, candidate]
        if not row_at_hand.is_kept[item] and (
            smallest < 0 or row_at_hand.keys[item] < row_at_hand.keys[smallest]
        ):
            smallest = item
    return smallest
