"""A threshold for noisy counts: for those that are listed, and for zeros, of which there are too many to list.

Which counts are zeros must not show, so both have the same threshold and the same noise, and what passes is put in an
order that does not depend on how it came about.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate.selection.zero_counts import draw_number_passing, draw_passing_noise
from veilset.itemsets import Below, draw_places
from veilset.rationals import float_at_least
from veilset.raw.counts import ExactCounts, mute

AddNoise = Callable[[ExactCounts], Int64Array]
"""Adds noise of one scale to counts."""


@mute
class SparseCounts:
    """`number` counts, all 0 but those at some different places; private, like everything that is exact."""

    places: Int64Array
    counts: ExactCounts
    number: int


@dataclass(frozen=True, slots=True)
class NoisyTest:
    """A count passes if it reaches the threshold with discrete Laplace noise of scale sensitivity / epsilon."""

    threshold: int
    sensitivity: int
    epsilon: Fraction

    @property
    def scale(self) -> Fraction:
        """Rounded up to a float here, so that listed counts and zeros have the same noise to the last bit."""
        return Fraction(float_at_least(self.sensitivity / self.epsilon))


@dataclass(frozen=True, slots=True, eq=False)
class PassedCounts:
    """The places of the counts that pass, ascending, and their noisy values."""

    places: Int64Array
    values: Int64Array


def draw_passing(counts: SparseCounts, test: NoisyTest, *, add_noise: AddNoise, below: Below) -> PassedCounts:
    """Those of the counts that pass, zeros drawn together: see `gate.selection.zero_counts`."""
    noisy = add_noise(counts.counts)
    passing = noisy >= test.threshold
    zeros = counts.number - counts.places.size
    passing_zeros = draw_number_passing(zeros, threshold=test.threshold, rate=1 / test.scale, below=below)
    ranks = np.array(sorted(draw_places(passing_zeros, zeros, below)), dtype=np.int64)
    values = draw_passing_noise(passing_zeros, threshold=test.threshold, noise=add_noise)
    places = np.concatenate([counts.places[passing], _places_of_zeros(ranks, np.sort(counts.places))])
    order = np.argsort(places)
    return PassedCounts(places[order], np.concatenate([noisy[passing], values])[order])


def _places_of_zeros(ranks: Int64Array, taken: Int64Array) -> Int64Array:
    """Where the zeros of these ranks stand (from 0), when the places that are taken, ascending, are left out.

    The taken place at rank j has `taken[j] - j` zeros before it, which never falls with j. So the zero of rank r stands
    behind as many taken places as have at most r zeros before them.

    >>> _places_of_zeros(np.array([0, 1, 2]), np.array([0, 2, 3])).tolist()
    [1, 4, 5]
    """
    before = np.searchsorted(taken - np.arange(taken.size), ranks, side="right")
    places: Int64Array = ranks + before
    return places
