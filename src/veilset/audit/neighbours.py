"""Worst-case pairs of neighbouring databases, one for each suspicion; small, so that methods run fast."""

from dataclasses import dataclass

import numpy as np

from veilset.raw.transactions import Alphabet, Transactions

Basket = frozenset[int]


@dataclass(frozen=True, slots=True)
class Pair:
    """A database and the same with one more transaction; items are numbered from 0."""

    name: str
    suspicion: str
    items: int
    rows: tuple[Basket, ...]
    extra: Basket

    def without_unit(self) -> Transactions:
        """The database."""
        return _numbered_transactions(self.rows, self.items)

    def with_unit(self) -> Transactions:
        """Its neighbour."""
        return _numbered_transactions((*self.rows, self.extra), self.items)

    def both(self) -> tuple[Transactions, Transactions]:
        """With the unit, and without it."""
        return self.with_unit(), self.without_unit()


def _numbered_transactions(rows: tuple[Basket, ...], items: int) -> Transactions:
    ordered = [sorted(row) for row in rows]
    offsets = np.cumsum([0, *map(len, ordered)], dtype=np.int64)
    codes = np.array([code for row in ordered for code in row], dtype=np.int32)
    return Transactions(offsets, codes, Alphabet(range(items), is_given=True))


def _some(number: int, *items: int) -> tuple[Basket, ...]:
    return (frozenset(items),) * number


PAIRS = (
    Pair(
        "long transaction",
        "a transaction that holds everything moves more than was reckoned with",
        8,
        (*_some(6, 0), *_some(5, 1), *_some(4, 2, 3)),
        frozenset(range(8)),
    ),
    Pair(
        "empty transaction",
        "a transaction without items is not counted, or counted twice",
        4,
        (*_some(3, 0), *_some(2, 1)),
        frozenset(),
    ),
    Pair(
        "rare items only",
        "items that nobody else holds become visible",
        5,
        (*_some(6, 0, 1), *_some(3, 2)),
        frozenset({3, 4}),
    ),
    Pair(
        "new itemset",
        "an itemset that no transaction held before becomes possible",
        4,
        (*_some(4, 0), *_some(4, 1), *_some(4, 2)),
        frozenset({0, 1}),
    ),
    Pair(
        "power of two",
        "a search over a power-of-two range asks once more than was paid for",
        8,
        tuple(frozenset({item}) for item in range(8) for _ in range(3)),
        frozenset({7}),
    ),
    Pair(
        "edge of a threshold",
        "a count that just reaches a threshold decides something for free",
        4,
        (*_some(5, 0), *_some(4, 1), *_some(4, 0, 2)),
        frozenset({1}),
    ),
    Pair("only transaction", "nothing against something", 3, (), frozenset({0, 1})),
)
"""Every method is run on every one."""
