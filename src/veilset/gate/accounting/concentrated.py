"""What several questions with Gaussian noise cost together: added up as rho, and converted to epsilon at fixed orders.

Discrete Gaussian noise makes a question rho-zCDP (`gate.zcdp`), and rho adds up. At one order alpha, a sum of rho costs

    E_alpha(rho) = alpha rho + ln(kappa(alpha) / delta) / (alpha - 1), kappa(alpha) = (1 - 1/alpha)^alpha / (alpha - 1),

which grows in a straight line: the first question pays for delta, the next ones for their rho alone. Which order is
best depends on how much is spent in all, and that may depend on answers. To take the best one in the end, after the
answers, would be too good: whoever stops where the noise has told much, and spends the rest otherwise, gets more than
delta. So a few orders are fixed before the first Gaussian answer, each with an equal part of delta: those that are best
for the first price, twice that, four times that, and so on up to all that is left. A sum of rho costs the least of what
they say.

Why this holds, however questions are chosen. Let there be m orders. On a path, let pure questions cost p, Gaussian ones
rho, both in all, and let p + E_alpha(rho) <= epsilon for one of the orders, at delta / m. Let L be the log of the ratio
of the path's probabilities on two neighbours, l the part of it from Gaussian answers: L <= p + l. For every set S
of paths, P(S) - e^epsilon Q(S) is at most the mean under P of max(0, 1 - e^(epsilon - L)). As
(1 - e^-x) e^(-(alpha-1)x) <= kappa(alpha) for x > 0, that is on such a path at most

    kappa(alpha) e^((alpha-1)(p + l - epsilon)) <= (delta / m) e^((alpha-1)(l - alpha rho)).

Given the past, a Gaussian answer has a mean of e^((alpha-1) l_i) of at most e^((alpha-1) alpha rho_i), and other
answers change nothing: the last factor is a supermartingale, its mean is at most 1. Summed over the orders, delta.
"""

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from veilset.errors import BadCall
from veilset.gate.approximate_mechanisms import check_delta
from veilset.gate.mechanisms import check_share
from veilset.gate.zcdp import best_order, largest_rho


class Line(NamedTuple):
    """What a sum of rho costs at one order: `epsilon` at `rho`, and `order` times as much for more."""

    epsilon: Fraction
    rho: Fraction
    order: Fraction

    def rho_at(self, epsilon: Fraction) -> Fraction:
        """The sum of rho that costs epsilon."""
        return self.rho + (epsilon - self.epsilon) / self.order


@lru_cache(maxsize=1024)
def lines_from(first: Fraction, most: Fraction, delta: Fraction) -> tuple[Line, ...]:
    """The orders that are best for the first price and its doubles, up to the most that can be spent."""
    prices = [first]
    while prices[-1] < most:
        prices.append(2 * prices[-1])
    rhos = [largest_rho(epsilon=price, delta=delta / len(prices)) for price in prices]
    return tuple(
        Line(price, rho, best_order(rho, epsilon=price)) for price, rho in zip(prices, rhos, strict=True)
    )


class GaussianPurse:
    """What the questions with Gaussian noise have cost by now, and what the next one may have.

    `first` is the price of the first of them, `most` all that they may cost together; both fix the orders.

    >>> purse = GaussianPurse(Fraction(1, 10**9), first=Fraction(1, 10), most=Fraction(1))
    >>> first = purse.rho_for(Fraction(1, 10))
    >>> purse.pay(Fraction(1, 10), first)
    >>> 2 < purse.rho_for(Fraction(1, 10)) / first < 3
    True
    """

    def __init__(self, delta: Fraction, *, first: Fraction, most: Fraction) -> None:
        check_delta(delta)
        check_share(first)
        check_share(most)
        self.delta = delta
        self._lines = lines_from(first, most, delta)
        self._epsilon = Fraction(0)
        self._rho = Fraction(0)

    def rho_for(self, epsilon: Fraction) -> Fraction:
        """The rho of a question that raises what all of them cost by epsilon."""
        check_share(epsilon)
        return max(line.rho_at(self._epsilon + epsilon) for line in self._lines) - self._rho

    def pay(self, epsilon: Fraction, rho: Fraction) -> None:
        """Add a question, or raise BadCall where it has more than its price allows."""
        if type(rho) is not Fraction or not 0 < rho <= self.rho_for(epsilon):
            raise BadCall(
                "a question with Gaussian noise must have the rho that its price allows; ask for it anew"
            )
        self._epsilon += epsilon
        self._rho += rho
