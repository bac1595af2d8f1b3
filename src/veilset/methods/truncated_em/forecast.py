"""What to expect of `truncated-em`: k draws from all itemsets, then noise on the k supports."""

from fractions import Fraction

import numpy as np

from veilset.forecast import Forecast, Stage, World, laws
from veilset.forecast.curve import TOLERANCE
from veilset.forecast.released import Told
from veilset.gate import MOST_SCORED, DiscreteLaplace, Exponential
from veilset.methods.shared.forecast import forecast_number, most_transactions
from veilset.methods.truncated_em import LARGEST_DRAWN, NAME, SHARE_FOR_CHOICE


def largest_size(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return max_size or LARGEST_DRAWN


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    number, remaining = forecast_number(epsilon)
    choice = Exponential(draws=k, sensitivity=1, epsilon=remaining * SHARE_FOR_CHOICE)
    supports = DiscreteLaplace(sensitivity=k, epsilon=remaining * (1 - SHARE_FOR_CHOICE))
    curve = world.curve
    # Of the floor, only the part that bounds the work matters; the rest is made so that it hardly ever does.
    scores = np.maximum(curve.supports, curve.at_rank(MOST_SCORED))
    chances = laws.chances_to_be_drawn(scores, curve.ln_numbers, draws=k, rate=float(choice.rate))
    wanted = curve.among_first(k) * (curve.supports >= (1 - TOLERANCE) * world.kth_support(k))
    is_wanted = wanted > 0
    told = Told.counted(curve.supports[is_wanted], float(supports.scale))
    return Forecast.of(
        world,
        k,
        method=NAME,
        stages=(number, Stage("choice of itemsets", choice), Stage("supports", supports)),
        accuracy=told.accuracy((wanted * chances)[is_wanted], largest=most_transactions(world, number)),
        chosen_from=laws.support_to_be_drawn(choice, candidates=world.domain.size),
        found=float((wanted * chances).sum()) / k,
    )
