"""What finding the items privately told of their supports: paid for already, so it is used.

Post-processing: everything here follows from noisy answers.

Discovery adds up weights: an item of a transaction of n, truncated to at most `longest` items at random, weighs
1 / sqrt(n) or 1 / n. The noisy histogram of lengths tells what that leaves of an average support (`planned.overlap`).
"""

import math
from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import Discovery, ItemNaming
from veilset.methods.planned.histogram_laws import NUMBERS
from veilset.methods.planned.measurements import Measurement
from veilset.methods.planned.overlap import Overlap
from veilset.methods.planned.posterior import grid_to
from veilset.methods.planned.scouting import Scouting


@dataclass(frozen=True, slots=True, eq=False)
class DiscoveredSupports:
    """What the weights of the named items say of their supports; `error` is that of an item at the threshold."""

    measurement: Measurement
    supports: FloatArray
    error: float

    def may_matter(self, scouting: Scouting) -> list[int]:
        """The items that may be in the answer, the most frequent first."""
        settings, order = scouting.settings, np.argsort(-self.supports, kind="stable")
        least = scouting.floor - settings.items_within_noise * self.error
        most = min(settings.items_per_k * scouting.k, max(settings.most_items, scouting.k))
        items = [item for item in order[:most].tolist() if self.supports[item] >= least]
        return items or order[: settings.least_items].tolist()


def discovered_supports(discovery: Discovery, scouting: Scouting) -> DiscoveredSupports:
    """Read the weights of the named items as measurements of their supports."""
    settings, naming, grid = scouting.settings, discovery.mechanism, grid_to(scouting.most_transactions)
    overlap = Overlap.of(discovery.lengths, scouting.number, settings=settings)
    weights = weights_in(naming)
    kept = overlap.kept_with(weights)
    is_root = naming.law == "gaussian"
    unevenness = (settings.unevenness_of_roots if is_root else settings.unevenness) * (1 - kept)
    deviation = float(naming.scale) / naming.steps * (1 if is_root else math.sqrt(2))
    values = discovery.weights / naming.steps
    measurement = Measurement(
        values,
        np.array([deviation]),
        overlap.counted_by_tilt(grid, weights),
        unevenness=overlap.unevenness(weights),
        is_normal=is_root,
    )
    return DiscoveredSupports(
        measurement,
        np.interp(values, overlap.counted_with(grid, weights), grid),
        math.hypot(deviation / kept, unevenness * scouting.threshold),
    )


def weights_in(naming: ItemNaming) -> FloatArray:
    """What a transaction of 1, 2, ... items counts for each of them on average, truncation included."""
    length = np.minimum(NUMBERS, naming.longest)
    weights = 1 / np.sqrt(length) if naming.law == "gaussian" else 1 / length
    averages: FloatArray = weights * length / NUMBERS
    return averages
