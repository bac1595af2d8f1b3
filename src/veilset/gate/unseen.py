"""Counts that are 0, and how many of them pass a threshold once they have noise: drawn, not listed.

Discrete Laplace noise of scale b on 0 reaches a threshold t >= 1 with probability

    p = exp(-t / b) / (1 + exp(-1 / b)),

and then exceeds it by j with probability in proportion to exp(-j / b), like noise that is not negative. So of n
such counts Binomial(n, p) pass, any as well as another, and their values need no new law. A count passes where a
uniform number, written in binary, is below p. The numbers of all n are drawn together: half of those that begin
with zeros begin with one more, up to the zeros that p itself has; only those few are then compared digit by digit.
"""

import decimal
import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from veilset.errors import BadCall
from veilset.gate.noise import Noise, float_at_least
from veilset.itemsets import Below
from veilset.raw.counts import ExactCounts, Int64Array

_DIGITS_AT_A_TIME = 64


def chance_to_pass(threshold: int, *, scale: Fraction) -> float:
    """How likely noise alone reaches a threshold, about.

    >>> round(chance_to_pass(3, scale=Fraction(1)), 4)
    0.0364
    """
    return math.exp(-threshold / float(scale)) / (1 + math.exp(-1 / float(scale)))


def number_that_pass(number: int, *, threshold: int, scale: Fraction, below: Below) -> int:
    """How many of so many zero counts reach the threshold once they have noise."""
    if threshold < 1:
        raise BadCall(f"a threshold of {threshold} lets counts of 0 pass without noise; give at least 1")
    drawn_scale = Fraction(float_at_least(scale))  # what the sampler of the noise takes
    zeros = _zeros_after_the_point(threshold, drawn_scale)
    for _ in range(zeros):
        if number == 0:
            return 0
        number = below(1 << number).bit_count()
    return sum(_is_below_chance(threshold, drawn_scale, zeros, below) for _ in range(number))


def values_that_pass(number: int, *, threshold: int, scale: Fraction, noise: Noise) -> Int64Array:
    """Zero counts with noise, given that they reached the threshold."""
    excess = np.empty(0, np.int64)
    while excess.size < number:
        drawn = noise.discrete_laplace(ExactCounts(np.zeros(number - excess.size, np.int64)), scale=scale)
        excess = np.append(excess, drawn[drawn >= 0])
    return threshold + excess


def _zeros_after_the_point(threshold: int, scale: Fraction) -> int:
    """With how many zeros the chance begins in binary: so many at least, and hardly more."""
    steps = float(threshold / scale)
    zeros = steps / math.log(2) + math.log2(1 + math.exp(-1 / float(scale)))
    return max(0, math.floor(zeros * (1 - 1e-9)) - 1)  # far more than floats are off


def _is_below_chance(threshold: int, scale: Fraction, zeros: int, below: Below) -> bool:
    """Whether a uniform number that begins with so many zeros is below the chance."""
    digits, bits = 0, zeros
    while True:
        digits = (digits << _DIGITS_AT_A_TIME) | below(2**_DIGITS_AT_A_TIME)
        bits += _DIGITS_AT_A_TIME
        chance = _digits_of_chance(threshold, scale, bits)
        if digits != chance:
            return digits < chance


@lru_cache(maxsize=256)  # all counts that are compared ask for the same digits
def _digits_of_chance(threshold: int, scale: Fraction, bits: int) -> int:
    """The first binary digits of exp(-t / b) / (1 + exp(-1 / b)), exactly.

    >>> _digits_of_chance(1, Fraction(1), 10), math.floor(1024 / (math.e + 1))
    (275, 275)
    """
    precision = bits // 3 + 20
    while True:
        wide = decimal.Context(prec=precision, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
        with decimal.localcontext(wide):
            step = decimal.Decimal(scale.denominator) / scale.numerator
            value = (-threshold * step).exp() / (1 + (-step).exp()) * (1 << bits)
            # The rounding of the argument, which grows with it, and of each operation.
            error = value.scaleb(4 + len(str(math.ceil(threshold / scale))) - precision)
            low, high = math.floor(value - error), math.floor(value + error)
        if low == high:
            return low
        precision *= 2
