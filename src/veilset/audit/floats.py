"""Why noise is drawn as integers: what floating-point Laplace noise gives away in its last binary digits.

The textbook draws u from (-1/2, 1/2) and adds -scale * sign(u) * ln(1 - 2|u|) to a count. On paper that costs
1 / scale where the count moves by 1. In double precision not every number can come out (Mironov, "On
significance of the least significant bits for differential privacy", CCS 2012). Added to 1, the sum has at
most 53 binary digits after the point: noise of at least 1/2 has no more, and smaller noise makes a sum of at
least 1/2, which is rounded to that. Added to 0, noise keeps all its digits, and the closer it is to 0, the
more there are. So 54 digits prove that the count was not 1, whatever the scale.

The gate releases integers whose law is exact. Their last digits are part of an output like any other, and
tell no more than epsilon.
"""

from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.audit.lower_bound import BOUND_CONFIDENCE, Outcome, lower_bound
from veilset.audit.verdicts import Verdict
from veilset.gate import Noise
from veilset.raw.counts import ExactCounts

_METHOD = "noise"
WITH_UNIT, WITHOUT_UNIT = 1, 0
_MANTISSA_DIGITS = 53


def audit_textbook_noise(*, epsilon: float, samples: int, seed: int) -> Verdict:
    """Release the counts 0 and 1 with textbook noise and look at the last digits of what comes out."""
    rng = np.random.default_rng(seed)
    with_unit, without_unit = (
        _digit_outcomes(naive_laplace(np.full(samples, float(count)), scale=1 / epsilon, rng=rng))
        for count in (WITH_UNIT, WITHOUT_UNIT)
    )
    case = "last digits: Laplace noise in double precision"
    bound = lower_bound(with_unit, without_unit)
    return Verdict.of(bound, method=_METHOD, case=case, printed=True, claim=epsilon)


def audit_integer_noise(
    noise: Noise, *, epsilon: Fraction, samples: int, confidence: float = BOUND_CONFIDENCE
) -> Verdict:
    """Release the counts 0 and 1 with the gate's noise and look at the last digits of what comes out."""
    with_unit, without_unit = (
        _remainder_outcomes(noise.discrete_laplace(ExactCounts(np.full(samples, count)), scale=1 / epsilon))
        for count in (WITH_UNIT, WITHOUT_UNIT)
    )
    case = "last digits: discrete Laplace noise"
    bound = lower_bound(with_unit, without_unit, confidence=confidence)
    return Verdict.of(bound, method=_METHOD, case=case, printed=False, claim=float(epsilon))


def naive_laplace(values: FloatArray, *, scale: float, rng: np.random.Generator) -> FloatArray:
    """The values with Laplace noise, as textbooks have it."""
    uniform = rng.random(values.size) - 0.5
    noisy: FloatArray = values - scale * np.sign(uniform) * np.log1p(-2 * np.abs(uniform))
    return noisy


def low_bits(values: FloatArray) -> Int64Array:
    """How many binary digits a number has after the point, exactly; 0 for whole numbers.

    >>> low_bits(np.array([0.75, 3.0, 0.1, 8.0])).tolist()
    [2, 0, 55, 0]
    """
    mantissas, exponents = np.frexp(values)
    integers = np.ldexp(mantissas, _MANTISSA_DIGITS).astype(np.int64)
    lowest = np.frexp((integers & -integers).astype(np.float64))[1] - 1
    digits = _MANTISSA_DIGITS - exponents.astype(np.int64) - lowest
    return np.where(values == np.rint(values), 0, digits)


def _digit_outcomes(released: FloatArray) -> list[Outcome]:
    return [{"binary digits after the point": int(digits)} for digits in low_bits(released)]


def _remainder_outcomes(released: Int64Array) -> list[Outcome]:
    return [{f"remainder modulo {base}": int(value % base) for base in (2, 4)} for value in released]
