"""Double standards: what supports in truncated data say about the original ones (Zeng et al. 2012, Sec. 5.4).

Truncation lowers supports. An itemset is released by its average original support, and used to make larger
candidates by its largest one, so that one unlucky count does not lose all its supersets. Everything here
works on noisy answers that were paid for; no data.

Symbols of the paper: i = `size`; l = `limit`; z_h = `lengths[h]`; theta' = `noisy`; theta^ = the truncated
support; exp_ratio(i) = `share`; mu = the expected truncated support; avg_supp, max_supp = the two originals.

Three things differ from the printed form (Z9). A transaction of at most `limit` items is not truncated, so it keeps
its itemsets (`shared.truncation.kept_share`). Where (5) and (7) write k, the size i is meant. The truncated support is
any integer from 0 up, not one from 1 to n: Pr(j | theta') is proportional to exp(-|theta' - j| / scale) for j = 0, 1,
2, ... For theta' < 0 that is the same law as for theta' = 0, because the factor exp(theta' / scale) is common to all j.
"""

import math
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.errors import BadCall

_STEP = 0.5
_NODES = np.exp(np.arange(-14, 14 + _STEP, _STEP))  # what lies outside is below 1e-9 of the whole
_SMALLEST_GAP = float(np.finfo(np.float64).tiny)


def average_original(noisy: Int64Array, *, scale: Fraction | float, share: float) -> FloatArray:
    """The expected support before truncation, for each noisy support after it; (8), (11).

    The scale is that of the noise, the share that of `shared.truncation.kept_share`.

    >>> average_original(np.array([-3, 0, 1]), scale=1 / math.log(2), share=0.5).round(9).tolist()
    [2.0, 2.0, 3.2]
    """
    _check_share(share)
    return _posterior_mean(_possible(noisy), decay=1 / float(scale)) / share


def largest_original(noisy: Int64Array, *, scale: Fraction | float, share: float, rho: float) -> FloatArray:
    """The largest support before truncation that is plausible at the risk rho; (9), (10), (12).

    A truncated support of j has an expectation above mu* = j - ln rho + sqrt(ln^2 rho - 2 j ln rho) only if
    something of probability at most rho happened (Chernoff's bound). The result is mu* over the share, on
    average over what j may be, with a relative error below 1e-8 for rho up to 0.9. The paper's proviso
    ln rho <= 2 j holds for every rho < 1, because j >= 0.

    >>> largest_original(np.array([0, 3]), scale=0.01, share=0.5, rho=math.exp(-2)).round(9).tolist()
    [8.0, 18.0]
    """
    _check_share(share)
    if not 0 < rho < 1:
        raise BadCall(f"rho = {rho} is no risk to be wrong; give a probability between 0 and 1, such as 0.01")
    possible, decay, slack = _possible(noisy), 1 / float(scale), -math.log(rho)
    # sqrt(ln^2 rho - 2 j ln rho) = sqrt(2 slack) sqrt(j + slack / 2)
    mean_root = _posterior_mean_root(possible, decay=decay, shift=slack / 2)
    return (_posterior_mean(possible, decay=decay) + slack + math.sqrt(2 * slack) * mean_root) / share


def _check_share(share: float) -> None:
    if not 0 < share <= 1:
        raise BadCall(
            f"a kept share of {share} says nothing of original supports; it must be above 0 and at most 1: "
            "ask only for itemsets no larger than the length limit"
        )


def _possible(noisy: Int64Array) -> FloatArray:
    """Noisy supports with 0 for the negative ones, which have the same posterior."""
    return np.maximum(noisy, 0).astype(np.float64)


def _posterior_mean(noisy: FloatArray, *, decay: float) -> FloatArray:
    """E[j | theta']: theta' and the pull of the values below 0 that are impossible.

    With r = exp(-decay), the weights r^|theta' - j| over j >= 0 add up to (1 + r - r^(theta' + 1)) / (1 - r).
    The weighted distances j - theta' cancel up to j = 2 theta'; what is left is the sum of d r^d, d > theta'.
    """
    complement = -math.expm1(-decay)  # 1 - r
    tail = np.exp(-decay * (noisy + 1))
    return noisy + tail * (noisy * complement + 1) / (complement * (2 - complement - tail))


def _posterior_mean_root(noisy: FloatArray, *, decay: float, shift: float) -> FloatArray:
    """E[sqrt(x) | theta'] with x = j + shift, by 57 nodes, however wide the posterior is.

    sqrt(x) is the integral of (1 - exp(-s x)) s^(-3/2) / (2 sqrt(pi)) over s > 0, so E[sqrt(x)] - sqrt(E[x])
    is the integral of (exp(-s E[x]) - E[exp(-s x)]) s^(-3/2) / (2 sqrt(pi)), which is all in closed form.
    In u, with s = exp(u) / E[x], the integrand falls off exponentially on both sides and is analytic where
    |Im u| < pi/2: for such functions the trapezoidal rule converges exponentially in 1 / step.
    """
    mean = _posterior_mean(noisy, decay=decay) + shift
    all_weights = _transform(noisy, 0.0, decay=decay)
    total = np.zeros_like(mean)
    for node in _NODES:
        rate = node / mean
        expected = np.exp(-rate * shift) * _transform(noisy, rate, decay=decay) / all_weights
        total += (math.exp(-node) - expected) / math.sqrt(node)
    root: FloatArray = np.sqrt(mean) * (1 + _STEP * total / (2 * math.sqrt(math.pi)))
    return root


def _transform(noisy: FloatArray, rate: FloatArray | float, *, decay: float) -> FloatArray:
    """The sum of exp(-decay |theta' - j| - rate j) over j >= 0: geometric series up to theta' and above."""
    up_to = np.exp(-np.minimum(rate, decay) * noisy) * _series(np.abs(rate - decay), noisy + 1)
    above = np.exp(-rate * (noisy + 1) - decay) * _series(rate + decay, math.inf)
    return up_to + above


def _series(gap: FloatArray | float, terms: FloatArray | float) -> FloatArray:
    """The sum of exp(-gap k) over k < terms; a gap of 0 becomes the smallest one: both give `terms`."""
    gap = np.maximum(gap, _SMALLEST_GAP)
    series: FloatArray = np.expm1(-gap * terms) / np.expm1(-gap)
    return series
