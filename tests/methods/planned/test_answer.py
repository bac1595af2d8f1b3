"""What is released: the likeliest itemsets, or the most frequent ones, and a note where there are too few."""

from dataclasses import replace

import numpy as np
import pytest

from planned_cases import sharp_posterior, sparse_scouting
from veilset.itemsets import Itemset
from veilset.methods.planned.answer import Answer, most_frequent, most_likely
from veilset.methods.planned.posterior import Posterior
from veilset.methods.shared.several_marginals import Measured

Marginals = dict[Itemset, Measured]


def test_above_a_threshold_nothing_below_is_released() -> None:
    """Not even where fewer than k remain, or none."""
    scouting = sparse_scouting(k=3, threshold=100)
    measured: Marginals = {(0,): Measured(150.0, 4.0), (1,): Measured(99.0, 1.0)}
    assert len(most_frequent(scouting, measured).itemsets) == 2
    given = replace(scouting, is_given=True)
    assert list(most_frequent(given, measured).itemsets) == [(0,)]
    del measured[0,]
    assert len(most_frequent(given, measured).itemsets) == 0


def test_no_support_is_above_the_number_of_transactions_but_its_interval_may_be() -> None:
    """Unless it is public, that number has noise, too: what marginals measured stays inside."""
    measured: Marginals = {(0,): Measured(10_050.0, 2.0), (1,): Measured(-3.0, 1.0)}
    estimates = most_frequent(sparse_scouting(k=2, threshold=100, number=10_000), measured)
    assert estimates.supports.tolist() == [10_000, 0]
    assert estimates.half_widths.tolist() == [54, 5]


def test_the_likeliest_are_released_and_above_a_threshold_only_likely_ones() -> None:
    """Three are known: the two most frequent, and those that have an even chance to reach what was given."""
    known = sharp_posterior({(0,): 900, (1,): 400, (0, 1): 300}, 1000)
    two = sparse_scouting(k=2, threshold=250, number=1000)
    assert list(most_likely(two, known).itemsets) == [(0,), (1,)]
    given = replace(two, is_given=True)
    assert list(most_likely(given, known).itemsets) == [(0,), (1,), (0, 1)]
    assert list(most_likely(replace(given, threshold=350), known).itemsets) == [(0,), (1,)]


def test_of_equal_chances_the_larger_mean_comes_first() -> None:
    """Chances are compared to three digits: beyond that they are no better than their model."""
    grid = np.array([1.0, 10.0, 100.0, 1000.0])
    log_chances = np.log([[1e-9, 1e-9, 1, 1e-9], [1e-9, 1e-9, 1, 1]])
    known = Posterior.unmeasured([(0,), (1,)], log_chances, grid)
    best = most_likely(replace(sparse_scouting(k=1, threshold=50), is_given=True), known)
    assert list(best.itemsets) == [(1,), (0,)]


@pytest.mark.parametrize(
    ("k", "is_given", "is_noted"), [(2, False, False), (3, False, True), (3, True, False)]
)
def test_a_note_says_where_fewer_than_k_are_released(k: int, is_given: bool, is_noted: bool) -> None:
    """Not where a threshold was given: that says how many there are."""
    scouting = replace(sparse_scouting(k=k, threshold=100, number=1000), is_given=is_given)
    estimates = most_likely(scouting, sharp_posterior({(0,): 900, (1,): 400}, 1000))
    notes = Answer.of(scouting, estimates, ("first",)).notes
    assert notes[0] == "first"
    assert (notes[-1].startswith("2 itemsets instead of 3")) is is_noted
