"""What a noisy tree lacks, learnt from supports that were asked for; and both together. No data here.

Supports in the tree are too low, and not by the same for all itemsets. The counts that are asked for at the end know
no loss, but have much noise each: together they say how much is lacking on average, and how unevenly. A support is then
what the tree says, more what is expected to be lacking, with a law that is wide where much is lacking, and skewed,
since an itemset can lack far more than others and never much less than nothing.
"""

from dataclasses import dataclass

import numpy as np

from veilset.arrays import BoolArray, FloatArray
from veilset.gate import NoisyCounts
from veilset.methods.dpfim.tree_supports import TreeSupports
from veilset.methods.shared.shrinkage import NEAR_VALUE, shortest_of
from veilset.results.estimates import Estimates

UNEVEN = np.geomspace(0.02, 3.0, 28)
"""How far what is lacking differs from itemset to itemset, as a share of what may be: 0.02 to 3."""
UNEVEN_WITHIN = 0.7
"""The standard deviation of its logarithm, before anything is known: a factor of 2."""
ALWAYS_LACKING = 0.03
"""3 % of a support are taken to be lacking at the least."""
TURNS = 3
"""What is lacking and how unevenly are found in 3 turns, each from the other."""
HELD_BY_NOBODY = 0.3
"""A support of 0 is as likely as all those that lie within 0.3 widths of both noises together."""
HEAVINESS = 3
"""3 degrees of freedom: tails so heavy that a value may be far off without the others being doubted."""
FARTHEST = 1.5
"""No itemset lacks more than e^1.5 = 4.5 times as much as expected, or less than a 4.5th."""
USUALLY_UNEVEN = 0.3
"""What is lacking differs by 0.3 of what may be in the first turn, before anything is known."""
LEVEL_BEFORE, SLOPE_BEFORE, LARGER_BEFORE, EVENLY_BEFORE = 0.2, 1.0, 1.0, 1.0
"""Shares of a support by which, in standard deviations, all are too low, more of them up to the last item, larger
itemsets than single items, and all larger itemsets by the same number."""
ENDED_LACKS, ENDED_UNEVEN = 0.4, 0.05
"""Of the transactions that may hold an itemset though the tree does not show it, 0.4 do; itemsets differ by 0.05."""
ENDED_BEFORE = (0.2, 0.2, 0.1)
"""The standard deviation of that share, of how it changes up to the last item, and of that for larger itemsets."""


def heavy_tailed_places(number: int) -> FloatArray:
    """Places of Student's law with 3 degrees of freedom between which its chances are equal."""
    z = np.linspace(-40.0, 40.0, 8001)
    below = np.cumsum((1 + z * z / HEAVINESS) ** (-(HEAVINESS + 1) / 2))
    return np.interp((np.arange(number) + 0.5) / number, below / below[-1], z)


PLACES = heavy_tailed_places(21)
"""21 places of that law that stand for all others, with noise of half their distance around each."""


def combined(known: TreeSupports, asked: NoisyCounts, *, most: int) -> Estimates:
    """The supports of the tree, with what they lack, together with those asked for."""
    level = levelled(known, asked)
    values, scale = asked.values.astype(np.float64), float(asked.mechanism.scale)
    centres, variances = level.mixture()

    def densities(supports: FloatArray) -> FloatArray:
        total = np.zeros(np.broadcast_shapes(supports.shape, (values.size, 1)))
        for centre, variance in zip(centres.T[:, :, None], variances.T[:, :, None], strict=True):
            total += _density(supports - centre, variance, is_laplace=level.is_laplace[:, None])
        return np.exp(-np.abs(supports - values[:, None]) / scale) * total

    around = np.sqrt(level.noise + (level.uneven * level.size) ** 2 + 1.0)
    near = np.hstack(
        [values[:, None] + scale * NEAR_VALUE, level.lifted[:, None] + around[:, None] * NEAR_VALUE, centres]
    )
    points = np.sort(np.clip(near, 0, most), axis=1)
    # Supports next to 0 are many, so 0 is as likely as a stretch of others.
    stretch = HELD_BY_NOBODY / (1 / scale + 1 / around)
    at_zero = stretch * densities(np.zeros((1, 1)))[:, 0]
    return shortest_of(points, densities(points), at_zero=at_zero).estimates(asked.itemsets)


