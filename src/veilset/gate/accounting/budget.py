"""The budget: epsilon and delta as exact fractions, charged before anything is looked at."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from threading import Lock

from veilset.errors import BadCall, BudgetExceeded
from veilset.gate.accounting.concentrated import GaussianPurse
from veilset.gate.mechanisms import Charge, DiscreteGaussian, Mechanism
from veilset.rationals import Rational, rational_of

Epsilon = Rational
"""What a caller may hand in; 0.1 means one tenth, not the nearest binary float."""

Delta = Rational
"""The same for delta; 1e-9 means one in a billion."""

LEAST_DELTA, MOST_DELTA = Fraction(1, 10**100), Fraction(1, 1000)
"""Above, one person in a thousand may be exposed; below, thresholds would have no end."""

LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), 10**9
"""Below, noise would leave the range of 64-bit counts; above, there is none, and nothing is protected."""


def exact_epsilon(epsilon: Epsilon) -> Fraction:
    """The epsilon that was meant, as a fraction.

    >>> exact_epsilon(0.1), exact_epsilon("1/3"), exact_epsilon(2)
    (Fraction(1, 10), Fraction(1, 3), Fraction(2, 1))
    """
    try:
        exact = rational_of(epsilon)
    except ValueError:
        raise BadCall(
            f"epsilon {epsilon!r} is not a number; give one above 0, for example 0.5 or 1/3"
        ) from None
    if exact <= 0:
        raise BadCall(f"epsilon {epsilon} buys no answer; give a number above 0 (0.1 is strict, 1 is common)")
    if not LEAST_EPSILON <= exact <= MOST_EPSILON:
        raise BadCall(
            f"epsilon {epsilon} is out of range; give {LEAST_EPSILON} to {MOST_EPSILON} "
            "(0.1 is strict, 1 is common)"
        )
    return exact


def exact_delta(delta: Delta) -> Fraction:
    """The delta that was meant, as a fraction.

    >>> exact_delta(1e-9), exact_delta("1/1000000")
    (Fraction(1, 1000000000), Fraction(1, 1000000))
    """
    try:
        exact = rational_of(delta)
    except ValueError:
        raise BadCall(f"delta {delta!r} is not a number; give a small one, for example 1e-9") from None
    if not LEAST_DELTA <= exact <= MOST_DELTA:
        raise BadCall(
            f"delta {delta} is out of range; give at most {float(MOST_DELTA):g}, far below one over the number of "
            "persons, for example 1e-9: it is the probability with which the promise may fail"
        )
    return exact


@dataclass(frozen=True, slots=True)
class GaussianCost:
    """The rho of a question with Gaussian noise, and what it costs."""

    rho: Fraction
    epsilon: Fraction
    delta: Fraction


class Account(ABC):
    """Who pays for questions: a budget, or the part of one that is spent on a sample."""

    def __init__(self, total: Fraction, *, delta: Fraction = Fraction(0)) -> None:
        self.total = total
        self.delta = delta
        self._charges: list[Charge] = []
        self._lock = Lock()

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Every question that was paid for, in order."""
        return tuple(self._charges)

    @property
    def spent(self) -> Fraction:
        """The sum of all charges (sequential composition)."""
        return sum((charge.mechanism.epsilon for charge in self._charges), Fraction(0))

    @property
    def left(self) -> Fraction:
        """What can still be spent of epsilon."""
        return self.total - self.spent

    @property
    def delta_left(self) -> Fraction:
        """What can still be spent of delta."""
        return self.delta - sum((charge.mechanism.delta for charge in self._charges), Fraction(0))

    def gaussian_cost(self, epsilon: Fraction) -> GaussianCost:
        """What a question with Gaussian noise gets for epsilon, or BadCall where there is no delta for any."""
        raise BadCall(f"Gaussian noise at epsilon {epsilon} needs delta, which there is none of here")

    @abstractmethod
    def charge(self, question: str, mechanism: Mechanism) -> None:
        """Pay for a question, or raise BudgetExceeded and leave everything as it was."""

    def explain(self, paid: Mechanism, explained: Mechanism) -> None:
        """Put a mechanism into the trace that says more than the one that was paid for, at the same cost."""
        if (explained.epsilon, explained.delta) != (paid.epsilon, paid.delta):
            raise BadCall(f"epsilon {paid.epsilon} was paid, not {explained.epsilon}; what was paid stays")
        with self._lock:
            self._replace(paid, explained)

    def _replace(self, paid: Mechanism, explained: Mechanism) -> int:
        """Put one mechanism in the place of another; returns the place."""
        place = next(i for i, charge in enumerate(self._charges) if charge.mechanism is paid)
        self._charges[place] = replace(self._charges[place], mechanism=explained)
        return place


