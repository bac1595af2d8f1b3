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
all that its chain has left: the printed procedure would test it twice, Example 4.2 does not.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from veilset.errors import BadCall
from veilset.gate import Curator, Split, Test
from veilset.itemsets import Itemsets
from veilset.methods.cuts import Cuts
from veilset.published import Published
from veilset.target import PublishTarget
from veilset.taxonomy import MOST_CHILDREN, Taxonomy

Int64Array = npt.NDArray[np.int64]

C1 = Fraction(2)
C2 = Fraction(2)
"""How many standard deviations of its noise a size must reach, at the last split and before (times the height)."""

SQRT_2 = Fraction(14142, 10000)


def diffpart(curator: Curator, target: PublishTarget, *, epsilon: Fraction) -> Published:
    """A dataset from the noisy sizes of partitions (Alg. 1)."""
    taxonomy = target.taxonomy_over(curator.alphabet_size)  # l. 2
    partitions = curator.ask_partitions(taxonomy, epsilon=epsilon)  # l. 3
    cuts, purses = Cuts.root(taxonomy), Purses.full(epsilon / 2)  # l. 4-5
    places = np.zeros(1, np.int64)
    released: list[tuple[Itemsets, Int64Array]] = []
    while len(cuts):  # l. 7-8, all partitions of a level at once
        plan = planned(cuts, purses, for_items=epsilon / 2, noise_unit=curator.unit.transactions)
        found = partitions.ask_split(Split(places, cuts.nodes, plan.tests, plan.only_items, plan.others))  # l. 9
        parts = cuts.parts(found)
        finished = np.flatnonzero(parts.have_only_items)  # l. 11
        released.append((parts.take(finished).itemsets(), found.sizes[finished]))  # l. 14
        places = np.flatnonzero(~parts.have_only_items)
        cuts, purses = parts.take(places), plan.purses.take(found.parents[places])  # l. 16
    return published(curator, released, method="diffpart")


def basic(curator: Curator, target: PublishTarget, *, epsilon: Fraction) -> Published:  # noqa: ARG001 - no tree here
    """A dataset from the noisy number of copies of every record that is possible (Dwork et al., Sec. 4.1).

    It is the one split of a taxonomy of one node, at all of epsilon, whatever has a copy passing.
    """
    if curator.alphabet_size > MOST_CHILDREN:
        raise BadCall(
            f"basic counts all 2^n records of n items and can do that for n up to {MOST_CHILDREN}, not for "
            f"{curator.alphabet_size}; take diffpart"
        )
    cuts = Cuts.root(Taxonomy.of(list(range(curator.alphabet_size))))
    partitions = curator.ask_partitions(cuts.taxonomy, epsilon=epsilon)
    first = np.zeros(1, np.int64)
    found = partitions.ask_split(Split(first, first, (Test(epsilon, 1),), first, first))
    return published(curator, [(cuts.parts(found).itemsets(), found.sizes)], method="basic")


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

    tests: tuple[Test, ...]
    only_items: Int64Array
    others: Int64Array
    purses: Purses


def planned(cuts: Cuts, purses: Purses, *, for_items: Fraction, noise_unit: int) -> Plan:
    """What to spend on each split, and which sizes pass (Alg. 1 l. 12-13, Proc. 1 l. 6-9).

    Partitions that are alike in what they have left, in the splits left and in height get the same tests.
    """
    alike = np.stack([purses.places, cuts.splits_left, cuts.taxonomy.heights[cuts.nodes]], axis=1)
    kinds, kind_of = np.unique(alike, axis=0, return_inverse=True)
    tests, amounts = [], []
    for purse, splits, height in kinds.tolist():
        left = purses.amounts[purse]
        alpha = left / splits
        tests.append(reaching(C2 * height, alpha, noise_unit))
        tests.append(reaching(C1, for_items + left, noise_unit))
        amounts.append(left - alpha)
    others = 2 * kind_of.reshape(-1)
    only_items = others + cuts.are_split_once  # where other nodes are left, items alone are not the end
    different = {amount: place for place, amount in enumerate(dict.fromkeys(amounts))}
    place_of_kind = np.array([different[amount] for amount in amounts])
    return Plan(tuple(tests), only_items, others, Purses(tuple(different), place_of_kind[kind_of.reshape(-1)]))


def reaching(deviations: Fraction, epsilon: Fraction, noise_unit: int) -> Test:
    """A test that passes sizes of so many standard deviations of the noise that it adds."""
    return Test(epsilon, max(1, math.ceil(SQRT_2 * deviations * noise_unit / epsilon)))


def published(curator: Curator, released: list[tuple[Itemsets, Int64Array]], *, method: str) -> Published:
    """The records of all levels together, each with its noisy number of copies."""
    offsets = np.concatenate([np.diff(records.offsets) for records, _ in released])
    items = np.concatenate([records.items for records, _ in released])
    copies = np.concatenate([sizes for _, sizes in released])
    return Published.of(curator, Itemsets(np.append(0, np.cumsum(offsets)), items), copies, method=method)
