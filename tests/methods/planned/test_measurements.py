"""How likely noisy values are for each support: against densities by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.methods.planned.measurements import (
    LOG_TILTS,
    TILTS,
    USUAL_TILT,
    Measurement,
    log_tilts,
    over_tilts,
)

TINY_GRID = np.array([1.0, 2.0, 4.0, 8.0])


@given(
    values=st.lists(st.floats(-20, 40), min_size=1, max_size=3),
    deviation=st.floats(0.1, 10),
    unevenness=st.floats(0, 0.5),
    is_normal=st.booleans(),
    is_of_each=st.booleans(),
)
def test_likelihoods_are_the_densities_of_the_noise(
    values: list[float], deviation: float, unevenness: float, *, is_normal: bool, is_of_each: bool
) -> None:
    """For every tilt, which keeps less the larger it is; up to a constant; with tables for each itemset, or one."""
    tables = len(values) if is_of_each else 1
    counted = np.array([[TINY_GRID / (1 + place + tilt) for tilt in TILTS] for place in range(tables)])
    measurement = Measurement(np.array(values), np.array([deviation]), counted, unevenness, is_normal)
    for place, value in enumerate(values):
        for tilt in range(len(TILTS)):
            expected = []
            for count in counted[place if is_of_each else 0, tilt].tolist():
                width = math.hypot(deviation, unevenness * count)
                apart = abs(value - count) / width
                expected.append(-apart * apart / 2 if is_normal else -math.sqrt(2) * apart)
                expected[-1] -= math.log(width)
            assert measurement.log_likelihoods()[place, tilt] == pytest.approx(expected)


@pytest.mark.parametrize("tables", [1, 2])
def test_between_values_of_the_grid_what_is_counted_lies_between(tables: int) -> None:
    """On the grid itself, and half-way between two of its values."""
    counted = np.array([[TINY_GRID / (1 + tilt) for tilt in TILTS]] * tables)
    measurement = Measurement(np.array([3.0, 5.0]), np.array([1.0, 2.0]), counted)
    on_grid = measurement.log_likelihoods_at(np.tile(TINY_GRID, (2, 1)), TINY_GRID)
    assert on_grid == pytest.approx(measurement.log_likelihoods())
    between = measurement.log_likelihoods_at(np.array([[3.0], [6.0]]), TINY_GRID)
    assert between[1, 2, 0] == pytest.approx(-math.sqrt(2) * abs(5 - 6 / (1 + TILTS[2])) / 2 - math.log(2))


def test_supports_that_lack_nothing_have_no_tilt() -> None:
    """The same likelihood for each, with a deviation for each value."""
    measurement = Measurement.of_supports(np.array([3.0, 5.0]), np.array([1.0, 2.0]), TINY_GRID)
    likelihoods = measurement.log_likelihoods()
    assert likelihoods == pytest.approx(np.repeat(likelihoods[:, :1], len(TILTS), axis=1))
    second = measurement.take([1])
    assert second.log_likelihoods() == pytest.approx(likelihoods[1:])


def test_tilts_are_averaged_by_how_usual_they_are() -> None:
    """Their probabilities add up to 1, and what does not depend on the tilt stays as it is."""
    assert np.exp(LOG_TILTS).sum() == pytest.approx(1)
    alike = np.log(np.array([[[0.2, 0.8]] * len(TILTS)]))
    assert over_tilts(alike + LOG_TILTS[:, None]) == pytest.approx(np.log([[0.2, 0.8]]))


def test_an_itemset_may_lean_twice_as_much_as_others() -> None:
    """Far above the usual tilt lies a heavy tail, where a normal law leaves thousandths; far below lies nothing."""
    chances, tilts = np.exp(LOG_TILTS), np.array(TILTS)
    assert chances.sum() == pytest.approx(1)
    assert 0.02 < chances[tilts >= 1.9].sum() < 0.08
    assert chances[tilts < 0].sum() < 1e-4


def test_tilts_are_as_far_apart_as_is_said() -> None:
    """The mean distance from the usual one grows with the spread, on both sides."""
    off = np.array(TILTS) - USUAL_TILT
    for side in (off < 0, off > 0):
        apart = [float(np.exp(log_tilts(spread))[side] @ np.abs(off[side])) for spread in (0.15, 0.4, 1.0)]
        assert apart[0] < 0.6 * apart[1] < 0.4 * apart[2]
