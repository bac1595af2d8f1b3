"""Keys of transactions, the slow way: SipHash-2-4 as its paper writes it, over bytes."""

import struct
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from reference import Basket, Baskets
from veilset.raw.cuts.row_keys import SipKeys
from veilset.raw.cuts.smart_cut import KeepSmart
from veilset.raw.cuts.truncation import KeepRandom, OnlyItems, Truncation

MASK = 2**64 - 1


def keys_of(seed: int) -> SipKeys:
    """Keys under a secret of a seed's."""
    return SipKeys(np.random.default_rng(seed).integers(2**64, size=2, dtype=np.uint64))


def siphash(key: bytes, message: bytes) -> int:
    """SipHash-2-4 of a message."""
    k0, k1 = (int.from_bytes(half, "little") for half in (key[:8], key[8:]))
    state = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]
    whole = message + b"\0" * (7 - len(message) % 8) + bytes([len(message) % 256])
    for place in range(0, len(whole), 8):
        block = int.from_bytes(whole[place : place + 8], "little")
        state[3] ^= block
        state = _round(_round(state))
        state[0] ^= block
    state[2] ^= 0xFF
    for _ in range(4):
        state = _round(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & MASK


def _round(state: list[int]) -> list[int]:
    v0, v1, v2, v3 = state
    v0 = (v0 + v1) & MASK
    v1 = _rotated(v1, 13) ^ v0
    v0 = _rotated(v0, 32)
    v2 = (v2 + v3) & MASK
    v3 = _rotated(v3, 16) ^ v2
    v0 = (v0 + v3) & MASK
    v3 = _rotated(v3, 21) ^ v0
    v2 = (v2 + v1) & MASK
    v1 = _rotated(v1, 17) ^ v2
    v2 = _rotated(v2, 32)
    return [v0, v1, v2, v3]


def value_of(keys: SipKeys, basket: Iterable[int], number: int) -> int:
    """The value of a basket with this number among equal ones."""
    items = sorted(basket)
    return siphash(keys.secret.tobytes(), struct.pack(f"<{len(items) + 2}I", 0, number, *items))


def key_of(keys: SipKeys, basket: Iterable[int], number: int) -> int:
    """Its key."""
    return value_of(keys, basket, number) >> 32


def keys_of_places(keys: SipKeys, value: int, length: int) -> list[int]:
    """The keys of the items of a basket of that value."""
    halves = []
    for pair in range((length + 1) // 2):
        word = siphash(keys.secret.tobytes(), struct.pack("<IIQ", 1, pair, value))
        halves += [word & 0xFFFFFFFF, word >> 32]
    return halves[:length]


def numbers_of(rows: Baskets) -> list[int]:
    """The number of each basket among those that are equal to it and stand before it."""
    seen: Counter[Basket] = Counter()
    numbers = []
    for basket in rows:
        numbers.append(seen[basket])
        seen[basket] += 1
    return numbers


def keys_in_order(rows: Baskets, truncation: Truncation, keys: SipKeys) -> Iterator[int]:
    """All keys that a truncation of these rows uses, in the order in which `reference.truncated` takes them."""
    for basket, number in zip(rows, numbers_of(rows), strict=True):
        left, how = basket, truncation
        while isinstance(how, OnlyItems):
            left, how = left.intersection(how.items.tolist()), how.then
        if isinstance(how, KeepRandom | KeepSmart) and len(left) > how.limit:
            yield from keys_of_places(keys, value_of(keys, basket, number), len(left))
