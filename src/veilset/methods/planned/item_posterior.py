"""What the miner's posterior lacks for items alone: a law of many supports, and a sum that corrects all of them.

Post-processing: everything here follows from noisy answers. Tilts, measurements and posteriors are those of the miner
(`planned.measurements`, `planned.posterior`).

What a cap takes away is known from a noisy histogram (`planned.overlap`). An error there is one that all items have in
common, and none of them can tell it; but a noisy sum of their supports can. All counts together have a *misreading*:
where a cap is taken to leave the share `kept` of a support, it leaves exp(misreading * (1 - kept)) times as much.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.methods.planned.measurements import LOG_TILTS, Measurement, over_tilts
from veilset.methods.planned.posterior import FinePosterior, Posterior, normed
from veilset.methods.planned.prior import HARDLY, ItemPrior

FIRST_ITEMS, OTHER_BINS = 400, 200
"""400 items, those of the largest counts, tell of the law of supports each by itself; the others in 200 bins."""
STEPS_OF_LEARNING, SMOOTHED_OVER = 30, 6
"""30 steps to the law of supports, which is smoothed over 6 neighbours on either side."""
FINE_SUPPORTS, LEFT_OUT = 161, 1e-5
"""161 supports, evenly spaced on a logarithmic scale, of each released item; 0.00001 is out of them at both ends."""
MISREADINGS, USUAL_MISREADING = np.linspace(-0.9, 0.9, 19), 0.35
"""0.35 is the standard deviation of misreadings, before the sum is known."""


@dataclass(frozen=True, slots=True)
class NoisySum:
    """What the supports of some items add up to, and the standard deviation of that."""

    value: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Misreading:
    """What a misreading is expected to be, and its standard deviation."""

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
    law: FloatArray = np.full(likely.shape[1], 1 / likely.shape[1])
    for _ in range(STEPS_OF_LEARNING):
        law = _smoothed(law * ((sizes / (likely @ law)) @ likely))
        law = law / law.sum() + HARDLY
    return ItemPrior(np.log(law))


def _smoothed(law: FloatArray) -> FloatArray:
    """The average over neighbours in the grid, with weights that fall to both sides."""
    kernel = np.bartlett(2 * SMOOTHED_OVER + 3)[1:-1]
    return np.convolve(np.pad(law, SMOOTHED_OVER, mode="edge"), kernel / kernel.sum(), mode="valid")


def corrected_by_sum(posterior: Posterior, places: Int64Array, total: NoisySum) -> Posterior:
    """What is known of the items at some places, with counts read so that the supports add up to about a noisy sum."""
    some = posterior.take(places)
    return _reread(some, _misreading(some, total))


def _misreading(some: Posterior, total: NoisySum) -> Misreading:
    """What all measurements were misread by, if the supports add up to a noisy sum."""
    readings = [_reread(some, Misreading(value, 0.0)) for value in MISREADINGS.tolist()]
    sums = np.array([float(each.means.sum()) for each in readings])
    variance = total.deviation**2 + float((some.deviations**2).sum())
    fits = -((MISREADINGS / USUAL_MISREADING) ** 2) / 2 - (sums - total.value) ** 2 / (2 * variance)
    weights = normed(fits[None, :])[0]
    mean = float(weights @ MISREADINGS)
    return Misreading(mean, math.sqrt(max(float(weights @ MISREADINGS**2) - mean * mean, 0.0)))


def _reread(posterior: Posterior, misreading: Misreading) -> Posterior:
    """What is known if all measurements were misread."""
    read = Posterior.unmeasured(posterior.itemsets, posterior.log_prior, posterior.grid)
    for each in posterior.answered:
        read = read.updated(each.places, _corrected(each.measurement, posterior.grid, misreading))
    return read


def _corrected(measured: Measurement, grid: FloatArray, misreading: Misreading) -> Measurement:
    """A measurement with what a cap leaves changed by a misreading."""
    lost = 1 - np.minimum(measured.counted / grid, 1.0)
    usual = float(np.exp(LOG_TILTS) @ lost.mean(axis=1))
    return replace(
        measured,
        counted=measured.counted * np.exp(misreading.mean * lost),
        unevenness=math.hypot(measured.unevenness, misreading.deviation * usual),
    )


def finely(posterior: Posterior) -> FinePosterior:
    """What is known of each item on a grid of its own, on a logarithmic scale: as fine where an item may be rare."""
    below, grid = posterior.chances.cumsum(axis=1), posterior.grid
    first = np.maximum((below < LEFT_OUT).sum(axis=1) - 1, 0)
    last = np.minimum((below < 1 - LEFT_OUT).sum(axis=1) + 1, grid.size - 1)
    supports = np.geomspace(grid[first], grid[last], FINE_SUPPORTS, axis=1)
    places = np.interp(np.log(supports), np.log(grid), np.arange(grid.size))
    log_prior = np.array(
        [
            np.interp(at, np.arange(grid.size), row)
            for at, row in zip(places, posterior.log_prior, strict=True)
        ]
    )
    log_joint = log_prior[:, None, :] + LOG_TILTS[:, None]
    for each in posterior.answered:
        log_joint[each.places] += each.measurement.log_likelihoods_at(supports[each.places], grid)
    return FinePosterior(posterior.itemsets, supports, normed(over_tilts(log_joint)))