def _density(apart: FloatArray, variance: FloatArray, *, is_laplace: BoolArray) -> FloatArray:
    """Of normal noise, or of Laplace noise, of a variance."""
    normal = np.exp(-(apart**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
    scale = np.sqrt(variance / 2)
    return np.where(is_laplace, np.exp(-np.abs(apart) / scale) / (2 * scale), normal)


@dataclass(frozen=True, slots=True, eq=False)
class Levelled:
    """What the tree says with what it lacks; the variance of the noise in it and of the level.

    What one itemset lacks differs by the share `uneven` of `size` from what others do. The noise is that of one Laplace
    answer where `is_laplace` says so.
    """

    lifted: FloatArray
    noise: FloatArray
    size: FloatArray
    uneven: FloatArray
    is_laplace: BoolArray

    def mixture(self) -> tuple[FloatArray, FloatArray]:
        """The law of each support as one of several values, with noise of some variance around each."""
        parts, gaps = uneven_parts(self.uneven)
        size = self.size[:, None]
        return self.lifted[:, None] + size * (parts - 1), self.noise[:, None] + 2 * (gaps * size) ** 2 + 1.0


def uneven_parts(uneven: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How much of what is expected an itemset may lack, at each of PLACES (the last axis), and the room between them.

    1 on average; the logarithm has heavy tails, as far as FARTHEST.
    """
    parts = np.exp(np.clip(uneven[..., None] * PLACES, -FARTHEST, FARTHEST))
    parts /= parts.mean(axis=-1, keepdims=True)
    gaps: FloatArray = np.abs(np.gradient(parts, axis=-1)) / 2
    return parts, gaps


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """What is asked for is `start` + `design` @ coefficients, which are 0 within `before` standard deviations.

    `factors` are what the coefficients multiply the tree's own supports by.
    """

    start: FloatArray
    design: FloatArray
    factors: FloatArray
    before: FloatArray

    @classmethod
    def of(cls, known: TreeSupports) -> "Regression":
        """Of what ended, where that is told; else of the supports themselves, and evenly over larger itemsets.

        Supports are taken without their noise: a noisy one says less of what is lacking than it seems to.
        """
        larger, calm = known.is_larger, known.calm
        terms = np.column_stack([np.ones(calm.size), known.lateness, larger])
        if known.ended is not None:
            start, design = calm + ENDED_LACKS * known.ended, known.ended[:, None] * terms
            return cls(start, design, np.zeros(design.shape), np.array(ENDED_BEFORE))
        evenly = larger * (calm[larger].mean() if larger.any() else 0.0)
        design = np.column_stack([calm[:, None] * terms, evenly])
        factors = np.column_stack([terms, np.zeros(calm.size)])
        return cls(
            calm, design, factors, np.array([LEVEL_BEFORE, SLOPE_BEFORE, LARGER_BEFORE, EVENLY_BEFORE])
        )

    def fitted(self, values: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The coefficients, and the variance of what they make of each support: by least squares."""
        weighted = self.design.T / variances
        covariance = np.linalg.inv(np.diag(1 / self.before**2) + weighted @ self.design)
        found = covariance @ (weighted @ (values - self.start))
        return found, ((self.design @ covariance) * self.design).sum(axis=1)


def levelled(known: TreeSupports, asked: NoisyCounts) -> Levelled:
    """What is lacking, and how unevenly: each depends on the other, so they are found in turns."""
    values, scale = asked.values.astype(np.float64), float(asked.mechanism.scale)
    regression, larger = Regression.of(known), known.is_larger
    is_told = known.ended is not None
    uneven_by = USUALLY_UNEVEN * (known.calm if known.ended is None else known.ended)
    for _ in range(TURNS):
        found, doubts = regression.fitted(values, 2 * scale**2 + known.variances + uneven_by**2)
        factors = np.maximum(1 + regression.factors @ found, 0.3)
        expected = regression.start + regression.design @ found
        # What the tree says more or less than the calm guess is multiplied as the rest of it is.
        lifted = np.maximum(expected + factors * (known.supports - known.calm), 0.0 if is_told else -np.inf)
        noise = factors**2 * known.variances + doubts
        size = np.maximum(expected, 1.0) if known.ended is None else known.ended
        share = np.abs(known.raised - known.calm / size) + ALWAYS_LACKING
        base = np.ones(size.size) if is_told else share
        level = Levelled(lifted, noise, size, base, ~larger & np.full(larger.size, not is_told))
        uneven = _uneven(level, values, larger, scale=scale, usual=ENDED_UNEVEN if is_told else 1.0)
        uneven_by = uneven * size
    return Levelled(lifted, noise, size, uneven, level.is_laplace)


def _uneven(
    level: Levelled, values: FloatArray, larger: BoolArray, *, scale: float, usual: float
) -> FloatArray:
    """How uneven itemsets are, single items and larger itemsets each by themselves: `level.uneven` is the unit."""
    uneven = np.zeros(values.size)
    for alike in (larger, ~larger):
        if alike.any():
            of_alike = Levelled(
                level.lifted[alike],
                level.noise[alike],
                level.size[alike],
                level.uneven[alike],
                level.is_laplace[alike],
            )
            uneven[alike] = level.uneven[alike] * unevenness(
                of_alike, values[alike], scale=scale, usual=usual
            )
    return uneven


def unevenness(level: Levelled, values: FloatArray, *, scale: float, usual: float) -> float:
    """How far what is lacking differs from itemset to itemset: the root mean square over UNEVEN, in `level.uneven`.

    Weighted by how well each explains the differences between both answers, with Laplace noise of a scale in what was
    asked for and heavy tails in what the tree says. A few that differ much are no reason to doubt all others. Before
    anything is known, itemsets differ by what is usual, or half or twice that.
    """
    parts, gaps = uneven_parts(np.outer(UNEVEN, level.uneven))
    size = level.size[:, None]
    # Noise as wide as both noises together: their variances add up.
    widths = np.sqrt(scale**2 + level.noise[:, None] / 2 + (gaps * size) ** 2)
    apart = np.abs((values - level.lifted)[:, None] - size * (parts - 1)) / widths
    log_chances = np.log((np.exp(-apart) / widths).mean(axis=2) + 1e-300).sum(axis=1)
    log_chances -= (np.log(UNEVEN / usual) / UNEVEN_WITHIN) ** 2 / 2
    chances = np.exp(log_chances - log_chances.max())
    return float(np.sqrt(UNEVEN**2 @ chances / chances.sum()))
