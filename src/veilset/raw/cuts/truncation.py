"""Cuts: what one transaction may contribute, and the sensitivity that buys.

Neighbours are two databases that differ by one transaction. A cut looks at one transaction at a time (and
at public values, and at random keys drawn before), so adding or removing a transaction changes nothing in
how the others are cut: two neighbours differ after the cut by one transaction again, a shorter one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from veilset.arrays import BoolArray, Int32Array, Int64Array, Uint32Array
from veilset.errors import BadCall
from veilset.raw.kernels import cuts
from veilset.raw.transactions import Transactions

Keys = Uint32Array
"""One random key for each item that a random cut has to choose among."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Rows:
    """Some transactions: row r is `items[offsets[r]:offsets[r + 1]]`, codes ascending.

    The first offset need not be 0: some rows of a table are a slice of its offsets with all of its items.
    The arrays become read-only, so nobody changes the data by accident and kernels meet one type of array.
    """

    offsets: Int64Array
    items: Int32Array

    def __post_init__(self) -> None:
        self.offsets.setflags(write=False)
        self.items.setflags(write=False)


class Reshape(Protocol):
    """What becomes of each transaction by itself: rows that hold items of it, none of them twice.

    No two rows made of one transaction share an item, so at most one of them holds a given itemset: a transaction
    moves the support of each single itemset by at most 1. How many supports it moves is another matter.
    """

    def keys_needed(self, rows: Rows) -> int:
        """How many random keys `apply` wants for these rows."""

    def apply(self, rows: Rows, keys: Keys) -> Rows:
        """The rows that are made of these."""


@runtime_checkable
class Truncation(Reshape, Protocol):
    """A bound on what one transaction may contribute: it becomes one row, which is a part of it."""

    def longest(self, alphabet_size: int) -> int:
        """The most items that a transaction can hold after the cut."""


def l1_sensitivity(truncation: Truncation, *, alphabet_size: int, candidates: Mapping[int, int]) -> int:
    """How far one transaction can move the supports of the candidates, all together.

    `candidates[size]` is the number of candidate itemsets of that size, all different. A transaction of L
    items holds at most C(L, size) of them.

    >>> l1_sensitivity(KeepRandom(3), alphabet_size=100, candidates={1: 100, 2: 2})
    5
    """
    longest = truncation.longest(alphabet_size)
    return sum(min(math.comb(longest, size), number) for size, number in candidates.items())


def check_limit(limit: int) -> None:
    """Raise BadCall where a cut would keep no item at all."""
    if limit < 1:
        raise BadCall(f"a cut to {limit} items keeps nothing; give a limit of at least 1")


@dataclass(frozen=True, slots=True)
class KeepAll:
    """Keep every transaction whole; only the public alphabet bounds it."""

    def longest(self, alphabet_size: int) -> int:
        """The whole alphabet."""
        return alphabet_size

    def keys_needed(self, rows: Rows) -> int:  # noqa: ARG002 - part of the protocol
        """None."""
        return 0

    def apply(self, rows: Rows, keys: Keys) -> Rows:  # noqa: ARG002
        """The rows as they are."""
        return rows


@dataclass(frozen=True, slots=True)
class DropLonger:
    """Keep transactions of up to `limit` items whole; empty the longer ones."""

    limit: int

    def __post_init__(self) -> None:
        check_limit(self.limit)

    def longest(self, alphabet_size: int) -> int:
        """The limit."""
        return min(self.limit, alphabet_size)

    def keys_needed(self, rows: Rows) -> int:  # noqa: ARG002
        """None."""
        return 0

    def apply(self, rows: Rows, keys: Keys) -> Rows:  # noqa: ARG002
        """Empty the rows that are too long."""
        return _kept(rows, cuts.mark_short(rows.offsets, self.limit))


