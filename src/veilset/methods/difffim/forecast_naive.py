"""What to expect of `difffim-naive`: the sizes of `difffim`, under one limit and with one threshold."""

from functools import partial

from veilset.methods.difffim.counted_level import NAIVE
from veilset.methods.difffim.forecast import largest_size
from veilset.methods.difffim.forecast_levels import forecast_search

__all__ = ["forecast", "largest_size"]

forecast = partial(forecast_search, "difffim-naive", heuristics=NAIVE)
