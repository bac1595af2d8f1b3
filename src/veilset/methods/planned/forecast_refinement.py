"""What to expect of the refinement of `planned`: its own decisions, on the supports of a model.

Noise decides what is measured, so each itemset has a chance to be, and its deviation is the average over both cases.
"""

from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.forecast import Stage, World, laws
from veilset.gate import DiscreteLaplace
from veilset.itemsets import Itemsets
from veilset.methods.planned.forecast_model import (
    Expected,
    ForecastProgress,
    deviations_under_cap,
    known_by_marginals,
    model_overlap,
)
from veilset.methods.planned.knowledge import itemset_sizes
from veilset.methods.planned.membership import Membership, items_and_larger
from veilset.methods.planned.refinement_choice import (
    ByCappedCounts,
    ByMarginals,
    choose_refinement,
    places_to_count,
)
from veilset.methods.planned.refinement_errors import (
    CappedGroup,
    price_of_overlaps,
    prices_of_groups,
)
from veilset.methods.planned.scouting import Scouting
from veilset.methods.shared.bases import Basis


def forecast_refinement(world: World, scouting: Scouting, progress: ForecastProgress) -> ForecastProgress:
    """With all that remains: what may or may not be in the answer, by the questions that err less."""
    if progress.marginals is not None:
        membership = Membership.before_larger(progress.expected, scouting)
        return _forecast_marginals(world, scouting, progress, membership, progress.marginals)
    membership = Membership.of(progress.expected, scouting)
    known = progress.expected
    places = places_to_count(scouting, known, membership, progress.lengths, progress.remaining)
    groups = _groups(world, scouting, known, places)
    remaining = progress.remaining - price_of_overlaps(scouting, groups)
    stage = _histograms("refinement", scouting, groups)
    choice = choose_refinement(scouting, known, membership, groups, remaining=remaining)
    after = progress.then(progress.expected, stage, remaining=remaining)
    if isinstance(choice, ByMarginals):
        return _forecast_marginals(world, scouting, after, membership, choice)
    return _forecast_capped_counts(world, scouting, after, membership, choice, groups)


def _forecast_marginals(
    world: World,
    scouting: Scouting,
    progress: ForecastProgress,
    membership: Membership,
    choice: ByMarginals,
) -> ForecastProgress:
    """Capped counts of what marginals do not cover, if anything; then the marginals."""
    if choice.uncovered.size > 0:
        part = choice.part_for_uncovered
        groups = _groups(world, scouting, progress.expected, choice.uncovered)
        remaining = progress.remaining - price_of_overlaps(scouting, groups)
        after = progress.then(
            progress.expected, _histograms("not covered", scouting, groups), remaining=remaining * (1 - part)
        )
        counted = _after_groups(scouting, after, membership, groups, epsilon=remaining * part)
        progress = _where_measured(scouting, progress, counted, membership)
    noise = DiscreteLaplace(1, progress.remaining / len(choice.bases))
    expected = _after_marginals(world, scouting, progress.expected, choice.bases, noise)
    stage = Stage("marginals", noise, times=len(choice.bases))
    return progress.then(expected, stage, remaining=Fraction(0))


def _forecast_capped_counts(
    world: World,
    scouting: Scouting,
    progress: ForecastProgress,
    membership: Membership,
    choice: ByCappedCounts,
    groups: Sequence[CappedGroup],
) -> ForecastProgress:
    """Capped counts of what is uncertain; then of what is certain, if anything remains for that."""
    counted = _after_groups(scouting, progress, membership, groups, epsilon=choice.for_uncertain)
    after = _where_measured(scouting, progress, counted, membership)
    if choice.bases_of_certain:
        noise = DiscreteLaplace(1, choice.for_certain / len(choice.bases_of_certain))
        expected = _after_marginals(world, scouting, after.expected, choice.bases_of_certain, noise)
        stage = Stage("marginals, certain", noise, times=len(choice.bases_of_certain))
        after = after.then(expected, stage, remaining=Fraction(0))
    elif choice.for_certain > 0:
        certain = _groups(world, scouting, after.expected, choice.certain)
        epsilon = choice.for_certain - price_of_overlaps(scouting, certain)
        after = after.then(after.expected, _histograms("certain", scouting, certain), remaining=epsilon)
        after = _after_groups(scouting, after, membership, certain, epsilon=epsilon)
    return after.then(after.expected, remaining=Fraction(0))


