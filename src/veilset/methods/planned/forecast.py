"""What to expect of `planned`: its own steps and decisions, on the supports of a model in place of noisy answers.

Answers are followed without their noise; noise decides what is known afterwards, and so which itemsets are found.
Approximated are:

* posteriors, by normal laws around the true support. Answers about an itemset of several items, and what its subsets
  let expect of it (as closely as the method takes to be usual), count by inverse variance;
* how many candidates a transaction contains, from how many of their items it contains: all combinations of these,
  thinned out evenly to as many as the candidates' supports add up to. Lengths above 64 are taken for 64;
* more, as `forecast_levelwise`, `forecast_refinement` and `forecast_dense` say.

Items are numbered from the most popular one.
"""

from fractions import Fraction

import numpy as np

from veilset.forecast import Forecast, Stage, World, laws
from veilset.forecast.curve import TOLERANCE
from veilset.forecast.model import expected_rank
from veilset.forecast.released import Told
from veilset.gate import DiscreteLaplace, Exponential, NoisyCount
from veilset.methods.planned import NAME
from veilset.methods.planned.forecast_dense import forecast_dense
from veilset.methods.planned.forecast_levelwise import forecast_levels
from veilset.methods.planned.forecast_model import ForecastProgress, Stages
from veilset.methods.planned.forecast_refinement import forecast_refinement
from veilset.methods.planned.scouting import (
    DenseScouting,
    SparseScouting,
    ThresholdEstimate,
    is_rank_worth_asking,
    with_rank,
)
from veilset.methods.planned.settings import DEFAULT, Settings
from veilset.methods.shared.forecast import forecast_number, most_transactions
from veilset.methods.shared.preliminaries import Preliminaries


def largest_size(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return DEFAULT.largest_size(max_size)


def forecast(world: World, k: int, epsilon: Fraction, *, settings: Settings = DEFAULT) -> Forecast:
    """Follow the method's steps in a model of the data."""
    stages, scouting = _scouted(world, k, epsilon, settings)
    if isinstance(scouting, DenseScouting):
        progress = forecast_dense(world, scouting)
    else:
        progress = forecast_refinement(world, scouting, forecast_levels(world, scouting))
    return _summed_up(world, k, stages, progress)


def _scouted(
    world: World, k: int, epsilon: Fraction, settings: Settings
) -> tuple[Stages, DenseScouting | SparseScouting]:
    """The small questions, and what follows from their answers."""
    number, left = forecast_number(epsilon)
    noise, kth = DiscreteLaplace(1, epsilon - left), DiscreteLaplace(1, epsilon * settings.share_for_kth)
    answer = NoisyCount(round(world.curve.at_rank(k)), kth)
    estimate = ThresholdEstimate.of(answer, number=world.rows, settings=settings)
    stages = (number, Stage("support of the k-th itemset", kth))
    scouting = SparseScouting(
        preliminaries=Preliminaries(NoisyCount(world.rows, noise), k, 0, left, ()),
        domain=world.domain,
        settings=settings,
        unit_transactions=1,
        threshold=estimate.support,
        floor=estimate.floor,
        is_given=False,
        epsilon=epsilon,
        remaining=left - kth.epsilon,
    )
    if not is_rank_worth_asking(scouting):
        return stages, scouting
    draw = Exponential(1, 1, scouting.price(settings.share_for_rank), is_monotone=False)
    rank = expected_rank(world, scouting.compared_rank, rate=float(draw.rate))
    return (*stages, Stage("how many items", draw)), with_rank(scouting, rank)


def _summed_up(world: World, k: int, first: Stages, progress: ForecastProgress) -> Forecast:
    """What is found, and how well, by what will be known."""
    expected = progress.expected
    chances = expected.present * laws.chances_to_be_among_first(
        expected.supports, expected.deviations, k=k, present=expected.present
    )
    best = np.argsort(-expected.supports, kind="stable")[:k]
    best = best[expected.supports[best] >= (1 - TOLERANCE) * world.kth_support(k)]
    told = Told.plainly(expected.supports[best], expected.deviations[best], np.ones(best.size, np.bool_))
    return Forecast.of(
        world,
        k,
        method=NAME,
        stages=first + progress.stages,
        accuracy=told.accuracy(chances[best], largest=most_transactions(world, first[0])),
        chosen_from=progress.chosen_from(k),
        found=float(chances[best].sum()) / k,
    )
