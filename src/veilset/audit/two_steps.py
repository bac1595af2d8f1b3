"""A small search, as an audit asks for it: one of two items, then what extends it; again where none is found."""

from dataclasses import dataclass
from fractions import Fraction

from veilset.gate import CandidateSequence
from veilset.itemsets import Itemsets

_STEPS = 3


@dataclass(frozen=True, slots=True)
class TwoSteps:
    """At most three steps: items 0 and 1 until one is found, then it with each item more. Every find has one price."""

    price: Fraction
    found: int | None = None
    steps: int = 0

    @property
    def sequence(self) -> CandidateSequence | None:
        """Two items, or two extensions of the one that was found."""
        if self.steps == _STEPS:
            return None
        if self.found is None:
            return CandidateSequence(Itemsets.of([(0,), (1,)]), self.price)
        extensions = [(self.found, other) for other in (0, 1, 2) if other != self.found]
        return CandidateSequence(Itemsets.of(extensions), self.price)

    def after(self, place: int | None) -> "TwoSteps":
        """An item was found, or something of it, or nothing."""
        found = place if self.found is None else self.found
        return TwoSteps(self.price, found, self.steps + 1)
