"""Truncation: what one transaction may contribute, and the sensitivity that buys.

Neighbours are two databases that differ by one transaction. A truncation looks at one transaction at a time
(and at public values, and at random keys drawn before), so adding or removing a transaction changes nothing in how
the others are truncated: two neighbours still differ by one transaction afterwards, a shorter one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from veilset.arrays import BoolArray, Int64Array
from veilset.errors import BadCall
from veilset.integers import whole, whole_numbers
from veilset.raw.cuts.row_keys import LongRows
from veilset.raw.cuts.rows import CompressedRows, Keys
from veilset.raw.kernels import marking


class Reshape(Protocol):
    """What becomes of each transaction by itself: rows that hold items of it, none of them twice.

    No two rows made of one transaction share an item, so at most one of them holds a given itemset: a transaction
    moves the support of each single itemset by at most 1. How many supports it moves is another matter.
    """

    def keys_needed(self, rows: CompressedRows) -> LongRows | None:
        """For which items of which rows `apply` wants random keys, in their order; None where it wants none."""

    def apply(self, rows: CompressedRows, keys: Keys) -> CompressedRows:
        """The rows that are made of these."""


@runtime_checkable
class Truncation(Reshape, Protocol):
    """A bound on what one transaction may contribute: it becomes one row, which is a part of it."""

    def longest(self, alphabet_size: int) -> int:
        """The most items that a transaction can hold after truncation."""


def l1_sensitivity(truncation: Truncation, *, alphabet_size: int, candidates: Mapping[int, int]) -> int:
    """How far one transaction can move the supports of the candidates, all together.

    `candidates[size]` is the number of candidate itemsets of that size, all different. A transaction of L
    items holds at most C(L, size) of them.

    >>> l1_sensitivity(KeepRandom(3), alphabet_size=100, candidates={1: 100, 2: 2})
    5
    """
    longest = truncation.longest(alphabet_size)
    return sum(min(math.comb(longest, size), number) for size, number in candidates.items())


def checked_limit(limit: int) -> int:
    """The limit; BadCall where a truncation would keep no item at all."""
    number = whole(limit, "the limit of a truncation")
    if number < 1:
        raise BadCall(f"a truncation to {number} items keeps nothing; give a limit of at least 1")
    return number


@dataclass(frozen=True, slots=True)
class KeepAll:
    """Keep every transaction whole; only the public alphabet bounds it."""

    def longest(self, alphabet_size: int) -> int:
        """The whole alphabet."""
        return alphabet_size

    def keys_needed(self, rows: CompressedRows) -> LongRows | None:  # noqa: ARG002 - part of the protocol
        """None."""
        return None

    def apply(self, rows: CompressedRows, keys: Keys) -> CompressedRows:  # noqa: ARG002
        """The rows as they are."""
        return rows


@dataclass(frozen=True, slots=True)
class DropLonger:
    """Keep transactions of up to `limit` items whole; empty the longer ones."""

    limit: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", checked_limit(self.limit))

    def longest(self, alphabet_size: int) -> int:
        """The limit."""
        return min(self.limit, alphabet_size)

    def keys_needed(self, rows: CompressedRows) -> LongRows | None:  # noqa: ARG002
        """None."""
        return None

    def apply(self, rows: CompressedRows, keys: Keys) -> CompressedRows:  # noqa: ARG002
        """Empty the rows that are too long."""
        return _kept(rows, marking.mark_short(rows.offsets, self.limit))


@dataclass(frozen=True, slots=True)
class KeepRandom:
    """Keep `limit` items of every longer transaction, drawn uniformly."""

    limit: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", checked_limit(self.limit))

    def longest(self, alphabet_size: int) -> int:
        """The limit."""
        return min(self.limit, alphabet_size)

    def keys_needed(self, rows: CompressedRows) -> LongRows | None:
        """One for each item of each row that is too long."""
        return LongRows(rows, self.limit)

    def apply(self, rows: CompressedRows, keys: Keys) -> CompressedRows:
        """Keep the items with the smallest keys."""
        return _kept(rows, marking.mark_smallest_keys(rows.offsets, keys, self.limit))


@dataclass(frozen=True, slots=True, eq=False)
class KeepBest:
    """Keep the `limit` items that come first in a public order; `rank[code]` is an item's place in it."""

    limit: int
    rank: Int64Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", checked_limit(self.limit))
        object.__setattr__(self, "rank", whole_numbers(self.rank, "ranks"))
        if self.rank.min(initial=0) < 0:
            raise BadCall("a rank is negative; give every item its place in the order, from 0 up")

    def longest(self, alphabet_size: int) -> int:
        """The limit."""
        if self.rank.size != alphabet_size:
            raise BadCall(f"{self.rank.size} ranks for {alphabet_size} items; give one rank for each item")
        return min(self.limit, alphabet_size)

    def keys_needed(self, rows: CompressedRows) -> LongRows | None:  # noqa: ARG002
        """None."""
        return None

    def apply(self, rows: CompressedRows, keys: Keys) -> CompressedRows:  # noqa: ARG002
        """Keep the items of smallest rank."""
        return _kept(rows, marking.mark_best_ranks(rows.offsets, rows.items, self.rank, self.limit))


@dataclass(frozen=True, slots=True, eq=False)
class OnlyItems:
    """Forget all items but the chosen ones, then truncate what is left; the choice is public or paid for."""

    items: Int64Array
    then: Truncation

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", whole_numbers(self.items, "chosen items"))
        if self.items.min(initial=0) < 0:
            raise BadCall("a chosen item has a negative code; give codes of the alphabet, from 0 up")

    def longest(self, alphabet_size: int) -> int:
        """No more than were chosen."""
        return min(self.then.longest(alphabet_size), np.unique(self.items).size)

    def keys_needed(self, rows: CompressedRows) -> LongRows | None:
        """What the next truncation wants for the rows that are left of these."""
        return self.then.keys_needed(self._chosen(rows))

    def apply(self, rows: CompressedRows, keys: Keys) -> CompressedRows:
        """Restrict, then truncate."""
        return self.then.apply(self._chosen(rows), keys)

    def _chosen(self, rows: CompressedRows) -> CompressedRows:
        is_chosen = np.zeros(self.items.max(initial=-1) + 1, np.bool_)
        is_chosen[self.items] = True
        return _kept(rows, marking.mark_chosen(rows.offsets, rows.items, is_chosen))


def _kept(rows: CompressedRows, keep: BoolArray) -> CompressedRows:
    """The rows less the items that are not marked."""
    offsets, items = marking.keep_marked(rows.offsets, rows.items, keep)
    return CompressedRows(offsets, items)
