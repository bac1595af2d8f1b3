"""Finding the items privately, before a method runs.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Of epsilon, 1/50 pays for a histogram
of lengths (sensitivity c), 3/100 for the support of the k-th itemset (sensitivity c; not where a threshold is given),
and 1/20 to 2/5, with half of delta, for the names of the items (`gate.selection.item_discovery`). The share, the law of
the noise and the longest length follow from the first two answers. What is left of epsilon is the method's, whose
curator knows no other items than those that were named: dropping items looks at one transaction at a time.

An item can only be part of an answer if it is about as frequent as the answer's rarest itemset. So the share of epsilon
for naming items is the smallest with which items of that support are expected to be named, with some room. Which law of
noise does that, and to how many items long transactions are truncated, follows from how long transactions are.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import (
    Curator,
    NamingLaw,
    NoisyHistogram,
    UnnamedCurator,
    expected_threshold,
    naming_noise,
    weights_by_length,
)
from veilset.request import PublishRequest, Request
from veilset.results.estimates import count_of

LENGTH_CLASSES = (0, 1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
"""Lengths are asked for in these 11 classes; each holds the lengths from its number up to the next."""
TYPICAL_LENGTHS = np.sqrt(
    np.array(LENGTH_CLASSES[1:], np.float64) * np.array([*(bound - 1 for bound in LENGTH_CLASSES[2:]), 512])
)
"""The length that stands for each class but the first: the geometric mean of its ends."""
LAWS: tuple[NamingLaw, ...] = ("gaussian", "laplace")
SHARE_OF_DELTA = Fraction(1, 2)
SHARE_FOR_LENGTHS = Fraction(1, 50)
SHARE_FOR_SUPPORT = Fraction(3, 100)
LARGEST_SOUGHT = 12
"""12 items at most in the itemset whose support tells how frequent items must be, unless the caller allows fewer."""
SHARE_FOR_DATASET = Fraction(1, 5)
"""1/5 of epsilon for naming the items of a whole dataset, in which no support is in question."""
SHARES_FOR_NAMING = tuple(Fraction(percent, 100) for percent in (5, 7, 10, 12, 15, 18, 20, 25, 30, 35, 40))
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


def find_items(
    curator: UnnamedCurator,
    request: Request | PublishRequest,
    *,
    epsilon: Fraction,
    delta: Fraction,
    laws: Iterable[NamingLaw] = LAWS,
    share_of_delta: Fraction = SHARE_OF_DELTA,
) -> Curator:
    """Name the items that may be part of an answer, at the least price that is expected to do.

    Takes a share of delta; the rest is for Gaussian noise in the method's own questions, where it has any. No method
    that publishes a dataset has, so there it takes all.
    """
    delta *= share_of_delta if isinstance(request, Request) else 1
    lengths = curator.ask_length_classes(LENGTH_CLASSES, epsilon=epsilon * SHARE_FOR_LENGTHS)
    transactions = curator.unit.transactions
    if isinstance(request, Request):
        support = ask_sought_support(curator, request, lengths, epsilon=epsilon * SHARE_FOR_SUPPORT)
        naming = choose_naming(
            lengths, support, epsilon=epsilon, delta=delta, transactions=transactions, laws=laws
        )
    else:
        naming = furthest(
            occurrences(lengths), SHARE_FOR_DATASET, epsilon, delta, transactions=transactions, laws=laws
        )
    return curator.ask_alphabet(
        naming.law, longest=naming.longest, epsilon=epsilon * naming.share, delta=delta, lengths=lengths
    )


def ask_sought_support(
    curator: UnnamedCurator, request: Request, lengths: NoisyHistogram, *, epsilon: Fraction
) -> float:
    """The support of the rarest itemset that is wanted: a threshold, or that of the k-th itemset, which is paid for."""
    if request.min_support is not None:
        return count_of(request.min_support, transactions=int(lengths.values.sum()))
    largest = min(request.max_size or LARGEST_SOUGHT, LARGEST_SOUGHT)
    return curator.ask_kth_support(request.k or 1, max_size=largest, epsilon=epsilon).value


def choose_naming(
    lengths: NoisyHistogram,
    support: float,
    *,
    epsilon: Fraction,
    delta: Fraction,
    transactions: int,
    laws: Iterable[NamingLaw] = LAWS,
) -> Naming:
    """The smallest share of epsilon that reaches a support with room to spare, or the largest share there is."""
    numbers = occurrences(lengths)
    for share in SHARES_FOR_NAMING:
        naming = furthest(numbers, share, epsilon, delta, transactions=transactions, laws=laws)
        if naming.reach * ROOM <= support:
            break
    return naming


def occurrences(lengths: NoisyHistogram) -> FloatArray:
    """How many items the transactions of each class of lengths hold together, as far as they stand out from noise."""
    noise = ABOVE_NOISE * float(lengths.mechanism.scale)
    numbers: FloatArray = np.where(lengths.values[1:] >= noise, lengths.values[1:], 0) * TYPICAL_LENGTHS
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
            Naming(law, longest, share, reach_of(law, longest, numbers, epsilon * share, delta, transactions))
            for law, longest in product(laws, LENGTH_CLASSES[1:])
        ),
        key=lambda naming: naming.reach,
    )


def reach_of(
    law: NamingLaw, longest: int, numbers: FloatArray, epsilon: Fraction, delta: Fraction, transactions: int
) -> float:
    """The support at which an item is named half of the time: the threshold, over what an item weighs on average."""
    threshold = _predicted_threshold(law, longest, epsilon, delta, transactions)
    return threshold * float(numbers.sum()) / float(numbers @ _average_weights(law, longest))


@lru_cache(maxsize=4096)
def _predicted_threshold(
    law: NamingLaw, longest: int, epsilon: Fraction, delta: Fraction, transactions: int
) -> float:
    noise = naming_noise(law, transactions=transactions, epsilon=epsilon, delta=delta)
    heaviest = transactions * weights_by_length(law, longest)[1:].astype(np.float64)
    chance = float(noise.for_threshold / transactions)
    return expected_threshold(law, float(noise.scale), heaviest.tolist(), chance)


@lru_cache(maxsize=64)
def _average_weights(law: NamingLaw, longest: int) -> FloatArray:
    """What an item weighs on average in transactions of each class but the first, where truncation may drop it."""
    truncated = np.minimum(TYPICAL_LENGTHS, longest)
    weights = weights_by_length(law, longest)[np.rint(truncated).astype(np.int64)]
    average: FloatArray = weights * truncated / TYPICAL_LENGTHS
    return average