class Budget(Account):
    """What may be spent on one set of transactions, and every charge so far.

    >>> from veilset.gate.mechanisms import DiscreteLaplace
    >>> budget = Budget(Fraction(1))
    >>> budget.charge("number of transactions", DiscreteLaplace(1, Fraction(1, 4)))
    >>> budget.left
    Fraction(3, 4)
    """

    def __init__(self, total: Fraction, *, delta: Fraction = Fraction(0)) -> None:
        if total <= 0:
            raise BadCall(f"a budget of epsilon {total} buys no answer; give one above 0")
        if not 0 <= delta < 1:
            raise BadCall(
                f"a budget of delta {delta} is no probability of failing; give one from 0 up, below 1"
            )
        super().__init__(total, delta=delta)
        self._gaussian: GaussianPurse | None = None

    def gaussian_cost(self, epsilon: Fraction) -> GaussianCost:
        """What a question with Gaussian noise gets for epsilon; the first one takes all that is left of delta."""
        if self._gaussian is not None:
            return GaussianCost(self._gaussian.rho_for(epsilon), epsilon, Fraction(0))
        if self.delta_left == 0:
            return super().gaussian_cost(epsilon)
        return GaussianCost(GaussianPurse(self.delta_left).rho_for(epsilon), epsilon, self.delta_left)

    def charge(self, question: str, mechanism: Mechanism) -> None:
        """Pay for a question, or raise BudgetExceeded and leave everything as it was."""
        with self._lock:
            if mechanism.epsilon > self.left:
                raise BudgetExceeded(
                    f"the question {question!r} asks for epsilon {mechanism.epsilon}, but only {self.left} "
                    f"of {self.total} is left; ask for at most {self.left}, or start with a larger budget"
                )
            if mechanism.delta > self.delta_left:
                raise BudgetExceeded(
                    f"the question {question!r} asks for delta {float(mechanism.delta):g}, but only "
                    f"{float(self.delta_left):g} of {float(self.delta):g} is left; start with a larger delta"
                )
            if isinstance(mechanism, DiscreteGaussian):
                purse = self._gaussian or GaussianPurse(mechanism.delta)
                purse.pay(mechanism.epsilon, mechanism.rho)
                self._gaussian = purse
            self._charges.append(Charge(question, mechanism))


@contextmanager
def tells_spent(charges: Callable[[], Sequence[Charge]]) -> Iterator[None]:
    """Whatever ends the work that was paid for, its error says what was spent by then, as a note.

    >>> from veilset.gate.mechanisms import DiscreteLaplace
    >>> try:
    ...     with tells_spent(lambda: [Charge("number", DiscreteLaplace(1, Fraction(1, 4)))]):
    ...         raise MemoryError
    ... except MemoryError as error:
    ...     error.__notes__
    ['epsilon 1/4 was spent']
    """
    try:
        yield
    except BaseException as error:
        paid = [charge.mechanism for charge in charges()]
        epsilon = sum((mechanism.epsilon for mechanism in paid), Fraction(0))
        delta = sum((mechanism.delta for mechanism in paid), Fraction(0))
        if delta > 0:
            error.add_note(f"epsilon {epsilon} and delta {float(delta):g} were spent")
        elif epsilon > 0:
            error.add_note(f"epsilon {epsilon} was spent")
        raise
