"""What splitting leaves of a support: against all orders of a transaction."""

from itertools import combinations

import numpy as np
import pytest

from veilset.methods.splitsample.split_loss import left_of_one, left_of_support


@pytest.mark.parametrize(("length", "size", "limit"), [(7, 2, 3), (7, 3, 3), (8, 2, 4), (9, 3, 4), (5, 1, 2)])
def test_what_a_random_split_leaves_is_what_all_orders_leave(length: int, size: int, limit: int) -> None:
    """Theorem 1 with S6: over all places that an itemset can take in a random order cut into pieces."""
    places = list(combinations(range(length), size))
    together = sum(len({place // limit for place in each}) == 1 for each in places)
    assert left_of_one(length, size=size, limit=limit) == pytest.approx(together / len(places))


def test_the_share_left_is_an_average_over_transactions_that_can_hold_the_itemset() -> None:
    """Short ones lose nothing, too short ones do not count, noise below 0 neither; nobody long enough: 1."""
    assert left_of_support(np.array([5, 7, 10, -3, 10]), size=2, limit=2) == pytest.approx((1 + 1 / 3) / 2)
    assert left_of_support(np.array([5, 7, 0]), size=2, limit=2) == 1
    assert left_of_support(np.array([0, 9, 9, 9]), size=1, limit=1) == 1
