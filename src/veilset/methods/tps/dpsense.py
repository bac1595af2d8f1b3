"""DPsense (Day and Li, ASIACCS 2015), as TPS uses it: noisy supports of all items from normalised transactions.

A transaction of more than theta items counts theta / length for each of them (T6: weights are integers, rounded
down). Where theta comes from is not printed in the TPS paper (T4); we choose it for ranking, not for counts.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Each question has a share of its own:

1. the length theta: one draw of the exponential mechanism over public limits, on monotone scores of sensitivity c;
2. the supports of transactions normalised to theta, or truncated to theta random items: discrete Laplace, L1
   sensitivity c theta.

What that takes away is asked for in `tps.scaling`.

With given items, transactions are restricted to them before anything else: a local transformation.
"""

from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import Curator, KeepRandom, NormalisedCounts

LIMITS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)
"""The lengths to choose from: public, and few, so that a small share of epsilon can tell them apart."""
PRICE = 6
"""How many scales of noise one support at the k-th place must be worth; see docs/methods/tps.md."""


def in_order(counts: NormalisedCounts) -> Int64Array:
    """Items from the largest noisy support to the smallest; ties by place."""
    return counts.items[np.argsort(-counts.values, kind="stable")]


def dpsense(
    curator: Curator,
    *,
    k: int,
    for_length: Fraction,
    for_supports: Fraction,
    price: int = PRICE,
    items: Int64Array | None = None,
    is_random: bool = False,
) -> NormalisedCounts:
    """Noisy supports of all items, or of some, from transactions normalised to a length that suits rank k.

    With `is_random`, long transactions keep that many random items instead: the same on average, but how many
    holders of an item keep it is then one more source of error. For comparison.
    """
    scale = curator.unit.transactions / for_supports
    limit = curator.ask_truncating_length(LIMITS, k=k, price=price * scale, epsilon=for_length, items=items)
    if not is_random:
        return curator.ask_normalised_supports(limit, epsilon=for_supports, items=items)
    kept = curator.ask_item_supports(epsilon=for_supports, truncation=KeepRandom(limit))
    return NormalisedCounts(kept.itemsets.items.astype(np.int64), kept.values, limit, kept.mechanism)
