"""A search that goes for large itemsets first: where it stands, and what it compares next.

Post-processing: everything here follows from the items that were selected and from what the search was told.

*Known* are the items that the search began with, every itemset that was found, and all subsets of those, which are at
least as frequent and cost nothing. The *border* are the smallest itemsets that are not known, all of whose subsets are.
A step looks for one of the border, and where it finds one, extends it by one item after another until it can be extended
no more. An item that could not extend an itemset cannot extend a larger one, so each item is tried once.

A find costs an equal part of what is left, as if each of the itemsets still missing had to be found by itself. They come
with their supersets, so there will be more for later ones. Refusals are free: the margin above the threshold starts
where nobody in the border passes by noise alone, and falls by one scale of the noise whenever nobody does.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations

from veilset.gate import COMPARISON_STEPS, CandidateSequence
from veilset.itemsets import Itemset, Itemsets, joined

LOWEST_MARGIN = -1
"""A margin of -1: the search ends where nobody passes one scale of the noise under the threshold."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What a search knows from the start: its items, how many itemsets it wants, of which size, at which sensitivity."""

    items: tuple[int, ...]
    wanted: int
    max_size: int
    sensitivity: int
    epsilon: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class LatticeSearch:
    """Where the search stands; `grown` is the itemset that is being extended, by the items from `next_item` on.

    `found` are the itemsets that were found, each with the subsets that came with it; `level` is the margin, in scales of
    the noise.
    """

    plan: SearchPlan
    known: dict[Itemset, None]
    border: Itemsets
    left: Fraction
    level: int
    grown: Itemset = ()
    next_item: int = 0

    @classmethod
    def start(cls, plan: SearchPlan) -> "LatticeSearch":
        """All items are known, nothing else is."""
        known = dict.fromkeys((item,) for item in plan.items)
        border = border_of(known, max_size=plan.max_size)
        return cls(plan, known, border, plan.epsilon, level=_first_level(border))

    @property
    def sequence(self) -> CandidateSequence | None:
        """The itemset that is being extended by each of its items, or the border; None where enough is known."""
        price = self._price()
        if price <= 0 or self.level < LOWEST_MARGIN or len(self.border) == 0:
            return None
        scale = self.plan.sensitivity / price
        candidates = Itemsets.of(itemset for _, itemset in self._extensions()) if self.grown else self.border
        return CandidateSequence(candidates, price, math.ceil(self.level * scale))

    def after(self, place: int | None) -> "LatticeSearch":
        """One more itemset is known, with its subsets; or nobody passed."""
        if place is None:
            return replace(self, grown=(), level=self.level - (not self.grown))
        if self.grown:
            item, grown = self._extensions()[place]
        else:
            item, grown = -1, list(self.border)[place]
        known = self.known | dict.fromkeys(subsets_of(grown))
        larger = replace(
            self,
            known=known,
            border=border_of(known, max_size=self.plan.max_size),
            left=self.left - self._price(),
            grown=grown,
            next_item=item + 1,
        )
        return larger if larger._extensions() else replace(larger, grown=())  # noqa: SLF001 - of the same class

    def _price(self) -> Fraction:
        """An equal part of what is left for each itemset that is missing, on a public grid."""
        missing = self.plan.wanted - len(self.known)
        if missing <= 0:
            return Fraction(0)
        step = self.plan.epsilon / COMPARISON_STEPS
        return self.left / missing // step * step

    def _extensions(self) -> list[tuple[int, Itemset]]:
        """The itemset with each item more that was not tried and does not give one that is known; the item's place."""
        if len(self.grown) == self.plan.max_size:
            return []
        places = range(self.next_item, len(self.plan.items))
        larger = (
            (place, tuple(sorted((*self.grown, self.plan.items[place]))))
            for place in places
            if self.plan.items[place] not in self.grown
        )
        return [(place, itemset) for place, itemset in larger if itemset not in self.known]


def subsets_of(itemset: Itemset) -> Iterable[Itemset]:
    """All but the empty one, smaller ones first."""
    return chain.from_iterable(combinations(itemset, size) for size in range(1, len(itemset) + 1))


def border_of(known: Iterable[Itemset], *, max_size: int) -> Itemsets:
    """The itemsets that are not known, all of whose subsets of one item less are; all itemsets here have subsets known.

    >>> list(border_of([(1,), (2,), (3,), (1, 2)], max_size=3))
    [(1, 3), (2, 3)]
    """
    of_size: dict[int, list[Itemset]] = {}
    for itemset in known:
        of_size.setdefault(len(itemset), []).append(itemset)
    given = set(known)
    sizes = (of_size[size] for size in sorted(of_size) if size < max_size)
    return Itemsets.of(larger for listed in sizes for larger in joined(listed) if larger not in given)


def _first_level(border: Itemsets) -> int:
    """Where nobody of the border passes by noise alone, with a probability above 1/2."""
    return math.ceil(math.log(max(len(border), 1))) + 1
