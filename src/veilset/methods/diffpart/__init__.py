"""DiffPart (Chen et al. 2011): publish a whole dataset by taking it apart along a taxonomy of the items.

Symbols: epsilon = B, `left` = B~ (what of B/2 a partition has not spent), alpha = left / splits left.

Privacy argument. One question is paid for with all of epsilon, before any look: sizes of partitions along a
taxonomy that is public. Within it, splits test the noisy sizes of sub-partitions. A record is in one partition at
a time, so only the tests along its chain concern it: alpha at each split that leaves inner nodes, together at
most epsilon / 2 less what is left, and epsilon / 2 + left once, where only items remain. That is epsilon exactly;
the gate keeps the account of every chain and would refuse more (`gate.partitions`, which has the proof, also for
owners of several transactions). Everything else here is public or computed from noisy answers: C1 and C2 are
constants (D1), the order of splits follows from the taxonomy, and records come from masks that passed.

Against the paper: which node of the largest height is split next is the first, not a random one; empty
sub-partitions are 2^l - 1 - |S| (D2) and drawn, not tried (D3). A sub-partition of items only is tested once, with
all that its chain has left: the printed procedure would test it twice, Example 4.2 does not. Thresholds grow with
the number of children (see C1, C2). And what is free is done: copies are made to add up along the tree, and
records of a partition whose parts failed are published with the items that are known of them.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate import Curator, Refinement, SizeTest
from veilset.methods.diffpart.hierarchy_cuts import Cuts
from veilset.methods.diffpart.records import Records, fitted
from veilset.request import PublishRequest
from veilset.results.published import Published
from veilset.taxonomy import MOST_CHILDREN, Taxonomy

C1 = Fraction(3, 4)
C2 = Fraction(1)
"""Which sizes pass: C1 ln(2^l) times the scale of their noise where only items are left, C2 ln(2^l) times that
scale and the height of the cut before, where l is the number of the node's children. A split of an empty
partition then passes half a part on average, so false partitions die out; and 2^(l/4) / 2 false records, which on
generated baskets of 17 items is better for counting queries than 2^(l/2) / 2 or 1/2. The printed sqrt(2) C2 with C2
slightly above 1 passes about 100 of the 1023 empty parts of ten children, and as many more of each of those."""

LN_2 = Fraction(693_147_181, 10**9)


def diffpart(curator: Curator, request: PublishRequest, *, epsilon: Fraction) -> Published:
    """A dataset from the noisy sizes of partitions (Alg. 1)."""
    taxonomy = request.taxonomy_over(curator.alphabet_size)  # l. 2
    records = partitioned(curator, taxonomy, c1=C1, epsilon=epsilon)
    return Published.of(curator, records.itemsets, records.copies, method="diffpart")


def partitioned(curator: Curator, taxonomy: Taxonomy, *, c1: Fraction, epsilon: Fraction) -> Records:
    """Records over the items of a taxonomy (Alg. 1 l. 3-16), all partitions of a level at once."""
    partitions = curator.ask_partitions(taxonomy, epsilon=epsilon)  # l. 3
    cuts, purses, copies = Cuts.root(taxonomy), Purses.full(epsilon / 2), None  # l. 4-5
    places = np.zeros(1, np.int64)
    records: list[Records] = []
    while len(cuts):  # l. 7
        plan = planned(cuts, purses, c1=c1, for_items=epsilon / 2, noise_unit=curator.unit.transactions)
        split = Refinement(places, cuts.nodes, plan.tests, plan.only_items, plan.others)
        found = partitions.ask_split(split)  # l. 9
        parts, fit = cuts.parts(found), fitted(found, copies)
        finished = np.flatnonzero(parts.have_only_items)  # l. 11
        records.append(Records(parts.take(finished).itemsets(), fit.copies[finished]))  # l. 14
        records.append(Records(cuts.itemsets(), fit.rest))
        places = np.flatnonzero(~parts.have_only_items)  # l. 16
        cuts, purses, copies = parts.take(places), plan.purses.take(found.parents[places]), fit.copies[places]
    return Records.together(records)


def basic(curator: Curator, request: PublishRequest, *, epsilon: Fraction) -> Published:  # noqa: ARG001 - no tree here
    """A dataset from the noisy number of copies of every record that is possible (Dwork et al., Sec. 4.1).

    That is one split of a taxonomy of one node, with all of epsilon; every record that has a copy passes.
    """
    if curator.alphabet_size > MOST_CHILDREN:
        raise BadCall(
            f"basic counts all 2^n records of n items and can do that for n up to {MOST_CHILDREN}, not for "
            f"{curator.alphabet_size}; take diffpart"
        )
    cuts = Cuts.root(Taxonomy.of(list(range(curator.alphabet_size))))
    partitions = curator.ask_partitions(cuts.taxonomy, epsilon=epsilon)
    first = np.zeros(1, np.int64)
    found = partitions.ask_split(Refinement(first, first, (SizeTest(epsilon, 1),), first, first))
    return Published.of(curator, cuts.parts(found).itemsets(), found.sizes, method="basic")


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
class Plan:
    """The tests of a level: `tests[only_items[i]]` and `tests[others[i]]` for parts of partition i.

    `purses` are what parts of a partition have left afterwards.
    """

    tests: tuple[SizeTest, ...]
    only_items: Int64Array
    others: Int64Array
    purses: Purses


def planned(cuts: Cuts, purses: Purses, *, c1: Fraction, for_items: Fraction, noise_unit: int) -> Plan:
    """What to spend on each split, and which sizes pass (Alg. 1 l. 12-13, Proc. 1 l. 6-9).

    Partitions that are alike in what they have left, in the splits left and in height get the same tests.
    """
    nodes, taxonomy = cuts.nodes, cuts.taxonomy
    children = np.diff(taxonomy.first_child)[nodes]
    alike = np.stack([purses.places, cuts.splits_left, taxonomy.heights[nodes], children], axis=1)
    kinds, kind_of = np.unique(alike, axis=0, return_inverse=True)
    tests, amounts = [], []
    for purse, splits, height, number in kinds.tolist():
        left = purses.amounts[purse]
        alpha = left / splits
        tests.append(reaching(C2 * height * number, alpha, noise_unit))
        tests.append(reaching(c1 * number, for_items + left, noise_unit))
        amounts.append(left - alpha)
    others = 2 * kind_of.reshape(-1)
    only_items = others + cuts.are_split_once  # where other nodes are left, items alone are not the end
    different = {amount: place for place, amount in enumerate(dict.fromkeys(amounts))}
    place_of_kind = np.array([different[amount] for amount in amounts])
    return Plan(
        tuple(tests), only_items, others, Purses(tuple(different), place_of_kind[kind_of.reshape(-1)])
    )


def reaching(halvings: Fraction, epsilon: Fraction, noise_unit: int) -> SizeTest:
    """A test that an empty part passes with probability 2^-halvings / 2, or a little less."""
    return SizeTest(epsilon, math.ceil(LN_2 * halvings * noise_unit / epsilon))
