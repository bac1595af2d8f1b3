"""DiffPart (Chen et al. 2011): publish a whole dataset by taking it apart along a taxonomy of the items.

Symbols: epsilon = B, `remaining` = B~ (what of B/2 a partition has not spent), alpha = remaining / splits left.

Privacy argument. One question is paid for with all of epsilon, before any look: sizes of partitions along a
taxonomy that is public. Within it, splits test the noisy sizes of sub-partitions. A record is in one partition at
a time, so only the tests along its chain concern it: alpha at each split that leaves inner nodes, together at
most epsilon / 2 less `remaining`, and epsilon / 2 + `remaining` once, where only items remain. That is epsilon exactly;
the gate keeps the account of every chain and would refuse more (`gate.questions.partitions`, which has the proof, also
for owners of several transactions). Everything else here is public or computed from noisy answers: C1 and C2 are
constants (D1), the order of splits follows from the taxonomy, and records come from masks that passed.

Against the paper: which node of the largest height is split next is the first, not a random one; empty
sub-partitions are 2^l - 1 - |S| (D2) and drawn, not tried (D3). A sub-partition of items only is tested once, with
all that its chain has left: the printed procedure would test it twice, Example 4.2 does not. Thresholds grow with
the number of children (see C1, C2). And what is free is done: copies are made to add up along the tree, and
records of a partition whose parts failed are published with the items that are known of them.
"""

from fractions import Fraction

import numpy as np

from veilset.errors import BadCall
from veilset.gate import Curator, Refinement, SizeTest
from veilset.methods.diffpart.hierarchy_cuts import Cuts
from veilset.methods.diffpart.level_tests import C1, Purses, level_tests
from veilset.methods.diffpart.records import Records, fitted
from veilset.request import PublishRequest
from veilset.results.published import Published
from veilset.taxonomy import MOST_CHILDREN, Taxonomy


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
        level = level_tests(cuts, purses, c1=c1, for_items=epsilon / 2, noise_unit=curator.unit.transactions)
        split = Refinement(places, cuts.nodes, level.tests, level.only_items, level.others)
        found = partitions.ask_split(split)  # l. 9
        parts, fit = cuts.parts(found), fitted(found, copies)
        finished = np.flatnonzero(parts.have_only_items)  # l. 11
        records.append(Records(parts.take(finished).itemsets(), fit.copies[finished]))  # l. 14
        records.append(Records(cuts.itemsets(), fit.rest))
        places = np.flatnonzero(~parts.have_only_items)  # l. 16
        cuts, purses, copies = (
            parts.take(places),
            level.purses.take(found.parents[places]),
            fit.copies[places],
        )
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
