"""A search that goes for large itemsets first: where it stands, and what it compares next.

Post-processing: everything here follows from the items that were selected and from what the search was told.

*Known* are the items that the search began with, every itemset that was found, and all subsets of those, which are at
least as frequent and cost nothing. The *border* are the smallest itemsets that are not known: all their subsets are. A
step looks for one of the border and, where it finds one, extends it by one item after another until it can be extended
no more. An item that could not extend an itemset cannot extend a larger one, so each is tried once on the way up. Where
nobody of the border reaches the threshold, the search is over.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations

from veilset.gate import COMPARISON_STEPS, CandidateSequence
from veilset.itemsets import Itemset, Itemsets, joined

KNOWN_WITH_A_FIND = 2
"""A find is paid for as if 2 itemsets became known with it, itself and one of its subsets, and the last by itself."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What a search has from the start: items, how many itemsets it wants, how large they may be, and epsilon."""

    items: tuple[int, ...]
    wanted: int
    max_size: int
    epsilon: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class LatticeSearch:
    """Where the search stands: what is known, in the order of finding, the border, and what is left of epsilon.

    `grown` is the itemset that is being extended, by the items from `next_item` on; empty where one of the border is
    looked for. `sequence` is the next step.
    """

    plan: SearchPlan
    known: dict[Itemset, None]
    border: Itemsets
    left: Fraction
    grown: Itemset = ()
    next_item: int = 0

    @classmethod
    def start(cls, plan: SearchPlan) -> "LatticeSearch":
        """All items are known, nothing else is."""
        known: dict[Itemset, None] = {(item,): None for item in plan.items}
        return cls(plan, known, border_of(known, max_size=plan.max_size), plan.epsilon)

    @property
    def sequence(self) -> CandidateSequence | None:
        """The extensions of the itemset that was found last, or the border; None where the search is over."""
        price = self._price()
        if price == 0 or len(self.border) == 0:
            return None
        candidates = Itemsets.of(self._extensions().values()) if self.grown else self.border
        return CandidateSequence(candidates, price)

    def after(self, place: int | None) -> "LatticeSearch":
        """One more itemset is known, with its subsets; or nobody reached the threshold."""
        if place is None:
            nothing = self.border if self.grown else Itemsets.of([])
            return replace(self, grown=(), next_item=0, border=nothing)
        extensions = self._extensions() if self.grown else dict(enumerate(self.border))
        found = list(extensions.values())[place]
        known = self.known | dict.fromkeys(subsets_of(found))
        border = border_of(known, max_size=self.plan.max_size)
        next_item = list(extensions)[place] + 1 if self.grown else 0
        larger = replace(self, known=known, border=border, left=self.left - self._price(), grown=found)
        larger = replace(larger, next_item=next_item)
        return larger if larger.has_extensions() else replace(larger, grown=(), next_item=0)

    def has_extensions(self) -> bool:
        """Whether there is an item left to extend the itemset by that was found last."""
        return bool(self._extensions())

    def _price(self) -> Fraction:
        """What a find may cost, on a public grid: all that is left for the last one missing; 0 where none is."""
        missing = self.plan.wanted - len(self.known)
        if missing <= 0:
            return Fraction(0)
        step = self.plan.epsilon / COMPARISON_STEPS
        return self.left * KNOWN_WITH_A_FIND / (missing + KNOWN_WITH_A_FIND - 1) // step * step

    def _extensions(self) -> dict[int, Itemset]:
        """The itemset with one more item, by the place of that item, unless it was tried or gives one that is known."""
        if len(self.grown) == self.plan.max_size:
            return {}
        larger = {
            place: tuple(sorted((*self.grown, self.plan.items[place])))
            for place in range(self.next_item, len(self.plan.items))
            if self.plan.items[place] not in self.grown
        }
        return {place: itemset for place, itemset in larger.items() if itemset not in self.known}


def subsets_of(itemset: Itemset) -> Iterable[Itemset]:
    """All but the empty one, smaller ones first.

    >>> list(subsets_of((1, 4)))
    [(1,), (4,), (1, 4)]
    """
    return chain.from_iterable(combinations(itemset, size) for size in range(1, len(itemset) + 1))


def border_of(known: Iterable[Itemset], *, max_size: int) -> Itemsets:
    """The smallest itemsets that are not known, where all subsets of those known are.

    >>> list(border_of([(1,), (2,), (3,), (1, 2)], max_size=3))
    [(1, 3), (2, 3)]
    """
    given, of_size = set(known), dict[int, list[Itemset]]()
    for itemset in given:
        of_size.setdefault(len(itemset), []).append(itemset)
    growing = [of_size[size] for size in sorted(of_size) if size < max_size]
    return Itemsets.of(larger for listed in growing for larger in joined(listed) if larger not in given)
