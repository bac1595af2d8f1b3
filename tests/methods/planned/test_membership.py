"""Which itemsets belong to the answer, by what is known before the refinement."""

from dataclasses import replace

import numpy as np

from planned_cases import sharp_posterior, sparse_scouting
from veilset.methods.planned.membership import Membership, items_and_larger, uncertain_places
from veilset.methods.planned.settings import DEFAULT


def test_what_is_uncertain_comes_first_and_no_more_than_two_for_each_of_k() -> None:
    """Nearest to one half; what is nearly certain, either way, is left as it is."""
    chances = np.array([1.0, 0.9, 0.5, 0.01, 0.3, 0.985, 0.97])
    assert uncertain_places(chances, 2, settings=DEFAULT).tolist() == [2, 4, 1, 6]
    assert uncertain_places(chances, 1, settings=DEFAULT).tolist() == [2, 4]


def test_where_all_is_certain_the_likeliest_are_measured_once_more() -> None:
    """So that epsilon makes their supports better: k of them, in order where they tie."""
    assert uncertain_places(np.array([0.0, 1.0, 0.99, 1.0, 0.01]), 3, settings=DEFAULT).tolist() == [1, 3, 2]


def test_items_are_counted_apart_from_larger_itemsets() -> None:
    """In the order of their places; no group where there are none."""
    known = sharp_posterior({(0,): 500, (0, 1): 300, (1,): 400, (2, 3): 100}, 1000)
    assert [some.tolist() for some in items_and_larger(known, np.array([3, 2, 0]))] == [[2, 0], [3]]
    assert [some.tolist() for some in items_and_larger(known, np.array([1]))] == [[1]]


def test_certain_is_what_is_likely_and_not_uncertain() -> None:
    """Far above the threshold, at it, and far below: the first is certain, the second uncertain, the last neither."""
    known = sharp_posterior({(0,): 900, (1,): 300, (2,): 20}, 1000, blur=10)
    membership = Membership.of(known, sparse_scouting(k=2, threshold=300, number=1000))
    assert membership.certain.tolist() == [0]
    assert membership.uncertain.tolist() == [1]
    assert membership.of_interest.tolist() == [0, 1]


def test_before_larger_itemsets_are_known_the_threshold_is_no_lower_than_the_kth_support() -> None:
    """Of three known itemsets the second has 300; as larger ones will come, what was asked for says 400."""
    known = sharp_posterior({(0,): 900, (1,): 300, (2,): 20}, 1000)
    scouting = replace(sparse_scouting(k=2, threshold=400, number=1000), floor=100)
    assert Membership.of(known, scouting).support < 310
    assert Membership.before_larger(known, scouting).support == 400
