"""What questions have in common: who pays, who looks, who adds noise.

The engine, which knows the exact answers, is kept under a name that Python hides from every other class. `_pay` and
`_pay_gaussian` alone read it: whoever has not paid has nothing to look at.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate.accounting.budget import Account
from veilset.gate.answers import Discovery
from veilset.gate.approximate_mechanisms import DiscreteGaussian
from veilset.gate.draws import Noise
from veilset.gate.mechanisms import DiscreteLaplace, Mechanism
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.split import Split
from veilset.raw.cuts.truncation import DropLonger, OnlyItems, Reshape, Truncation, l1_sensitivity
from veilset.raw.engines import Engine
from veilset.raw.transactions import Item
from veilset.wording import counted

Look = Callable[[Engine], ExactCounts]
"""What a question counts, given the engine that was paid for."""

_RESHAPED_BY: dict[type, str] = {
    DropLonger: "emptied if longer than",
    Split: "split into pieces of at most",
}
"""What becomes of transactions; by all others they are truncated."""


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """Who is protected: the one thing in which neighbouring databases differ.

    `is_cut` tells that it may have more transactions than count; `is_chosen_privately`, that noisy answers told how
    many of them count. `is_basket` tells that a transaction is a basket, and that nobody knows whose.

    >>> PrivacyUnit("person", 1).sentence(), PrivacyUnit("transaction", 1, is_basket=True).sentence()
    ('one person', 'one basket (not all baskets of one person: the data does not tell whose they are)')
    """

    name: str
    transactions: int
    is_cut: bool = False
    is_chosen_privately: bool = False
    is_basket: bool = False

    def __post_init__(self) -> None:
        if type(self.transactions) is not int or self.transactions < 1:
            raise BadCall(
                f"a privacy unit of {self.transactions!r} transactions is none; give a whole number, at least 1"
            )

    def sentence(self) -> str:
        """The unit in words."""
        if self.is_basket:
            return "one basket (not all baskets of one person: the data does not tell whose they are)"
        if self.transactions == 1 and not self.is_cut:
            return f"one {self.name}"
        count = "counts" if self.transactions == 1 else "count"
        chosen = (
            ", a number that was chosen privately, as part of the cost" if self.is_chosen_privately else ""
        )
        return (
            f"one {self.name}, whole, whoever it is: of anybody's transactions, {self.transactions} at most {count}, "
            f"drawn at random{chosen}"
        )


class PaidLooks:
    """Who pays, who looks, who adds noise; nothing here tells which items there are."""

    def __init__(
        self,
        engine: Engine,
        *,
        budget: Account,
        noise: Noise,
        unit: PrivacyUnit,
        public_number: int | None = None,
    ) -> None:
        self.__engine = engine
        self.__budget, self.__unit, self.__public_number = budget, unit, public_number
        self._noise = noise

    @property
    def budget(self) -> Account:
        """Who pays; nobody can put another in its place."""
        return self.__budget

    @property
    def unit(self) -> PrivacyUnit:
        """Who is protected; the same holds."""
        return self.__unit

    @property
    def public_number(self) -> int | None:
        """How many transactions there are, where that is public."""
        return self.__public_number

    @property
    def is_private(self) -> bool:
        """False where the noise can be repeated: answers then protect nobody."""
        return self._noise.is_private

    def _pay(self, question: str, mechanism: Mechanism) -> Engine:
        """Charge for a question, or raise BudgetExceeded; then, and only then, hand out what there is to look at."""
        self.budget.charge(question, mechanism)
        return self.__engine

    def _pay_gaussian(
        self, question: str, *, squared_sensitivity: int, epsilon: Fraction, steps: int
    ) -> tuple[Engine, DiscreteGaussian]:
        """The same where the account tells, as it charges, how much Gaussian noise the price asks for."""
        mechanism = self.budget.charge_gaussian(
            question, squared_sensitivity=squared_sensitivity, epsilon=epsilon, steps=steps
        )
        return self.__engine, mechanism

    def _noisy(
        self, question: str, look: Look, *, sensitivity: int, epsilon: Fraction, steps: int = 1
    ) -> tuple[Int64Array, DiscreteLaplace]:
        """Charge, look, noise, in that order: counts with discrete Laplace noise, and the mechanism in the trace."""
        mechanism = DiscreteLaplace(sensitivity * self.unit.transactions, epsilon, steps)
        exact = look(self._pay(question, mechanism))
        return self._noise.counts(exact, mechanism), mechanism


class Questions(PaidLooks):
    """What every question about named items needs. Has no length and cannot be iterated."""

    def __init__(
        self,
        engine: Engine,
        *,
        budget: Account,
        noise: Noise,
        unit: PrivacyUnit,
        public_number: int | None = None,
        discovery: Discovery | None = None,
    ) -> None:
        super().__init__(engine, budget=budget, noise=noise, unit=unit, public_number=public_number)
        self._alphabet = engine.alphabet
        self.discovery = discovery

    @property
    def alphabet_size(self) -> int:
        """How many items there are; the alphabet is public."""
        return len(self._alphabet)

    @property
    def alphabet_is_given(self) -> bool:
        """Whether the alphabet was given, and not taken from the data."""
        return self._alphabet.is_given

    @property
    def alphabet_is_found(self) -> bool:
        """Whether the items were found privately."""
        return self.discovery is not None

    def names(self, itemset: Itemset) -> tuple[Item, ...]:
        """What the items of an itemset are called; the alphabet is public."""
        return tuple(self._alphabet.names[code] for code in itemset)

    def domain(self, *, max_size: int, min_size: int = 1) -> Domain:
        """All itemsets up to a size over the whole alphabet."""
        return Domain(items=range(self.alphabet_size), max_size=max_size, min_size=min_size)

    def _reshaped(self, engine: Engine, reshape: Reshape | None) -> Engine:
        """The engine that was paid for, over the rows that the transactions become."""
        return engine if reshape is None else engine.reshaped(reshape, self._noise.keys)

    def _l1(self, itemsets: Itemsets, truncation: Truncation) -> int:
        number = itemsets.number_by_size()
        return max(1, l1_sensitivity(truncation, alphabet_size=self.alphabet_size, candidates=number))


def on_chosen_items(items: Int64Array | None) -> str:
    """How a choice of items shows in the trace: their number alone."""
    return "" if items is None else f", on {counted(items.size, 'chosen item')}"


def after_reshaping(reshape: Reshape | None) -> str:
    """How a truncation or a split shows in the trace: what it does, its limit and name, never a list of items."""
    if isinstance(reshape, OnlyItems):
        return f"{on_chosen_items(reshape.items)}{after_reshaping(reshape.then)}"
    limit = getattr(reshape, "limit", None)
    if limit is None:
        return ""
    done = _RESHAPED_BY.get(type(reshape), "truncated to at most")
    return f", transactions {done} {counted(limit, 'item')} ({type(reshape).__name__})"
