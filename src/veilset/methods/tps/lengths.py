"""How long transactions may be, where nobody counted: laws of lengths, and what each leaves of a support.

Post-processing: everything here follows from noisy answers that were paid for.

A transaction of more than `limit` items counts limit / length for each of them. What an item keeps so depends on who
holds it: a transaction of length l holds it with a chance of l to some power, which is about 1, lower for items that
are held alone. Lengths are not asked for. Two sums tell of them: that of all normalised supports, which is how many
items up to the limit transactions hold, and that of the supports of the chosen items. Each law of many is as likely as
it explains both.
"""

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from veilset.arrays import FloatArray

LENGTHS = np.unique(np.append(np.arange(1.0, 21.0), np.rint(np.geomspace(21, 1000, 40))))
"""Lengths up to 20 one by one, then 40 up to 1000."""
POWERS = np.linspace(-1.0, 3.5, 28)
"""28 powers of the length, at which shares are reckoned; between them they are interpolated."""
MIDDLE_LENGTHS = np.linspace(0.0, math.log(250), 80)
"""80 logarithms of the length of which half of all held items are in shorter transactions."""
SPREADS = {0.1: 0.08, 0.25: 0.06, 0.4: 0.08, 0.55: 0.12, 0.7: 0.22, 0.85: 0.22, 1.0: 0.17, 1.2: 0.05}
"""8 standard deviations of the logarithm of a length, and how likely each is: 0.7 to 1.1 in baskets and in sessions of
nine datasets, 0.4 in T10I4D100K, 0.1 where rows are records."""
USUAL_MIDDLE, USUAL_WITHIN = math.log(8), 0.9
"""8, within a factor of e^0.9 = 2.5: what the middle is about, before anything is known."""
USUAL_OF_CHOSEN = math.log(3)
"""3: the same where only a few items of a transaction count."""
TAILS_OF_POWERS, ENDS_OF_TAILS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0), (100, 300, 1000)
"""Heavy tails fall like 1 / length ** 0.5 to 2, on a logarithmic scale, and end at 100, 300 or 1,000."""
HEAVY_TAILED = 0.1
"""10 % of datasets have lengths that fall off by a power up to some end, as in sessions."""
NOT_EMPTY = 0.01
"""1/100 as likely as the best law is one that is too long: transactions may be empty, which shortens the mean."""
LEAST_ERROR_OF_FILLED, LEAST_ERROR_OF_TOTAL = 0.015, 0.01
"""0.015 and 1 %: no law explains the two sums better."""


