"""What to expect of the levels of `planned`: its own decisions, on the supports of a model.

Approximated are the prior of candidates, by the supports that the model gives them and their rarest subsets, and what
noise brings in among the items: taken to be no better than what it keeps out.
"""

from dataclasses import replace

import numpy as np

from veilset.forecast import Stage, World, laws
from veilset.gate import DiscreteLaplace
from veilset.itemsets import Itemset
from veilset.methods.planned import candidate_selection as choices
from veilset.methods.planned.candidate_selection import KeptItems, LevelCandidates, Price
from veilset.methods.planned.capped_counts import EveryItem
from veilset.methods.planned.forecast_model import (
    Expected,
    ForecastProgress,
    deviations_under_cap,
    model_overlap,
    model_supports,
)
from veilset.methods.planned.prior import Prior
from veilset.methods.planned.refinement_choice import choose_marginals
from veilset.methods.planned.scouting import Scouting
from veilset.methods.planned.tilts import choose_contrast


def forecast_levels(world: World, scouting: Scouting) -> ForecastProgress:
    """Items, pairs, and so on, while larger itemsets may be in the answer."""
    progress = forecast_items(world, scouting)
    for size in range(2, world.domain.max_size + 1):
        if size > 2 and progress.may_grow:
            progress = _perhaps_by_marginals(scouting, progress)
        if progress.may_grow:
            progress = forecast_level(world, scouting, progress, size)
    return progress


def _perhaps_by_marginals(scouting: Scouting, progress: ForecastProgress) -> ForecastProgress:
    """With no larger itemsets to look for, where marginals are to tell of these as well."""
    marginals = choose_marginals(scouting, progress.expected, progress.remaining)
    if marginals is None:
        return progress
    return replace(progress.stopped(remaining=progress.remaining), marginals=marginals)


def forecast_items(world: World, scouting: Scouting) -> ForecastProgress:
    """Supports of all items, of which those are kept that may matter."""
    settings, supports = scouting.settings, world.rows * world.shares
    lengths = DiscreteLaplace(1, scouting.price(settings.share_for_lengths))
    remaining = scouting.remaining - lengths.epsilon
    every_item: list[Itemset] = [(item,) for item in range(supports.size)]
    overlap = model_overlap(world, every_item, settings)
    price = choices.price_of_items(scouting, overlap, remaining)
    kth_count = supports[min(scouting.k, supports.size) - 1] * price.cap.kept
    kept = choices.choose_items_to_keep(scouting, price, kth_count=kth_count)
    expected = _expected_items(world, scouting, every_item, price, kept)
    scale = scouting.noise(price.epsilon, cap=price.cap.most) / price.cap.kept
    noise = DiscreteLaplace(min(price.cap.most, supports.size), price.epsilon)
    stages = [Stage("lengths", lengths), Stage("supports, size 1", noise)]
    contrast = choose_contrast(overlap, EveryItem(supports, scale).above_noise())
    if contrast is not None:
        tilts = DiscreteLaplace(contrast.moved, scouting.price(settings.share_for_tilts))
        stages.append(Stage("long and short transactions", tilts))
    return ForecastProgress(
        expected,
        laws.support_to_be_first(scale, k=kept.most, candidates=supports.size),
        tuple(stages),
        remaining - sum(stage.mechanism.epsilon for stage in stages[1:]),
        lengths=overlap,
    )


def _expected_items(
    world: World, scouting: Scouting, items: list[Itemset], price: Price, kept: KeptItems
) -> Expected:
    """As many of the most popular items as are expected to be kept."""
    supports, cap = world.rows * world.shares, price.cap
    deviations = deviations_under_cap(supports, cap, price.epsilon, scouting.settings)
    scale = scouting.noise(price.epsilon, cap=cap.most)
    passing = laws.laplace_distribution((supports * cap.kept - kept.least) / scale)
    among_first = laws.chances_to_be_among_first(supports, deviations, k=kept.most)
    expected = Expected(items, supports, deviations, np.minimum(passing, among_first))
    number = max(scouting.settings.least_items, round(float(expected.present.sum())))
    return expected.take(np.arange(min(number, supports.size)))


def forecast_level(
    world: World, scouting: Scouting, progress: ForecastProgress, size: int
) -> ForecastProgress:
    """Supports of the itemsets of a size that may be in the answer."""
    support = scouting.support_in_question(progress.expected)
    candidates = _model_candidates(world, scouting, progress, size=size, support=support)
    if candidates is None:
        return progress.stopped(remaining=progress.remaining)
    if choices.is_too_little(scouting, progress.remaining):
        found = _estimated(world, progress.expected, candidates)
        return progress.then(progress.expected + found, remaining=progress.remaining)
    noise = DiscreteLaplace(1, scouting.price(scouting.settings.share_for_largest))
    stage, remaining = Stage(f"largest support, size {size}", noise), progress.remaining - noise.epsilon
    largest = world.rows * world.shares[:size].prod()
    if choices.is_too_rare(scouting, largest, support=support):
        return progress.stopped(stage, remaining=remaining)
    after = progress.then(progress.expected, stage, remaining=remaining)
    return _forecast_counts(world, scouting, after, candidates, support=support)


def _model_candidates(
    world: World, scouting: Scouting, progress: ForecastProgress, *, size: int, support: float
) -> LevelCandidates | None:
    """The likeliest itemsets of a size by the model; None where there are none."""
    settings, expected = scouting.settings, progress.expected
    itemsets = choices.extended(expected, size=size, support=support, settings=settings)
    if not itemsets:
        return None
    supports = model_supports(world, itemsets)
    rarest = supports / world.shares[np.array(itemsets)].max(axis=1)
    slacks = choices.slacks_of_bounds(expected, size=size, settings=settings)
    slack = np.array([slacks[itemset[1:]] for itemset in itemsets])  # without the most frequent item
    prior = Prior.below(rarest, expected=supports, slack=slack, settings=settings)
    return choices.choose_candidates(scouting, itemsets, prior, support=support, remaining=progress.remaining)


def _estimated(world: World, expected: Expected, candidates: LevelCandidates) -> Expected:
    """LevelCandidates as their subsets tell of them; each is there if all its items are."""
    supports = model_supports(world, candidates.itemsets)
    present = expected.present[np.array(candidates.itemsets)].prod(axis=1)  # items come first, in their order
    deviations = candidates.prior.settings.usual_width * supports
    return Expected(candidates.itemsets, supports, deviations, present)


def _forecast_counts(
    world: World,
    scouting: Scouting,
    progress: ForecastProgress,
    candidates: LevelCandidates,
    *,
    support: float,
) -> ForecastProgress:
    """After capped counts of candidates, of which those are kept that may be in the answer."""
    settings, size = scouting.settings, len(candidates.itemsets[0])
    histogram = DiscreteLaplace(1, scouting.price(settings.share_for_overlap))
    remaining = progress.remaining - histogram.epsilon
    overlap = model_overlap(world, candidates.itemsets, settings)
    price = choices.price_of_candidates(
        scouting, overlap, candidates, progress.expected, support=support, remaining=remaining
    )
    found = _estimated(world, progress.expected, candidates)
    deviations = deviations_under_cap(found.supports, price.cap, price.epsilon, settings)
    found = found.updated(np.arange(found.supports.size), deviations)
    found = found.take(choices.still_possible(found, support=support, settings=settings))
    noise = DiscreteLaplace(min(price.cap.most, len(candidates.itemsets)), price.epsilon)
    return progress.then(
        progress.expected + found,
        Stage(f"containment, size {size}", histogram),
        Stage(f"supports, size {size}", noise),
        remaining=remaining - price.epsilon,
    )
