"""What Gaussian noise costs: zero-concentrated differential privacy, stated as (epsilon, delta), rounded outward.

Discrete Gaussian noise of scale sigma on integers that one privacy unit moves by at most D in the L2 norm is rho-zCDP
with rho = D^2 / (2 sigma^2) (Canonne, Kamath, Steinke 2020, Theorem 14). A rho-zCDP answer is (epsilon, delta)-private
for every alpha > 1 with

    delta = exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha)^alpha        (ibid., Corollary 13).

Any alpha gives a true statement, so a floating-point search may look for a good one; what is then stated is computed
in 60 decimal digits and rounded up, so it is never too small.
"""

import decimal
import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from veilset.arrays import FloatArray

_WIDE = decimal.Context(prec=60, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
_MARGIN = 1 + Fraction(1, 10**40)
"""Above the relative error of a handful of operations with 60 digits."""
_ALPHAS: FloatArray = 1 + np.power(10.0, np.arange(-300, 701) / 100)
_LOG_FACTORS: FloatArray = _ALPHAS * np.log1p(-1 / _ALPHAS) - np.log(_ALPHAS - 1)
"""ln of the part of delta that does not depend on rho and epsilon."""
_ROUNDS = 80
_LOWEST_EXPONENT = Fraction(-1000)
"""Far below the logarithm of any delta: smaller probabilities need no digits of their own."""


@lru_cache(maxsize=1024)
def largest_rho(*, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The most rho, or a hair less, that (epsilon, delta) pays for.

    >>> rho = largest_rho(epsilon=Fraction("5.2216"), delta=Fraction(1, 10**6))
    >>> round(float(rho), 4), delta_of(rho, epsilon=Fraction("5.2216")) <= Fraction(1, 10**6)
    (0.5, True)
    """
    low, high, log_delta = 0.0, float(epsilon), math.log(delta)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if _log_deltas(middle, float(epsilon)).min() <= log_delta else (low, middle)
        )
    rho, less = Fraction(low), Fraction(1, 10**9)
    while delta_of(rho, epsilon=epsilon) > delta:
        rho, less = rho * (1 - less), min(2 * less, Fraction(1, 2))
    return rho


def delta_of(rho: Fraction, *, epsilon: Fraction) -> Fraction:
    """A delta with which a rho-zCDP answer is (epsilon, delta)-private; exact enough to be a true statement."""
    alpha = Fraction(_best_alpha(float(rho), float(epsilon)))
    exponent = (alpha - 1) * (alpha * rho - epsilon)
    power = _WIDE.multiply(_decimal(alpha), _decimal(1 - 1 / alpha).ln(_WIDE))
    return exp_at_least(exponent + Fraction(power)) / (alpha - 1) * _MARGIN


def normal_tail(x: Fraction) -> Fraction:
    """At least the probability that a standard normal variable reaches x, for x above 0; close from about 3 on.

    The first three terms of Laplace's series, density / x * (1 - 1/x^2 + 3/x^4): terms alternate, so a sum that ends
    with a positive one is an upper bound.

    >>> 1 < float(normal_tail(Fraction(6))) / (math.erfc(6 / math.sqrt(2)) / 2) < 1.0005
    True
    """
    density = exp_at_least(-x * x / 2) / Fraction(_WIDE.sqrt(_decimal(2 * _PI)))
    return density * (1 - 1 / x**2 + 3 / x**4) / x * _MARGIN


def exp_at_least(x: Fraction) -> Fraction:
    """At least e^x, and more by less than one part in 10^39; e^-1000 for anything below that.

    >>> 1 <= exp_at_least(Fraction(1)) / Fraction(math.e) < 1 + Fraction(1, 10**15)
    True
    """
    return Fraction(_WIDE.exp(_decimal(max(x, _LOWEST_EXPONENT)))) * _MARGIN


_PI = Fraction("3.14159265358979323846264338327950288419716939937510")
"""Rounded down, so that a density that is divided by its root is rounded up."""


def _decimal(value: Fraction) -> decimal.Decimal:
    return _WIDE.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))


def _best_alpha(rho: float, epsilon: float) -> float:
    return float(_ALPHAS[int(_log_deltas(rho, epsilon).argmin())])


def _log_deltas(rho: float, epsilon: float) -> FloatArray:
    """ln of the delta that each alpha gives, in floating point."""
    return (_ALPHAS - 1) * (_ALPHAS * rho - epsilon) + _LOG_FACTORS
