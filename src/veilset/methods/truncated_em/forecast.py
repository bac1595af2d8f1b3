"""What to expect of `truncated-em`: k draws from all itemsets, then noise on the k supports."""

from fractions import Fraction

import numpy as np

from veilset.forecast import Forecast, Stage, World, laws, opening
from veilset.gate.mechanisms import DiscreteLaplace, Exponential
from veilset.gate.selection.floored_supports import MOST_SCORED
from veilset.methods.truncated_em import MAX_SIZE, NAME, SHARE_FOR_CHOICE


def largest(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return max_size or MAX_SIZE


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    number, left = opening(epsilon)
    choice = Exponential(draws=k, sensitivity=1, epsilon=left * SHARE_FOR_CHOICE)
    supports = DiscreteLaplace(sensitivity=k, epsilon=left * (1 - SHARE_FOR_CHOICE))
    curve = world.curve
    # Of the floor, only the part that bounds the work matters; the rest is made so that it hardly ever does.
    scores = np.maximum(curve.supports, curve.at_rank(MOST_SCORED))
    chances = laws.chances_to_be_drawn(scores, curve.ln_numbers, draws=k, rate=float(choice.rate))
    half_width = supports.half_width(laws.CONFIDENCE)
    return Forecast(
        method=NAME,
        max_size=world.domain.max_size,
        stages=(number, Stage("choice of itemsets", choice), Stage("supports", supports)),
        half_width=half_width,
        chosen_from=laws.support_to_be_drawn(choice, candidates=world.domain.size),
        above_zero_from=laws.support_above_zero(half_width),
        kth_support=round(curve.at_rank(k)),
        found=float((curve.among_first(k) * chances).sum()) / k,
    )
