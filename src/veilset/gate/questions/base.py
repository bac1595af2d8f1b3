"""Who asks: the engine, the budget and the noise behind every question, and what questions have in common."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate.accounting.budget import Account
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.gate.noise import Noise
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.truncation import OnlyItems, Reshape, Truncation, l1_sensitivity
from veilset.raw.engines import Engine
from veilset.raw.transactions import Item


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """Who is protected: the one thing in which neighbouring databases differ."""

    name: str
    transactions: int

    def sentence(self) -> str:
        """The unit in words."""
        if self.name == "transaction":
            return "one transaction"
        return f"one {self.name}, with at most {self.transactions} transactions"


class Questions:
    """What every question needs. Has no length and cannot be iterated."""

    def __init__(
        self,
        engine: Engine,
        *,
        budget: Account,
        noise: Noise,
        unit: PrivacyUnit,
        public_number: int | None = None,
    ) -> None:
        self._engine = engine
        self._noise = noise
        self.budget = budget
        self.unit = unit
        self.public_number = public_number
        self.alphabet_size = len(engine.alphabet)
        self.alphabet_is_given = engine.alphabet.is_given
        self.is_private = noise.is_private

    def names(self, itemset: Itemset) -> tuple[Item, ...]:
        """What the items of an itemset are called; the alphabet is public."""
        return tuple(self._engine.alphabet.names[code] for code in itemset)

    def domain(self, *, max_size: int, min_size: int = 1) -> Domain:
        """All itemsets up to a size over the whole alphabet."""
        return Domain(items=range(self.alphabet_size), max_size=max_size, min_size=min_size)

    def _number_of(self, items: Int64Array) -> int:
        """How many items were chosen; each of the alphabet, and each once."""
        size = self.alphabet_size
        if (
            items.size == 0
            or not 0 <= items.min() <= items.max() < size
            or np.unique(items).size < items.size
        ):
            raise BadCall(f"choose different items, by codes from 0 to {size - 1}, and at least one")
        return int(items.size)

    def _reshaped(self, reshape: Reshape | None) -> Engine:
        """The engine over what the transactions become; asked for after the charge."""
        return self._engine if reshape is None else self._engine.reshaped(reshape, self._noise.keys)

    def _l1(self, itemsets: Itemsets, truncation: Truncation) -> int:
        number = itemsets.number_by_size()
        return max(1, l1_sensitivity(truncation, alphabet_size=self.alphabet_size, candidates=number))

    def _noisy(
        self,
        question: str,
        look: Callable[[], ExactCounts],
        *,
        sensitivity: int,
        epsilon: Fraction,
        steps: int = 1,
    ) -> tuple[Int64Array, DiscreteLaplace]:
        """Charge, look, noise: in that order, here and nowhere else."""
        mechanism = DiscreteLaplace(sensitivity * self.unit.transactions, epsilon, steps)
        self.budget.charge(question, mechanism)
        return self._noise.discrete_laplace(look(), scale=mechanism.scale), mechanism


def on_some(items: Int64Array | None) -> str:
    """How a choice of items shows in the trace: their number alone."""
    return "" if items is None else f" on {items.size} chosen items"


def check_countable(itemsets: Itemsets) -> None:
    """Raise BadCall where rows that share no item could move a support by more than 1, or one stands twice."""
    if len(itemsets) == 0 or 0 in itemsets.number_by_size() or len(set(itemsets)) < len(itemsets):
        raise BadCall("itemsets to count must be different, and none empty; give at least one, each once")


def under(truncation: Reshape | None) -> str:
    """How a cut or a split shows in the trace: its name and limit, never a list of items."""
    if truncation is None:
        return ""
    if isinstance(truncation, OnlyItems):
        return f" on {len(truncation.items)} chosen items{under(truncation.then)}"
    limit = getattr(truncation, "limit", None)
    return "" if limit is None else f" under {type(truncation).__name__}({limit})"
