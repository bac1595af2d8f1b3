"""What to expect of `difffim`: levels under limits of their own, with double standards (`forecast_levels`)."""

from functools import partial

from veilset.methods.difffim import THETA
from veilset.methods.difffim.counted_level import SMART
from veilset.methods.difffim.forecast_levels import forecast_search

forecast = partial(forecast_search, "difffim", heuristics=SMART)


def largest_size(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return max_size or THETA
