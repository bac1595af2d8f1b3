"""What to expect of `difffim-naive`: the sizes of `difffim`, under one limit and with one threshold."""

from functools import partial

from veilset.methods.difffim.forecast import largest_size
from veilset.methods.difffim.forecast_levels import forecast_search
from veilset.methods.difffim.levels import NAIVE

__all__ = ["forecast", "largest_size"]

forecast = partial(forecast_search, "difffim-naive", heuristics=NAIVE)
