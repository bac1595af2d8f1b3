"""What several marginals say together: of one alone the same, and no surer of a model that they share."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over
from reference import Baskets, support
from strategies import ALPHABET_SIZE, baskets
from veilset.gate import NoisyCount
from veilset.methods.shared.cells import supersets_added_up
from veilset.methods.shared.marginals import plain_supports_in_marginal, supports_in_marginal
from veilset.methods.shared.several_marginals import averaged, over_bases


@given(rows=baskets())
def test_bases_that_overlap_tell_the_same_supports(rows: Baskets) -> None:
    """With next to no noise: all itemsets within a basis, none larger than allowed, each with its support."""
    curator = curator_over(rows, epsilon=Fraction(10**9))
    bases = [(0, 1, 2), (1, 2, 3)]
    cells = [curator.ask_marginal(basis, epsilon=Fraction(10**8)) for basis in bases]
    told = averaged(bases, cells, number=NoisyCount(len(rows), None), max_size=2)
    within = {itemset for basis in bases for size in (1, 2) for itemset in combinations(basis, size)}
    assert set(told) == within
    assert ALPHABET_SIZE > 3
    for itemset, (mean, deviation) in told.items():
        assert mean == pytest.approx(support(rows, itemset), abs=0.01)
        assert deviation < 0.01


@given(values=st.lists(st.integers(-200, 5000), min_size=8, max_size=8), scale=st.floats(1.0, 500.0))
def test_one_marginal_alone_says_what_it_says(values: list[int], scale: float) -> None:
    """Mean and variance of each itemset."""
    told = supports_in_marginal(np.array(values), number=NoisyCount(6000, None), scale=scale)
    for itemset, (mean, deviation) in over_bases([(0, 1, 2)], [told], max_size=3).items():
        cell = sum(1 << item for item in itemset)
        assert mean == pytest.approx(told.means[cell], abs=1e-6)
        assert deviation**2 == pytest.approx(told.variances[cell], rel=1e-6, abs=1e-6)


@given(values=st.lists(st.integers(-200, 5000), min_size=8, max_size=8))
def test_sums_alone_are_averaged_by_inverse_variance(values: list[int]) -> None:
    """A marginal of three items, and one of one item: four cells bring four times the variance."""
    bases, cells = [(0, 1, 2), (2,)], [np.array(values), np.array([100, 700])]
    told = over_bases(bases, [plain_supports_in_marginal(each, scale=2.0) for each in cells], max_size=3)
    assert told[2,].mean == pytest.approx((sum(values[4:]) / 4 + 700) / (1 / 4 + 1))
    assert told[2,].deviation ** 2 == pytest.approx(8 / (1 / 4 + 1))
    assert told[0,].mean == pytest.approx(sum(values[1::2]))


def test_many_marginals_that_expect_alike_are_not_surer_of_it() -> None:
    """Pairs that all marginals expect too rarely: those who hold any of ten items hold most of them.

    With noise in which no marginal sees them, each guesses; the intervals of 24 marginals hold as those of one do.
    """
    rng, number, scale, items = np.random.default_rng(3), 20_000, 600.0, 10
    kinds = rng.random(number) < 0.15
    holds = rng.random((number, items)) < np.where(kinds, 0.6, 0.002)[:, None]
    bases = [(0, 1, *rng.choice(np.arange(2, items), 6, replace=False).tolist()) for _ in range(24)]
    cells = [np.bincount(holds[:, basis] @ (1 << np.arange(8)), minlength=256) for basis in bases]
    true = int((holds[:, 0] & holds[:, 1]).sum())

    def off(some: int) -> float:
        """How far the support of the first pair is off, in deviations, by that many marginals: root mean square."""
        squares = []
        for _ in range(20):
            noisy = [
                each + np.rint(rng.laplace(scale=scale, size=256)).astype(np.int64) for each in cells[:some]
            ]
            told = [
                supports_in_marginal(each, number=NoisyCount(number, None), scale=scale) for each in noisy
            ]
            mean, deviation = over_bases(bases[:some], told, max_size=2)[0, 1]
            squares.append(((mean - true) / deviation) ** 2)
        return float(np.sqrt(np.mean(squares)))

    assert true < supersets_added_up(cells[0])[1]
    assert off(24) < 1.5
    assert off(1) < 1.5
