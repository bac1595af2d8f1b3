"""Questions on a random sample: each costs less, because most units are not in it.

A transaction is in the sample with probability q, each on its own. One privacy unit of at most c transactions
is out of it with probability (1 - q)^c, and in it, with some of its transactions, with

    q' = 1 - (1 - q)^c.

All questions on one sample, which together cost E on it, cost ln(1 + q'(e^E - 1)) on the data. Proof: let R be
the sample without the unit. On the database without the unit, a sequence of answers has the probability
P = E[M(R)], where M is what the questions on a sample do. With the unit it is P' = (1 - q') E[M(R)] +
q' E[M(R with A)], A being the transactions of the unit that were drawn, at least one. For every R and A the two
samples differ by one unit, so that e^-E M(R) <= M(R with A) <= e^E M(R). Hence P' / P <= 1 + q'(e^E - 1), and
P / P' <= 1 / (1 - q'(1 - e^-E)), which is no more, because (1 - q'a)(1 + q'b) = 1 + q'(1 - q')(b - a) for
a = 1 - e^-E and b = e^E - 1.

The questions on one sample see the same rows, so their costs add up on the sample first, and only the sum is
cheaper: E grows with every question, and a question costs by how much it raises the price of all. Questions on the
data in between, or on another sample, are independent of the draw of this one given all answers so far: for each
sequence of answers the probability is a product, and the costs add up.

A price is irrational. It is rounded up to a multiple of `PRICE_STEP`, and what a price can buy is rounded down.
"""

import decimal
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from threading import Lock
from typing import Any

from veilset.errors import BadCall, BudgetExceeded
from veilset.gate.accounting.budget import Account
from veilset.gate.mechanisms import Mechanism, OnSample, check_share
from veilset.gate.trace import cost_of
from veilset.integers import whole
from veilset.raw.engines import DrawKeys, Engine
from veilset.raw.transactions import Alphabet

PRICE_STEP = Fraction(1, 10**9)
"""Prices are multiples of 10^-9."""
KEY_BITS = 32
"""32: a transaction is in the sample where its random key of 32 bits is below a bound."""

