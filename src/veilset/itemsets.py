"""Algebra of public itemsets: which there are, how many, which are subsets of which. No data here."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.errors import BadCall
from veilset.integers import item_codes, whole, whole_numbers

Itemset = tuple[int, ...]
"""Item codes, ascending."""

Below = Callable[[int], int]
"""Draws a uniform integer in [0, bound)."""


@dataclass(frozen=True, slots=True, eq=False)
class Itemsets:
    """A public list of itemsets: number i is `items[offsets[i]:offsets[i + 1]]`, codes ascending, each once.

    There is one way to write an itemset, and the arrays are copies that nobody can change: two itemsets that look
    different are.

    >>> list(Itemsets.of([(2, 0), (1,)]))
    [(0, 2), (1,)]
    """

    offsets: Int64Array
    items: Int32Array

    def __post_init__(self) -> None:
        offsets = whole_numbers(self.offsets, "offsets of itemsets")
        items = item_codes(self.items, "itemsets")
        if not _are_ascending(offsets, items):
            raise BadCall(
                "itemsets must stand one after another, with ascending codes and no item twice; "
                "make them with Itemsets.of, which sorts"
            )
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "items", items)

    @classmethod
    def of(cls, itemsets: Iterable[Iterable[int]]) -> "Itemsets":
        """From any lists of item codes; order and repeats inside an itemset do not matter."""
        ordered = [sorted(set(itemset)) for itemset in itemsets]
        offsets = np.zeros(len(ordered) + 1, dtype=np.int64)
        np.cumsum([len(itemset) for itemset in ordered], out=offsets[1:])
        return cls(offsets, np.array([code for itemset in ordered for code in itemset]))

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __iter__(self) -> Iterator[Itemset]:
        codes, bounds = self.items.tolist(), self.offsets.tolist()
        return (tuple(codes[start:end]) for start, end in pairwise(bounds))

    def number_by_size(self) -> dict[int, int]:
        """How many itemsets there are of each size.

        >>> Itemsets.of([(0,), (1,), (0, 1)]).number_by_size()
        {1: 2, 2: 1}
        """
        return dict(sorted(Counter(np.diff(self.offsets).tolist()).items()))


def _are_ascending(offsets: Int64Array, items: Int32Array) -> bool:
    """Whether itemsets fill the items from the first to the last, and each of them ascends strictly."""
    if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != items.size or np.any(np.diff(offsets) < 0):
        return False
    is_larger = items[1:] > items[:-1]
    firsts = offsets[(offsets > 0) & (offsets < items.size)]
    is_larger[firsts - 1] = True  # the first item of an itemset has none before it
    return bool(is_larger.all())


@dataclass(frozen=True, slots=True)
class Domain:
    """All itemsets of `min_size` to `max_size` of some public items, whether the data holds them or not.

    Items are codes in ascending order, each once.

    >>> Domain(items=range(4), min_size=1, max_size=2).size
    10
    """

    items: range | tuple[int, ...]
    max_size: int
    min_size: int = 1

    def __post_init__(self) -> None:
        for name in ("max_size", "min_size"):
            object.__setattr__(self, name, whole(getattr(self, name), name))
        if not isinstance(self.items, range):
            object.__setattr__(self, "items", tuple(item_codes(self.items, "items of a domain").tolist()))
        if not _are_different_codes(self.items):
            raise BadCall(
                "items of a domain must be different codes in ascending order, from 0 up; sort them"
            )
        if not 1 <= self.min_size <= self.max_size:
            raise BadCall(
                f"itemsets of {self.min_size} to {self.max_size} items: give sizes from 1 up, the smaller one first"
            )

    @property
    def size(self) -> int:
        """How many itemsets there are, exactly; may be far above 2^63."""
        return sum(self.number_by_size().values())

    def number_by_size(self) -> dict[int, int]:
        """How many itemsets there are of each size."""
        sizes = range(self.min_size, min(self.max_size, len(self.items)) + 1)
        return {size: math.comb(len(self.items), size) for size in sizes}

    def sentence(self) -> str:
        """What its members are called."""
        if self.max_size == 1:
            return "items"
        if self.min_size == self.max_size:
            return "pairs of items" if self.max_size == 2 else f"itemsets of {self.max_size} items"
        sizes = f"up to {self.max_size}" if self.min_size == 1 else f"{self.min_size} to {self.max_size}"
        return f"itemsets of {sizes} items"

    def check_holds(self, k: int) -> None:
        """Raise BadCall where the domain has fewer than k itemsets, whatever the data."""
        if whole(k, "k") < 1:
            raise BadCall(f"k = {k} asks for nothing; give at least 1")
        if k > self.size:
            raise BadCall(
                f"k = {k} is too many: the number of {self.sentence()} over an alphabet of {len(self.items)} "
                f"is {self.size}; give a smaller k or allow larger itemsets"
            )

    def draw(self, below: Below) -> Itemset:
        """One itemset, uniformly."""
        numbers = self.number_by_size()
        size = list(numbers)[bisect_right(list(accumulate(numbers.values())), below(self.size))]
        return tuple(sorted(self.items[place] for place in draw_places(size, len(self.items), below)))


def _are_different_codes(items: range | tuple[int, ...]) -> bool:
    """Whether they ascend strictly, from 0 up."""
    if isinstance(items, range):
        return items.step > 0 and (len(items) == 0 or items.start >= 0)
    return all(first < second for first, second in pairwise(items))


def draw_places(size: int, among: int, below: Below) -> set[int]:
    """`size` different places out of `among`, uniformly (Floyd 1987: one draw for each place)."""
    places: set[int] = set()
    for last in range(among - size, among):
        place = below(last + 1)
        places.add(last if place in places else place)
    return places


def joined(itemsets: Iterable[Itemset]) -> list[Itemset]:
    """Itemsets of one more item, all of whose parts of one item less are given (Agrawal and Srikant 1994).

    >>> joined([(1,), (2,), (3,)])
    [(1, 2), (1, 3), (2, 3)]
    >>> joined([(1, 2), (1, 3), (2, 3), (1, 4)])
    [(1, 2, 3)]
    """
    given = set(itemsets)
    by_prefix: dict[Itemset, list[int]] = {}
    for itemset in sorted(given):
        by_prefix.setdefault(itemset[:-1], []).append(itemset[-1])
    larger = (
        (*prefix, first, second)
        for prefix, lasts in by_prefix.items()
        for first, second in combinations(lasts, 2)
    )
    # The two parts that were joined are given; the others, which lack an item of the prefix, need not be.
    return [
        itemset
        for itemset in larger
        if all(itemset[:i] + itemset[i + 1 :] in given for i in range(len(itemset) - 2))
    ]


def subset_pairs(itemsets: Itemsets) -> Iterator[tuple[int, int]]:
    """All (i, j) for which itemset i is a part of itemset j, but not all of it.

    >>> sorted(subset_pairs(Itemsets.of([(1,), (1, 2), (1, 2, 3), (3,)])))
    [(0, 1), (0, 2), (1, 2), (3, 2)]
    """
    places = {itemset: place for place, itemset in enumerate(itemsets)}
    for itemset, place in places.items():
        if 2 ** len(itemset) < len(places):  # look up all parts, or go through all itemsets: what is less
            parts = (part for size in range(1, len(itemset)) for part in combinations(itemset, size))
            yield from ((places[part], place) for part in parts if part in places)
        else:
            whole = frozenset(itemset)
            yield from ((other, place) for part, other in places.items() if whole > frozenset(part))
