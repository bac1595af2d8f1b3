"""Which cells of a marginal are large: against draws of both kinds, near others and far away, and of noise alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.methods.shared.cells import large_or_noise, least_seen

BITS = 9


def noisy(cells: np.ndarray, scale: float, rng: np.random.Generator) -> np.ndarray:
    """With Laplace noise, rounded."""
    return cells + np.rint(rng.laplace(scale=scale, size=cells.size)).astype(np.int64)


def believed(cells: np.ndarray, scale: float) -> np.ndarray:
    """Of each cell that stands out, the part of its value that is taken for transactions; 0 of the others."""
    is_seen = cells > least_seen(cells.size, scale)
    means, _ = large_or_noise(cells, is_seen, scale=scale)
    return np.where(is_seen, means / np.maximum(cells, 1), 0.0)


def test_of_noise_alone_hardly_anything_is_believed() -> None:
    """More than one of 512 empty cells stands out on average; of what these show, a fifth is taken for true."""
    rng, shown, taken = np.random.default_rng(1), 0.0, 0.0
    for _ in range(300):
        cells = noisy(np.zeros(1 << BITS, np.int64), 50.0, rng)
        cells[0] = 20_000
        part = believed(cells, 50.0)[1:]
        shown += float(cells[1:][part > 0].sum())
        taken += float((part * cells[1:]).sum())
    assert shown > 300 * least_seen(1 << BITS, 50.0)
    assert taken < 0.25 * shown


def test_what_is_far_above_noise_is_believed() -> None:
    """Wherever it is, up to some in a thousand."""
    cells = np.zeros(1 << BITS, np.int64)
    cells[[0, 0b111, 0b101010101]] = [5000, 1200, 1500]
    part = believed(noisy(cells, 50.0, np.random.default_rng(2)), 50.0)
    assert part[[0, 0b111, 0b101010101]] == pytest.approx(1.0, abs=0.01)


def test_a_cell_near_a_large_one_is_likelier_to_be_large() -> None:
    """The same value, one item away from nearly all transactions and eight items away."""
    cells, value = np.zeros(1 << BITS, np.int64), math.ceil(1.2 * least_seen(1 << BITS, 50.0))
    cells[0] = 20_000
    near, far = cells.copy(), cells.copy()
    near[1], far[-2] = value, value
    assert believed(near, 50.0)[1] > 0.5
    assert believed(far, 50.0)[-2] < 0.1


def test_variances_are_those_of_errors() -> None:
    """Cells whose sizes fall like a power, with noise that drowns half of those that stand out: squares of errors."""
    rng, scale = np.random.default_rng(3), 40.0
    squares, told = [], []
    for _ in range(400):
        cells = np.zeros(1 << BITS, np.int64)
        cells[0] = 20_000
        cells[1 << np.arange(BITS)] = np.rint(100 * rng.random(BITS) ** -1.0).clip(0, 5000).astype(np.int64)
        seen = noisy(cells, scale, rng)
        is_seen = seen > least_seen(seen.size, scale)
        means, variances = large_or_noise(seen, is_seen, scale=scale)
        squares.append(float(((means - cells)[is_seen] ** 2).mean()))
        told.append(float(variances[is_seen].mean()))
    assert np.mean(told) == pytest.approx(np.mean(squares), rel=0.4)


@given(values=st.lists(st.integers(-200, 10_000), min_size=8, max_size=8), scale=st.floats(0.5, 500.0))
def test_no_cell_holds_more_than_its_value_or_less_than_none(values: list[int], scale: float) -> None:
    """Whatever the values are; and nothing is said of cells that do not stand out."""
    cells = np.array(values)
    is_seen = cells > max(least_seen(8, scale), 0.0)
    means, variances = large_or_noise(cells, is_seen, scale=scale)
    assert np.all((means >= 0) & (means <= np.maximum(cells, 0)))
    assert np.all(variances >= 0)
    assert not means[~is_seen].any()
    assert not variances[~is_seen].any()
