"""What noisy counts say of supports, where the largest of many were chosen: empirical Bayes.

Post-processing: everything here follows from noisy answers.

Whoever measures many supports and takes the largest values takes those with lucky noise, so these are too high on
average. A prior cures that: the law of all supports that were measured, learned from all noisy values. The law of a
support, given its own noisy value, is then the same whether the value was chosen for its size or not.

The prior is a law on cells that widen geometrically, and one cell for 0. It is fitted by expectation and maximisation
with a smoothing step (Silverman et al. 1990), which converges to a smooth law without being stopped. Where a value is
far above the noise, it is nearly flat over what the noise leaves possible, and the noise alone decides.

A count under a truncation or a contribution cap is a share of a support (`shared.noisy_values`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemsets
from veilset.methods.shared.noisy_values import EXPECTED_BIN, WHOLE, KeptShares, MeasuredGroup, NoisyValues
from veilset.results.estimates import Estimates

CELLS = 100
"""100 cells of the prior between a support of 1/2 and the largest one."""
AT_ZERO = 0.1
"""10 % of itemsets are held by nobody, before anything is known."""
AT_ZERO_OF_EXPECTED = 0.02
"""2 % of those that are expected to be held are held by nobody: 0 to 4 % of the pairs of the 40 most frequent items of
twelve datasets, and only where items are values of attributes."""
EVENLY = 0.25
"""25 % are spread evenly up to the number of transactions, as in dense data; the others by the logarithm."""
VALUES_IN_CELL, MOST_FINE_CELLS = 20, 200
"""Where 20 values are closer together than a cell is wide, it is divided; that makes at most 200 cells more."""
MOST_PASSES = 25.0
"""25 / n^0.4 times a step smooths the law that is fitted to n values."""
STEPS = 60
"""60 steps fit the prior; it hardly moves afterwards."""
PRIOR_WEIGHT = 2.0
"""The law that all cells are alike counts as much as 2 measured values."""
SMOOTHING = (0.25, 0.5, 0.25)
"""How much of a cell goes to its neighbours after each step."""
POINTS_IN_CELL = 4
"""The posterior is reckoned on 4 points in each cell of the prior, and on NEAR_VALUE around each value."""
NEAR_VALUE = np.sinh(np.linspace(-4, 4, 41))
"""In widths of the noise: 41 points, closer together where the noise is likelier."""
OUTSIDE = 0.05
"""5 % of a posterior lie outside its interval."""
CALM_VALUES = 40
"""Posterior means of many are reckoned at 40 of their values."""
LEAST_MULTIPLE = 1e-3
"""A support that is less than 1/1000 of what is expected counts as 0."""
TAILS = np.linspace(0.0, OUTSIDE, 21)
"""Of these 5 %, 0 to 5 % lie below, in steps of 0.25 %: whichever makes the interval shortest."""


@dataclass(frozen=True, eq=False)
class SupportPrior:
    """A law of supports: the chance of each cell between `edges`; the first cell is a support of 0."""

    edges: FloatArray
    chances: FloatArray

    @classmethod
    def vague(cls, edges: FloatArray) -> "SupportPrior":
        """Before anything is known: 0, evenly spread up to the largest support, or so on a logarithmic scale."""
        inner = edges[1:]
        evenly, by_logarithm = np.diff(inner) / (inner[-1] - inner[0]), np.diff(np.log(inner))
        above = EVENLY * evenly + (1 - AT_ZERO - EVENLY) * by_logarithm / by_logarithm.sum()
        return cls(edges, np.append(AT_ZERO, above))

    @classmethod
    def around_expected(cls, largest: float, *, within: float) -> "SupportPrior":
        """The same of multiples of what is expected: 0, or as likely twice as half of that.

        Their logarithms have a Laplace law of the scale `within`.
        """
        edges = np.append(0.0, np.geomspace(LEAST_MULTIPLE, max(largest, 2.0), CELLS + 1))
        logs = np.log(edges[1:]) / within
        below = np.where(logs < 0, np.exp(-np.abs(logs)) / 2, 1 - np.exp(-np.abs(logs)) / 2)
        above = (1 - AT_ZERO_OF_EXPECTED) * np.diff(below) / (below[-1] - below[0])
        return cls(edges, np.append(AT_ZERO_OF_EXPECTED, above + 1e-12))

    @classmethod
    def fitted(
        cls,
        measured: Sequence[MeasuredGroup],
        *,
        largest: float,
        independent: float = math.inf,
        within: float | None = None,
    ) -> "SupportPrior":
        """The smooth law that explains noisy values best; they tell no more than some `independent` ones.

        Where it is known what each support should be about, `within` is how far off that usually is.
        """
        if within is None:
            vague = cls.vague(_edges(measured, largest=largest))
        else:
            vague = cls.around_expected(largest, within=within)
        binned = [group.noisy.possible().binned() for group in measured]
        likely = np.vstack(
            [vague.likelihoods(few, group.kept) for (few, _), group in zip(binned, measured, strict=True)]
        )
        number, chances = np.concatenate([each for _, each in binned]), vague.chances
        # Where it is known what supports should be about, it is what values say of that law that is smooth: where they
        # say nothing, it stays as it is.
        alike = np.diff(np.log(vague.edges[1:])) if within is None else vague.chances[1:]
        number = number * min(1.0, independent / number.sum())
        passes = max(1, round(MOST_PASSES / number.sum() ** 0.4))
        for _ in range(STEPS):
            together = np.maximum(likely @ chances, 1e-300)
            found = chances * ((number / together) @ likely) + PRIOR_WEIGHT * vague.chances
            found[1:] = _smoothed(found[1:], alike, passes=passes)
            chances = found / found.sum()
        return cls(vague.edges, chances)

    def likelihoods(self, noisy: NoisyValues, kept: KeptShares) -> FloatArray:
        """How likely each value is for a support in each cell: a row for each value."""
        edges = self.edges * noisy.units
        middles = (edges[:, 1:] + edges[:, :-1]) / 2
        total = np.zeros(middles.shape)
        for share, chance, gap in kept:
            widths = kept.widths(noisy.scales, middles, share, gap)
            low, high = share * edges[:, :-1], share * edges[:, 1:]
            total += chance * (noisy.below(low, widths) - noisy.below(high, widths)) / (high - low)
        total[:, 0] = noisy.densities(np.zeros(1), noisy.scales[:, None])[:, 0]
        # Where no support explains a value, they all do as well.
        return np.maximum(total, 1e-200)

    @property
    def largest(self) -> float:
        """The largest support that is possible."""
        return float(self.edges[-1]) - 0.5

    @cached_property
    def points(self) -> FloatArray:
        """Supports above 0 at which the posterior is reckoned, whatever was measured."""
        return np.geomspace(self.edges[1], self.edges[-1], POINTS_IN_CELL * CELLS + 1)

    def density_at(self, supports: FloatArray) -> FloatArray:
        """The density of the law at supports above 0; none above the largest."""
        inner = self.edges[1:]
        logs = np.log(self.chances[1:] / np.diff(inner))
        middles = np.log(inner[1:] * inner[:-1]) / 2
        at = np.log(np.maximum(supports, inner[0] / 2))
        densities: FloatArray = np.exp(np.interp(at, middles, logs))
        return np.where((supports < inner[0]) | (supports > inner[-1]), 0.0, densities)


def _edges(measured: Sequence[MeasuredGroup], *, largest: float) -> FloatArray:
    """Cells that widen geometrically, finer where many values are close together."""
    wide = np.geomspace(0.5, max(largest, 1.0) + 0.5, CELLS + 1)
    supports = np.concatenate([group.noisy.values / group.kept.middle for group in measured])
    least = min(float(group.noisy.scales.min()) / group.kept.middle for group in measured)
    step = max(least / 2, 0.5)
    number = min(supports.size // VALUES_IN_CELL, MOST_FINE_CELLS)
    fine = step * np.rint(np.quantile(supports, np.linspace(0, 1, number + 2)[1:-1]) / step)
    inside = (fine > wide[0]) & (fine < wide[-1])
    return np.unique(np.concatenate([[0.0], wide, fine[inside]]))


def _smoothed(chances: FloatArray, widths: FloatArray, *, passes: int) -> FloatArray:
    """Some of the density of each cell given to its neighbours, several times."""
    densities, total = chances / widths, chances.sum()
    for _ in range(passes):
        densities = np.convolve(np.pad(densities, 1, mode="edge"), SMOOTHING, mode="valid")
    smooth = densities * widths
    scaled: FloatArray = smooth * (total / smooth.sum())
    return scaled


@dataclass(frozen=True, slots=True, eq=False)
class Shrunk:
    """The posterior mean of each support, and the ends of the shortest interval that holds 95 % of its posterior."""

    means: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def deviations(self) -> FloatArray:
        """About how far each support is from its mean."""
        return (self.high - self.low) / 4

    def take(self, places: Int64Array) -> "Shrunk":
        """Some of them."""
        return Shrunk(self.means[places], self.low[places], self.high[places])

    def estimates(self, itemsets: Itemsets) -> Estimates:
        """In whole transactions: each stands for all that is nearer to it than to others."""
        low, high = np.floor(self.low + 0.5).astype(np.int64), np.ceil(self.high - 0.5).astype(np.int64)
        high = np.maximum(low, high)
        return Estimates(itemsets, np.clip(np.rint(self.means).astype(np.int64), low, high), low, high)


def posterior(
    noisy: NoisyValues, kept: KeptShares, prior: SupportPrior, ceilings: FloatArray | None = None
) -> Shrunk:
    """What noisy values say of supports with that prior, and under these ceilings."""
    noisy = noisy.possible()
    at_zero = prior.chances[0] * noisy.densities(np.zeros(1), noisy.scales[:, None])[:, 0]
    points = _points(noisy, kept, prior)
    likely = np.zeros(points.shape)
    for share, chance, gap in kept:
        widths = kept.widths(noisy.scales, points, share, gap)
        likely += chance * noisy.densities(share * points, widths)
    largest = prior.largest * noisy.units[:, 0]
    if ceilings is not None:
        largest = np.minimum(np.maximum(ceilings, 1.0), largest)
        likely *= points <= largest[:, None] + 0.5
    densities = prior.density_at(points / noisy.units) / noisy.units
    found = shortest_of(points, likely * densities, at_zero=at_zero)
    return _doubted(found, kept.doubt, largest=largest)


def shortest_of(points: FloatArray, densities: FloatArray, *, at_zero: FloatArray | float = 0.0) -> Shrunk:
    """The mean of laws, a row each, and the shortest interval around it that holds 95 %.

    They have densities at ascending points and some chance of 0. Where 0 is likely, the interval begins there, and all
    that it leaves out is above.
    """
    pieces = np.diff(points, axis=1) * (densities[:, 1:] + densities[:, :-1]) / 2
    # Where all is impossible, which rounding can make of what is hardly possible, any place is as likely.
    first = np.broadcast_to(np.asarray(at_zero, np.float64), len(points))
    below = np.cumsum(np.column_stack([first, pieces + 1e-290]), axis=1)
    total = below[:, -1:]
    means = (pieces * (points[:, 1:] + points[:, :-1]) / 2).sum(axis=1) / total[:, 0]
    lows, highs = (_quantiles(below / total, points, TAILS + held) for held in (0.0, 1 - OUTSIDE))
    # Half a transaction is none: where nearly all is at 0, the interval may end there.
    is_around = (lows <= means[:, None] + 0.5) & (means[:, None] - 0.5 <= highs)
    # Of intervals that are equally short the one with most above its end, whatever rounding says.
    widths = (highs - lows) * (1 + 1e-9 * np.arange(TAILS.size))
    rows, shortest = np.arange(len(points)), np.argmin(np.where(is_around, widths, np.inf), axis=1)
    low, high = lows[rows, shortest], highs[rows, shortest]
    return Shrunk(np.clip(means, low, high), low, high)


def _doubted(found: Shrunk, doubt: tuple[float, float], *, largest: FloatArray) -> Shrunk:
    """Wider by what all shares together may be wrong by; no support is above the largest."""
    too_low, too_high = doubt
    means = np.maximum(found.means, 1e-9)
    down = np.hypot(np.log(means / np.maximum(found.low, 1e-9)), too_low)
    up = np.hypot(np.log(np.maximum(found.high, means) / means), too_high)
    low = np.where(found.low > 0, means * np.exp(-down), 0.0)
    ends = (np.minimum(end, largest) for end in (found.means, low, means * np.exp(up)))
    return Shrunk(*ends)


def _points(noisy: NoisyValues, kept: KeptShares, prior: SupportPrior) -> FloatArray:
    """The supports at which each posterior is reckoned, ascending: those of the prior, and more around each value."""
    near = []
    for share, _, gap in kept:
        middle = np.maximum(noisy.values, 0)[:, None]
        width = kept.widths(noisy.scales, middle / share, share, gap)
        near.append((middle + width * NEAR_VALUE) / share)
    everywhere = prior.points * noisy.units
    near_values = np.clip(np.hstack(near), everywhere[:, :1], everywhere[:, -1:])
    return np.sort(np.hstack([everywhere, near_values]), axis=1)


def _quantiles(below: FloatArray, points: FloatArray, chances: FloatArray) -> FloatArray:
    """For each chance (the last axis), the first support, in each row, below which it is reached.

    `below` tells how much is up to each point.
    """
    rows, width = np.arange(len(points))[:, None], points.shape[1]
    # Rows one after another, each 2 above the one before, so that one search does for all.
    after = np.searchsorted((below + 2 * rows).ravel(), chances + 2 * rows)
    after = np.clip(after - width * rows, 0, width)
    upper = np.minimum(after, width - 1)
    lower = np.maximum(upper - 1, 0)
    rise = np.maximum(below[rows, upper] - below[rows, lower], 1e-300)
    part = np.clip((chances - below[rows, lower]) / rise, 0.0, 1.0)
    between = points[rows, lower] + part * (points[rows, upper] - points[rows, lower])
    return np.where(after == 0, 0.0, between)


def shrunk(
    noisy: NoisyValues, chosen: Int64Array, *, largest: float, independent: float = math.inf
) -> Shrunk:
    """The supports of those chosen among all that were measured; none is above the largest that is possible.

    Where noise is shared, the values tell no more than some `independent` ones.
    """
    prior = SupportPrior.fitted([MeasuredGroup(noisy)], largest=largest, independent=independent)
    return posterior(noisy.take(chosen), WHOLE, prior)


def shrunk_in_groups(
    measured: Sequence[MeasuredGroup],
    chosen: Sequence[Int64Array],
    *,
    largest: float,
    ceilings: Sequence[FloatArray | None] | None = None,
    within: float | None = None,
) -> Shrunk:
    """The same with several groups of which different shares are counted; one group after another.

    Of each group, there may be ceilings for those chosen. `within` is as in `SupportPrior.fitted`.
    """
    prior = SupportPrior.fitted(measured, largest=largest, within=within)
    parts = [
        posterior(group.noisy.take(places), group.kept, prior, above)
        for group, places, above in zip(measured, chosen, ceilings or [None] * len(measured), strict=True)
    ]
    return Shrunk(
        *(np.concatenate(ends) for ends in zip(*((p.means, p.low, p.high) for p in parts), strict=True))
    )


def calm_supports(measured: MeasuredGroup, *, largest: float, within: float | None = None) -> FloatArray:
    """The posterior means of all that was measured: reckoned at some of the values, and between them."""
    noisy = measured.noisy.possible()
    prior = SupportPrior.fitted([measured], largest=largest, within=within)
    means = np.zeros(noisy.values.size)
    classes = np.rint(np.log(noisy.units[:, 0]) / EXPECTED_BIN)
    for each in np.unique(classes):
        alike = np.flatnonzero(classes == each)
        order = alike[np.argsort(noisy.values[alike], kind="stable")]
        some = order[np.unique(np.linspace(0, order.size - 1, CALM_VALUES).astype(np.int64))]
        found = posterior(noisy.take(some), measured.kept, prior)
        means[alike] = np.interp(noisy.values[alike], noisy.values[some], found.means)
    return means
