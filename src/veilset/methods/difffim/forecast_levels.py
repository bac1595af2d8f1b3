"""What to expect of `f1m`, `difffim-naive` and `difffim`: noisy supports level by level, in truncated transactions.

Lengths are those of the model, where items are held independently. The threshold, the largest size and the histograms
of lengths are followed without their noise. Which itemsets are found is told as if smart truncation kept no more of a
support than random one; what is told of their supports, by the posteriors of the method, with its own laws of what
either truncation keeps.
Items are numbered from the most popular one, so the least frequent part of an itemset is the one without its first.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.forecast import Forecast, Stage, World, laws
from veilset.forecast.curve import TOLERANCE
from veilset.forecast.model import model_lengths
from veilset.forecast.released import LAPLACE_HALF_WIDTH, Accuracy, Told
from veilset.gate import DiscreteLaplace, NoisyCounts, NoisyHistogram
from veilset.itemsets import Itemsets
from veilset.methods.difffim.counted_level import CountedLevel, Heuristics, lengths_up_to
from veilset.methods.difffim.expected_supports import lift_within
from veilset.methods.difffim.held_items import HeldItems
from veilset.methods.difffim.levels import SHARE_LEFT_WHOLE, SMALL_SHARE, best_limit
from veilset.methods.difffim.smart_shares import OUTRANKED_CLASSES, kept_smartly
from veilset.methods.shared.forecast import forecast_number, most_transactions
from veilset.methods.shared.forecast_posterior import MOST_READ, model_prior, read_by_posterior
from veilset.methods.shared.length_laws import LengthDraws, plausible_lengths
from veilset.methods.shared.noisy_values import KeptShares
from veilset.methods.shared.preliminaries import SHARE_FOR_HOW_MANY
from veilset.methods.shared.shrinkage import SupportPrior
from veilset.methods.shared.tilts import (
    SHARE_FOR_TILTS,
    SPREADS_OF_ITEMS,
    USUAL_SPREAD_OF_ITEMS,
    is_worth_asking,
    tilts_told_of,
)
from veilset.methods.shared.truncation import holders_by_length, kept_at_random, kept_share, length_up_to

UNLIKELY = 0.01
"""Candidates with a chance below 1 % to be counted are left out."""
MOST_CANDIDATES = 10_000
"""The 10,000 most frequent candidates of a size stand for all: more arise only where noise drowns the threshold."""
GRID_POINTS = 100
"""100 noisy supports, from 0 to all rows, tell what the method makes of any."""


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedCandidates:
    """Itemsets of one size, a row of items each, with their shares of the transactions and chances to be counted."""

    items: Int64Array
    shares: FloatArray
    chances: FloatArray

    @property
    def number(self) -> int:
        """How many are expected to be counted."""
        return math.ceil(float(self.chances.sum()))

    @property
    def size(self) -> int:
        """Of each of them."""
        return int(self.items.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """On which terms a level will be counted: after which questions, under which limit, with which epsilon."""

    stages: tuple[Stage, ...]
    lengths: NoisyHistogram
    limit: int
    epsilon: Fraction
    first: CountedLevel | None = None
    """Level 1, where it was counted."""
    is_over_all: bool = True
    after: tuple[Stage, ...] = ()
    """Questions that follow the supports."""


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedLevel:
    """What will be known of the candidates of one size; `needed` is the noisy support that lets one be extended."""

    candidates: ExpectedCandidates
    stages: tuple[Stage, ...]
    counting: Stage
    values: FloatArray
    deviations: FloatArray
    noisy: FloatArray
    average: FloatArray
    scale: float
    terms: Terms
    draws: LengthDraws
    held: HeldItems | None
    is_smart: bool
    kept: float
    needed: float

    def stands_for(self, values: FloatArray) -> FloatArray:
        """The supports that noisy values stand for on average."""
        supports: FloatArray = np.interp(values, self.noisy, self.average)
        return supports

    def groups(self, world: World, places: Int64Array) -> Iterator[tuple[Int64Array, KeptShares]]:
        """Some of the candidates that lose about alike, and the law of what is kept of them."""
        size, limit = self.candidates.size, self.terms.limit
        outranked = self._outranked(world, places) if self.is_smart else np.zeros(places.size)
        ahead = self.candidates.items[places].max(axis=1, initial=0) - (size - 1)
        alike = 0.0 if self.held is None else self.held.groups[places]
        classes = alike * 1000 + np.rint(outranked * OUTRANKED_CLASSES)
        if self.is_smart:
            classes = classes * 1000 + np.minimum(ahead, limit + 1)
        for each in np.unique(classes):
            chosen = classes == each
            by = None if self.held is None else self.held.held_by(places[chosen])
            if self.is_smart:
                share, most = float(outranked[chosen].mean()), int(np.median(ahead[chosen]))
                kept = kept_smartly(self.draws, size=size, limit=limit, outranked=share, ahead=most, held=by)
            else:
                kept = kept_at_random(self.draws, size=size, limit=limit, held=by)
                kept = kept if size == 1 else kept.partly_together()
            yield places[chosen], kept

    def rarest_parts(self, world: World, places: Int64Array) -> FloatArray:
        """The supports of the rarest parts of some candidates: those without the most popular item."""
        shares: FloatArray = self.candidates.shares[places] / world.shares[self.candidates.items[places, 0]]
        return world.rows * shares

    def within(self, world: World, reach: float) -> float | None:
        """How far supports are from what their parts say, which are known to within `reach`; None for single items."""
        if self.candidates.size == 1:
            return None
        parts = self.rarest_parts(world, np.arange(self.candidates.shares.size))
        errors = np.minimum(math.sqrt(2) * reach / LAPLACE_HALF_WIDTH / np.maximum(parts, 1.0), 1.0)
        return math.sqrt(
            lift_within(self.candidates.size) ** 2
            + float(np.average(errors**2, weights=self.candidates.chances))
        )

    def _outranked(self, world: World, places: Int64Array) -> FloatArray:
        """The share of other items held that stand in better candidates than some item of an itemset does.

        The best candidates are those of the most popular items, so these are the more popular ones.
        """
        items = self.candidates.items[places]
        held = np.append(0.0, np.cumsum(world.shares[: int(self.candidates.items.max()) + 1]))
        own = world.shares[items]
        before = held[items.max(axis=1)] - (own.sum(axis=1) - world.shares[items.max(axis=1)])
        outranked: FloatArray = np.maximum(before, 0.0) / np.maximum(held[-1] - own.sum(axis=1), 1e-9)
        return np.minimum(outranked, 1.0)

    def chance_to_be_extended(self, supports: FloatArray) -> FloatArray:
        """That what truncation keeps of a support, plus noise, is enough."""
        return laws.laplace_distribution((supports * self.kept - self.needed) / self.counting.scale)

    def extended(self, world: World) -> ExpectedCandidates:
        """Candidates of one more item: a more popular one before each that may be extended."""
        old = self.candidates
        may_be = self.chance_to_be_extended(world.rows * old.shares) >= UNLIKELY
        order = np.argsort(-old.shares, kind="stable")
        order = order[may_be[order]]
        parts = order[np.cumsum(old.items[order, 0]) <= MOST_CANDIDATES]
        ways = old.items[parts, 0]
        firsts = np.arange(ways.sum()) - np.repeat(np.cumsum(ways) - ways, ways)
        parts = np.repeat(parts, ways)
        items = np.column_stack((firsts, old.items[parts]))
        shares = old.shares[parts] * world.shares[firsts]
        every_part = world.rows * shares[:, None] / world.shares[items]
        chances = old.chances[parts] * self.chance_to_be_extended(every_part).prod(axis=1)
        likely = chances >= UNLIKELY
        return ExpectedCandidates(items[likely], shares[likely], chances[likely])

    def support_to_be_chosen(self, k: int) -> int:
        """With it, one is among the k best with 95 % probability where nobody holds any other candidate."""
        return laws.support_to_be_first(self.scale, k=k, candidates=self.candidates.number)


def forecast_threshold(epsilon: Fraction) -> tuple[tuple[Stage, ...], Fraction]:
    """The number of transactions and the threshold, and what remains of epsilon."""
    number, remaining = forecast_number(epsilon)
    for_kth = epsilon * SHARE_FOR_HOW_MANY
    return (number, Stage("support of the k-th itemset", DiscreteLaplace(1, for_kth))), remaining - for_kth


def forecast_search(
    name: str, world: World, k: int, epsilon: Fraction, *, heuristics: Heuristics
) -> Forecast:
    """A method that looks for the largest size of the k best first, in as many steps as it sets aside for."""
    preliminaries, remaining = forecast_threshold(epsilon)
    for_size, steps = min(remaining * SMALL_SHARE, SMALL_SHARE), world.domain.max_size.bit_length()
    search = Stage("largest size", DiscreteLaplace(1, for_size / steps), times=steps)
    best_by_size = world.rows * np.cumprod(world.shares[: world.domain.max_size])
    size = max(1, int((best_by_size >= (1 - TOLERANCE) * _threshold(world, k)).sum()))
    levels = expected_levels(world, k, heuristics, size=size, epsilon=remaining - for_size)
    return forecast_best(name, world, k, (*preliminaries, search), list(levels))


def forecast_best(
    name: str, world: World, k: int, preliminaries: tuple[Stage, ...], levels: list[ExpectedLevel]
) -> Forecast:
    """The k best of all levels, by what will be known of them."""
    candidates = [level.candidates for level in levels]
    supports = world.rows * np.concatenate([each.shares for each in candidates])
    counted = np.concatenate([each.chances for each in candidates])
    values = np.concatenate([level.values for level in levels])
    deviations = np.concatenate([level.deviations for level in levels])
    chosen = laws.chances_to_be_among_first(values, deviations, k=k, present=counted)
    best = np.argsort(-supports, kind="stable")[:k]
    is_wanted = supports[best] >= (1 - TOLERANCE) * world.kth_support(k)
    is_found = (counted * chosen)[best] * is_wanted
    level = laws.level_of_first(values, deviations, k=k, present=counted)
    largest = most_transactions(world, preliminaries[0])
    return Forecast.of(
        world,
        k,
        method=name,
        stages=preliminaries + tuple(stage for each in levels for stage in each.stages),
        accuracy=_accuracy(world, levels, best[is_wanted], level=level, largest=largest),
        chosen_from=max(each.support_to_be_chosen(k) for each in levels),
        found=float(is_found.sum()) / k,
    )


def _accuracy(
    world: World, levels: list[ExpectedLevel], best: Int64Array, *, level: float, largest: float
) -> Accuracy:
    """Of some itemsets, by their places among those of all levels; chosen are those whose value passes a level."""
    ends = np.cumsum([0, *(each.candidates.shares.size for each in levels)])
    some = best[np.linspace(0, best.size - 1, min(best.size, MOST_READ)).astype(np.int64)]
    parts, chances, reach = [], [], math.inf
    for each, start, end in zip(levels, ends[:-1], ends[1:], strict=True):
        places = some[(some >= start) & (some < end)] - start
        supports, counted = world.rows * each.candidates.shares, each.candidates.chances
        within = each.within(world, reach)
        prior = (
            model_prior(supports, counted, largest=largest)
            if within is None
            else SupportPrior.around_expected(largest, within=within)
        )
        for alike, law in each.groups(world, places):
            told, values = read_by_posterior(
                supports[alike],
                np.full(alike.size, each.counting.scale),
                is_normal=np.zeros(alike.size, np.bool_),
                prior=prior,
                kept=law,
                ceilings=each.rarest_parts(world, alike) + reach,
                within=within,
            )
            parts.append(told)
            chances.append(counted[alike][:, None] * (each.stands_for(values) >= level))
        reach = LAPLACE_HALF_WIDTH * each.counting.scale / each.kept
    return Told.joined(parts).accuracy(np.concatenate(chances), largest=largest)


def _threshold(world: World, k: int) -> int:
    """The support of the k-th itemset, as the method would have it."""
    return max(1, round(world.curve.at_rank(k)))


def expected_levels(
    world: World, k: int, heuristics: Heuristics, *, size: int, epsilon: Fraction
) -> Iterator[ExpectedLevel]:
    """Level 1 and those made from it: all under its limit, or each under its own."""
    for_tilts, items = epsilon * SHARE_FOR_TILTS, world.shares.size
    min_count, for_each = _threshold(world, k), (epsilon - for_tilts) / size
    candidates = ExpectedCandidates(np.arange(items)[:, None], world.shares, np.ones(items))
    terms = _first_terms(world, candidates, epsilon=for_each + for_tilts, for_tilts=for_tilts)
    for number in range(1, size + 1):
        if candidates.number == 0 or number > terms.limit:
            return
        level = _level(world, candidates, terms, heuristics, min_count=min_count)
        yield level
        candidates = level.extended(world)
        terms = replace(terms, stages=(), after=(), epsilon=for_each)
        if candidates.number and not heuristics.has_one_limit:
            new = _next_terms(world, candidates, heuristics, min_count=min_count, epsilon=for_each)
            terms = replace(new, first=terms.first)


def _first_terms(
    world: World, candidates: ExpectedCandidates, *, epsilon: Fraction, for_tilts: Fraction
) -> Terms:
    """The terms of level 1, and what will be known of it: tilts are as far apart as usual."""
    lengths = model_lengths(world, world.shares.size, epsilon=min((epsilon - for_tilts) / 10, SMALL_SHARE))
    limit = length_up_to(lengths, SHARE_LEFT_WHOLE)
    asked = Stage("lengths", lengths.mechanism)
    if not is_worth_asking(plausible_lengths(lengths_up_to(lengths, world.shares.size)), limit):
        for_tilts = Fraction(0)
    terms = Terms((asked,), lengths, limit, epsilon - lengths.mechanism.epsilon - for_tilts)
    first = _counted(world, candidates, terms)
    compared = first.compared() if for_tilts else None
    contrast = None if compared is None else compared.best_contrast(limit)
    if compared is None or contrast is None:
        return replace(terms, first=first)
    noise = DiscreteLaplace(contrast.moved, for_tilts)
    expected = compared.expected(contrast, SPREADS_OF_ITEMS)
    usual = float(np.interp(USUAL_SPREAD_OF_ITEMS, SPREADS_OF_ITEMS, expected))
    tilts = tilts_told_of(usual, expected, noise=float(noise.scale), items=compared.alike)
    after = (Stage("long and short transactions", noise),)
    return replace(terms, after=after, first=replace(first, tilts=tilts))


def _counted(world: World, candidates: ExpectedCandidates, terms: Terms) -> CountedLevel:
    """Candidates as the method will see them, but for noise."""
    size = candidates.size
    noise = DiscreteLaplace(min(math.comb(terms.limit, size), candidates.number), terms.epsilon)
    kept = kept_share(holders_by_length(terms.lengths.values, size), size=size, limit=terms.limit)
    values = np.rint(world.rows * candidates.shares * kept).astype(np.int64)
    rows = candidates.items.astype(np.int32)
    itemsets = Itemsets(np.arange(0, rows.size + 1, size, dtype=np.int64), rows.ravel())
    average = values.astype(np.float64)
    counts = NoisyCounts(itemsets, values, noise)
    return CountedLevel(counts, average, average, terms.limit, terms.lengths, None, terms.is_over_all)


def _next_terms(
    world: World,
    candidates: ExpectedCandidates,
    heuristics: Heuristics,
    *,
    min_count: int,
    epsilon: Fraction,
) -> Terms:
    """The terms of a level above the first, under a limit of its own."""
    lengths = model_lengths(world, int(candidates.items.max()) + 1, epsilon=epsilon * SMALL_SHARE)
    for_supports = epsilon - lengths.mechanism.epsilon
    limit = best_limit(
        heuristics.lengths_of(lengths),
        _blank(candidates.number),
        size=candidates.size,
        min_count=min_count,
        epsilon=for_supports,
    )
    asked = Stage(f"lengths, size {candidates.size}", lengths.mechanism)
    return Terms((asked,), lengths, limit, for_supports, is_over_all=False)


def _level(
    world: World, candidates: ExpectedCandidates, terms: Terms, heuristics: Heuristics, *, min_count: int
) -> ExpectedLevel:
    """What the method will make of noisy supports under truncation, by its own rules."""
    size, limit = candidates.size, terms.limit
    noise = DiscreteLaplace(min(math.comb(limit, size), candidates.number), terms.epsilon)
    kept = kept_share(holders_by_length(terms.lengths.values, size), size=size, limit=limit)
    means = world.rows * candidates.shares * kept
    grid = np.unique(np.rint(np.append(0, np.geomspace(1, world.rows, GRID_POINTS))).astype(np.int64))
    clear = heuristics.lengths_of(terms.lengths)
    counts = NoisyCounts(_blank(grid.size), grid, noise)
    known = CountedLevel.of(counts, terms.lengths, heuristics, size=size, limit=limit)
    share = kept_share(clear, size=size, limit=limit) if heuristics.has_double_standards else 1.0
    scale, counted = float(noise.scale), _counted(world, candidates, terms)
    first, counting = terms.first or counted, Stage(f"supports, size {size}", noise)
    return ExpectedLevel(
        candidates,
        (*terms.stages, counting, *terms.after),
        counting,
        values=np.interp(means, grid, known.average),
        noisy=grid.astype(np.float64),
        average=known.average,
        deviations=np.sqrt(2 * scale**2 + means * (1 - kept)) / share,
        scale=scale / share,
        terms=terms,
        draws=counted.draws(first),
        held=counted.held(first),
        is_smart=heuristics.is_smart and size > 1,
        kept=kept,
        needed=float(np.interp(min_count, known.largest, grid, left=-np.inf)),
    )


def _blank(number: int) -> Itemsets:
    """That many itemsets, where only their number matters."""
    return Itemsets(np.zeros(number + 1, np.int64), np.zeros(0, np.int32))
