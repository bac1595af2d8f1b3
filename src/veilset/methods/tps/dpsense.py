"""DPsense (Day and Li, ASIACCS 2015), as TPS uses it: noisy supports of all items from normalised transactions.

A transaction of more than theta items counts theta / length for each of them (T6: weights are integers, rounded
down). Where theta comes from is not printed in the TPS paper (T4); we choose it for ranking, not for counts.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Each question has a share of its own:

1. the length theta: one draw of the exponential mechanism over public limits, on monotone scores of sensitivity c;
2. the supports of transactions normalised to theta, or truncated to theta random items: discrete Laplace, L1
   sensitivity c theta;
3. to scale supports up again (`scaled_up`): the sum of the supports of some items, where one transaction adds at
   most m (public, or from the theta of 1), sensitivity c m. The items are public or were chosen from noisy answers.

With given items, transactions are restricted to them before anything else: a local transformation.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import Curator, KeepRandom, NoisyCount, NormalisedCounts
from veilset.itemsets import Itemsets
from veilset.methods.shared.noisy_values import (
    DEVIATIONS,
    SURE,
    WHOLE,
    KeptShares,
    MeasuredGroup,
    NoisyValues,
)
from veilset.methods.shared.shrinkage import Shrunk, shrunk, shrunk_in_groups
from veilset.results.estimates import Estimates

LIMITS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)
"""The lengths to choose from: public, and few, so that a small share of epsilon can tell them apart."""
PRICE = 6
"""How many scales of noise one support at the k-th place must be worth; see docs/methods/tps.md."""
UNEVENNESS, LEAST_UNEVEN = 0.9, 0.005
"""The log of the share that an item keeps deviates by 0.9 of what is lost on average times the root of what is kept; by
0.005 at the least. Where nearly all is lost, all lose nearly alike."""
LEAST_NORMALISED, LONGEST, SHARES_IN_GRID = 0.02, 128, 100
"""Of 100 shares on a grid, the least is that of a transaction of 128 items, but not below 0.02."""
MOST_ADDED = 50
"""What one transaction adds to the sum of supports at the most; longer ones are rare once items are chosen."""


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


def scaled_up(
    curator: Curator,
    counts: NormalisedCounts,
    chosen: Sequence[int],
    *,
    most: int,
    largest: int,
    epsilon: Fraction,
) -> Estimates:
    """The supports of chosen items: what normalised ones stand for, if their sum is to be right.

    No support is above the largest that is possible. An item may have kept more than the average one, or less.
    """
    total = curator.ask_total(np.array(chosen), most=most, epsilon=epsilon)
    place_of = {item: place for place, item in enumerate(counts.items.tolist())}
    places = np.array([place_of[item] for item in chosen], np.int64)
    steps = counts.mechanism.steps
    noisy = NoisyValues.laplace(counts.values / steps, float(counts.mechanism.scale) / steps)
    together = shrunk(noisy, places, largest=largest)
    kept = kept_of_sums(together, total, limit=counts.limit, items=counts.items.size)
    found = shrunk_in_groups([MeasuredGroup(noisy, kept)], [places], largest=largest)
    return found.estimates(Itemsets.of((item,) for item in chosen))


def kept_of_sums(normalised: Shrunk, total: NoisyCount, *, limit: int, items: int) -> KeptShares:
    """The law of the share of a support that is left in normalised transactions, from two sums over the chosen items.

    A share explains the noisy `total` as far as what is normalised, over the share, is near to it. What is lost differs
    from item to item in proportion. Where all items fit into the limit, nothing is lost.
    """
    if limit >= items:
        return WHOLE
    least = min(max(limit / LONGEST, LEAST_NORMALISED), 0.9)
    shares = np.geomspace(1.0, least, SHARES_IN_GRID)
    sums = float(normalised.means.sum()) / shares
    errors = float(np.linalg.norm(normalised.deviations)) / shares
    noise = 0.0 if total.mechanism is None else float(total.mechanism.scale)
    widths = np.hypot(np.hypot(noise, errors), LEAST_UNEVEN * sums)
    likely = np.exp(-np.abs(total.value - sums) / widths) / widths
    reached = np.cumsum(likely) / likely.sum()
    low, middle, high = np.interp([0.975, 0.5, 0.025], reached, shares).tolist()
    uneven = max(UNEVENNESS * (1 - middle) * math.sqrt(middle), LEAST_UNEVEN)
    # The most popular items, which make the sums, are often held alone: others may all have kept less.
    doubt = (math.log(high / middle), math.hypot(math.log(middle / low), SURE * uneven))
    return KeptShares.at_deviations(np.minimum(middle * np.exp(-uneven * DEVIATIONS), 1.0), doubt)
