"""What methods that shrink noisy supports will say of them: their own posteriors, in a model of the data.

The prior that such a method fits is the law of all supports that it measures (`shared.shrinkage`); in the model these
are known, so their law stands for the fitted one, smoothed and mixed with the vague law as there. Where noise is larger
than the spread of the supports, it draws them together, and intervals are narrower than the noise.
"""

import math

import numpy as np

from veilset.arrays import BoolArray, FloatArray
from veilset.forecast.released import LAPLACE_NOISE, NOISE_PARTS, NORMAL_NOISE, Told, with_noise
from veilset.methods.shared.noisy_values import SURE, WHOLE, KeptShares, NoisyValues
from veilset.methods.shared.shrinkage import CELLS, PRIOR_WEIGHT, SMOOTHING, SupportPrior, posterior

MOST_READ = 12
"""12 supports, from the largest to the least, stand for all of which a posterior is wanted."""
SHUFFLED = np.arange(NOISE_PARTS) * 5 % NOISE_PARTS
"""The parts of a law in another order: each fifth one, of 12."""
OTHERWISE_SHUFFLED = LAPLACE_NOISE[np.arange(NOISE_PARTS) * 7 % NOISE_PARTS]
"""Laplace noise of scale 1, in one more order: each seventh part."""
TOGETHER_SHUFFLED = NORMAL_NOISE[np.arange(NOISE_PARTS) * 11 % NOISE_PARTS]
"""Normal noise of standard deviation 1, from the last part to the first."""
SMOOTHED = 4
"""The law of the model's supports is smoothed over 4 steps to neighbouring cells."""


def model_prior(
    supports: FloatArray, chances: FloatArray, *, largest: float, independent: float = math.inf
) -> SupportPrior:
    """The law of supports that are measured with these chances; they tell no more than some `independent` ones."""
    edges = np.append(0.0, np.geomspace(0.5, max(largest, 1.0) + 0.5, CELLS + 1))
    vague = SupportPrior.vague(edges)
    number = np.histogram(supports, edges, weights=chances)[0].astype(np.float64)
    number *= min(1.0, independent / max(float(number.sum()), 1e-9))
    for _ in range(SMOOTHED):
        number[1:] = np.convolve(np.pad(number[1:], 1, mode="edge"), SMOOTHING, mode="valid")
    law = number + PRIOR_WEIGHT * vague.chances
    return SupportPrior(edges, law / law.sum())


def read_by_posterior(
    supports: FloatArray,
    scales: FloatArray,
    *,
    is_normal: BoolArray,
    prior: SupportPrior,
    kept: KeptShares = WHOLE,
    ceilings: FloatArray | None = None,
    within: float | None = None,
) -> tuple[Told, FloatArray]:
    """What posteriors will tell of supports, and the noisy values (of what is kept of them) that they are from.

    No support is above its ceiling. Itemsets of real data differ in what is kept of them, by the law that the method
    takes for it. Where the prior is one of multiples of what is expected, supports are `within` which factor of that.
    """
    values = with_noise(np.zeros(supports.size), scales, is_normal) + supports[:, None] * _shares_kept(kept)
    expected = None if within is None else (supports[:, None] * np.exp(within * OTHERWISE_SHUFFLED)).ravel()
    flat = NoisyValues(
        values.ravel(), np.repeat(scales, NOISE_PARTS), np.repeat(is_normal, NOISE_PARTS), expected
    )
    above = None if ceilings is None else np.repeat(ceilings, NOISE_PARTS)
    found = posterior(flat, kept, prior, above)
    told = Told(supports, *(each.reshape(values.shape) for each in (found.means, found.low, found.high)))
    return told, values


def _shares_kept(kept: KeptShares) -> FloatArray:
    """Equally likely shares of a support, one for each part of the noise, in an order of their own.

    All shares together may be wrong as well, by what they are in doubt.
    """
    order = np.argsort(kept.shares)
    places = (SHUFFLED + 0.5) / NOISE_PARTS
    shares = np.interp(places, np.cumsum(kept.chances[order]) - kept.chances[order] / 2, kept.shares[order])
    wrong = np.where(TOGETHER_SHUFFLED > 0, kept.doubt[0], kept.doubt[1]) / SURE
    return np.minimum(shares * np.exp(wrong * TOGETHER_SHUFFLED), 1.0)
