"""The first questions of most methods, as their forecasts have them."""

from fractions import Fraction

from veilset.forecast import Stage, World
from veilset.gate import DiscreteLaplace
from veilset.methods.shared.preliminaries import SHARE_FOR_NUMBER


def forecast_number(epsilon: Fraction) -> tuple[Stage, Fraction]:
    """The number of transactions, which every method asks first, and what remains of epsilon."""
    for_number = epsilon * SHARE_FOR_NUMBER
    return Stage("number of transactions", DiscreteLaplace(1, for_number)), epsilon - for_number


def most_transactions(world: World, number: Stage) -> int:
    """How many transactions there may be, by the noisy number of them: no released support is above."""
    mechanism = number.mechanism
    return world.rows + (mechanism.half_width() if isinstance(mechanism, DiscreteLaplace) else 0)
