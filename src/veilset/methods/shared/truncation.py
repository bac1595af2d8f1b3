"""Truncation to a length limit: which limit leaves a share of the transactions whole, and what it keeps of a support.

Works on noisy histograms of lengths that were paid for, and on what they make likely; no data.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import NoisyHistogram
from veilset.methods.shared.length_laws import LengthDraws
from veilset.methods.shared.noisy_values import DEVIATIONS, NORMAL_CHANCES, SURE, KeptShares

LONGEST_LENGTH = 64
"""Transactions of 64 items and longer are one class of a histogram of lengths."""
TILT, TILT_BY_SIZE = 0.95, 0.55
"""A transaction that holds n itemsets of a size holds a certain one with a chance of n to about this power: 0.95 for 1
item, and 0.95 / size^0.55 for more, because frequent itemsets have something in common."""
LEAST_KEPT = 1e-4
"""1/10,000 of a support is kept at the least, whatever a noisy histogram says."""
TILT_WITHIN, WITHIN_BY_SIZE = 0.5, 0.3
"""The standard deviation of that power over itemsets of all kinds of data: 0.5 / size^0.3."""
AROUND_BY_SIZE = 0.5
"""1 / size^0.5: how much less tilts of larger itemsets are apart than those of items."""


AWAY_OF_ITEMS = np.linspace(-4.2, 2.4, 12)
"""12 places that tilts are at, in multiples of their spread."""
MOST_TILTS, BELOW, ABOVE = 0.32, 1.25, 0.7
"""Most tilts are 0.32 of their spread above what follows from supports; they fall off from there as a normal law of
1.25 below, and of 0.7 above: items that are held alone are far below."""


def tilt_density(away: FloatArray) -> FloatArray:
    """How likely tilts are, in multiples of their spread."""
    off = away - MOST_TILTS
    density: FloatArray = np.exp(-((off / np.where(off < 0, BELOW, ABOVE)) ** 2) / 2)
    return density


@dataclass(frozen=True, slots=True, eq=False)
class TiltLaw:
    """How far tilts of items are apart, as a root mean square, and how likely each of AWAY_OF_ITEMS is.

    Tilts of larger itemsets are alike on both sides, with `even_chances`: these are never held alone.
    """

    spread: float
    chances: FloatArray
    even_chances: FloatArray

    @classmethod
    def mixed(cls, spreads: FloatArray, weights: FloatArray) -> "TiltLaw":
        """Laws of some spreads, with weights that add up to 1.

        >>> found = TiltLaw.mixed(np.array([0.1, 0.7]), np.array([0.5, 0.5]))
        >>> round(found.spread, 2), found.chances.round(2).tolist()
        (0.5, [0.0, 0.01, 0.01, 0.02, 0.03, 0.05, 0.08, 0.61, 0.08, 0.06, 0.03, 0.01])
        """
        spread = math.sqrt(float(weights @ spreads**2))
        away = spread * AWAY_OF_ITEMS / spreads[:, None]
        chances = (weights / spreads) @ tilt_density(away)
        even = (weights / spreads) @ np.exp(-away * away / 2)
        return cls(spread, chances / chances.sum(), even / even.sum())

    def chances_of(self, size: int) -> FloatArray:
        """How likely each of AWAY_OF_ITEMS is for itemsets of a size."""
        return self.chances if size == 1 else self.even_chances


@dataclass(frozen=True, slots=True, eq=False)
class HeldBy:
    """Who holds an itemset: logarithms of the chances at each length, and the law of tilts around them."""

    logs: FloatArray
    tilts: TiltLaw


def length_up_to(histogram: NoisyHistogram, share: Fraction) -> int:
    """The smallest length up to which there is that share of the transactions that hold anything (Z1).

    Sums of the noisy histogram itself, because clamping each class first would add up to a long tail of noise.
    """
    reached = np.cumsum(histogram.values[1:])
    enough = np.flatnonzero(reached >= math.ceil(share * max(int(reached[-1]), 1)))
    return 1 + int(enough[0]) if enough.size else histogram.values.size - 1


def lengths_above_noise(histogram: NoisyHistogram) -> Int64Array:
    """The classes of more than two scales of noise; the others may be nothing but noise, and count as 0."""
    return np.where(histogram.values > 2 * float(histogram.mechanism.scale), histogram.values, 0)


def holders_by_length(lengths: Int64Array, size: int) -> FloatArray:
    """How many transactions of each length hold an itemset of that size, up to a factor.

    The longer a transaction, the likelier: of l items, C(l, size) itemsets. The papers take all lengths alike.
    """
    holders: FloatArray = lengths * np.array(
        [float(math.comb(length, size)) for length in range(lengths.size)]
    )
    return holders


def kept_share(lengths: FloatArray | Int64Array, *, size: int, limit: int) -> float:
    """The share of an itemset's support that random truncation is expected to keep; exp_ratio in (7) of DiffFIM, Z9.

    Truncated from h to `limit` items, a transaction keeps an itemset with probability C(h - size, limit - size)
    / C(h, limit), which is the product of (limit - j) / (h - j) over j < size. Negative counts count as 0.
    The last length may stand for longer transactions too; all are taken to have just that length, which
    makes the share too large rather than too small. Where no transaction is long enough to hold the itemset,
    nothing tells of a loss, and the share is 1.

    >>> kept_share(np.array([0, 0, 10, 0, 10]), size=2, limit=3)  # half of them keep all, the others 2 of 4
    0.75
    """
    if size > limit:
        return 0.0
    holders = np.maximum(lengths[size:], 0)
    if not holders.any():
        return 1.0
    taken = np.arange(size)
    long_enough = np.arange(size, len(lengths))[:, None]
    kept = np.minimum((limit - taken) / (long_enough - taken), 1.0).prod(axis=1)
    return float(np.average(kept, weights=holders))


def kept_shares(
    draws: LengthDraws,
    *,
    size: int,
    kept_of: Callable[[FloatArray, float], FloatArray],
    held: HeldBy | None = None,
) -> KeptShares:
    """The law of the share of a support that truncation keeps, as itemsets differ in who holds them.

    `kept_of` tells the chance that a transaction of each length keeps the itemset, at a deviation from its middle.

    The longer a transaction, the likelier it holds an itemset, but how much likelier depends on the itemset: some are
    bought alone, some with everything else. So the chance is taken to be a power of how many itemsets of the size it
    holds, and the power to be normal. Where it is known who holds it, that takes the place of the middle power, and the
    law of tilts that of the powers around it. Where all transactions are alike, all itemsets lose alike, and the share
    is certain. What a histogram leaves open of the lengths makes all shares uncertain together. Who keeps an itemset is
    a matter of luck as well.
    """
    lengths, numbers = draws.lengths, draws.middle
    away, chances = (
        (DEVIATIONS, NORMAL_CHANCES) if held is None else (AWAY_OF_ITEMS, held.tilts.chances_of(size))
    )
    possible, centre = lengths >= size, int(np.argmin(np.abs(away)))
    kept = np.array([kept_of(lengths, deviation) for deviation in away.tolist()])
    least = max(float(kept[-1, -1]), LEAST_KEPT)
    if not (numbers * possible).any():
        middle = math.sqrt(least)
        return KeptShares.certain(middle, doubt=(-math.log(middle), -math.log(middle)))
    ways = ways_to_hold(lengths, size)
    if held is None:
        tilts = TILT / size**TILT_BY_SIZE + TILT_WITHIN / size**WITHIN_BY_SIZE * DEVIATIONS
        each_holds = possible * ways ** tilts[:, None]
    else:
        tilts = held.tilts.spread / size**AROUND_BY_SIZE * away
        each_holds = possible * np.exp(held.logs - held.logs.max()) * ways ** tilts[:, None]
    holders = each_holds @ numbers
    shares = np.clip((each_holds * kept) @ numbers / holders, least, 1.0)
    middle = float(shares[centre])
    together = SURE * draws.share_within(each_holds[centre], kept[centre], least=least)
    doubt = (min(together, -math.log(middle)), min(together, math.log(middle / least)))
    return KeptShares.at_deviations(shares, doubt, chances=chances, is_drawn=True)


def ways_to_hold(lengths: FloatArray, size: int) -> FloatArray:
    """l (l - 1) (l - 2) ...: in how many orders a transaction of each length may show `size` items of its own."""
    ways: FloatArray = np.maximum(lengths[:, None] - np.arange(size), 1.0).prod(axis=1)
    return ways


def randomly_kept(lengths: FloatArray, *, size: int, limit: int) -> FloatArray:
    """The chance that random truncation leaves an itemset in a transaction of each length."""
    taken = np.arange(size)
    kept: FloatArray = np.clip((limit - taken) / np.maximum(lengths[:, None] - taken, 1), 0.0, 1.0).prod(
        axis=1
    )
    return kept


def kept_at_random(draws: LengthDraws, *, size: int, limit: int, held: HeldBy | None = None) -> KeptShares:
    """The law of the share of a support that random truncation keeps; `draws` are of the lengths."""
    return kept_shares(
        draws,
        size=size,
        kept_of=lambda lengths, _: randomly_kept(lengths, size=size, limit=limit),
        held=held,
    )
