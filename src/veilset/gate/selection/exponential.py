"""The exponential mechanism, drawn exactly: no floating-point number decides who wins.

Candidates with the same score are one class, drawn together: a class is chosen with P proportional to
(members left) * exp(rate * score), then a member uniformly. The candidates that the data does not hold are
just one more class, however many there are ("implicit block").

A class is drawn by rejection. `upper * 2^-bits` is at least exp(-x), x = rate * (reference - score), computed
in floating point with a margin far above its error. A class proposed with P proportional to members * upper
and kept with probability exp(-x) / (upper * 2^-bits) has the law wanted, whatever the margin. Whether to keep
it is the comparison of a uniform real number with exp(-x), both written out to as many binary digits as it
takes to tell them apart.
"""

import decimal
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import accumulate

import numpy as np

from veilset.arrays import Int64Array
from veilset.itemsets import Below

_DIGITS_AT_A_TIME = 64
_DRIFT = 32  # how many binary digits the best remaining score may fall before uppers are computed anew
_LOG2_E = 1 / math.log(2)
_MARGIN = 1 + 2**-30  # above the relative error of `2 ** -fraction` below, as long as x is under 2^20 digits


def draw_scores(members: Mapping[int, int], *, draws: int, rate: Fraction, below: Below) -> Iterator[int]:
    """Draw `draws` scores one after another without replacement; `members[score]` candidates have that score.

    >>> import random
    >>> below = random.Random(1).randrange
    >>> list(draw_scores({9: 1, 5: 10**40, 0: 2}, draws=2, rate=Fraction(1000), below=below))
    [9, 5]
    """
    scores = sorted((score for score, number in members.items() if number > 0), reverse=True)
    left = [members[score] for score in scores]
    bits = _DIGITS_AT_A_TIME + _DRIFT + sum(left).bit_length()
    first = reference = 0
    uppers = _uppers(scores, reference=reference, rate=rate, bits=bits)
    for _ in range(draws):
        while left[first] == 0:
            first += 1
        if (scores[reference] - scores[first]) * float(rate) * _LOG2_E > _DRIFT:
            reference = first
            uppers = _uppers(scores, reference=reference, rate=rate, bits=bits)
        totals = list(accumulate(number * upper for number, upper in zip(left, uppers, strict=True)))
        while True:
            chosen = bisect_right(totals, below(totals[-1]))
            x = rate * (scores[reference] - scores[chosen])
            if _is_below_exp(below(uppers[chosen]), x=x, bits=bits, below=below):
                break
        left[chosen] -= 1
        yield scores[chosen]


def draw_place(scores: Int64Array, *, rate: Fraction, below: Below) -> int:
    """One place, with P proportional to exp(rate * score)."""
    members = Counter(scores.tolist())
    score = next(draw_scores(members, draws=1, rate=rate, below=below))
    return int(np.flatnonzero(scores == score)[below(members[score])])


def _uppers(scores: list[int], *, reference: int, rate: Fraction, bits: int) -> list[int]:
    """Integers of at least 2^bits * exp(-rate * (scores[reference] - score)), at most a little more."""
    per_score = float(rate) * _LOG2_E
    best = scores[reference]
    return [_upper_power(max(0.0, per_score * (best - score)), bits=bits) for score in scores]


def _upper_power(exponent: float, *, bits: int) -> int:
    """An integer of at least 2^(bits - exponent)."""
    whole = math.floor(exponent)
    if whole > bits:
        return 1
    mantissa = math.ceil(math.ldexp(2 ** (whole - exponent) * _MARGIN, 53))
    shift = bits - whole - 53
    return mantissa << shift if shift >= 0 else (mantissa >> -shift) + 1


def _is_below_exp(digits: int, *, x: Fraction, bits: int, below: Below) -> bool:
    """Whether a uniform real number is below exp(-x), given its first binary digits; draws the rest."""
    while True:
        threshold = _floor_of_scaled_exp(x, bits=bits)
        if digits != threshold:
            return digits < threshold
        if x == 0:  # exp(-0) = 1 has no digits after the point: a number that starts like it is not below it
            return False
        digits = (digits << _DIGITS_AT_A_TIME) | below(2**_DIGITS_AT_A_TIME)
        bits += _DIGITS_AT_A_TIME


def _floor_of_scaled_exp(x: Fraction, *, bits: int) -> int:
    """floor(2^bits * exp(-x)), exactly.

    >>> _floor_of_scaled_exp(Fraction(1), bits=10), math.floor(1024 / math.e)
    (376, 376)
    """
    if x == 0:
        return 1 << bits
    precision = bits // 3 + 20
    while True:
        wide = decimal.Context(prec=precision, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
        with decimal.localcontext(wide):
            value = (-decimal.Decimal(x.numerator) / x.denominator).exp() * (1 << bits)
            # The rounding of the argument, which grows with it, and of exp itself.
            error = value.scaleb(3 + len(str(math.ceil(x))) - precision)
            low, high = math.floor(value - error), math.floor(value + error)
        if low == high:
            return low
        precision *= 2
