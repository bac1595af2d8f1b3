"""What noisy marginals say: sums by hand, no noise, a lot of noise, and how wrong they are on average."""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over
from reference import Baskets, support
from strategies import baskets
from veilset.gate import NoisyCount
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.methods.shared.cells import flipped, supersets_added_up
from veilset.methods.shared.marginals import (
    WIDEST_IN_SIGMA,
    noise_of_marginal,
    supports_in_marginal,
)

ITEMS = 9


def few_cells(number: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Transactions of the kind that few items carry: all of them, but for one or two that are missing."""
    missing = rng.choice(ITEMS, size=(number, 2), p=np.arange(1, ITEMS + 1) / 45)
    is_missing = rng.random((number, 2)) < [0.5, 0.1]
    held = (1 << ITEMS) - 1 & ~np.bitwise_or.reduce(np.where(is_missing, 1 << missing, 0), axis=1)
    return np.bincount(held, minlength=1 << ITEMS)


def crowded_cells(number: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Independent items, each held by every second transaction: all cells are alike."""
    return rng.multinomial(number, np.full(1 << ITEMS, 2.0**-ITEMS))


@given(values=st.lists(st.integers(-50, 50), min_size=8, max_size=8))
def test_supersets_are_added_up(values: list[int]) -> None:
    """Every cell that holds at least these items."""
    sums = supersets_added_up(np.array(values, np.float64))
    assert sums.tolist() == [sum(values[p] for p in range(8) if p & held == held) for held in range(8)]


@given(values=st.lists(st.integers(0, 50), min_size=8, max_size=8), chance=st.floats(0.0, 0.5))
def test_flipped_items_move_transactions_to_cells_that_differ(values: list[int], chance: float) -> None:
    """From each to each, by how many items they differ in; nobody is lost."""
    moved = flipped(np.array(values, np.float64), chance)
    for to in range(8):
        differing = [(to ^ cell).bit_count() for cell in range(8)]
        expected = sum(
            value * chance**n * (1 - chance) ** (3 - n) for value, n in zip(values, differing, strict=True)
        )
        assert moved[to] == pytest.approx(expected)
    assert moved.sum() == pytest.approx(sum(values))


@pytest.mark.parametrize("kind", [few_cells, crowded_cells])
def test_with_next_to_no_noise_supports_are_exact(kind: type) -> None:
    """Whether transactions are alike or not."""
    cells = kind(5000, np.random.default_rng(1))
    told = supports_in_marginal(cells, number=NoisyCount(5000, None), scale=1e-6)
    assert told.means == pytest.approx(supersets_added_up(cells.astype(np.float64)), abs=1e-3)


@pytest.mark.parametrize(("kind", "at_most"), [(few_cells, 0.7), (crowded_cells, 1.05)])
def test_less_noise_where_few_cells_are_held_and_no_more_where_all_are(kind: type, at_most: float) -> None:
    """The error over all itemsets of up to four items, against that of plain sums; its size is known."""
    rng, scale, number = np.random.default_rng(2), 8.0, 20_000
    sizes = np.array([cell.bit_count() for cell in range(1 << ITEMS)])
    some = (sizes >= 1) & (sizes <= 4)
    mended, plain, predicted = [], [], []
    for _ in range(40):
        cells = kind(number, rng)
        noisy = cells + np.rint(rng.laplace(scale=scale, size=cells.size)).astype(np.int64)
        told, true = (
            supports_in_marginal(noisy, number=NoisyCount(number, None), scale=scale),
            supersets_added_up(cells.astype(np.float64)),
        )
        mended.append((told.means - true)[some])
        plain.append((supersets_added_up(noisy.astype(np.float64)) - true)[some])
        predicted.append(told.variances[some])
    assert np.sqrt(np.mean(np.square(mended))) < at_most * np.sqrt(np.mean(np.square(plain)))
    assert np.sqrt(np.mean(np.square(mended))) == pytest.approx(np.sqrt(np.mean(predicted)), rel=0.4)


@pytest.mark.parametrize("scale", [50.0, 400.0])
def test_the_largest_noise_of_many_cells_is_not_taken_for_transactions(scale: float) -> None:
    """All have the same three of nine items: the 40 itemsets that look most frequent, and 95 % intervals for them."""
    cells = np.zeros(1 << ITEMS, np.int64)
    cells[0b111] = 20_000
    true, sizes = supersets_added_up(cells), np.array([cell.bit_count() for cell in range(cells.size)])
    rng, held, too_high = np.random.default_rng(8), [], []
    for _ in range(40):
        noisy = cells + np.rint(rng.laplace(scale=scale, size=cells.size)).astype(np.int64)
        told = supports_in_marginal(noisy, number=NoisyCount(20_000, None), scale=scale)
        largest = np.argsort(-np.where(sizes > 0, told.means, -1.0), kind="stable")[:40]
        held.append(np.abs(told.means - true)[largest] <= WIDEST_IN_SIGMA * np.sqrt(told.variances)[largest])
        too_high.append((told.means - true)[largest])
    assert np.mean(held) > 0.93
    assert np.mean(too_high) < 2 * scale


def test_a_number_that_is_noisy_is_made_better_by_what_patterns_add_up_to() -> None:
    """By inverse variance: with hardly any noise in cells, a number that is far off does no harm."""
    cells = few_cells(5000, np.random.default_rng(3))
    number = NoisyCount(4000, DiscreteLaplace(1, Fraction(1, 1000)))
    told = supports_in_marginal(cells, number=number, scale=0.01)
    assert told.means == pytest.approx(supersets_added_up(cells.astype(np.float64)), abs=1.0)


def test_a_number_that_is_too_low_does_not_leave_out_the_cells_below_what_is_seen() -> None:
    """Sizes that halve from cell to cell: those that are seen tell about how many transactions the others have."""
    sizes = np.array([3000 // 2**place for place in range(12)], np.int64)
    cells = np.zeros(1 << ITEMS, np.int64)
    cells[-1 - np.arange(12)] = sizes
    low = NoisyCount(int(sizes.sum()) - 150, DiscreteLaplace(1, Fraction(1, 100)))
    told = supports_in_marginal(cells, number=low, scale=10.0)
    seen = int(sizes[sizes > 10 * (math.log(cells.size) - 1)].sum())
    assert seen < told.means[0] < sizes.sum() + 150
    assert 0 < math.sqrt(told.variances[0]) < 150


def test_transactions_that_no_cell_shows_are_not_lost() -> None:
    """Where all cells are below the noise, the seen ones tell nothing: what the noisy number says remains."""
    rng, number, scale = np.random.default_rng(5), 5000, 8.0
    noisy_number = NoisyCount(number - 100, DiscreteLaplace(1, Fraction(1, 100)))
    for _ in range(5):
        cells = crowded_cells(number, rng)
        noisy = cells + np.rint(rng.laplace(scale=scale, size=cells.size)).astype(np.int64)
        told = supports_in_marginal(noisy, number=noisy_number, scale=scale)
        assert told.means[0] == pytest.approx(number, abs=400)
        assert told.means[1] == pytest.approx(number / 2, rel=0.2)


def test_what_the_number_leaves_open_is_told_by_the_cells_that_are_seen() -> None:
    """Sizes that halve from cell to cell, a useless number, noise that drowns the sum: few are seen, so few remain."""
    cells = np.zeros(1 << ITEMS, np.int64)
    cells[-1 - np.arange(12)] = [3000 // 2**place for place in range(12)]
    useless = NoisyCount(6500, DiscreteLaplace(1, Fraction(1, 5000)))
    rng, scale, errors = np.random.default_rng(6), 10.0, []
    for _ in range(40):
        noisy = cells + np.rint(rng.laplace(scale=scale, size=cells.size)).astype(np.int64)
        errors.append(supports_in_marginal(noisy, number=useless, scale=scale).means[0] - cells.sum())
    by_sum_alone = scale * math.sqrt(2 * cells.size)
    assert math.sqrt(np.mean(np.square(errors))) < 0.85 * by_sum_alone


def test_more_items_are_expected_to_add_noise_but_less_than_their_patterns() -> None:
    """Between none and a factor of the square root of 2 for each."""
    for items in range(3, 14):
        growth = noise_of_marginal(items + 1, 2) / noise_of_marginal(items, 2)
        assert 1 < growth < math.sqrt(2)


@given(rows=baskets())
def test_cells_add_up_to_supports(rows: Baskets) -> None:
    """The support of every subset of a group, from the marginal of the group."""
    group = (0, 2, 5)
    curator = curator_over(rows, epsilon=Fraction(10**7))
    sums = supersets_added_up(curator.ask_marginal(group, epsilon=Fraction(10**6)).values)
    for number in range(8):
        itemset = [item for place, item in enumerate(group) if number >> place & 1]
        assert sums[number] == support(rows, itemset)
