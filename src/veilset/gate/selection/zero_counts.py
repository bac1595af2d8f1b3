"""Which of many zero counts pass a threshold once they have noise: drawn, not tried one by one (D3).

Noise is discrete Laplace, P(x) proportional to a^|x| with a = exp(-rate). A zero count reaches a threshold t of
at least 0 with probability p = a^t / (1 + a). How many of n do is Binomial(n, p), which of them is uniform, and
what the noise of one is, given that it passes, is t plus a geometric variable: P(g) proportional to a^g, which
is the law of the noise itself given that it is not negative. So the law is that of testing each.

The binomial number is the quantile of a uniform real number, whose binary digits are drawn only as far as needed
to tell on which side of the next step it lies; the steps are computed in decimal arithmetic with more digits
than that. No rounding decides.
"""

import decimal
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.itemsets import Below
from veilset.raw.counts import ExactCounts

DrawNoise = Callable[[ExactCounts], Int64Array]
"""Adds independent noise to counts."""

_DIGITS_AT_A_TIME = 64


def chance_to_pass(threshold: int, *, scale: Fraction) -> float:
    """How likely noise alone reaches a threshold, about.

    >>> round(chance_to_pass(3, scale=Fraction(1)), 4)
    0.0364
    """
    return math.exp(-threshold / float(scale)) / (1 + math.exp(-1 / float(scale)))


def draw_number_passing(number: int, *, threshold: int, rate: Fraction, below: Below) -> int:
    """How many of that many zero counts reach the threshold.

    >>> import random
    >>> draw_number_passing(10**6, threshold=10, rate=Fraction(1), below=random.Random(1).randrange)
    37
    """
    bits, digits = 0, 0
    while True:
        bits, digits = bits + _DIGITS_AT_A_TIME, digits << _DIGITS_AT_A_TIME | below(2**_DIGITS_AT_A_TIME)
        quantile = _binomial_quantile(digits, bits, number, exponent=rate * threshold, rate=rate)
        if quantile is not None:
            return quantile


def _binomial_quantile(
    digits: int, bits: int, number: int, *, exponent: Fraction, rate: Fraction
) -> int | None:
    """The quantile of Binomial(number, exp(-exponent) / (1 + exp(-rate))) at a real number; None if unclear.

    The number begins with these binary digits. With `precision` decimal digits, the sum of the law up to any
    place has a relative error below 10^-(precision - size), because an error of p grows by a factor of at most
    the number of counts and one of an exponent by its size.
    """
    size = len(str(number)) + len(str(math.ceil(exponent + rate))) + 5
    precision = bits // 3 + size
    with decimal.localcontext(
        decimal.Context(prec=precision, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[])
    ):
        slack = decimal.Decimal(10) ** (size - precision)
        low, high = (decimal.Decimal(end) / 2**bits for end in (digits, digits + 1))
        chance = _exp_of_minus(exponent) / (1 + _exp_of_minus(rate))
        odds = chance / (1 - chance)
        term = total = (1 - chance) ** number
        for passing in range(number):
            if high <= total * (1 - slack):
                return passing
            if low < total * (1 + slack):
                return None
            term *= odds * (number - passing) / (passing + 1)
            total += term
    return number


def _exp_of_minus(x: Fraction) -> decimal.Decimal:
    return (-decimal.Decimal(x.numerator) / x.denominator).exp()


def draw_passing_noise(number: int, *, threshold: int, noise: DrawNoise) -> Int64Array:
    """The noise of that many zero counts, given that each reaches the threshold."""
    drawn = np.zeros(0, np.int64)
    while drawn.size < number:
        more = noise(ExactCounts(np.zeros(2 * (number - drawn.size) + 8, np.int64)))
        drawn = np.concatenate([drawn, more[more >= 0]])
    return threshold + drawn[:number]
