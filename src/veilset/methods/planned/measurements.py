"""What noisy answers say about supports: how likely they are for each support that an itemset may have.

Post-processing: everything here follows from noisy answers.

Counts under a cap leave out more of an itemset that long transactions contain. How much an itemset leans towards them
is its *tilt*: a transaction that contains n of the itemsets in question contains it as if it contained n ** tilt.
Tilts are alike in all counts of an itemset, so that two counts of it err together; what they say is therefore kept
for each of a few tilts, and averaged over these at the end.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray

TILTS = (-0.6, 0.1, 0.6, 0.95, 1.3, 1.9, 3.0)
"""An itemset that leans by 0 is as likely in long transactions as in short ones; by 1, in proportion to n."""
USUAL_TILT, USUAL_SPREAD = 0.95, 0.3
"""0.95 is the usual tilt, and 0.3 how far tilts are from it where nothing tells (`planned.tilts` asks)."""


def log_tilt_law(tilts: FloatArray, spread: float) -> FloatArray:
    """ln of the density of tilts that are about `spread` from the usual one, up to a constant.

    Above it has the tails of Student's t with 3 degrees of freedom: where those who have much have other things than
    those who have little, some itemsets lean twice as much as others. Below it is normal: hardly any itemset is rarer
    where there is more of everything.
    """
    off = (tilts - USUAL_TILT) / spread
    law: FloatArray = np.where(off < 0, -off * off / 2, -2 * np.log1p(off * off / 3))
    return law


def log_tilts(spread: float) -> FloatArray:
    """ln of the probability of each of TILTS, before anything is measured."""
    logs = np.log(np.gradient(TILTS)) + log_tilt_law(np.array(TILTS), spread)
    normed: FloatArray = logs - np.log(np.exp(logs).sum())
    return normed


LOG_TILTS = log_tilts(USUAL_SPREAD)


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """Noisy values of some itemsets, and what they would be on average, for each tilt and each support of a grid.

    `counted` has a table for each itemset, or one for all of them. The noise has one deviation, or one for each value:
    Laplace, or normal where many draws are added up. An error in proportion to what is counted, of `unevenness`, comes
    with it.
    """

    values: FloatArray
    deviations: FloatArray
    counted: FloatArray
    unevenness: float = 0.0
    is_normal: bool = False

    @classmethod
    def of_supports(cls, values: FloatArray, deviations: FloatArray, grid: FloatArray) -> "Measurement":
        """Of noisy supports that lack nothing, each with normal noise of a deviation."""
        return cls(values, deviations, np.tile(grid, (1, len(TILTS), 1)), is_normal=True)

    def take(self, places: Sequence[int]) -> "Measurement":
        """Of some itemsets."""
        deviations = self.deviations if self.deviations.size == 1 else self.deviations[places]
        counted = self.counted if len(self.counted) == 1 else self.counted[places]
        return Measurement(self.values[places], deviations, counted, self.unevenness, self.is_normal)

    def log_likelihoods(self) -> FloatArray:
        """ln of how likely each value is, for each tilt and each support of the grid."""
        return self._log_likelihoods(self.counted)

    def log_likelihoods_at(self, supports: FloatArray, grid: FloatArray) -> FloatArray:
        """The same where each itemset has a row of supports of its own, between those of the grid."""
        counted = np.empty((len(supports), len(TILTS), supports.shape[1]))
        if len(self.counted) == 1:
            for tilt, row in enumerate(self.counted[0]):
                counted[:, tilt] = np.interp(supports, grid, row)
        else:
            for place, table in enumerate(self.counted):
                for tilt, row in enumerate(table):
                    counted[place, tilt] = np.interp(supports[place], grid, row)
        return self._log_likelihoods(counted)

    def _log_likelihoods(self, counted: FloatArray) -> FloatArray:
        """Where the values would be `counted` on average."""
        widths = np.hypot(self.deviations[:, None, None], self.unevenness * counted)
        apart = (self.values[:, None, None] - counted) / widths
        misfit = apart * apart / 2 if self.is_normal else math.sqrt(2) * np.abs(apart)
        likelihoods: FloatArray = -misfit - np.log(widths)
        return likelihoods


def over_tilts(log_joint: FloatArray) -> FloatArray:
    """ln of the probability of each support, whatever the tilt."""
    return log_sums(log_joint)


def log_sums(logs: FloatArray) -> FloatArray:
    """ln of what numbers add up to along the second axis, from their logarithms.

    As `np.logaddexp.reduce`, which goes from number to number and takes several times as long.

    >>> log_sums(np.log([[1.0, 2.0, 5.0]])).round(9).tolist() == [round(math.log(8), 9)]
    True
    """
    largest = logs.max(axis=1, keepdims=True)
    sums: FloatArray = (largest + np.log(np.exp(logs - largest).sum(axis=1, keepdims=True))).squeeze(axis=1)
    return sums
