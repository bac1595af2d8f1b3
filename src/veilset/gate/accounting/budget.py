"""The budget: epsilon and delta as exact fractions, charged before anything is looked at."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from threading import Lock

from veilset.errors import BadCall, BudgetExceeded
from veilset.gate.accounting.concentrated import GaussianPurse
from veilset.gate.approximate_mechanisms import DiscreteGaussian, check_delta
from veilset.gate.mechanisms import Mechanism, check_share
from veilset.gate.trace import Charge, Cost, cost_of
from veilset.rationals import Rational, rational_of
from veilset.wording import shown

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
            f"epsilon {shown(epsilon)} is not a number; give one above 0, for example 0.5 or 1/3"
        ) from None
    if exact <= 0:
        raise BadCall(
            f"epsilon {shown(epsilon)} buys no answer; give a number above 0 (0.1 is strict, 1 is common)"
        )
    if not LEAST_EPSILON <= exact <= MOST_EPSILON:
        raise BadCall(
            f"epsilon {shown(epsilon)} is out of range; give {LEAST_EPSILON} to {MOST_EPSILON} "
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
        raise BadCall(f"delta {shown(delta)} is not a number; give a small one, for example 1e-9") from None
    if not LEAST_DELTA <= exact <= MOST_DELTA:
        raise BadCall(
            f"delta {shown(delta)} is out of range; give at most {float(MOST_DELTA):g}, far below one over the number "
            "of persons, for example 1e-9: it is the probability with which the promise may fail"
        )
    return exact


@dataclass(frozen=True, slots=True)
class GaussianCost:
    """The rho of a question with Gaussian noise, and what it costs."""

    rho: Fraction
    epsilon: Fraction
    delta: Fraction


class Account(ABC):
    """Who pays for questions: a budget, or the part of one that is spent on a sample.

    What was spent is added up here, from costs that were read once: no mechanism can name another price later.
    Whoever changes an account holds its lock, from the first look at what is left to the last change.
    """

    def __init__(self, total: Fraction, *, delta: Fraction = Fraction(0)) -> None:
        if type(total) is not Fraction or total < 0:
            raise BadCall(f"a total of epsilon {total!r} is none; give a Fraction, 0 or above")
        check_delta(delta)
        self._total = total
        self._delta = delta
        self._spent = Fraction(0)
        self._spent_delta = Fraction(0)
        self._charges: list[Charge] = []
        self._lock = Lock()

    @property
    def total(self) -> Fraction:
        """What may be spent of epsilon, all together."""
        return self._total

    @property
    def delta(self) -> Fraction:
        """What may be spent of delta, all together."""
        return self._delta

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Every question that was paid for, in order."""
        return tuple(self._charges)

    @property
    def spent(self) -> Fraction:
        """The sum of all charges (sequential composition)."""
        return self._spent

    @property
    def left(self) -> Fraction:
        """What can still be spent of epsilon."""
        return self._total - self._spent

    @property
    def delta_left(self) -> Fraction:
        """What can still be spent of delta."""
        return self._delta - self._spent_delta

    def gaussian_cost(self, epsilon: Fraction) -> GaussianCost:
        """What a question with Gaussian noise would get for epsilon now, or BadCall where there is no delta for any."""
        raise BadCall(f"Gaussian noise at epsilon {epsilon} needs delta, which there is none of here")

    def charge_gaussian(
        self,
        question: str,
        *,
        squared_sensitivity: int,  # noqa: ARG002 - for those who have delta
        epsilon: Fraction,
        steps: int,  # noqa: ARG002
    ) -> DiscreteGaussian:
        """Pay for a question with Gaussian noise, whose rho is told only now, or raise as `charge` does."""
        raise BadCall(
            f"the question {question!r}: Gaussian noise at epsilon {epsilon} needs delta, which there is none of here"
        )

    @abstractmethod
    def charge(self, question: str, mechanism: Mechanism) -> None:
        """Pay for a question, or raise BudgetExceeded and leave everything as it was."""

    def explain(self, paid: Mechanism, explained: Mechanism) -> None:
        """Put a mechanism into the trace that says more than the one that was paid for, at the same cost."""
        if cost_of(explained) != cost_of(paid) or type(explained) is not type(paid):
            raise BadCall(f"epsilon {paid.epsilon} was paid, not {explained.epsilon}; what was paid stays")
        with self._lock:
            self._replace(paid, explained)

    def _enter(self, question: str, mechanism: Mechanism, cost: Cost) -> None:
        """Put a question that can be paid on the account; under the lock."""
        self._spent += cost.epsilon
        self._spent_delta += cost.delta
        self._charges.append(Charge(question, mechanism))

    def _replace(self, paid: Mechanism, explained: Mechanism) -> int:
        """Put one mechanism in the place of another; returns the place."""
        places = (place for place, charge in enumerate(self._charges) if charge.mechanism is paid)
        place = next(places, None)
        if place is None:
            raise BadCall(
                "what was not paid here cannot be explained; hand in the mechanism that was charged"
            )
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
        if type(total) is not Fraction or total <= 0:
            raise BadCall(f"a budget of epsilon {total!r} buys no answer; give a Fraction above 0")
        super().__init__(total, delta=delta)
        self._gaussian: GaussianPurse | None = None

    def gaussian_cost(self, epsilon: Fraction) -> GaussianCost:
        """What a question with Gaussian noise would get for epsilon now; the first one takes all that is left of delta.

        Other questions may come first and change it: `charge_gaussian` tells what was got.
        """
        with self._lock:
            return self._gaussian_cost(epsilon)

    def charge(self, question: str, mechanism: Mechanism) -> None:
        """Pay for a question, or raise BudgetExceeded and leave everything as it was."""
        cost = cost_of(mechanism)
        with self._lock:
            self._pay(question, mechanism, cost)

    def charge_gaussian(
        self, question: str, *, squared_sensitivity: int, epsilon: Fraction, steps: int
    ) -> DiscreteGaussian:
        """Pay for a question with Gaussian noise of the rho that epsilon buys at this moment, or raise as `charge`."""
        with self._lock:
            got = self._gaussian_cost(epsilon)
            mechanism = DiscreteGaussian(squared_sensitivity, got.rho, got.epsilon, got.delta, steps)
            self._pay(question, mechanism, cost_of(mechanism))
        return mechanism

    def _gaussian_cost(self, epsilon: Fraction) -> GaussianCost:
        if self._gaussian is not None:
            return GaussianCost(self._gaussian.rho_for(epsilon), epsilon, Fraction(0))
        if self.delta_left == 0:
            return super().gaussian_cost(epsilon)
        check_share(epsilon)
        purse = GaussianPurse(self.delta_left, first=epsilon, most=max(epsilon, self.left))
        return GaussianCost(purse.rho_for(epsilon), epsilon, self.delta_left)

    def _pay(self, question: str, mechanism: Mechanism, cost: Cost) -> None:
        """Refuse what cannot be paid before anything is changed; under the lock."""
        if cost.epsilon > self.left:
            raise BudgetExceeded(
                f"the question {question!r} asks for epsilon {cost.epsilon}, but only {self.left} "
                f"of {self.total} is left; ask for at most {self.left}, or start with a larger budget"
            )
        if cost.delta > self.delta_left:
            raise BudgetExceeded(
                f"the question {question!r} asks for delta {float(cost.delta):g}, but only "
                f"{float(self.delta_left):g} of {float(self.delta):g} is left; start with a larger delta"
            )
        if isinstance(mechanism, DiscreteGaussian):
            purse = self._gaussian or GaussianPurse(cost.delta, first=cost.epsilon, most=self.left)
            purse.pay(cost.epsilon, mechanism.rho)
            self._gaussian = purse
        self._enter(question, mechanism, cost)


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
