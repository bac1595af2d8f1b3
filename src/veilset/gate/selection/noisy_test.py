"""A threshold for noisy counts: for those that are listed, and for zeros, of which there are too many to list.

Which counts are zeros must not show, so both have the same threshold and the same noise, and what passes is put in an
order that does not depend on how it came about.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate.noise import Noise, float_at_least
from veilset.gate.selection.zero_counts import draw_number_passing, draw_passing_noise
from veilset.itemsets import draw_places
from veilset.raw.counts import ExactCounts


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PassedCounts:
    """Noisy counts that reach the threshold, by key; the origin of each stays behind the gate."""

    keys: Int64Array
    origins: Int64Array
    values: Int64Array

    @classmethod
    def joined(cls, parts: Sequence["PassedCounts"]) -> "PassedCounts":
        """All of them, in the order of their keys."""
        keys = np.concatenate([part.keys for part in parts])
        order = np.argsort(keys)
        origins = np.concatenate([part.origins for part in parts])
        values = np.concatenate([part.values for part in parts])
        return cls(keys[order], origins[order], values[order])


class NoisyTest:
    """Whether counts reach a threshold, with discrete Laplace noise on each."""

    def __init__(self, threshold: int, *, scale: Fraction, noise: Noise) -> None:
        self._threshold = threshold
        self._noise = noise
        # Rounded up to a float here, so that listed counts and zeros have the same noise to the last bit.
        self._scale = Fraction(float_at_least(scale))

    def of_listed(self, keys: Int64Array, origins: Int64Array, counts: Int64Array) -> PassedCounts:
        """Those of the exact counts that pass."""
        values = self._add_noise(ExactCounts(counts))
        passing = values >= self._threshold
        return PassedCounts(keys[passing], origins[passing], values[passing])

    def of_zeros(self, number: int) -> tuple[Int64Array, Int64Array]:
        """The places of those of `number` zeros that pass, ascending, and their noisy values."""
        rate, below = 1 / self._scale, self._noise.below
        passing = draw_number_passing(number, threshold=self._threshold, rate=rate, below=below)
        places = np.array(sorted(draw_places(passing, number, below)), dtype=np.int64)
        return places, draw_passing_noise(passing, threshold=self._threshold, noise=self._add_noise)

    def _add_noise(self, counts: ExactCounts) -> Int64Array:
        return self._noise.discrete_laplace(counts, scale=self._scale)
