"""Choosing privately how many transactions of one person count, before anything else is asked.

Privacy argument. Neighbours differ by one person with any number of transactions. Of epsilon, 1/50 pays for a histogram
of how many transactions persons have: a person is in one class, so the sensitivity is 1. Where the k best itemsets are
wanted, 3/100 pay for the support of the k-th itemset over one transaction of each person: sensitivity 1. The limit N
follows from these two noisy answers and from public values alone. From there on at most N transactions of each person
count, drawn at random, so that every later question has N times the sensitivity for one transaction; its cost adds to
what was paid here, in the same budget (sequential composition, with N chosen by earlier answers).

What is dropped makes supports too small, by the same share for all that persons hold alike. What is kept makes noise N
times as large. The limit is the one with the least sum of both for an itemset near the k-th. Noise on k supports under
one budget is taken to have a scale of sqrt(k) / epsilon for a unit of one transaction. That is a rule of thumb: on
Ta-Feng the 95 % half widths of `planned` are mostly 2 to 5 times as wide as 3 of these scales. Of 1, 2 and 3 scales, 3
was taken with the figures of fixed limits on Ta-Feng at hand; no other data had a part in that. That a class must stand
6 scales out of its noise, not 4, was settled on made-up persons who all have the same number of transactions.
"""

import math
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import LEAST_EPSILON, NoisyHistogram, PersonCurator
from veilset.methods.shared.discovery import LARGEST_SOUGHT
from veilset.request import PublishRequest, Request
from veilset.results.estimates import count_of

SHARE_FOR_PERSONS = Fraction(1, 50)
"""1/50 of epsilon for the histogram of transactions of a person."""
SHARE_FOR_ONE_EACH = Fraction(3, 100)
"""3/100 of epsilon for the support of the k-th itemset over one transaction of each person."""
PERSON_CLASSES = (1, 2, 3, 4, 5, 6, 8, 11, 15, 21, 31, 51, 101)
"""Persons are counted in these 13 classes, by their transactions; each holds the numbers up to the next."""
PERSON_LIMITS = tuple(least - 1 for least in PERSON_CLASSES[1:])
"""1 to 100 transactions of a person may count: the last number of each class, so that no class is cut within."""
TYPICAL_NUMBERS = np.sqrt(np.array(PERSON_CLASSES, np.float64) * np.array([*PERSON_LIMITS, 200]))
"""The number of transactions that stands for each class: the geometric mean of its ends."""
CROWD_ABOVE_NOISE = 6.0
"""A class of persons counts only where its noisy number is 6 scales of its noise or more: few have many transactions,
and noise must not pass for them; in 1 choice of 70 it does."""
WIDTH_OF_NOISE = math.log(20)
"""3 scales of noise: 1 time in 20 it is larger."""
TYPICAL_K = 100
"""100 itemsets stand for those above a threshold, of which nobody knows how many there are, and for a dataset."""
TYPICAL_SHARE = Fraction(1, 100)
"""1 % of all transactions hold what a dataset is typically asked for."""


def choose_per_owner(curator: PersonCurator, request: Request | PublishRequest, *, epsilon: Fraction) -> int:
    """How many transactions of one person should count, for the least error of an itemset near the k-th."""
    told = curator.ask_transactions_by_person(PERSON_CLASSES, epsilon=epsilon * SHARE_FOR_PERSONS)
    persons = persons_by_class(told)
    support = ask_typical_support(curator, request, persons, epsilon=epsilon * SHARE_FOR_ONE_EACH)
    scale = math.sqrt(_wanted(request)) / float(curator.budget.left)
    payable = [limit for limit in PERSON_LIMITS if curator.budget.left / limit >= LEAST_EPSILON]
    return min(
        payable or PERSON_LIMITS[:1],
        key=lambda limit: error_of_limit(limit, persons, support=support, scale=scale),
    )


def persons_by_class(told: NoisyHistogram) -> FloatArray:
    """How many persons each class has, as far as it stands out from noise; where none does, all have one each."""
    noise = CROWD_ABOVE_NOISE * float(told.mechanism.scale)
    persons: FloatArray = np.where(told.values >= noise, told.values, 0).astype(np.float64)
    if not persons.any():
        persons[0] = 1.0
    return persons


def ask_typical_support(
    curator: PersonCurator, request: Request | PublishRequest, persons: FloatArray, *, epsilon: Fraction
) -> float:
    """The support among all transactions at which an error counts: the threshold's, or the k-th, which is paid for."""
    transactions = float(persons @ TYPICAL_NUMBERS)
    if isinstance(request, PublishRequest):
        return max(1.0, float(TYPICAL_SHARE) * transactions)
    if request.min_support is not None:
        return max(1.0, count_of(request.min_support, transactions=round(transactions)))
    largest = min(request.max_size or LARGEST_SOUGHT, LARGEST_SOUGHT)
    one_each = curator.ask_kth_support_of_one_each(request.k or 1, max_size=largest, epsilon=epsilon)
    return max(1.0, one_each.value) * transactions / float(persons.sum())


def error_of_limit(limit: int, persons: FloatArray, *, support: float, scale: float) -> float:
    """The share of transactions that a limit drops, and noise, in relation to a support.

    `scale` is that of the noise on a support where one transaction of a person counts.

    >>> persons = np.zeros(len(PERSON_CLASSES))
    >>> persons[[0, 2]] = 900, 100  # 900 persons with 1 transaction, 100 with 3
    >>> [round(error_of_limit(limit, persons, support=600, scale=10), 2) for limit in (1, 2, 3, 4)]
    [0.22, 0.18, 0.15, 0.2]
    """
    kept = float(persons @ np.minimum(TYPICAL_NUMBERS, limit))
    dropped = 1 - kept / float(persons @ TYPICAL_NUMBERS)
    return dropped + WIDTH_OF_NOISE * limit * scale / support


def _wanted(request: Request | PublishRequest) -> int:
    """How many supports share the budget."""
    return TYPICAL_K if isinstance(request, PublishRequest) or request.k is None else request.k
