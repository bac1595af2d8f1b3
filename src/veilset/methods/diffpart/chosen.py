"""DiffPart for many items, of which most are rare: partitions of the most frequent, the others filled in. Ours.

With thousands of items DiffPart spends its budget on groups that next to no record holds, and loses nearly all
records. Here a part of the budget first finds out which items are frequent; partitions tell how the few most
frequent ones occur together; and every other frequent item is put into as many records as it should be in, as if
it occurred independently of what is known of them.

Privacy argument. The number of transactions takes 1/50 of epsilon unless it is public (sensitivity c, the
transactions of one privacy unit); the supports of all items after truncation to 3 items take 1/8 (sensitivity 3c);
those of the chosen items after truncation to 8 of them take 1/8 (sensitivity at most 8c); partitions get the rest,
along every chain (see `methods.diffpart`). Shares, limits and numbers are public constants. Which items are
chosen and their order, the taxonomy made of them, and everything that is filled in follow from noisy answers
alone; the random choice of records to fill is seeded, because after the gate nothing is left to protect.
"""

from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import Curator, KeepRandom, NoisyCounts, OnlyItems
from veilset.itemsets import Itemsets
from veilset.methods.diffpart import partitioned
from veilset.methods.diffpart.filling import filled_in
from veilset.methods.shared.preliminaries import SHARE_FOR_NUMBER
from veilset.request import PublishRequest
from veilset.results.published import Published
from veilset.taxonomy import Taxonomy

SHARE_FOR_RANKING = Fraction(1, 8)
SHARE_FOR_CHOSEN_ITEMS = Fraction(1, 8)
LENGTH_FOR_RANKING = 3
"""3 items: noise grows faster with the length limit than what truncation keeps, so a short one ranks best."""
LENGTH_FOR_SUPPORTS = 8
"""8 items are nearly all of the chosen items of a transaction, so their supports need no correction."""
MOST_CHOSEN = 100
MOST_PARTITIONED = 20
"""Two nodes of ten items: with more, each test gets too little epsilon for small partitions."""
C1_OF_CHOSEN = Fraction(1)
"""Half a false record a partition (see `methods.diffpart.level_tests`): what is lost by that is filled in."""


def diffpart_chosen(curator: Curator, request: PublishRequest, *, epsilon: Fraction) -> Published:
    """A dataset of frequent items only; a given taxonomy is not used, items are grouped by noisy frequency."""
    for_number = epsilon * SHARE_FOR_NUMBER if curator.public_number is None else Fraction(0)
    for_ranking, for_supports = epsilon * SHARE_FOR_RANKING, epsilon * SHARE_FOR_CHOSEN_ITEMS
    number = curator.ask_number(epsilon=for_number)
    chosen = items_above_noise(
        curator.ask_item_supports(truncation=KeepRandom(LENGTH_FOR_RANKING), epsilon=for_ranking)
    )
    wanted = curator.ask_supports(
        Itemsets.of((code,) for code in chosen.tolist()),
        truncation=OnlyItems(chosen, KeepRandom(LENGTH_FOR_SUPPORTS)),
        epsilon=for_supports,
    )
    taxonomy = Taxonomy.context_free(chosen[:MOST_PARTITIONED].tolist(), fan_out=request.fan_out)
    remaining = epsilon - for_number - for_ranking - for_supports
    records = partitioned(curator, taxonomy, c1=C1_OF_CHOSEN, epsilon=remaining)
    full = filled_in(records, chosen, wanted.values, rows=max(0, number.value))
    return Published.of(curator, full.itemsets, full.copies, method="diffpart-chosen")


def items_above_noise(counts: NoisyCounts) -> Int64Array:
    """The items whose noisy count stands out from noise on zeros, the most frequent first; at least one."""
    order = np.argsort(-counts.values, kind="stable")
    noise = float(counts.mechanism.scale) * np.log(order.size)  # about the largest of as many zero counts
    standing_out = int(np.count_nonzero(counts.values >= noise))
    return order[: min(MOST_CHOSEN, max(1, standing_out))]
