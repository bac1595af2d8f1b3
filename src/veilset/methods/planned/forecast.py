"""What to expect of `planned`: its own steps and rules, on the supports of the model in place of noisy answers.

Answers are followed without their noise; noise decides what is believed afterwards, and so which itemsets are found.
Approximated are:

* beliefs, by normal laws around the true support. Answers about an itemset of several items, and what its parts let
  expect of it (as closely as the method takes to be usual), count by inverse variance;
* how many candidates a transaction holds, from how many of their items it holds: all combinations of these, thinned
  out evenly to as many as the candidates' supports add up to. Lengths above 64 are taken for 64;
* what noise brings in among the items: taken to be no better than what it keeps out;
* what is measured again: noise decides, so each itemset has a chance to be, and its deviation is the average;
* where few items carry the answer, what `plan.few_items` says.

Items are numbered from the most popular one.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.forecast import Forecast, Stage, World, laws
from veilset.forecast.curve import TOLERANCE
from veilset.forecast.model import expected_rank, model_lengths
from veilset.gate import NoisyCount
from veilset.gate.mechanisms import DiscreteLaplace, Exponential
from veilset.itemsets import Itemset, Itemsets, joined
from veilset.methods.planned import MAX_SIZE, NAME
from veilset.methods.planned import levelwise as by_size
from veilset.methods.planned import refinement as again
from veilset.methods.planned import scouting as aiming
from veilset.methods.planned.forecast_dense import few_items
from veilset.methods.planned.forecast_model import Expected, Known, deviations_by_marginals, supports_of
from veilset.methods.planned.overlap import MOST, UNEVEN, Cap, Overlap
from veilset.methods.planned.posterior import USUAL_WIDTH, Prior
from veilset.methods.planned.refinement import Group
from veilset.methods.planned.scouting import Aim
from veilset.methods.shared.bases import Basis
from veilset.methods.shared.forecast import forecast_number
from veilset.methods.shared.marginals import WIDEST_IN_SIGMA
from veilset.methods.shared.preliminaries import Preliminaries

Stages = tuple[Stage, ...]


def largest_size(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return min(max_size or MAX_SIZE, MAX_SIZE)


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    first, aim = _aim(world, k, epsilon)
    known = few_items(world, aim) if aim.is_dense else _by_size(world, aim)
    expected, kth_support = known.expected, world.curve.at_rank(k)
    chances = expected.present * laws.chances_to_be_among_first(
        expected.supports, expected.deviations, k=k, present=expected.present
    )
    best = np.argsort(-expected.supports, kind="stable")[:k]
    half_width = _half_width(expected.take(best))
    return Forecast(
        method=NAME,
        max_size=world.domain.max_size,
        stages=first + known.stages,
        half_width=half_width,
        chosen_from=known.chosen_from(k),
        above_zero_from=laws.support_above_zero(half_width),
        kth_support=round(kth_support),
        found=float(chances[best][expected.supports[best] >= (1 - TOLERANCE) * kth_support].sum()) / k,
    )


def _aim(world: World, k: int, epsilon: Fraction) -> tuple[Stages, Aim]:
    """The small questions, and what follows from their answers."""
    number, left = forecast_number(epsilon)
    kth = DiscreteLaplace(1, epsilon * aiming.SHARE_FOR_KTH)
    about = min(max(round(world.curve.at_rank(k)), 1), world.rows)
    stages: Stages = (number, Stage("support of the k-th itemset", kth))
    left -= kth.epsilon
    rank, fewest = None, aiming.fewest_items(k, max_size=world.domain.max_size)
    may_be_few = fewest <= aiming.LARGEST_GROUP
    if may_be_few and aiming.marginals_err_less(k, about / world.rows, items=fewest):
        choice = Exponential(1, 1, epsilon * aiming.SHARE_FOR_RANK, is_monotone=False)
        wider = aiming.wider_than(k, world.domain)
        rank = min(max(expected_rank(world, wider, rate=float(choice.rate)), fewest), world.shares.size)
        stages, left = (*stages, Stage("how many items", choice)), left - choice.epsilon
    aim = Aim(
        Preliminaries(NoisyCount(world.rows, None), k, 0, left, ()),
        world.domain,
        k,
        number=world.rows,
        about=about,
        floor=max(1, math.floor(about - aiming.FLOOR_IN_SCALES * float(kth.scale))),
        is_given=False,
        rank=rank,
        epsilon=epsilon,
        left=left,
    )
    return stages, aim


def _half_width(best: Expected) -> int:
    """The median one."""
    return math.ceil(WIDEST_IN_SIGMA * float(np.median(best.deviations)))


def _by_size(world: World, aim: Aim) -> Known:
    """Items, pairs, and so on; then again what is still unsure."""
    known, may_grow = _items(world, aim), True
    for size in range(2, world.domain.max_size + 1):
        if may_grow:
            known, may_grow = _larger(world, aim, known, size)
    return _again(world, aim, known)


def _items(world: World, aim: Aim) -> Known:
    """Supports of all items, of which those are kept that may matter."""
    lengths = DiscreteLaplace(1, 2 * aim.epsilon * by_size.SHARE_FOR_OVERLAP)
    left = aim.left - lengths.epsilon
    supports = world.rows * world.shares
    every_item: list[Itemset] = [(item,) for item in range(supports.size)]
    overlap, share = _spread(world, every_item), left * by_size.SHARE_FOR_ITEMS
    epsilon = by_size.enough(overlap, share, aim.about, unit=1 / float(share))
    cap = overlap.best_cap(support=aim.about, unit=1 / float(epsilon))
    noise, scale = DiscreteLaplace(min(cap.most, supports.size), epsilon), cap.most / float(epsilon)
    kth = supports[min(aim.k, supports.size) - 1]
    least = max(kth, aim.floor) * cap.kept - by_size.WITHIN_NOISE * scale
    most = min(by_size.ITEMS_FOR_EACH * aim.k, max(by_size.MOST_ITEMS, aim.k))
    deviations = _deviations(supports, cap, epsilon)
    passing = laws.laplace_distribution((supports * cap.kept - least) / scale)
    among_first = laws.chances_to_be_among_first(supports, deviations, k=most)
    expected = Expected(every_item, supports, deviations, np.minimum(passing, among_first))
    number = max(2, round(float(expected.present.sum())))
    kept_from = laws.support_to_be_first(scale / cap.kept, k=most, candidates=supports.size)
    stages = (Stage("lengths", lengths), Stage("supports, size 1", noise))
    return Known(expected.take(np.arange(min(number, supports.size))), kept_from, stages, left - epsilon)


def _larger(world: World, aim: Aim, known: Known, size: int) -> tuple[Known, bool]:
    """Supports of the itemsets of one more item that may be in the answer; and whether to go on."""
    expected, support = known.expected, known.expected.kth_support(aim)
    candidates, chances = _candidates(world, aim, known, size)
    if not candidates:
        return known, False
    supports = supports_of(world, candidates)
    present = expected.present[np.array(candidates)].prod(axis=1)  # items come first, in their order
    found = Expected(candidates, supports, USUAL_WIDTH * supports, present)
    best = DiscreteLaplace(1, aim.epsilon * by_size.SHARE_FOR_LARGEST)
    held = DiscreteLaplace(1, aim.epsilon * by_size.SHARE_FOR_OVERLAP)
    left = known.left - best.epsilon
    if left < by_size.TOO_LITTLE * held.epsilon:
        return Known(expected + found, known.kept_from, known.stages, known.left), True
    stages = (*known.stages, Stage(f"largest support, size {size}", best))
    if world.rows * world.shares[:size].prod() < support - by_size.SURELY * float(best.scale):
        return Known(expected, known.kept_from, stages, left), False
    left -= held.epsilon
    overlap, share = _spread(world, candidates), by_size.share_for(chances, expected.at_least(support), aim.k)
    of_answer, unit = float(chances.sum()) / aim.k, 1 / float(left * share)
    epsilon = by_size.part_of(overlap, left, share, support, of_answer=of_answer, unit=unit)
    cap = overlap.best_cap(support=by_size.VALUES_MATTER * support, unit=1 / float(epsilon))
    found = found.told(np.arange(supports.size), _deviations(supports, cap, epsilon))
    found = found.take(np.flatnonzero(found.at_least(support / 2) > by_size.OUT_OF_QUESTION))
    noise = DiscreteLaplace(min(cap.most, len(candidates)), epsilon)
    stages = (*stages, Stage(f"held, size {size}", held), Stage(f"supports, size {size}", noise))
    return Known(expected + found, known.kept_from, stages, left - epsilon), True


def _candidates(world: World, aim: Aim, known: Known, size: int) -> tuple[list[Itemset], FloatArray]:
    """The itemsets likeliest to be in the answer, with their chances before any of them was measured."""
    expected, support, sizes = known.expected, known.expected.kth_support(aim), known.expected.sizes
    may_be = sizes == size - 1
    if size > 2:
        may_be &= expected.at_least(support) > by_size.WORTH_EXTENDING
    parts = [expected.itemsets[place] for place in np.flatnonzero(may_be).tolist()]
    larger = joined(parts[: by_size.MOST_ITEMS] if size == 2 else parts)
    if not larger:
        return [], np.empty(0)
    supports = supports_of(world, larger)
    rarest_part = supports / world.shares[np.array(larger)].max(axis=1)
    slack = 2 * float(np.median(expected.deviations[sizes == 1])) if size == 2 else 0.0
    chances = Prior(supports, 1.1 * rarest_part + slack).chances(size, support)
    order = np.argsort(-chances, kind="stable")
    order = order[chances[order] > by_size.LEAST_LIKELY]
    unit = 1 / float(known.left * by_size.MOST_SHARE) / support
    best = np.sort(order[: by_size.how_many(np.cumsum(supports[order]) / world.rows, aim.k, unit=unit)])
    return [larger[place] for place in best.tolist()], chances[best]


def _again(world: World, aim: Aim, known: Known) -> Known:
    """With all that is left: what may or may not be in the answer, by the strategy that errs less."""
    expected, support = known.expected, known.expected.kth_support(aim)
    chances = expected.at_least(support)
    unsure = again.unsure_ones(chances, aim.k)
    groups = _groups(world, expected, unsure)
    held = DiscreteLaplace(1, aim.epsilon * by_size.SHARE_FOR_OVERLAP)
    left = known.left - len(groups) * held.epsilon
    stages = (*known.stages, Stage("held, again", held, times=len(groups)))
    capped_error = again.capped_error(groups, chances, support, left, unit=1.0)
    bases, errors = again.bases_for(expected.itemsets, chances, unit=1 / float(left))
    is_told = np.isfinite(errors[unsure])
    if 2 * is_told.sum() >= unsure.size and float(errors[unsure][is_told].mean()) < capped_error:
        untold, by_patterns = unsure[~is_told], float(errors[unsure][is_told].sum())
        if untold.size > 0:
            part = again.part_for_untold(by_patterns, expected.supports[untold], aim, unit=1 / float(left))
            groups = _groups(world, expected, untold)
            left -= len(groups) * held.epsilon
            told, again_untold = _told_by_groups(expected, groups, chances, support, left * part)
            expected = expected.told_maybe(told, _chances_to_be_measured(expected, support, unsure))
            stages = (*stages, Stage("held, untold ones", held, times=len(groups)), *again_untold)
            left *= 1 - part
        patterns = DiscreteLaplace(1, left / len(bases))
        expected = _updated_by_marginals(world, expected, bases, patterns)
        stages = (*stages, Stage("joint patterns", patterns, times=len(bases)))
        return Known(expected, known.kept_from, stages, Fraction(0))
    sure = np.setdiff1d(np.flatnonzero(chances > again.LIKELY), unsure)
    for_unsure = again.part_for_unsure(left, capped_error / support, sure.size, least=held.epsilon)
    told, again_unsure = _told_by_groups(expected, groups, chances, support, for_unsure)
    told = expected.told_maybe(told, _chances_to_be_measured(expected, support, unsure))
    stages = (*stages, *again_unsure)
    if for_unsure < left:
        groups = _groups(world, expected, sure)
        for_sure = left - for_unsure - len(groups) * held.epsilon
        told, again_sure = _told_by_groups(told, groups, chances, support, for_sure)
        stages = (*stages, Stage("held, sure ones", held, times=len(groups)), *again_sure)
    return Known(told, known.kept_from, stages, Fraction(0))


def _told_by_groups(
    expected: Expected, groups: list[Group], chances: FloatArray, support: float, epsilon: Fraction
) -> tuple[Expected, Stages]:
    """After supports of groups of items, or of larger itemsets, were asked for; all that are alike are told."""
    told, is_item = expected, expected.sizes == 1
    stages: Stages = ()
    for group, share in zip(
        groups, again.shares_of(groups, chances, support, epsilon, unit=1 / float(epsilon)), strict=True
    ):
        of_items = bool(is_item[group.places[0]])
        alike = np.flatnonzero(is_item == of_items)
        cap = group.overlap.best_cap(support=support, unit=1 / float(share))
        told = told.told(alike, _deviations(expected.supports[alike], cap, share))
        noise = DiscreteLaplace(min(cap.most, group.places.size), share)
        stages = (*stages, Stage(f"supports again, {'items' if of_items else 'larger'}", noise))
    return told, stages


def _chances_to_be_measured(expected: Expected, support: float, unsure: Int64Array) -> FloatArray:
    """How likely each is measured again: noise makes what is believed of it unsure, or sure.

    Where all would be sure without noise, `unsure` are measured all the same.
    """
    z = (expected.supports - support) / expected.deviations
    low, high = (NormalDist().inv_cdf(chance) for chance in (again.SURE_BELOW, again.SURE_ABOVE))
    chances = laws.normal_distribution(high - z) - laws.normal_distribution(low - z)
    if not low < z[unsure[0]] < high:
        chances[unsure] = 1.0
    return chances


def _groups(world: World, expected: Expected, places: Int64Array) -> list[Group]:
    """What is measured again: items, and larger itemsets."""
    is_item = expected.sizes[places] == 1
    groups = []
    for some in (places[is_item], places[~is_item]):
        if some.size > 0:
            itemsets = [expected.itemsets[place] for place in some.tolist()]
            groups.append(Group(some, Itemsets.of(itemsets), _spread(world, itemsets)))
    return groups


def _updated_by_marginals(
    world: World, expected: Expected, bases: list[Basis], patterns: DiscreteLaplace
) -> Expected:
    """After joint patterns of all bases, also about itemsets that were not known."""
    deviations = deviations_by_marginals(world, bases, float(patterns.scale))
    old = [place for place, itemset in enumerate(expected.itemsets) if itemset in deviations]
    told = expected.told(
        np.array(old, np.int64), np.array([deviations.pop(expected.itemsets[place]) for place in old])
    )
    new = list(deviations)
    present = np.array([expected.present[list(itemset)].prod() for itemset in new])
    return told + Expected(new, supports_of(world, new), np.array(list(deviations.values())), present)


def _spread(world: World, itemsets: Sequence[Itemset]) -> Overlap:
    """How many of some itemsets transactions hold, from how many of their items they hold."""
    lengths = model_lengths(world, 1 + max(map(max, itemsets)), epsilon=Fraction(1)).values
    supports, sizes = supports_of(world, itemsets), np.array([len(itemset) for itemset in itemsets])
    numbers = np.zeros(lengths.size)
    for size in np.unique(sizes).tolist():
        every_one = np.array([math.comb(length, size) for length in range(lengths.size)])
        total = float(supports[sizes == size].sum())
        numbers += every_one * min(1.0, total / max(float(every_one @ lengths), 1.0))
    numbers = np.minimum(numbers, min(len(itemsets), MOST))
    below, part = np.floor(numbers).astype(np.int64), numbers % 1
    transactions = np.bincount(below, lengths * (1 - part), minlength=MOST + 2).astype(np.float64)
    transactions += np.bincount(below + 1, lengths * part, minlength=MOST + 2)
    return Overlap(transactions[1 : MOST + 1])


def _deviations(supports: FloatArray, cap: Cap, epsilon: Fraction) -> FloatArray:
    """Of supports counted under a cap: noise, scaled up, and the uneven loss."""
    noise = math.sqrt(2) * cap.most / float(epsilon) / cap.kept
    deviations: FloatArray = np.hypot(noise, UNEVEN * (1 - cap.kept) * supports)
    return deviations
