"""Numbers for names: a table of distinct texts, all of them in one array of bytes, found by their hashes.

A slot of the table is 0 where it is free. Else its upper half repeats that of the name's hash, so that another name
is hardly ever compared byte by byte, and its lower half is one more than the name's number. The number of slots is a
power of two, at least twice that of names: a search from the slot that a hash tells always meets a free one.
"""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint8Array, Uint64Array
from veilset.raw.kernels import inlined, kernel

HASH_START = 0xCBF29CE484222325
HASH_FACTOR = 0x100000001B3
UPPER_HALF = 0xFFFFFFFF00000000
LOWER_HALF = 0x00000000FFFFFFFF


@kernel
def hash_texts(text: Uint8Array, starts: Int64Array, hashes: Uint64Array) -> None:
    """Hash the texts `text[starts[i]:starts[i + 1]]` by FNV-1a, its upper half mixed into the lower one.

    Apart from looking them up: then what one text has to wait for in memory does not hold up the next.
    """
    for i in range(hashes.size):
        hashed = np.uint64(HASH_START)
        for place in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            hashed = np.uint64((hashed ^ np.uint64(text[place])) * np.uint64(HASH_FACTOR))
        hashes[i] = hashed ^ (hashed >> np.uint64(32))


@kernel
def place_hashes(hashes: Uint64Array, slots: Uint64Array) -> None:
    """Fill a table of free slots with names 0, 1, ..., which have these hashes."""
    last = np.uint64(slots.size - 1)
    for name in range(hashes.size):
        slot = hashes[name] & last
        while slots[slot] != np.uint64(0):
            slot = (slot + np.uint64(1)) & last
        slots[slot] = (hashes[name] & np.uint64(UPPER_HALF)) | np.uint64(name + 1)


@kernel
def number_texts(  # noqa: PLR0917 - kernels take positions only
    text: Uint8Array,
    starts: Int64Array,
    hashes: Uint64Array,
    slots: Uint64Array,
    names: Uint8Array,
    name_starts: Int64Array,
    name_hashes: Uint64Array,
    known: int,
    tokens: Int32Array,
) -> int:
    """Tell the number of each text among the names, and add those that are new.

    Args:
        text: The bytes of the texts.
        starts: Text i is `text[starts[i]:starts[i + 1]]`.
        hashes: The hash of each text.
        slots: The table; at least twice as many as names and texts together.
        names: The bytes of the names, with room for all texts behind them.
        name_starts: Name n is `names[name_starts[n]:name_starts[n + 1]]`; with room for one more of each text.
        name_hashes: The hash of each name, with room.
        known: How many names there are.
        tokens: Room for the number of each text.

    Returns:
        How many names there are afterwards.
    """
    one = np.uint64(1)
    last = np.uint64(slots.size - 1)
    for i in range(hashes.size):
        hashed = hashes[i]
        mark = hashed & np.uint64(UPPER_HALF)
        slot = hashed & last
        token = -1
        while token < 0:
            held = slots[slot]
            if held == np.uint64(0):
                slots[slot] = mark | np.uint64(known + 1)
                name_hashes[known] = hashed
                append_name(text, starts[i], starts[i + 1], names, name_starts, known)
                token = known
                known += 1
            elif held & np.uint64(UPPER_HALF) == mark:
                name = int(held & np.uint64(LOWER_HALF)) - 1
                if is_name(text, starts[i], starts[i + 1], names, name_starts, name):
                    token = name
            slot = (slot + one) & last
        tokens[i] = token
    return known


@inlined
def append_name(
    text: Uint8Array, start: int, end: int, names: Uint8Array, name_starts: Int64Array, name: int
) -> None:
    """Write `text[start:end]` behind the names; it becomes the one with this number."""
    written = np.uint64(name_starts[name])
    for place in range(np.uint64(start), np.uint64(end)):
        names[written] = text[place]
        written += np.uint64(1)
    name_starts[name + 1] = written


@inlined
def is_name(
    text: Uint8Array, start: int, end: int, names: Uint8Array, name_starts: Int64Array, name: int
) -> bool:
    """Whether `text[start:end]` is the name with this number."""
    place = np.uint64(start)
    other = np.uint64(name_starts[name])
    is_same = bool(end - start == name_starts[name + 1] - name_starts[name])
    while is_same and place < np.uint64(end):
        is_same = bool(text[place] == names[other])
        place += np.uint64(1)
        other += np.uint64(1)
    return is_same
