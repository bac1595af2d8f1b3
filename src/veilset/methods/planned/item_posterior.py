"""What the miner's posterior lacks for items alone: a sum that corrects all of them.

Post-processing: everything here follows from noisy answers. Tilts, measurements and posteriors are those of the miner
(`planned.measurements`, `planned.posterior`).

What a cap takes away is known from a noisy histogram (`planned.overlap`). An error there is one that all items have in
common, and none of them can tell it; but a noisy sum of their supports can. All counts together have a *misreading*:
where a cap is taken to leave the share `kept` of a support, it leaves exp(misreading * (1 - kept)) times as much.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from veilset.arrays import Int64Array
from veilset.methods.planned.measurements import Measurement
from veilset.methods.planned.posterior import Posterior, normed

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
    read = Posterior.unmeasured(
        posterior.itemsets, posterior.log_prior, posterior.grid, log_tilts=posterior.log_tilts
    )
    for each in posterior.answered:
        read = read.updated(each.places, _corrected(each.measurement, posterior, misreading))
    return read


def _corrected(measured: Measurement, known: Posterior, misreading: Misreading) -> Measurement:
    """A measurement with what a cap leaves changed by a misreading."""
    lost = 1 - np.minimum(measured.counted / known.grid, 1.0)
    usual = float(np.exp(known.log_tilts) @ lost.mean(axis=2).sum(axis=0)) / max(len(lost), 1)
    return replace(
        measured,
        counted=measured.counted * np.exp(misreading.mean * lost),
        unevenness=math.hypot(measured.unevenness, misreading.deviation * usual),
    )
