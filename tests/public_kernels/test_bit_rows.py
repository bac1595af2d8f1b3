"""Rows as bits, against sets of row numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.arrays import Uint64Array
from veilset.public_kernels import bit_rows


def bitmap_of(rows: set[int], number: int) -> Uint64Array:
    """The bits of some of a number of rows."""
    words = [sum(1 << row % 64 for row in rows if row // 64 == word) for word in range(-(-number // 64))]
    return np.array(words, np.uint64)


def rows_in(bitmap: Uint64Array) -> set[int]:
    """The rows whose bits are set."""
    return {
        64 * word + bit for word, bits in enumerate(bitmap.tolist()) for bit in range(64) if bits >> bit & 1
    }


@given(st.lists(st.tuples(st.frozensets(st.integers(0, 2)), st.integers(0, 150)), max_size=5))
def test_records_fill_rows_from_the_first_on(records: list[tuple[frozenset[int], int]]) -> None:
    """Each as often as it has copies, across words."""
    rows = [held for held, copies in records for _ in range(copies)]
    bitmaps = np.zeros((3, -(-len(rows) // 64)), np.uint64)
    offsets = np.append(0, np.cumsum([len(held) for held, _ in records])).astype(np.int64)
    places = np.array([item for held, _ in records for item in sorted(held)], np.int64)
    bit_rows.put_records(bitmaps, offsets, places, np.array([copies for _, copies in records], np.int64))
    for item in range(3):
        assert rows_in(bitmaps[item]) == {row for row, held in enumerate(rows) if item in held}


@given(number=st.integers(1, 150), data=st.data())
def test_a_shuffle_leaves_at_the_end_what_a_list_would_have_there(number: int, data: st.DataObject) -> None:
    """And the room that it took is as it was."""
    swaps = [
        data.draw(st.integers(0, last))
        for last in range(number - 1, data.draw(st.integers(-1, number - 1)), -1)
    ]
    slow = list(range(number))
    for i, swap in enumerate(swaps):
        last = number - 1 - i
        slow[last], slow[swap] = slow[swap], slow[last]
    things = np.arange(number + 3, dtype=np.int32)
    found = bit_rows.tail_shuffled(np.array(swaps, np.int64), things, number)
    assert rows_in(found) == set(slow[number - len(swaps) :])
    assert things.tolist() == list(range(number + 3))


@given(number=st.integers(1, 150), data=st.data())
def test_items_go_into_rows_that_lack_them(number: int, data: st.DataObject) -> None:
    """Row by row: the i-th that lacks the item gets it if bit i says so."""
    held = data.draw(st.sets(st.integers(0, number - 1)))
    lacking = [row for row in range(number) if row not in held]
    chosen = data.draw(st.sets(st.integers(0, len(lacking) - 1))) if lacking else set()
    bitmap = bitmap_of(held, number)
    bit_rows.put_into_lacking(bitmap, bitmap_of(chosen, max(len(lacking), 1)), number)
    assert rows_in(bitmap) == held | {lacking[place] for place in chosen}


@given(items=st.integers(1, 120), seed=st.integers(0, 99))
def test_turned_words_hold_the_items_of_rows(items: int, seed: int) -> None:
    """The first item of a word uppermost."""
    is_held = np.random.default_rng(seed).random((items, 128)) < 0.3
    bitmaps = np.array([bitmap_of(set(np.flatnonzero(row).tolist()), 128) for row in is_held])
    rows = np.empty((64, 2), np.uint64)
    bit_rows.turned(bitmaps, 1, rows)
    for row in range(64):
        bits = "".join(f"{word:064b}" for word in rows[row].tolist())
        assert bits.rstrip("0") == "".join(map(str, is_held[:, 64 + row].astype(int))).rstrip("0")
