"""What to expect of `planned` where few items carry the answer: its own rules, on the supports of a model.

Approximated are who is misplaced in one draw for all items: each with the chance that the loss reaches its distance
from the bar, one half of the time; and the noise of patterns, by what the method predicts itself.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray
from veilset.forecast import Stage, World, laws
from veilset.gate.mechanisms import DiscreteLaplace, Exponential
from veilset.methods.planned import HALF_A_CHANCE
from veilset.methods.planned import item_selection as rules
from veilset.methods.planned import scouting as aiming
from veilset.methods.planned.forecast_model import Expected, Known, deviations_by_marginals, supports_of
from veilset.methods.planned.item_selection import Choice, SeveralGroups
from veilset.methods.planned.scouting import Aim
from veilset.methods.shared.bases import Basis, basis_set
from veilset.methods.shared.marginals import noise_of_marginal


def few_items(world: World, aim: Aim) -> Known:
    """The choice of items, then joint patterns: of all of them, or of several groups that hold their pairs."""
    several = rules.several_groups(aim, transactions=1)
    if several is not None:
        return _several_groups(world, aim, several)
    size = rules.group_size(aim, unit=1 / float(aim.left * (1 - rules.HALF)))
    of_patterns = noise_of_marginal(size, rules.USUAL_SIZE)
    choice = rules.choice_of(aim, size, noise_of_rest=of_patterns, transactions=1)
    draw, drawn, kept_from = _chosen_items(world, aim, size, choice)
    patterns = DiscreteLaplace(1, aim.left - choice.epsilon)
    expected = _within(world, [tuple(range(size))], drawn, float(patterns.scale))
    stages = (Stage("choice of items", draw), Stage("joint patterns", patterns))
    return Known(expected, kept_from, stages, Fraction(0))


def _several_groups(world: World, aim: Aim, several: SeveralGroups) -> Known:
    """One draw for items and one for their pairs, then joint patterns of groups."""
    draw, drawn, kept_from = _chosen_items(world, aim, several.size, several.items)
    draw_pairs = Exponential(1, 1, several.for_pairs, is_monotone=False)
    bar = world.curve.at_rank(aiming.wider_than(aim.k, aim.domain))
    items = np.flatnonzero(drawn[: several.size] > HALF_A_CHANCE)
    pairs = [pair for pair in combinations(items.tolist(), 2) if supports_of(world, [pair])[0] >= bar]
    bases = basis_set(items.tolist(), pairs, largest=aiming.LARGEST_BASIS)
    left = aim.left - several.items.epsilon - several.for_pairs
    patterns = DiscreteLaplace(1, left / len(bases))
    expected = _within(world, bases, drawn, float(patterns.scale))
    stages = (
        Stage("choice of items", draw),
        Stage("choice of pairs", draw_pairs),
        Stage("joint patterns", patterns, times=len(bases)),
    )
    return Known(expected, kept_from, stages, Fraction(0))


def _chosen_items(world: World, aim: Aim, size: int, choice: Choice) -> tuple[Exponential, FloatArray, int]:
    """The draw, the chance of every item to be chosen, and the support with which one surely is."""
    items = world.rows * world.shares
    if not choice.is_one:
        draw = Exponential(size, 1, choice.epsilon)
        drawn = laws.chances_to_be_drawn(items, np.zeros(items.size), draws=size, rate=float(draw.rate))
        return draw, drawn, laws.support_to_be_drawn(draw, candidates=items.size)
    draw = Exponential(1, 1, choice.epsilon, is_monotone=False)
    bar = max(world.curve.at_rank(aiming.wider_than(aim.k, aim.domain)), float(items[size - 1]))
    rate = float(draw.rate) * (1 - rules.crowding(rules.density_of_items(aim), 1) / float(choice.epsilon))
    drawn = laws.laplace_distribution((items - bar) * rate)
    return draw, drawn, laws.support_to_be_in_a_set(draw, most=size, candidates=items.size)


def _within(world: World, bases: Sequence[Basis], drawn: FloatArray, scale: float) -> Expected:
    """All itemsets within groups of items, known where all their items are chosen."""
    deviations = deviations_by_marginals(world, bases, scale)
    itemsets = list(deviations)
    present = np.array([drawn[list(itemset)].prod() for itemset in itemsets])
    return Expected(itemsets, supports_of(world, itemsets), np.array(list(deviations.values())), present)