@dataclass(frozen=True, slots=True)
class KeepRandom:
    """Keep `limit` items of every longer transaction, drawn uniformly."""

    limit: int

    def __post_init__(self) -> None:
        check_limit(self.limit)

    def longest(self, alphabet_size: int) -> int:
        """The limit."""
        return min(self.limit, alphabet_size)

    def keys_needed(self, rows: Rows) -> int:
        """One for each item of each row that is too long."""
        lengths = np.diff(rows.offsets)
        return int(lengths[lengths > self.limit].sum())

    def apply(self, rows: Rows, keys: Keys) -> Rows:
        """Keep the items with the smallest keys."""
        return _kept(rows, cuts.mark_smallest_keys(rows.offsets, keys, self.limit))


@dataclass(frozen=True, slots=True, eq=False)
class KeepBest:
    """Keep the `limit` items that come first in a public order; `rank[code]` is an item's place in it."""

    limit: int
    rank: Int64Array

    def __post_init__(self) -> None:
        check_limit(self.limit)
        if self.rank.min(initial=0) < 0:
            raise BadCall("a rank is negative; give every item its place in the order, from 0 up")

    def longest(self, alphabet_size: int) -> int:
        """The limit."""
        if self.rank.size != alphabet_size:
            raise BadCall(f"{self.rank.size} ranks for {alphabet_size} items; give one rank for each item")
        return min(self.limit, alphabet_size)

    def keys_needed(self, rows: Rows) -> int:  # noqa: ARG002
        """None."""
        return 0

    def apply(self, rows: Rows, keys: Keys) -> Rows:  # noqa: ARG002
        """Keep the items of smallest rank."""
        return _kept(rows, cuts.mark_best_ranks(rows.offsets, rows.items, self.rank, self.limit))


@dataclass(frozen=True, slots=True, eq=False)
class OnlyItems:
    """Forget all items but the chosen ones, then cut what is left; the choice is public or paid for."""

    items: Int64Array
    then: Truncation

    def __post_init__(self) -> None:
        if self.items.min(initial=0) < 0:
            raise BadCall("a chosen item has a negative code; give codes of the alphabet, from 0 up")

    def longest(self, alphabet_size: int) -> int:
        """No more than were chosen."""
        return min(self.then.longest(alphabet_size), np.unique(self.items).size)

    def keys_needed(self, rows: Rows) -> int:
        """What the next cut wants for the rows that are left of these."""
        return self.then.keys_needed(self._chosen(rows))

    def apply(self, rows: Rows, keys: Keys) -> Rows:
        """Restrict, then cut."""
        return self.then.apply(self._chosen(rows), keys)

    def _chosen(self, rows: Rows) -> Rows:
        is_chosen = np.zeros(self.items.max(initial=-1) + 1, np.bool_)
        is_chosen[self.items] = True
        return _kept(rows, cuts.mark_chosen(rows.offsets, rows.items, is_chosen))


def _kept(rows: Rows, keep: BoolArray) -> Rows:
    """The rows less the items that are not marked."""
    offsets, items = cuts.keep_marked(rows.offsets, rows.items, keep)
    return Rows(offsets, items)


def keep_per_owner(transactions: Transactions, limit: int, keys: Keys) -> Transactions:
    """At most `limit` transactions of each owner, drawn uniformly; `keys` holds one random key a transaction.

    Two databases that differ by one owner then differ by at most `limit` transactions.
    """
    owners = transactions.owners
    if owners is None:
        return transactions
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    by_owner = np.append(first, owners.size).astype(np.int64)
    too_many = np.repeat(np.diff(by_owner) > limit, np.diff(by_owner))
    keep = cuts.mark_smallest_keys(by_owner, keys[too_many], limit)
    lengths = transactions.lengths
    offsets = np.append(0, np.cumsum(lengths[keep])).astype(np.int64)
    items = transactions.items[np.repeat(keep, lengths)]
    return Transactions(offsets, items, transactions.alphabet, owners[keep])
