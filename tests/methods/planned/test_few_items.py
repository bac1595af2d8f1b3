"""A dataset of few items from one marginal: cells become records, noise does not."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over
from planned_cases import FEW
from veilset.gate import LARGEST_MARGINAL, DiscreteLaplace, NoisyCount, NoisyHistogram, SeededNoise
from veilset.methods.planned.dataset import planned_dataset
from veilset.methods.planned.few_items import (
    MOST_FEW,
    Cells,
    ask_cells,
    denoised,
    marginal_is_best,
    records_in_cells,
)
from veilset.methods.shared.cells import large_or_noise, supersets_added_up
from veilset.methods.shared.preliminaries import Preliminaries
from veilset.request import PublishRequest


def marginal_of(values: list[int], *, scale: int = 1) -> NoisyHistogram:
    """Cells with noise of a scale."""
    return NoisyHistogram(np.array(values, np.int64), DiscreteLaplace(scale, Fraction(1)))


@given(
    values=st.lists(st.integers(-30, 500), min_size=8, max_size=8),
    number=st.integers(-20, 3000),
    scale=st.integers(1, 40),
)
@settings(max_examples=60)
def test_cells_add_up_to_the_transactions_and_none_is_negative(
    values: list[int], number: int, scale: int
) -> None:
    """Unless more stand out from noise than there are transactions."""
    cells = denoised(marginal_of(values, scale=scale), number=NoisyCount(number, None))
    assert np.all(cells >= 0)
    noisy = np.array(values)
    is_seen = noisy > scale * max(np.log(8) - 1, 1)
    seen, _ = large_or_noise(noisy, is_seen, scale=scale)
    assert np.all(seen <= np.maximum(noisy, 0))
    if is_seen.all():
        assert cells.tolist() == seen.tolist()
    else:
        assert float(cells.sum()) == pytest.approx(max(number, seen.sum()), abs=1e-6)


def test_rare_cells_are_scaled_to_the_supports_of_small_itemsets() -> None:
    """Of 1,024 cells hardly any stands out, but sums of them do: the pair that goes together does so in the cells."""
    random = np.random.default_rng(4)
    is_held = random.random((3000, 10)) < 0.4
    is_held[:, 1] = is_held[:, 0]
    exact = np.bincount(is_held @ (1 << np.arange(10)), minlength=1024)
    noisy = exact + np.rint(random.laplace(0, 3, 1024)).astype(np.int64)
    supports = supersets_added_up(
        denoised(marginal_of(noisy.tolist(), scale=3), number=NoisyCount(3000, None))
    )
    truth = supersets_added_up(exact)
    assert abs(supports[0b11] - truth[0b11]) < 0.1 * truth[0b11]
    assert abs(supports[0b101] - truth[0b101]) < 0.2 * truth[0b101]


def test_records_hold_the_items_of_their_cells() -> None:
    """Items are named by their codes; the empty cell is no record; a rarer item goes into as many copies as it has."""
    cells = Cells((1, 4), marginal_of([50, 30, 0, 20]), {2: 10})
    records, copies = records_in_cells(cells, number=NoisyCount(100, None))
    found = dict(zip(records, copies.tolist(), strict=True))
    assert sum(number for record, number in found.items() if 1 in record) == 50
    assert sum(number for record, number in found.items() if 4 in record) == 20
    assert sum(number for record, number in found.items() if 2 in record) == 10
    assert () not in found


def test_no_cell_that_stands_out_is_no_error() -> None:
    """Noise alone, or no transactions: hardly any record."""
    nothing = Cells((0,), marginal_of([0, 0]), {})
    assert len(records_in_cells(nothing, number=NoisyCount(0, None))[0]) == 0


@pytest.mark.parametrize("items", [LARGEST_MARGINAL - 1, MOST_FEW])
def test_all_that_remains_is_spent_on_cells(items: int) -> None:
    """On one marginal, or, where items are too many for one, first on telling which are the rarest."""
    rows = [frozenset({code % items, 3}) for code in range(500)]
    alphabet = [frozenset(range(items)), *rows]
    curator = curator_over(alphabet, noise=SeededNoise(1))
    cells = ask_cells(curator, remaining=Fraction(1))
    assert sum((charge.mechanism.epsilon for charge in curator.budget.charges), Fraction(0)) == 1
    assert len(cells.items) + len(cells.rarer) == curator.alphabet_size
    assert 3 in cells.items


def test_a_marginal_is_best_where_it_errs_little() -> None:
    """Of three items always; of sixteen with many transactions, not with few."""

    def is_best(alphabet_size: int, support: int, number: int) -> bool:
        first = Preliminaries(NoisyCount(number, None), 120, 0, Fraction(1), ())
        return marginal_is_best(alphabet_size, support, first, noise=1.0, part=1 / 3)

    assert is_best(3, 0, 100)
    assert is_best(16, 6000, 10**6)
    assert not is_best(16, 5, 10**3)


def test_the_dataset_of_few_items_has_the_supports_of_the_data() -> None:
    """Every pair of eight items within 5 % of 2,000 transactions, at epsilon 1; the notes say how."""
    made = planned_dataset(curator_over(FEW, noise=SeededNoise(3)), PublishRequest(), epsilon=Fraction(1))
    assert made.notes == ("records from the marginal of 8 items",)
    exact = np.zeros((8, 8))
    for start, end in zip(FEW.offsets[:-1], FEW.offsets[1:], strict=True):
        exact[np.ix_(FEW.items[start:end], FEW.items[start:end])] += 1
    supports = np.zeros((8, 8))
    for record, copies in zip(made.records, made.multiplicities.tolist(), strict=True):
        supports[np.ix_(record, record)] += copies
    assert np.abs(supports - exact).max() < 100
