"""The tests of a level: what each split gets."""

from fractions import Fraction

import numpy as np

from veilset.gate import SubPartitions
from veilset.methods.diffpart.hierarchy_cuts import Cuts
from veilset.methods.diffpart.level_tests import LevelTests, Purses, level_tests
from veilset.taxonomy import Taxonomy


def int64(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """An array of places or masks."""
    return np.array(values, dtype=np.int64)


def level_of(cuts: Cuts, purses: Purses) -> LevelTests:
    """The tests of a level, of a budget of 1."""
    return level_tests(cuts, purses, c1=Fraction(1), for_items=Fraction(1, 2), noise_unit=1)


def test_budgets_are_those_of_example_4_2() -> None:
    """B/6 on two groups of two items, B/6 on the next group where both are there, then 2B/3; 5B/6 where one is."""
    cuts, purses = Cuts.root(Taxonomy.of([[0, 1], [2, 3]])), Purses.full(Fraction(1, 2))
    root = level_of(cuts, purses)
    assert [root.tests[place].epsilon for place in root.others] == [Fraction(1, 6)]
    found = SubPartitions(int64(0, 0), int64(1, 3), int64(4, 4))  # {I12} and {I12, I34}
    cuts, purses = cuts.parts(found), root.purses.take(found.parents)
    second = level_of(cuts, purses)
    assert second.tests[second.only_items[0]].epsilon == Fraction(5, 6)  # {I1, I2}
    assert second.tests[second.others[1]].epsilon == Fraction(1, 6)  # {I12, I3, I4}, here {I1, I2, I34}
    assert second.only_items[1] == second.others[1]
    both = SubPartitions(int64(1), int64(3), int64(3))
    last = level_of(cuts.parts(both), second.purses.take(both.parents))
    assert last.tests[last.only_items[0]].epsilon == Fraction(2, 3)  # {I1, I2, I3, I4}