@dataclass(frozen=True, slots=True, eq=False)
class LengthLaws:
    """Laws of lengths with the weight of each, and the logarithms of the shares that they leave: at POWERS, a row each.

    `laws` are the chances of LENGTHS, `filled` is how many items up to the limit a transaction holds on average, as a
    part of the limit.
    """

    weights: FloatArray
    laws: FloatArray
    log_shares: FloatArray
    filled: FloatArray

    @classmethod
    def of(cls, limit: int, *, items: int, middle: float) -> "LengthLaws":
        """Before anything is known but the limit, how many items there are, and about where the middle is."""
        laws, weights = _laws(middle)
        possible = laws * (items >= LENGTHS)
        is_law = possible.sum(axis=1) > 1e-6
        possible = possible[is_law] / possible[is_law].sum(axis=1, keepdims=True)
        holders = LENGTHS[:, None] ** POWERS
        kept = np.minimum(1.0, limit / LENGTHS)
        shares = (possible @ (holders * kept[:, None])) / (possible @ holders)
        return cls(weights[is_law], possible, np.log(shares), possible @ np.minimum(LENGTHS / limit, 1.0))

    def explaining_filled(self, value: float, error: float) -> "LengthLaws":
        """Weighed by how well they explain a noisy value of `filled`, with a standard deviation of its noise."""
        away = (min(value, 1.0) - self.filled) / math.hypot(error, LEAST_ERROR_OF_FILLED)
        likely = np.exp(-(away**2) / 2) + NOT_EMPTY * (self.filled > value)
        return replace(self, weights=_scaled(self.weights * likely))

    def explaining_total(
        self,
        total: float,
        scale: float,
        *,
        normalised: FloatArray,
        powers: FloatArray,
        error: float,
        most: float = math.inf,
    ) -> "LengthLaws":
        """Weighed by how well they explain a noisy sum of supports, of which normalised ones and powers are known.

        `error` is the standard deviation of the sum of the normalised ones, as a part of it. Of the items of
        a transaction that make the sum and others, `most` count.
        """
        sums = np.exp(-self.log_shares_at(powers)) @ normalised
        sums = sums * (self.laws @ np.minimum(LENGTHS, most)) / (self.laws @ LENGTHS)
        widths = np.hypot(scale, math.hypot(error, LEAST_ERROR_OF_TOTAL) * sums)
        likely = np.exp(-np.abs(total - sums) / widths) / widths
        return replace(self, weights=_scaled(self.weights * likely))

    def log_shares_at(self, powers: FloatArray) -> FloatArray:
        """The logarithms of the shares at some powers (the last axis), for each law."""
        places = np.clip((powers - POWERS[0]) / (POWERS[1] - POWERS[0]), 0.0, POWERS.size - 1.001)
        lower = places.astype(np.int64)
        part = places - lower
        found: FloatArray = self.log_shares[:, lower] * (1 - part) + self.log_shares[:, lower + 1] * part
        return found

    def quantiles_at(self, power: float, chances: tuple[float, ...]) -> tuple[float, ...]:
        """Below which logarithm of a share at that power these chances are."""
        logs = self.log_shares_at(np.array([power]))[:, 0]
        order = np.argsort(logs, kind="stable")
        weights = self.weights[order]
        reached = np.cumsum(weights) - weights / 2
        return tuple(np.interp(chances, reached, logs[order]).tolist())

    def around(self, power: float, powers: FloatArray) -> FloatArray:
        """How far the logarithms of shares at powers are from that at a power, on average over all laws."""
        logs = self.log_shares_at(np.append(power, powers))
        found: FloatArray = self.weights @ (logs[:, 1:] - logs[:, :1])
        return found


def _scaled(weights: FloatArray) -> FloatArray:
    """To a sum of 1; where nothing explains what was seen, all do as well."""
    raised = weights + 1e-290
    scaled: FloatArray = raised / raised.sum()
    return scaled


@cache
def _laws(middle: float) -> tuple[FloatArray, FloatArray]:
    """Laws of lengths, a row each, and how likely each is before anything is known: log-normal or heavy-tailed."""
    middles, spreads = (each.ravel() for each in np.meshgrid(MIDDLE_LENGTHS, list(SPREADS), indexing="ij"))
    between = np.log((LENGTHS[1:] + LENGTHS[:-1]) / 2)
    # The middle is that of held items, and of transactions a variance less.
    z = (between - (middles - spreads**2)[:, None]) / spreads[:, None]
    below = 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))
    normal = np.diff(below, axis=1, prepend=0.0, append=1.0)
    weights = np.exp(-(((middles - middle) / USUAL_WITHIN) ** 2) / 2) * np.tile(
        list(SPREADS.values()), MIDDLE_LENGTHS.size
    )
    tails, ends = (each.ravel() for each in np.meshgrid(TAILS_OF_POWERS, ENDS_OF_TAILS, indexing="ij"))
    widths = np.diff(between, prepend=math.log(0.5), append=math.log(1100))
    heavy = LENGTHS ** -tails[:, None] * widths * (ends[:, None] >= LENGTHS)
    heavy /= heavy.sum(axis=1, keepdims=True)
    of_heavy = np.full(tails.size, HEAVY_TAILED / tails.size)
    return np.vstack([normal, heavy]), np.append((1 - HEAVY_TAILED) * weights / weights.sum(), of_heavy)
