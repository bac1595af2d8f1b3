"""The first questions of most methods, as their forecasts have them."""

from fractions import Fraction

from veilset.forecast import Stage
from veilset.gate import DiscreteLaplace
from veilset.methods.shared.preliminaries import SHARE_FOR_NUMBER


def forecast_number(epsilon: Fraction) -> tuple[Stage, Fraction]:
    """The number of transactions, which every method asks first, and what remains of epsilon."""
    for_number = epsilon * SHARE_FOR_NUMBER
    return Stage("number of transactions", DiscreteLaplace(1, for_number)), epsilon - for_number
