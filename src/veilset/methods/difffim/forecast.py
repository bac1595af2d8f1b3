"""What to expect of `f1m`, `difffim-naive` and `difffim`: noisy supports level by level, from cut transactions.

Lengths are those of the model, where items are held independently. The threshold, the largest size and the histograms
of lengths are followed without their noise, and the smart cut is taken to keep no more of a support than a random one.
Items are numbered from the most popular one, so the least frequent part of an itemset is the one without its first.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.forecast import Forecast, Stage, World, laws, opening
from veilset.forecast.curve import TOLERANCE
from veilset.gate.answers import NoisyCounts, NoisyHistogram
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemsets
from veilset.methods import difffim as method
from veilset.methods.difffim import NAIVE, SMALL, Heuristics
from veilset.methods.difffim.double_standards import kept_share
from veilset.methods.shared.preliminaries import SHARE_FOR_HOW_MANY

SMART = Heuristics(is_smart=True, has_double_standards=True, weighs_lengths=False)
UNLIKELY = 0.01
"""Candidates with a smaller chance to be counted are left out."""
MOST_LISTED = 10_000
"""The most frequent candidates of a size stand for all: so many arise only where noise drowns the threshold."""
GRID = 100
"""So many noisy supports, from 0 to all rows, tell what the method makes of any."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Itemsets of one size, a row of items each, with their shares of the transactions and chances to be counted."""

    items: Int64Array
    shares: FloatArray
    chances: FloatArray

    @property
    def number(self) -> int:
        """How many are expected to be counted."""
        return math.ceil(float(self.chances.sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """What will be known of the candidates of one size; `needed` is the noisy support that lets one be extended."""

    candidates: Candidates
    stages: tuple[Stage, ...]
    values: FloatArray
    deviations: FloatArray
    scale: float
    half_width: int
    kept: float
    needed: float

    def chance_to_be_extended(self, supports: FloatArray) -> FloatArray:
        """That what the cut keeps of a support, plus noise, is enough."""
        return laws.laplace_distribution((supports * self.kept - self.needed) / self.stages[-1].scale)

    def extended(self, world: World) -> Candidates:
        """Candidates of one more item: a more popular one before each that may be extended."""
        old = self.candidates
        may_be = self.chance_to_be_extended(world.rows * old.shares) >= UNLIKELY
        order = np.argsort(-old.shares, kind="stable")
        order = order[may_be[order]]
        parts = order[np.cumsum(old.items[order, 0]) <= MOST_LISTED]
        ways = old.items[parts, 0]
        firsts = np.arange(ways.sum()) - np.repeat(np.cumsum(ways) - ways, ways)
        parts = np.repeat(parts, ways)
        items = np.column_stack((firsts, old.items[parts]))
        shares = old.shares[parts] * world.shares[firsts]
        every_part = world.rows * shares[:, None] / world.shares[items]
        chances = old.chances[parts] * self.chance_to_be_extended(every_part).prod(axis=1)
        likely = chances >= UNLIKELY
        return Candidates(items[likely], shares[likely], chances[likely])

    def support_to_be_chosen(self, k: int) -> int:
        """With it, one is among the k best with 95 % probability where nobody holds any other candidate."""
        return laws.support_to_be_first(self.scale, k=k, candidates=self.candidates.number)


def largest(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows; of `f1m`, it is 1."""
    return max_size or method.LARGEST_SIZE


def forecast_f1m(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    first, left = _opening(epsilon)
    return _forecast("f1m", world, k, first, list(_levels(world, k, NAIVE, size=1, epsilon=left)))


def forecast_naive(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    return _search("difffim-naive", world, k, NAIVE, epsilon=epsilon)


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    return _search("difffim", world, k, SMART, epsilon=epsilon)


def _opening(epsilon: Fraction) -> tuple[tuple[Stage, ...], Fraction]:
    """The number of transactions and the threshold, and what is left of epsilon."""
    number, left = opening(epsilon)
    for_kth = epsilon * SHARE_FOR_HOW_MANY
    return (number, Stage("support of the k-th itemset", DiscreteLaplace(1, for_kth))), left - for_kth


def _threshold(world: World, k: int) -> int:
    """The support of the k-th itemset, as the method would have it."""
    return max(1, round(world.curve.at_rank(k)))


def _search(name: str, world: World, k: int, heuristics: Heuristics, *, epsilon: Fraction) -> Forecast:
    """A method that looks for the largest size of the k best first, in as many steps as it sets aside for."""
    first, left = _opening(epsilon)
    for_size, steps = min(left * SMALL, SMALL), world.domain.max_size.bit_length()
    search = Stage("largest size", DiscreteLaplace(1, for_size / steps), times=steps)
    best_by_size = world.rows * np.cumprod(world.shares[: world.domain.max_size])
    size = max(1, int((best_by_size >= (1 - TOLERANCE) * _threshold(world, k)).sum()))
    levels = _levels(world, k, heuristics, size=size, epsilon=left - for_size)
    return _forecast(name, world, k, (*first, search), list(levels))


def _levels(world: World, k: int, heuristics: Heuristics, *, size: int, epsilon: Fraction) -> Iterator[Level]:
    """Level 1 and those made from it: all under its limit, or each under its own where the cut is smart."""
    min_count, for_each, items = _threshold(world, k), epsilon / size, world.shares.size
    candidates = Candidates(np.arange(items)[:, None], world.shares, np.ones(items))
    lengths = model_lengths(world, items, epsilon=min(for_each / 10, SMALL))
    limit = method.length_up_to(lengths, method.SHARE_OF_TRANSACTIONS)
    asked: tuple[Stage, ...] = (Stage("lengths", lengths.mechanism),)
    for_supports = for_each - lengths.mechanism.epsilon
    for number in range(1, size + 1):
        if candidates.number == 0 or number > limit:
            return
        supports = DiscreteLaplace(min(math.comb(limit, number), candidates.number), for_supports)
        level = _level(
            world,
            candidates,
            lengths,
            heuristics,
            limit=limit,
            min_count=min_count,
            asked=asked,
            supports=supports,
        )
        yield level
        candidates = level.extended(world)
        asked, for_supports = (), for_each
        if heuristics.is_smart and candidates.number:
            lengths = model_lengths(world, int(candidates.items.max()) + 1, epsilon=for_each * SMALL)
            asked = (Stage(f"lengths, size {number + 1}", lengths.mechanism),)
            for_supports = for_each - lengths.mechanism.epsilon
            limit = method.best_limit(
                heuristics.lengths_of(lengths),
                _blank(candidates.number),
                size=number + 1,
                min_count=min_count,
                epsilon=for_supports,
            )


def _level(
    world: World,
    candidates: Candidates,
    lengths: NoisyHistogram,
    heuristics: Heuristics,
    *,
    limit: int,
    min_count: int,
    asked: tuple[Stage, ...],
    supports: DiscreteLaplace,
) -> Level:
    """What the method will make of noisy supports under a cut, by its own rules."""
    size = candidates.items.shape[1]
    holders = lengths.values * np.array([float(math.comb(each, size)) for each in range(lengths.values.size)])
    kept = kept_share(holders, size=size, limit=limit)  # the longer a transaction, the more itemsets it holds
    means = world.rows * candidates.shares * kept
    grid = np.unique(np.rint(np.append(0, np.geomspace(1, world.rows, GRID))).astype(np.int64))
    noisy = NoisyCounts(_blank(grid.size), grid, supports)
    clear = heuristics.lengths_of(lengths)
    known = method.estimated(noisy, clear, heuristics, size=size, limit=limit)
    share = kept_share(clear, size=size, limit=limit) if heuristics.has_double_standards else 1.0
    scale = float(supports.scale)
    return Level(
        candidates,
        (*asked, Stage(f"supports, size {size}", supports)),
        values=np.interp(means, grid, known.average),
        deviations=np.sqrt(2 * scale**2 + means * (1 - kept)) / share,
        scale=scale / share,
        half_width=known.half_width,
        kept=kept,
        needed=float(np.interp(min_count, known.largest, grid, left=-np.inf)),
    )


def model_lengths(world: World, items: int, *, epsilon: Fraction) -> NoisyHistogram:
    """How many transactions have which length, where only so many of the most popular items count."""
    values = np.rint(world.rows * _length_shares(world, items)).astype(np.int64)
    return NoisyHistogram(values, DiscreteLaplace(1, epsilon))


@lru_cache(maxsize=64)  # a search over epsilon comes by the same numbers of items again and again
def _length_shares(world: World, items: int) -> FloatArray:
    """The share of transactions of each length, one item after another; the last stands for all longer ones."""
    shares = np.zeros(method.LONGEST + 1)
    shares[0] = 1
    for share in world.shares[:items]:
        moved = share * shares[:-1]
        shares[:-1] -= moved
        shares[1:] += moved
    return shares


def _blank(number: int) -> Itemsets:
    """That many itemsets, where only their number matters."""
    return Itemsets(np.zeros(number + 1, np.int64), np.zeros(0, np.int32))


def _forecast(name: str, world: World, k: int, first: tuple[Stage, ...], levels: list[Level]) -> Forecast:
    """The k best of all levels, by what will be known of them."""
    kth_support = world.curve.at_rank(k)
    candidates = [level.candidates for level in levels]
    supports = world.rows * np.concatenate([each.shares for each in candidates])
    counted = np.concatenate([each.chances for each in candidates])
    half_widths = np.repeat([level.half_width for level in levels], [each.shares.size for each in candidates])
    chosen = laws.chances_to_be_among_first(
        np.concatenate([level.values for level in levels]),
        np.concatenate([level.deviations for level in levels]),
        k=k,
        present=counted,
    )
    best = np.argsort(-supports, kind="stable")[:k]
    half_width = int(np.median(half_widths[best]))
    is_found = (counted * chosen)[best] * (supports[best] >= (1 - TOLERANCE) * kth_support)
    return Forecast(
        method=name,
        max_size=world.domain.max_size,
        stages=first + tuple(stage for level in levels for stage in level.stages),
        half_width=half_width,
        chosen_from=max(level.support_to_be_chosen(k) for level in levels),
        above_zero_from=laws.support_above_zero(half_width),
        kth_support=round(kth_support),
        found=float(is_found.sum()) / k,
    )
