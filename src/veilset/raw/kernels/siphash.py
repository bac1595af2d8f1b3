"""SipHash-2-4: a keyed function of short messages whose values nobody can tell from random ones without the key.

Aumasson and Bernstein 2012. A message here is a list of 32-bit words, its first word a tag that tells what the value is
for; as bytes it is little-endian, so that any other implementation gives the same values.
"""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint32Array, Uint64Array
from veilset.raw.kernels import inlined, kernel

_BYTES_OF_A_WORD = 4


@inlined
def _rotated(word: np.uint64, by: int) -> np.uint64:
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))


@inlined
def _round(
    v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """One SipRound."""
    v0 += v1
    v1 = _rotated(v1, 13) ^ v0
    v0 = _rotated(v0, 32)
    v2 += v3
    v3 = _rotated(v3, 16) ^ v2
    v0 += v3
    v3 = _rotated(v3, 21) ^ v0
    v2 += v1
    v1 = _rotated(v1, 17) ^ v2
    v2 = _rotated(v2, 32)
    return v0, v1, v2, v3


@inlined
def _start(key: Uint64Array) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    return (
        key[0] ^ np.uint64(0x736F6D6570736575),
        key[1] ^ np.uint64(0x646F72616E646F6D),
        key[0] ^ np.uint64(0x6C7967656E657261),
        key[1] ^ np.uint64(0x7465646279746573),
    )


@inlined
def _absorbed(
    v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64, block: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """The state after 8 more bytes of the message: 2 rounds."""
    v3 ^= block
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return v0 ^ block, v1, v2, v3


@inlined
def _finished(
    v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64, words: int, last: np.uint64
) -> np.uint64:
    """The value of a message of that many words, of which `last` is not yet absorbed if their number is odd."""
    block = (np.uint64(words * _BYTES_OF_A_WORD) << np.uint64(56)) | last
    v0, v1, v2, v3 = _absorbed(v0, v1, v2, v3, block)
    v2 ^= np.uint64(0xFF)
    for _ in range(4):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


@inlined
def _pair(low: np.uint32, high: np.uint32) -> np.uint64:
    return np.uint64(low) | (np.uint64(high) << np.uint64(32))


@kernel
def of_lists(
    tag: int, numbers: Uint32Array, offsets: Int64Array, items: Int32Array, key: Uint64Array
) -> Uint64Array:
    """The value of (tag, numbers[r], items of row r) for each row `items[offsets[r]:offsets[r + 1]]`."""
    values = np.empty(offsets.size - 1, np.uint64)
    for row in range(values.size):
        start, end = offsets[row], offsets[row + 1]
        v0, v1, v2, v3 = _start(key)
        v0, v1, v2, v3 = _absorbed(v0, v1, v2, v3, _pair(np.uint32(tag), numbers[row]))
        for i in range(start, end - 1, 2):
            v0, v1, v2, v3 = _absorbed(v0, v1, v2, v3, _pair(np.uint32(items[i]), np.uint32(items[i + 1])))
        last = np.uint64(np.uint32(items[end - 1])) if (end - start) & 1 else np.uint64(0)
        values[row] = _finished(v0, v1, v2, v3, end - start + 2, last)
    return values


@kernel
def of_table(words: Uint32Array, key: Uint64Array) -> Uint64Array:
    """The value of each row of a table of words."""
    values = np.empty(words.shape[0], np.uint64)
    length = words.shape[1]
    for row in range(values.size):
        v0, v1, v2, v3 = _start(key)
        for i in range(0, length - 1, 2):
            v0, v1, v2, v3 = _absorbed(v0, v1, v2, v3, _pair(words[row, i], words[row, i + 1]))
        last = np.uint64(words[row, length - 1]) if length & 1 else np.uint64(0)
        values[row] = _finished(v0, v1, v2, v3, length, last)
    return values


@kernel
def of_places(
    tag: int, values: Uint64Array, offsets: Int64Array, longer_than: int, key: Uint64Array
) -> Uint32Array:
    """32 bits for each place of each row that has more of them than `longer_than`, one row after another.

    Two places share a value: places 2 j and 2 j + 1 have the lower and the upper half of that of (tag, j, the value of
    the row), so that a row's bits depend on its value and on nothing else.
    """
    number = np.int64(0)
    for row in range(offsets.size - 1):
        length = offsets[row + 1] - offsets[row]
        number += length if length > longer_than else 0
    bits = np.empty(number, np.uint32)
    used = np.int64(0)
    for row in range(offsets.size - 1):
        length = offsets[row + 1] - offsets[row]
        if length <= longer_than:
            continue
        for place in range(0, length, 2):
            v0, v1, v2, v3 = _start(key)
            v0, v1, v2, v3 = _absorbed(v0, v1, v2, v3, _pair(np.uint32(tag), np.uint32(place >> 1)))
            v0, v1, v2, v3 = _absorbed(v0, v1, v2, v3, values[row])
            value = _finished(v0, v1, v2, v3, 4, np.uint64(0))
            bits[used + place] = np.uint32(value & np.uint64(0xFFFFFFFF))
            if place + 1 < length:
                bits[used + place + 1] = np.uint32(value >> np.uint64(32))
        used += length
    return bits
