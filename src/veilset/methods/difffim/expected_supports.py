"""What the supports of one level should be about, from those of the levels below. No data here.

Items are known better than pairs, and pairs better than triples: a level has more candidates, and more noise on each.
So what is known of an itemset before it is counted is what its parts say: the support of all but one item, times the
part of all transactions that holds that one. How far all supports of a level are from that, and how unevenly, is for
the noisy values to tell; where they tell nothing, by a factor of about e^0.35.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from veilset.arrays import FloatArray
from veilset.itemsets import Itemset
from veilset.methods.shared.noisy_values import SURE, MeasuredGroup
from veilset.methods.shared.shrinkage import Shrunk
from veilset.methods.shared.truncation import LEAST_KEPT

LEAST_FROM_PARTS = 0.3
"""No less than 0.3 transactions are expected to hold an itemset."""
SUM_WITHIN = 0.3
"""0.3: how far the logarithm of the supports of a level together is from what chance makes of them."""
LEAST_DOUBT = 1e-3
"""Shares that are in less doubt than 0.001 together lost what they are thought to have lost."""
LIFT_WITHIN = 0.35
"""0.35: how far the logarithm of the support of a pair is from what its items say, as the scale of a Laplace law."""


def lift_within(size: int) -> float:
    """The same for larger itemsets: an item that is added makes size - 1 pairs, each of which may be off as far.

    >>> round(lift_within(2), 2), round(lift_within(5), 2)
    (0.35, 0.7)
    """
    return LIFT_WITHIN * math.sqrt(size - 1)


@dataclass(frozen=True, slots=True)
class KnownSupport:
    """What is known of a support: its mean, how far off that may be as a part of it, and the most that it can be."""

    mean: float
    error: float
    most: float


@dataclass(frozen=True, slots=True, eq=False)
class SupportsFromParts:
    """What supports should be about, and `within` which factor (its logarithm) they usually are."""

    supports: FloatArray
    within: float

    @classmethod
    def of(
        cls,
        itemsets: Sequence[Itemset],
        *,
        items: Mapping[Itemset, KnownSupport],
        parts: Mapping[Itemset, KnownSupport],
        transactions: float,
    ) -> "SupportsFromParts":
        """Over all items that may be the one that is added, the geometric mean."""
        known = {**items, **parts}
        logs = {itemset: math.log(max(each.mean, LEAST_FROM_PARTS)) for itemset, each in known.items()}
        errors = {itemset: each.error**2 for itemset, each in known.items()}
        of_each, squares = [], []
        for each in itemsets:
            added = [(part, (item,)) for part, item in zip(one_item_less(each), each, strict=True)]
            of_each.append(sum(logs[part] + logs[item] for part, item in added) / len(added))
            squares.append(sum(errors[part] + errors[item] for part, item in added) / len(added))
        supports = np.exp(np.array(of_each) - math.log(max(transactions, 1.0)))
        # A Laplace law has twice the variance that the square of its scale says.
        within = math.sqrt(lift_within(len(itemsets[0])) ** 2 + float(np.mean(squares)) / 2)
        return cls(np.maximum(supports, LEAST_FROM_PARTS), within)


def with_lowered_shares(measured: Sequence[MeasuredGroup]) -> list[MeasuredGroup]:
    """The same with smaller shares kept, where all counts of a level together are lower than chance would make them.

    Itemsets of frequent items are on the whole no rarer than chance makes them, in all kinds of data: transactions
    differ in length, and items belong together. So counts that add up to less lost more than was thought. By inverse
    variance: how far the shares are in doubt, how far sums are from chance, and the noise of the sum. Each share is
    lowered in proportion to its own doubt: what is always kept lost nothing.
    """
    counted = sum(float(group.noisy.values.sum()) for group in measured)
    told_of = [group.kept.middle * float(group.noisy.units.sum()) for group in measured]
    told = sum(told_of)
    noise = math.sqrt(sum(float((group.noisy.deviations**2).sum()) for group in measured))
    doubts = [group.kept.doubt[1] / SURE for group in measured]
    doubt = max(sum(map(float.__mul__, told_of, doubts)) / told, LEAST_DOUBT)
    too_much = math.log(told / max(counted, noise, told * LEAST_KEPT))
    weight = doubt**2 / (doubt**2 + SUM_WITHIN**2 + (noise / told) ** 2)
    lowered = weight * max(too_much, 0.0) / doubt
    return [
        replace(group, kept=group.kept.lowered(math.exp(-lowered * own)))
        for group, own in zip(measured, doubts, strict=True)
    ]


def known_supports(itemsets: Sequence[Itemset], found: Shrunk) -> dict[Itemset, KnownSupport]:
    """What posteriors say of itemsets."""
    errors = np.minimum(found.deviations / np.maximum(found.means, 1e-9), 1.0)
    rows = zip(found.means.tolist(), errors.tolist(), found.high.tolist(), strict=True)
    return {itemset: KnownSupport(*row) for itemset, row in zip(itemsets, rows, strict=True)}


def one_item_less(itemset: Itemset) -> Iterator[Itemset]:
    """The itemsets of one item less: without the first, without the second, and so on.

    >>> list(one_item_less((1, 2, 3)))
    [(2, 3), (1, 3), (1, 2)]
    """
    return (itemset[:i] + itemset[i + 1 :] for i in range(len(itemset)))
