"""What smart truncation keeps of a support: more of the candidates with large scores, less of all others.

Works on noisy answers that were paid for; no data. Smart truncation (Alg. 4) keeps the items of the best candidates of
a transaction. So an itemset stays if hardly any other items of the transaction stand in better candidates than its own
items do. How many do is taken to be binomial: each of the others does with the share of all items held that do.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemset
from veilset.methods.shared.length_laws import LengthDraws
from veilset.methods.shared.noisy_values import SURE, KeptShares
from veilset.methods.shared.truncation import HeldBy, kept_shares

OUTRANKED_CLASSES = 12
"""Itemsets are told apart by the share that outranks them in steps of 1/12."""
OUTRANKED_WITHIN, OUTRANKED_TOGETHER = 0.5, 0.5
"""Items that are held together are seldom independent. So the log odds of that share are off by 0.5 from itemset to
itemset, and by 0.5 for all itemsets of a level together: standard deviations."""
MOST_CERTAIN = 0.02
"""2 % outrank the best itemset, and do not outrank the worst."""


def outranked(
    itemsets: Sequence[Itemset], scores: Sequence[int], parts: Mapping[Itemset, float]
) -> FloatArray:
    """The share of other items held that stand in better candidates than some item of each itemset does."""
    best: dict[int, int] = {}
    for itemset, score in zip(itemsets, scores, strict=True):
        for item in itemset:
            best[item] = max(best.get(item, 0), score)
    held = dict.fromkeys(best, 1.0)
    for part, support in parts.items():
        for item in part:
            if item in held:
                held[item] += max(support, 0)
    order = sorted(best, key=lambda item: (-best[item], -held[item], item))
    before = dict(zip(order, np.cumsum([0.0, *(held[item] for item in order)])[:-1].tolist(), strict=True))
    total = sum(held.values())
    shares = []
    for itemset in itemsets:
        own = [item for item in itemset if before[item] < max(before[each] for each in itemset)]
        others = total - sum(held[item] for item in itemset)
        ahead = max(before[item] for item in itemset) - sum(held[item] for item in own)
        shares.append(max(ahead, 0.0) / others if others > 0 else 0.0)
    return np.array(shares)


def items_ahead(itemsets: Sequence[Itemset], scores: Sequence[int]) -> Int64Array:
    """How many items that are not its own stand in better candidates than each itemset, or in equal ones before it.

    >>> items_ahead([(0, 1), (0, 2), (3, 4), (1, 2)], [9, 8, 7, 6]).tolist()
    [0, 1, 3, 3]
    """
    seen, ahead = set[int](), np.zeros(len(itemsets), np.int64)
    for place in sorted(range(len(itemsets)), key=lambda each: -scores[each]):
        ahead[place] = len(seen.difference(itemsets[place]))
        seen.update(itemsets[place])
    return ahead


def kept_smartly(
    draws: LengthDraws,
    *,
    size: int,
    limit: int,
    outranked: float,
    ahead: int | None = None,
    held: HeldBy | None = None,
) -> KeptShares:
    """The law of the share of a support that smart truncation keeps, where a share of other items outranks it.

    Only `ahead` items can outrank it: what has no more of them than the limit leaves room for is always kept.

    Who holds itemsets is alike in one dataset: where long transactions hold one rare pair, they hold most of them.
    """
    low, law, high = (
        kept_shares(
            draws,
            size=size,
            kept_of=partial(_kept, size=size, limit=limit, outranked=outranked, ahead=ahead, shifted=shifted),
            held=held,
        )
        for shifted in (OUTRANKED_TOGETHER, 0.0, -OUTRANKED_TOGETHER)
    )
    too_low, too_high = math.log(high.middle / law.middle), math.log(law.middle / low.middle)
    parted = law.partly_together()
    doubt = (math.hypot(parted.doubt[0], SURE * too_low), math.hypot(parted.doubt[1], SURE * too_high))
    return replace(parted, doubt=doubt)


def _kept(
    lengths: FloatArray,
    deviation: float,
    *,
    size: int,
    limit: int,
    outranked: float,
    ahead: int | None,
    shifted: float,
) -> FloatArray:
    """The chance that at most limit - size of the other items of a transaction outrank an itemset."""
    if ahead is not None and ahead <= limit - size:
        return np.ones(lengths.size)
    middle = min(max(outranked, MOST_CERTAIN), 1 - MOST_CERTAIN)
    odds = math.log(middle / (1 - middle)) + OUTRANKED_WITHIN * deviation + shifted
    share = 1 / (1 + math.exp(-odds))
    others = np.maximum(np.rint(lengths).astype(np.int64) - size, 0)
    return _at_most(limit - size, others, share)


def _at_most(most: int, draws: Int64Array, chance: float) -> FloatArray:
    """The probability that no more than `most` of each of some numbers of draws succeed.

    >>> _at_most(1, np.array([0, 1, 2, 3]), 0.5).round(9).tolist()
    [1.0, 1.0, 0.75, 0.5]
    """
    number = np.arange(1, most + 1)
    ratios = np.maximum(draws[:, None] - number + 1, 0) / number * (chance / (1 - chance))
    # One success more multiplies the chance by a ratio; as logarithms, since many draws make numbers too large.
    none = draws[:, None] * math.log1p(-chance)
    with np.errstate(divide="ignore"):
        log_chances = np.cumsum(np.hstack([none, np.log(ratios)]), axis=1)
    chances: FloatArray = np.exp(log_chances).sum(axis=1)
    return chances
