"""What counts of single items say together: where they disagree, one of them was misread.

Post-processing: everything here follows from noisy answers.

What a cap takes away is known from a noisy histogram (`planned.overlap`), and an error there is one that all items of a
count have in common: the posterior of each item by itself cannot tell. Items that were counted under several caps can,
and so can a noisy sum of their supports. Each measurement has a *misreading*: where a cap is taken to leave the share
`kept`, it leaves exp(misreading * (1 - kept)) times as much. How items lean towards long transactions, their tilts
(`planned.measurements`), is learned in the same way.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.methods.planned.measurements import LOG_TILTS, TILTS, Measurement, over_tilts
from veilset.methods.planned.posterior import Answered, Posterior, normed
from veilset.methods.planned.prior import ItemPrior

FIRST_ITEMS, OTHER_BINS = 400, 200
"""The 400 items of the largest counts tell of the law of supports each by itself; the others in 200 bins."""
STEPS_TO_LAW, SMOOTHED_OVER = 30, 6
"""30 steps to the law of supports, which is smoothed over 6 neighbours on either side."""
HARDLY = 1e-12
"""Of the law, what no answer speaks for."""
MISREADINGS, USUAL_MISREADING = np.linspace(-0.9, 0.9, 19), 0.35
"""0.35 is the standard deviation of misreadings."""
TILT_MEANS = (0.55, 0.75, 0.95, 1.15, 1.35)
TILT_SPREADS = (0.1, 0.2, 0.35, 0.5, 0.8)
"""The laws of tilts to choose from: means and standard deviations."""
USUAL_MEAN, MEAN_WITHIN, USUAL_SPREAD, SPREAD_WITHIN = 0.95, 0.2, 0.35, 0.5
SHARED_EVIDENCE = 0.25
"""A quarter: what items tell of misreadings counts as if every fourth told it, since they share errors."""
MOST_COMPARED = 100
"""100 items are enough to compare counts by."""
PASSES = 2
"""2 times, misreadings and tilts are fitted, each given all others."""


@dataclass(frozen=True, slots=True)
class NoisySum:
    """What the supports of some items add up to, and the standard deviation of that."""

    value: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Misreading:
    """Its expected value, and its standard deviation."""

    mean: float
    deviation: float


def law_of_supports(measured: Measurement) -> ItemPrior:
    """The law that explains the counts of all items: expectation and maximisation, with smoothing.

    The most frequent items are few, and each matters; of the others, those in the middle of bins stand for all.
    """
    order = np.argsort(-measured.values, kind="stable")
    alone = min(order.size, FIRST_ITEMS)
    edges = np.linspace(alone, order.size, min(order.size - alone, OTHER_BINS) + 1).astype(np.int64)
    chosen = np.append(order[:alone], order[(edges[:-1] + edges[1:]) // 2])
    sizes = np.append(np.ones(alone), np.diff(edges))
    logs = over_tilts(measured.take(chosen.tolist()).log_likelihoods() + LOG_TILTS[:, None])
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    law = np.full(likely.shape[1], 1 / likely.shape[1])
    for _ in range(STEPS_TO_LAW):
        law = _smoothed(law * ((sizes / (likely @ law)) @ likely))
        law = law / law.sum() + HARDLY
    return ItemPrior(np.log(law))


def _smoothed(law: FloatArray) -> FloatArray:
    """The average over neighbours in the grid, with weights that fall to both sides."""
    kernel = np.bartlett(2 * SMOOTHED_OVER + 3)[1:-1]
    return np.convolve(np.pad(law, SMOOTHED_OVER, mode="edge"), kernel / kernel.sum(), mode="valid")


TILT = False

def calibrated(posterior: Posterior, places: Int64Array, total: NoisySum | None = None) -> Posterior:
    """The same with measurements read so that the supports of the items at some places add up to about a noisy sum."""
    if total is not None:
        posterior = reread(posterior, misreading_by_sum(posterior.take(places), total))
    return posterior


def misreading_by_sum(some: Posterior, total: NoisySum) -> Misreading:
    """What all measurements were misread by, if the supports add up to a noisy sum."""
    readings = [reread(some, Misreading(value, 0.0)) for value in MISREADINGS.tolist()]
    sums = np.array([float(each.means.sum()) for each in readings])
    variance = total.deviation**2 + float((some.deviations**2).sum())
    fits = -((MISREADINGS / USUAL_MISREADING) ** 2) / 2 - (sums - total.value) ** 2 / (2 * variance)
    weights = normed(fits[None, :])[0]
    mean = float(weights @ MISREADINGS)
    return Misreading(mean, math.sqrt(max(float(weights @ MISREADINGS**2) - mean * mean, 0.0)))


def reread(posterior: Posterior, misreading: Misreading) -> Posterior:
    """What is known if all measurements were misread."""
    read = Posterior.unmeasured(posterior.itemsets, posterior.log_prior, posterior.grid)
    for each in posterior.answered:
        read = read.updated(each.places, corrected(each.measurement, posterior.grid, misreading))
    return read


def corrected(measured: Measurement, grid: FloatArray, misreading: Misreading) -> Measurement:
    """A measurement with what a cap leaves changed by a misreading."""
    lost = 1 - np.minimum(measured.counted / grid, 1.0)
    usual = float(np.average(lost.mean(axis=1), weights=np.exp(LOG_TILTS)))
    return replace(
        measured,
        counted=measured.counted * np.exp(misreading.mean * lost),
        unevenness=math.hypot(measured.unevenness, misreading.deviation * usual),
    )
