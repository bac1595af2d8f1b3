"""What Gaussian noise costs: zero-concentrated differential privacy, stated as (epsilon, delta), rounded outward.

Discrete Gaussian noise of scale sigma on integers that one privacy unit moves by at most D in the L2 norm is rho-zCDP
with rho = D^2 / (2 sigma^2) (Canonne, Kamath, Steinke 2020, Theorem 14). A rho-zCDP answer is (epsilon, delta)-private
for every alpha > 1 with

    delta = exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha)^alpha        (ibid., Corollary 13).

Any alpha gives a true statement, so a floating-point search may look for a good one; what is then stated is computed
in 60 decimal digits and rounded up, so it is never too small. The logarithm of delta is convex in alpha, so the best
one is where its derivative, (2 alpha - 1) rho - epsilon + ln(1 - 1 / alpha), is 0.
"""

import decimal
import math
from fractions import Fraction
from functools import lru_cache

from veilset.errors import BadCall

_WIDE = decimal.Context(prec=60, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
_MARGIN = 1 + Fraction(1, 10**40)
"""Above the relative error of a handful of operations with 60 digits."""
_ROUNDS = 80
"""Halvings of a search in floating point."""
_LEAST_LOG, _MOST_LOG = -30.0, 40.0
"""Of alpha - 1: 10^-13 to 10^17, far beyond what any epsilon from 10^-9 to 10^9 and delta from 10^-110 need."""
_LEAST_EXPONENT = Fraction(-5000)
"""Of e: a smaller power is stated as this one, which is below any delta, and needs no million digits."""


@lru_cache(maxsize=1024)
def largest_rho(*, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The most rho up to epsilon, or a hair less, that (epsilon, delta) pays for.

    >>> rho = largest_rho(epsilon=Fraction("5.2216"), delta=Fraction(1, 10**6))
    >>> round(float(rho), 4), delta_of(rho, epsilon=Fraction("5.2216")) <= Fraction(1, 10**6)
    (0.5, True)
    """
    if epsilon <= 0 or not 0 < delta < 1:
        raise BadCall(
            f"Gaussian noise at epsilon {epsilon} and delta {delta}; give both above 0, delta below 1"
        )
    low, high = 0.0, float(epsilon)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_delta(middle, float(epsilon)) <= math.log(delta) else (low, middle)
    if low == 0:
        raise BadCall(f"epsilon {float(epsilon):g} is too small for Gaussian noise; give at least 1e-9")
    rho = Fraction(low)
    while delta_of(rho, epsilon=epsilon) > delta:
        rho *= 1 - Fraction(1, 10**9)
    return rho


def gaussian_scale(squared_reach: int, *, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The scale, rounded up, of noise on integers that one unit moves by that distance, squared, in the L2 norm."""
    rho = largest_rho(epsilon=epsilon, delta=delta)
    return Fraction(math.isqrt(math.ceil(squared_reach / (2 * rho))) + 1)


def delta_of(rho: Fraction, *, epsilon: Fraction) -> Fraction:
    """A delta with which a rho-zCDP answer is (epsilon, delta)-private; exact enough to be a true statement."""
    alpha = best_order(rho, epsilon=epsilon)
    beyond_one = alpha - 1
    exponent = beyond_one * (alpha * rho - epsilon)
    power = _WIDE.multiply(_decimal(alpha), _decimal(1 - 1 / alpha).ln(_WIDE))
    return exp_at_least(exponent + Fraction(power)) / beyond_one * _MARGIN


def best_order(rho: Fraction, *, epsilon: Fraction) -> Fraction:
    """The alpha at which `delta_of` states its delta: about the best one."""
    return 1 + Fraction(_best_beyond_one(float(rho), float(epsilon)))


def normal_tail(x: Fraction) -> Fraction:
    """At least the probability that a standard normal variable reaches x; close to it for x of 3 or more.

    The first three terms of Laplace's series, density / x * (1 - 1/x^2 + 3/x^4): terms alternate, so a sum that ends
    with a positive one is an upper bound for every x above 0. Below 1, where it says nothing, 1 is stated.

    >>> 1 < float(normal_tail(Fraction(6))) / (math.erfc(6 / math.sqrt(2)) / 2) < 1.0005
    True
    """
    if x < 1:
        return Fraction(1)
    density = exp_at_least(-x * x / 2) / Fraction(_WIDE.sqrt(_decimal(2 * _PI)))
    return density * (1 - 1 / x**2 + 3 / x**4) / x * _MARGIN


def exp_at_least(x: Fraction) -> Fraction:
    """At least e^x, and more by less than one part in 10^39 where x is -5,000 or more.

    >>> 1 <= exp_at_least(Fraction(1)) / Fraction(math.e) < 1 + Fraction(1, 10**15)
    True
    """
    return Fraction(_WIDE.exp(_decimal(max(x, _LEAST_EXPONENT)))) * _MARGIN


_PI = Fraction("3.14159265358979323846264338327950288419716939937510")
"""Rounded down, so that a density that is divided by its root is rounded up."""


def _decimal(value: Fraction) -> decimal.Decimal:
    return _WIDE.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))


def _best_beyond_one(rho: float, epsilon: float) -> float:
    """The alpha, less 1, with the least delta."""
    low, high = _LEAST_LOG, _MOST_LOG
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        beyond_one = math.exp(middle)
        falls = (2 * beyond_one + 1) * rho - epsilon < math.log1p(1 / beyond_one)
        low, high = (middle, high) if falls else (low, middle)
    return math.exp(low)


def _log_delta(rho: float, epsilon: float) -> float:
    beyond_one = _best_beyond_one(rho, epsilon)
    power = -beyond_one * math.log1p(1 / beyond_one) - math.log1p(beyond_one)
    return beyond_one * ((1 + beyond_one) * rho - epsilon) + power
