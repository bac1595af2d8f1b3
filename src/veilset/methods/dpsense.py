"""DPsense (Day and Li, ASIACCS 2015), as TPS uses it: noisy supports of all items from normalised transactions.

A transaction of more than theta items counts theta / length for each of them (T6: weights are integers, rounded
down). Where theta comes from is not printed in the TPS paper (T4); we choose it for ranking, not for counts.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Three questions, three shares:

1. the length theta: one draw of the exponential mechanism over public limits, on monotone scores of sensitivity c;
2. the supports of transactions normalised to theta, or cut to theta random items: discrete Laplace, L1
   sensitivity c theta;
3. the histogram of lengths, sensitivity c, from which post-processing estimates how much of a support normalising
   kept, so that supports can be scaled up again. Ranking does not need it.

With given items, public or paid for, transactions are restricted to them before anything else: a local transformation.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from veilset.gate import Curator, KeepAll, KeepRandom, NoisyHistogram, NormalisedCounts, OnlyItems
from veilset.methods.standards import kept_share

Codes = npt.NDArray[np.int64]

LIMITS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)
"""The lengths to choose from: public, and few, so that a small share of epsilon can tell them apart."""
PRICE = 6
"""How many scales of noise one support at the k-th place must be worth; see docs/methods/tps.md."""
LONGEST = 64
"""Transactions of this length and longer are one class of the histogram."""
CLEAR = 2
"""A count of the histogram below so many scales of its noise may be noise."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Epsilon for each of the three questions."""

    length: Fraction
    supports: Fraction
    histogram: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Sensed:
    """Noisy normalised supports, and the share of the true ones that normalising is expected to have kept."""

    counts: NormalisedCounts
    kept: float

    @property
    def order(self) -> npt.NDArray[np.intp]:
        """Places from the largest noisy support to the smallest; ties by place."""
        return np.argsort(-self.counts.values, kind="stable")

    @property
    def supports(self) -> Codes:
        """What the supports are without normalising, on average."""
        return np.rint(self.counts.values / (self.counts.mechanism.steps * self.kept)).astype(np.int64)

    @property
    def half_width(self) -> int:
        """The 95 % half width of the noise in `supports`."""
        noise = self.counts.mechanism
        return math.ceil(noise.half_width() / (noise.steps * self.kept))


def dpsense(
    curator: Curator,
    *,
    k: int,
    shares: Shares,
    price: int = PRICE,
    items: Codes | None = None,
    is_random: bool = False,
) -> Sensed:
    """Noisy supports of all items, or of some, from transactions normalised to a length that suits rank k.

    With `is_random`, long transactions keep that many random items instead: the same on average, but how many
    holders of an item keep it is then one more source of error. For comparison.
    """
    scale = curator.unit.transactions / shares.supports
    limit = curator.ask_truncating_length(
        LIMITS, k=k, price=price * scale, epsilon=shares.length, items=items
    )
    if is_random:
        kept = curator.ask_item_supports(epsilon=shares.supports, cut=KeepRandom(limit))
        counts = NormalisedCounts(kept.itemsets.items.astype(np.int64), kept.values, limit, kept.mechanism)
    else:
        counts = curator.ask_normalised_supports(limit, epsilon=shares.supports, items=items)
    cut = KeepAll() if items is None else OnlyItems(items, KeepAll())
    lengths = curator.ask_lengths(limit=LONGEST, epsilon=shares.histogram, cut=cut)
    return Sensed(counts, kept_share(holders(lengths), size=1, limit=limit))


def holders(lengths: NoisyHistogram) -> npt.NDArray[np.float64]:
    """How many transactions that hold an item have each length, up to a factor: the longer, the likelier.

    Only what stands out of the noise counts, from the most common length to the first that does not: far out,
    where there is nothing but noise, long lengths would weigh most.

    >>> from veilset.gate.mechanisms import DiscreteLaplace
    >>> holders(NoisyHistogram(np.array([1, 40, 30, 1, 9]), DiscreteLaplace(1, Fraction(1, 2)))).tolist()
    [0.0, 40.0, 60.0, 0.0, 0.0]
    """
    is_clear = lengths.values > CLEAR * float(lengths.mechanism.scale)
    common = int(lengths.values.argmax())
    is_clear[common:] = np.logical_and.accumulate(is_clear[common:])
    return np.where(is_clear, lengths.values, 0) * np.arange(lengths.values.size, dtype=np.float64)
