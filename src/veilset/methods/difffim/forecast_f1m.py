"""What to expect of `f1m`: the first level alone, with all that remains after the threshold."""

from fractions import Fraction

from veilset.forecast import Forecast, World
from veilset.methods.difffim.counted_level import NAIVE
from veilset.methods.difffim.forecast_levels import expected_levels, forecast_best, forecast_threshold


def largest_size(max_size: int | None) -> int:  # noqa: ARG001 - whatever the caller allows
    """Single items, always."""
    return 1


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    preliminaries, remaining = forecast_threshold(epsilon)
    levels = list(expected_levels(world, k, NAIVE, size=1, epsilon=remaining))
    return forecast_best("f1m", world, k, preliminaries, levels)