_PRECISION = decimal.Context(prec=80, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
_ERROR = decimal.Decimal("1e-40")
"""Far above the rounding of a price at 80 digits, for any epsilon below 10^30; far below a step."""


def drawable_rate(rate: Fraction) -> Fraction:
    """The largest rate up to this one at which keys can sample exactly.

    >>> drawable_rate(Fraction(1, 4)), drawable_rate(Fraction(1, 3)) < Fraction(1, 3)
    (Fraction(1, 4), True)
    """
    if type(rate) is not Fraction or not 2**-KEY_BITS <= rate <= 1:
        raise BadCall(
            f"a sample of {rate} of the transactions cannot be drawn; give a rate above 0, at most 1"
        )
    return Fraction(math.floor(rate * 2**KEY_BITS), 2**KEY_BITS)


def chance_of_a_unit(rate: Fraction, *, transactions: int) -> Fraction:
    """How likely any of a unit's transactions is in the sample: q'.

    >>> chance_of_a_unit(Fraction(1, 2), transactions=1), chance_of_a_unit(Fraction(1, 2), transactions=3)
    (Fraction(1, 2), Fraction(7, 8))
    """
    if type(rate) is not Fraction or not 0 < rate <= 1:
        raise BadCall(f"a sample at rate {rate!r} is none; give a Fraction above 0, at most 1")
    return 1 - (1 - rate) ** whole(transactions, "the number of transactions of a unit", least=1)


def price_of(epsilon: Fraction, *, chance: Fraction) -> Fraction:
    """What questions cost on the data that together cost epsilon on a sample, rounded up.

    ln(1 + q'(e^E - 1)) is E + ln(q' + (1 - q') e^-E), where nothing overflows.

    >>> float(price_of(Fraction(1), chance=Fraction(1, 10)))
    0.158565079
    """
    if chance == 1 or epsilon == 0:
        return epsilon
    with decimal.localcontext(_PRECISION):
        spent, drawn = _decimal(epsilon), _decimal(chance)
        price = spent + (drawn + (1 - drawn) * (-spent).exp()).ln()
        steps = math.ceil((price + _ERROR) * PRICE_STEP.denominator)
    return min(epsilon, steps * PRICE_STEP)


def affordable(price: Fraction, *, chance: Fraction) -> Fraction:
    """The most that questions may cost together on a sample for this price on the data, rounded down.

    >>> float(affordable(Fraction("0.158565079"), chance=Fraction(1, 10)))
    1.000000001
    """
    if chance == 1:
        return price
    with decimal.localcontext(_PRECISION):
        paid, drawn = _decimal(price // PRICE_STEP * PRICE_STEP), _decimal(chance)
        # ln(1 + (e^P - 1) / q') = P + ln(e^-P + (1 - e^-P) / q')
        most = paid + ((-paid).exp() + (1 - (-paid).exp()) / drawn).ln()
        epsilon = math.floor(most * PRICE_STEP.denominator) * PRICE_STEP
    while price_of(epsilon, chance=chance) > price:  # by the margin for rounding, so at most a step or two
        epsilon -= PRICE_STEP
    return max(epsilon, Fraction(0))


def _decimal(value: Fraction) -> decimal.Decimal:
    return decimal.Decimal(value.numerator) / value.denominator


Pay = Callable[[str, Mechanism], None]
"""Charges the account of the data for a question on a sample, or raises BudgetExceeded."""


class SampleAccount(Account):
    """What the questions on one sample cost there, and what the account of the data pays for them.

    `pay` charges that account in place of its own `charge`, where more is to be done than that.

    >>> from veilset.gate.accounting.budget import Budget
    >>> from veilset.gate.mechanisms import DiscreteLaplace
    >>> budget = Budget(Fraction(1))
    >>> account = SampleAccount(budget, rate=Fraction(1, 8), transactions=1, epsilon=Fraction(1, 5))
    >>> account.charge("number of transactions", DiscreteLaplace(1, Fraction(1, 2)))
    >>> account.charge("number of transactions", DiscreteLaplace(1, Fraction(1, 2)))
    >>> [float(charge.mechanism.epsilon) for charge in budget.charges]
    [0.077969939, 0.116597356]
    """

    def __init__(
        self, payer: Account, *, rate: Fraction, transactions: int, epsilon: Fraction, pay: Pay | None = None
    ) -> None:
        check_share(epsilon)
        self._payer = payer
        self._pay = pay or payer.charge
        self._rate = rate
        self._chance = chance_of_a_unit(rate, transactions=transactions)
        self._priced: list[OnSample] = []
        super().__init__(affordable(epsilon, chance=self._chance))

    def charge(self, question: str, mechanism: Mechanism) -> None:
        """Let the data's account pay by how much this question raises the price, or raise BudgetExceeded."""
        cost = cost_of(mechanism)
        with self._lock:
            if cost.epsilon > self.left:
                raise BudgetExceeded(
                    f"the question {question!r} on a sample asks for epsilon {cost.epsilon} there, but only "
                    f"{self.left} of {self.total} is left; ask for at most {self.left}, or pay more for the sample"
                )
            if cost.delta > 0:
                raise BadCall(
                    f"the question {question!r} needs delta, which no sample has; ask it on the data"
                )
            before = price_of(self.spent, chance=self._chance)
            after = price_of(self.spent + cost.epsilon, chance=self._chance)
            priced = OnSample(mechanism, self._rate, after - before)
            self._pay(question, priced)  # the data's account, under a lock of its own: always this one first
            self._priced.append(priced)
            self._enter(question, mechanism, cost)

    def _replace(self, paid: Mechanism, explained: Mechanism) -> int:
        """Put one mechanism in the place of another, here and where it was paid; returns the place."""
        place = super()._replace(paid, explained)
        priced = replace(self._priced[place], mechanism=explained)
        self._payer.explain(self._priced[place], priced)
        self._priced[place] = priced
        return place


class SampledEngine:
    """Answers like the engine whose transactions it samples; has nothing to answer with until the sample is drawn."""

    def __init__(self, alphabet: Alphabet, *, rate: Fraction, draw: DrawKeys) -> None:
        self.alphabet = alphabet
        self._draw, self._below = draw, int(rate * 2**KEY_BITS)
        self._sample: Engine | None = None
        self._lock = Lock()

    def draw_from(self, engine: Engine) -> None:
        """Draw the sample from the engine that was paid for; only once, so that all questions see the same rows."""
        with self._lock:  # a second draw would be a second sample, which nobody paid for
            if self._sample is None:
                self._sample = engine.sample(self._draw, below=self._below)

    def __getattr__(self, question: str) -> Any:  # noqa: ANN401 - whatever the engine's method is
        return getattr(self._sample, question)
