"""Finding the items privately, before a method runs: what it may cost, and how transactions weigh.

Post-processing: everything here follows from noisy answers and public numbers.

An item can only be part of an answer if it is about as frequent as the answer's rarest itemset. So the share of epsilon
for naming items is the smallest with which items of that support are expected to be named, with some room. Which law of
noise does that, and to how many items long transactions are cut, follows from how long transactions are.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import NamingLaw, NoisyHistogram, expected_threshold, naming_noise, weights_by_length

CLASSES = (0, 1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
"""Lengths are asked for in these 11 classes; each holds the lengths from its number up to the next."""
TYPICAL_LENGTHS = np.sqrt(
    np.array(CLASSES[1:], np.float64) * np.array([*(bound - 1 for bound in CLASSES[2:]), 512])
)
"""The length that stands for each class but the first: the geometric mean of its ends."""
SHARES = tuple(Fraction(percent, 100) for percent in (5, 7, 10, 12, 15, 18, 20, 25, 30, 35, 40))
"""5 to 40 % of epsilon for naming items."""
ROOM = 1.25
"""An item of 1.25 times the support at which one is expected to be named, is named almost surely."""
ABOVE_NOISE = 2.0
"""A class of lengths counts only where its noisy number is 2 scales of its noise or more."""


@dataclass(frozen=True, slots=True)
class Naming:
    """How items are to be named: the law of the noise, the longest length, a share of epsilon, and how far it reaches.

    `reach` is the support at which an item in transactions of average length is named half of the time.
    """

    law: NamingLaw
    longest: int
    share: Fraction
    reach: float


def choose_naming(
    lengths: NoisyHistogram,
    support: float,
    *,
    epsilon: Fraction,
    delta: Fraction,
    transactions: int,
    laws: Iterable[NamingLaw] = ("gaussian", "laplace"),
) -> Naming:
    """The smallest share of epsilon that reaches a support with room to spare, or the largest share there is."""
    numbers = occurrences(lengths)
    for share in SHARES:
        naming = furthest(numbers, share, epsilon * share, delta, transactions=transactions, laws=laws)
        if naming.reach * ROOM <= support:
            break
    return naming


def occurrences(lengths: NoisyHistogram) -> FloatArray:
    """How many items the transactions of each class of lengths hold together, as far as they stand out from noise."""
    noise = ABOVE_NOISE * float(lengths.mechanism.scale)
    numbers = np.where(lengths.values[1:] >= noise, lengths.values[1:], 0) * TYPICAL_LENGTHS
    return numbers if numbers.any() else TYPICAL_LENGTHS


def furthest(
    numbers: FloatArray,
    share: Fraction,
    epsilon: Fraction,
    delta: Fraction,
    *,
    transactions: int,
    laws: Iterable[NamingLaw],
) -> Naming:
    """The law and the longest length that name the rarest items, at one price."""
    return min(
        (
            Naming(law, longest, share, reach_of(law, longest, numbers, epsilon, delta, transactions))
            for law, longest in product(laws, CLASSES[1:])
        ),
        key=lambda naming: naming.reach,
    )


def reach_of(
    law: NamingLaw, longest: int, numbers: FloatArray, epsilon: Fraction, delta: Fraction, transactions: int
) -> float:
    """The support at which an item is named half of the time: the threshold, over what an item weighs on average."""
    weights = weights_by_length(law, longest)
    noise = naming_noise(law, transactions=transactions, epsilon=epsilon, delta=delta)
    chance = float(noise.for_threshold / transactions)
    threshold = expected_threshold(law, float(noise.scale), (transactions * weights[1:]).tolist(), chance)
    cut = np.minimum(TYPICAL_LENGTHS, longest)
    weight = weights[np.rint(cut).astype(np.int64)] * cut / TYPICAL_LENGTHS
    return threshold / float(numbers @ weight / numbers.sum())
