"""Transactions normalised to a length: which length to take, decided under the exponential mechanism.

DPsense (Day and Li 2015) lets a transaction of n > limit items count limit / n for each of them, so that it moves all
supports together by at most `limit`. Weights are integers, WEIGHT_STEPS for a whole transaction, and rounded down
for each transaction before they are added: the bound holds exactly, with no floating-point number in sight.

Which limit? The score of a limit is

    score = (k-th largest normalised support) - price * limit,      price public.

One more transaction raises every normalised support by 0 to 1 whatever the limit, and so the k-th largest of
them: scores are monotone with sensitivity 1. The price says how many supports at the k-th place one more item
of length must bring to be worth its noise; it is the caller's, who knows what the counts are for.
"""

from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.raw.cuts.truncation import KeepAll, OnlyItems, Truncation
from veilset.raw.engines import DrawKeys, Engine

WEIGHT_STEPS = 1 << 20
"""A whole transaction weighs 2^20. A weight is off by less than one part in a thousand up to 1000 items."""


def restricted(items: Int64Array | None) -> Truncation:
    """Transactions as they are, or what they hold of some items."""
    return KeepAll() if items is None else OnlyItems(items, KeepAll())


def limit_scores(
    engine: Engine, limits: Int64Array, items: Int64Array | None, *, k: int, price: Fraction, draw: DrawKeys
) -> Int64Array:
    """The score of each limit, in steps."""
    values = engine.normalised_supports(limits, restricted(items), draw, steps=WEIGHT_STEPS).values
    among = values if items is None else values[items]
    kth = np.partition(among, among.shape[0] - k, axis=0)[among.shape[0] - k]
    prices = [round(price * WEIGHT_STEPS * limit) for limit in limits.tolist()]
    scores: Int64Array = kth - np.array(prices, dtype=np.int64)
    return scores