def _where_measured(
    scouting: Scouting, before: ForecastProgress, after: ForecastProgress, membership: Membership
) -> ForecastProgress:
    """After capped counts that each itemset gets with the chance that noise makes it uncertain."""
    chances = _chances_to_be_measured(scouting, before.expected, membership)
    return after.then(before.expected.perhaps(after.expected, chances), remaining=after.remaining)


def _chances_to_be_measured(scouting: Scouting, expected: Expected, membership: Membership) -> FloatArray:
    """How likely noise makes it uncertain whether each itemset is in the answer.

    Where all would be certain without noise, `membership.uncertain` are measured all the same.
    """
    settings = scouting.settings
    z = (expected.supports - membership.support) / expected.deviations
    low, high = (NormalDist().inv_cdf(chance) for chance in (settings.certain_below, settings.certain_above))
    chances = laws.normal_distribution(high - z) - laws.normal_distribution(low - z)
    if not low < z[membership.uncertain[0]] < high:
        chances[membership.uncertain] = 1.0
    return chances


def _groups(world: World, scouting: Scouting, expected: Expected, places: Int64Array) -> list[CappedGroup]:
    """Items, and larger itemsets, with the overlap that the model gives each group."""
    groups = []
    for some in items_and_larger(expected, places):
        itemsets = [expected.itemsets[place] for place in some.tolist()]
        overlap = model_overlap(world, itemsets, scouting.settings)
        groups.append(CappedGroup(some, Itemsets.of(itemsets), overlap))
    return groups


def _histograms(of: str, scouting: Scouting, groups: Sequence[CappedGroup]) -> Stage:
    """The containment histograms of groups."""
    noise = DiscreteLaplace(1, scouting.price(scouting.settings.share_for_overlap))
    return Stage(f"containment, {of}", noise, times=len(groups))


def _after_groups(
    scouting: Scouting,
    progress: ForecastProgress,
    membership: Membership,
    groups: Sequence[CappedGroup],
    *,
    epsilon: Fraction,
) -> ForecastProgress:
    """After capped counts of groups of items, or of larger itemsets; as if all that are alike were counted."""
    supports, is_item = progress.expected.supports, itemset_sizes(progress.expected.itemsets) == 1
    prices = prices_of_groups(scouting, membership, groups, epsilon)
    for group, price in zip(groups, prices, strict=True):
        of_items = bool(is_item[group.places[0]])
        alike = np.flatnonzero(is_item == of_items)
        deviations = deviations_under_cap(supports[alike], price.cap, price.epsilon, scouting.settings)
        noise = DiscreteLaplace(min(price.cap.most, group.places.size), price.epsilon)
        stage = Stage(f"supports, refined {'items' if of_items else 'itemsets'}", noise)
        expected = progress.expected.updated(alike, deviations)
        progress = progress.then(expected, stage, remaining=progress.remaining)
    return progress


def _after_marginals(
    world: World, scouting: Scouting, expected: Expected, bases: Sequence[Basis], noise: DiscreteLaplace
) -> Expected:
    """After marginals of all bases, also about itemsets that were no candidates.

    A small support is likelier before anything is known of those, so noise seldom lifts one of them above the others:
    as if its subsets told of it as usual.
    """
    measured = known_by_marginals(world, scouting, bases, expected.present, scale=float(noise.scale))
    place_of = {itemset: place for place, itemset in enumerate(measured.itemsets)}
    old = [place for place, itemset in enumerate(expected.itemsets) if itemset in place_of]
    again = [place_of[expected.itemsets[place]] for place in old]
    updated = expected.updated(np.array(old, np.int64), measured.deviations[again])
    new = measured.take(np.setdiff1d(np.arange(len(measured.itemsets)), again))
    usual = scouting.settings.usual_width * np.maximum(new.supports, 1.0)
    return updated + new.updated(np.arange(usual.size), usual)
