"""What DiffPart spends on each split of a level, and which noisy sizes pass. Public, like everything in methods."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import SizeTest
from veilset.methods.diffpart.hierarchy_cuts import Cuts

C1 = Fraction(3, 4)
C2 = Fraction(1)
"""Which sizes pass: C1 ln(2^l) times the scale of their noise where only items are left, C2 ln(2^l) times that
scale and the height of the cut before, where l is the number of the node's children. A split of an empty
partition then passes half a part on average, so false partitions die out; and 2^(l/4) / 2 false records, which on
generated baskets of 17 items is better for counting queries than 2^(l/2) / 2 or 1/2. The printed sqrt(2) C2 with C2
slightly above 1 passes about 100 of the 1023 empty parts of ten children, and as many more of each of those."""

LN_2 = Fraction(693_147_181, 10**9)


@dataclass(frozen=True, slots=True, eq=False)
class Purses:
    """What each partition has not spent of its share for splits; few amounts differ, so each is kept once."""

    amounts: tuple[Fraction, ...]
    places: Int64Array

    @classmethod
    def full(cls, amount: Fraction) -> "Purses":
        """One partition that has spent nothing."""
        return cls((amount,), np.zeros(1, np.int64))

    def take(self, chosen: Int64Array) -> "Purses":
        """Those of some partitions."""
        return Purses(self.amounts, self.places[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class LevelTests:
    """The tests of a level: `tests[only_items[i]]` and `tests[others[i]]` for parts of partition i.

    `purses` are what remains to parts of a partition afterwards.
    """

    tests: tuple[SizeTest, ...]
    only_items: Int64Array
    others: Int64Array
    purses: Purses


def level_tests(
    cuts: Cuts, purses: Purses, *, c1: Fraction, for_items: Fraction, noise_unit: int
) -> LevelTests:
    """What to spend on each split, and which sizes pass (Alg. 1 l. 12-13, Proc. 1 l. 6-9).

    Partitions that are alike in what remains to them, in the splits left and in height get the same tests.
    """
    nodes, taxonomy = cuts.nodes, cuts.taxonomy
    children = np.diff(taxonomy.first_child)[nodes]
    alike = np.stack([purses.places, cuts.splits_left, taxonomy.heights[nodes], children], axis=1)
    kinds, kind_of = np.unique(alike, axis=0, return_inverse=True)
    tests, amounts = [], []
    for purse, splits, height, number in kinds.tolist():
        remaining = purses.amounts[purse]
        alpha = remaining / splits
        tests.append(reaching(C2 * height * number, alpha, noise_unit))
        tests.append(reaching(c1 * number, for_items + remaining, noise_unit))
        amounts.append(remaining - alpha)
    others = 2 * kind_of.reshape(-1)
    only_items = others + cuts.are_split_once  # where other nodes are left, items alone are not the end
    different = {amount: place for place, amount in enumerate(dict.fromkeys(amounts))}
    place_of_kind = np.array([different[amount] for amount in amounts])
    return LevelTests(
        tuple(tests), only_items, others, Purses(tuple(different), place_of_kind[kind_of.reshape(-1)])
    )


def reaching(halvings: Fraction, epsilon: Fraction, noise_unit: int) -> SizeTest:
    """A test that an empty part passes with probability 2^-halvings / 2, or a little less."""
    return SizeTest(epsilon, math.ceil(LN_2 * halvings * noise_unit / epsilon))
