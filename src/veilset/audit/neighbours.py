"""Worst-case pairs of neighbouring databases, one for each suspicion; small, so that methods run fast."""

from dataclasses import dataclass

import numpy as np

from veilset.raw.transactions import Alphabet, Transactions

Basket = frozenset[int]


PERSON_LIMIT = 3
"""How many transactions of one person may count, where the unit is a person."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A database and the same with one more unit; items are numbered from 0.

    The unit is a transaction, `extra`, or a person who has that one and `more`. Every other row is then one person's.
    """

    name: str
    suspicion: str
    items: int
    rows: tuple[Basket, ...]
    extra: Basket
    more: tuple[Basket, ...] = ()

    @property
    def is_of_persons(self) -> bool:
        """Whether the unit is a person with several transactions."""
        return bool(self.more)

    def without_unit(self) -> Transactions:
        """The database."""
        return self._transactions(())

    def with_unit(self) -> Transactions:
        """Its neighbour."""
        return self._transactions((self.extra, *self.more))

    def both(self) -> tuple[Transactions, Transactions]:
        """With the unit, and without it."""
        return self.with_unit(), self.without_unit()

    def _transactions(self, unit: tuple[Basket, ...]) -> Transactions:
        ordered = [sorted(row) for row in (*self.rows, *unit)]
        offsets = np.cumsum([0, *map(len, ordered)], dtype=np.int64)
        codes = np.array([code for row in ordered for code in row], dtype=np.int32)
        owners = np.minimum(np.arange(len(ordered)), len(self.rows)) if self.is_of_persons else None
        return Transactions(offsets, codes, Alphabet(range(self.items), is_given=True), owners)


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
    Pair(
        "threshold rises, margins fall",
        "what lifts the k-th itemset lowers how far others are above it, and the score of a set of them by more than 1",
        6,
        _some(2, 2, 3),
        frozenset({0, 1, 4}),
    ),
    Pair(
        "margins rise, threshold stays",
        "items come closer to the k-th itemset, or pass it, and the score of a set of them moves by more than 1",
        6,
        (*_some(4, 3), *_some(4, 4), *_some(2, 2)),
        frozenset({3, 4, 5}),
    ),
    Pair(
        "k-th itemset moves alone",
        "the support that others are compared with rises, and theirs do not, or the other way round",
        4,
        (*_some(8, 1, 2), *_some(7, 1, 3), *_some(1, 0, 3)),
        frozenset({0, 2, 3}),
    ),
    Pair(
        "crowd below the threshold",
        "comparisons of many items with one noisy threshold are paid for once, and all of them rise",
        6,
        _some(1, 2, 5),
        frozenset({1, 2, 3, 4}),
    ),
    Pair(
        "threshold above a crowd",
        "the noisy threshold rises over many items whose comparisons are paid for once",
        6,
        _some(7, 4),
        frozenset({1, 5}),
    ),
    Pair(
        "floor rises",
        "with the k-th support the floor rises over itemsets that had scores of their own",
        5,
        (*_some(60, 0, 1), *_some(56, 2), *_some(50, 3), *_some(1, 4)),
        frozenset({0, 1}),
    ),
    Pair(
        "sets move apart",
        "the score of one set falls while those of nearly all others rise",
        8,
        (*_some(2, 6, 7), *_some(2, 0)),
        frozenset(range(6)),
    ),
    Pair(
        "few of three rows",
        "a sample of few transactions tells whether one of them is in it",
        3,
        (frozenset({0}), frozenset({1, 2}), frozenset({0, 1, 2})),
        frozenset({0, 1}),
    ),
)
"""Every method and every question is run on every one."""

PERSON_PAIRS = (
    Pair(
        "person with 3 transactions",
        "noise is made for one transaction, where a person has several",
        5,
        (*_some(5, 0), *_some(4, 1), *_some(4, 0, 2)),
        frozenset({1, 3}),
        more=_some(2, 1, 3),
    ),
    Pair(
        "person with 5 transactions, 3 of which count",
        "all transactions of a person count, whatever the limit",
        5,
        (*_some(5, 0), *_some(4, 1), *_some(4, 0, 2)),
        frozenset({1, 3}),
        more=_some(4, 1, 3),
    ),
    Pair(
        "person whose transactions agree",
        "a whole unit moves one answer as far as it can",
        4,
        (*_some(2, 0), *_some(2, 1, 2)),
        frozenset({0, 1, 2, 3}),
        more=_some(2, 0, 1, 2, 3),
    ),
    Pair(
        "only person",
        "nobody against one person; few enough for all samples",
        3,
        (),
        frozenset({0, 1}),
        more=_some(2, 0, 1),
    ),
)
"""The same with persons who may have PERSON_LIMIT transactions."""
