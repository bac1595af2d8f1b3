"""What to expect of `planned` where few items carry the answer: its own decisions, on the supports of a model.

Approximated are who is misplaced in one draw for all items: each with the chance that the loss reaches its distance
from the bar, one half of the time; how many items it selects, by their expected number; and the noise of marginals, by
what the method predicts itself.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray
from veilset.forecast import Stage, World, laws
from veilset.gate import DiscreteLaplace, Exponential
from veilset.methods.planned.dense import dense_bases
from veilset.methods.planned.forecast_model import ForecastProgress, known_by_marginals, model_supports
from veilset.methods.planned.item_selection import (
    ItemDraws,
    OneMarginal,
    SeveralMarginals,
    choose_selection,
    crowding,
    density_of_items,
)
from veilset.methods.planned.scouting import DenseScouting

_LIKELIER_THAN_NOT = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class DrawnItems:
    """The draw, the chance of every item to be selected, and the support with which one surely is."""

    draw: Exponential
    chances: FloatArray
    kept_from: int


def forecast_dense(world: World, scouting: DenseScouting) -> ForecastProgress:
    """The selection of items, then marginals: one of all of them, or several that hold their pairs."""
    selection = choose_selection(scouting)
    items = _drawn_items(world, scouting, selection.items)
    if isinstance(selection, OneMarginal):
        return _forecast_one_marginal(world, scouting, items, selection)
    return _forecast_several_marginals(world, scouting, items, selection)


def _forecast_one_marginal(
    world: World, scouting: DenseScouting, items: DrawnItems, selection: OneMarginal
) -> ForecastProgress:
    """The marginal of as many items as will be selected: one draw for all leaves out those that are too rare."""
    noise, number = DiscreteLaplace(1, selection.for_marginal), selection.items.most
    if selection.items.is_one_draw:
        expected_number = round(float(items.chances.sum()))
        number = min(max(expected_number, min(scouting.fewest_items, number)), number)
    basis = tuple(range(number))
    expected = known_by_marginals(world, scouting, [basis], items.chances, scale=float(noise.scale))
    stages = (
        Stage("choice of items", items.draw),
        *_better_number(selection.for_number),
        Stage("marginal", noise),
    )
    return ForecastProgress(expected, items.kept_from, stages, Fraction(0))


def _forecast_several_marginals(
    world: World, scouting: DenseScouting, items: DrawnItems, selection: SeveralMarginals
) -> ForecastProgress:
    """One draw for pairs of the items that are likely selected, then marginals that hold those pairs."""
    draw_of_pairs = Exponential(1, 1, selection.for_pairs, is_monotone=False)
    bar = world.curve.at_rank(scouting.compared_rank)
    selected = np.flatnonzero(items.chances[: selection.items.most] > _LIKELIER_THAN_NOT).tolist()
    pairs = [pair for pair in combinations(selected, 2) if model_supports(world, [pair])[0] >= bar]
    bases = dense_bases(scouting, selected, pairs)
    noise = DiscreteLaplace(1, selection.for_marginals / len(bases))
    expected = known_by_marginals(world, scouting, bases, items.chances, scale=float(noise.scale))
    stages = (
        Stage("choice of items", items.draw),
        Stage("choice of pairs", draw_of_pairs),
        *_better_number(selection.for_number),
        Stage("marginals", noise, times=len(bases)),
    )
    return ForecastProgress(expected, items.kept_from, stages, Fraction(0))


def _better_number(epsilon: Fraction) -> tuple[Stage, ...]:
    """The number of transactions once more, where it is asked for."""
    return (Stage("number of transactions", DiscreteLaplace(1, epsilon)),) if epsilon > 0 else ()


def _drawn_items(world: World, scouting: DenseScouting, draws: ItemDraws) -> DrawnItems:
    """What a draw for each item, or one draw for all, will select."""
    items = world.rows * world.shares
    if not draws.is_one_draw:
        draw = Exponential(draws.most, 1, draws.epsilon)
        rate = float(draw.rate)
        chances = laws.chances_to_be_drawn(items, np.zeros(items.size), draws=draws.most, rate=rate)
        return DrawnItems(draw, chances, laws.support_to_be_drawn(draw, candidates=items.size))
    draw = Exponential(1, 1, draws.epsilon, is_monotone=False)
    bar = max(world.curve.at_rank(scouting.compared_rank), float(items[draws.most - 1]))
    crowded = crowding(density_of_items(scouting), scouting.unit_transactions) / float(draws.epsilon)
    chances = laws.laplace_distribution((items - bar) * (float(draw.rate) * (1 - crowded)))
    kept_from = laws.support_to_be_in_a_set(draw, most=draws.most, candidates=items.size)
    return DrawnItems(draw, chances, kept_from)
