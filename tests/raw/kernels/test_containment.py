"""Numbers in planes of bits are the numbers that a loop finds, however many itemsets a row contains."""

import numpy as np
import pytest

import reference
from strategies import arrays_of
from veilset.arrays import Uint64Array
from veilset.raw.kernels import containment

ROWS = [frozenset(range(length % 7)) for length in range(130)]
"""Three words of rows, the last not full: row r contains the items below r % 7."""


def bitmaps() -> Uint64Array:
    """A bitmap for each of seven items."""
    words = np.zeros((7, 3), np.uint64)
    for row, items in enumerate(ROWS):
        for item in items:
            words[item, row >> 6] |= np.uint64(1 << (row & 63))
    return words


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 7, 8, 9, 100, 255, 256, 257])
def test_every_row_gets_its_number_around_each_power_of_two(number: int) -> None:
    """Where a number needs one more plane, none of its bits is lost."""
    itemsets = [[i % 6] if i % 2 else [0, i % 6 + 1] for i in range(number)]
    found = containment.count_contained(bitmaps(), len(ROWS), *arrays_of(itemsets))
    assert found.tolist() == reference.containment(ROWS, itemsets)


def test_a_row_that_contains_every_itemset_is_counted_for_each() -> None:
    """The largest number that planes must hold."""
    found = containment.count_contained(bitmaps(), len(ROWS), *arrays_of([[0]] * 1023))
    assert found.tolist() == [1023 * (0 in row) for row in ROWS]
