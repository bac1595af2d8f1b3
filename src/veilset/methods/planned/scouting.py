"""What `planned` looks for: about which support, and whether few items carry the answer.

Privacy argument. The support of the k-th itemset changes by at most c, the transactions of one privacy unit; where a
threshold is given it is not asked for. How many items are as frequent is one draw of the exponential mechanism on a
score of sensitivity c that is not monotone; it is asked only where the first answer says that it matters. Each takes
its share of epsilon; everything else is post-processing.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from veilset.gate import Curator
from veilset.itemsets import Domain
from veilset.methods.planned.posterior import Posterior
from veilset.methods.shared.preliminaries import Preliminaries
from veilset.request import Request

SHARE_FOR_KTH, SHARE_FOR_RANK = Fraction(3, 100), Fraction(1, 20)
MARGIN = Fraction(11, 10)
"""Ranks are compared with the support of the itemset of this many times k."""
FLOOR_IN_SCALES = 2.5
"""So many scales of noise below what was answered, the k-th support may still be."""
LARGEST_GROUP, LARGEST_BASIS = 14, 12
"""So many items are counted together, at the most; so many where there may be several groups."""
MOST_CARRIERS = 2 * LARGEST_GROUP
"""Where more items than this carry the answer, a group of them says too little about it."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What is looked for, and what is left of epsilon, after the small questions.

    About k itemsets have a support of `about` or more, most likely at least `floor`; `rank` items do, or too many to
    matter (None).
    """

    first: Preliminaries
    domain: Domain
    k: int
    number: int
    about: int
    floor: int
    is_given: bool
    rank: int | None
    epsilon: Fraction
    left: Fraction

    @property
    def is_dense(self) -> bool:
        """Whether transactions hold so much of the answer that joint patterns of few items err less."""
        frequency = self.about / self.number
        return (
            self.rank is not None
            and self.rank <= MOST_CARRIERS
            and marginals_err_less(self.k, frequency, items=self.rank)
        )

    def support(self, posterior: Posterior) -> float:
        """The support that an itemset of the answer has at least."""
        return self.about if self.is_given else max(posterior.kth_support(self.k), self.floor)


def ask_aim(
    curator: Curator, first: Preliminaries, request: Request, *, domain: Domain, epsilon: Fraction
) -> Aim:
    """Ask for the k-th support, unless a threshold is given, and how many items are as frequent, if few may be."""
    left, k, number = first.remaining, first.k, max(first.number.value, 1)
    if request.k is None:
        about = floor = max(first.min_count, 1)
    else:
        answer = curator.ask_kth_support(k, domain=domain, epsilon=epsilon * SHARE_FOR_KTH)
        left -= epsilon * SHARE_FOR_KTH
        about = min(max(answer.value, 1), number)
        scale = float(answer.mechanism.scale) if answer.mechanism else 0.0
        floor = max(1, math.floor(about - FLOOR_IN_SCALES * scale))
    rank, fewest = None, fewest_items(k, max_size=domain.max_size)
    if fewest <= LARGEST_GROUP and marginals_err_less(k, about / number, items=fewest):
        wider = wider_than(k, domain)
        most = min(wider, curator.alphabet_size)
        answered = curator.ask_matching_rank(
            wider, domain=domain, most=most, epsilon=epsilon * SHARE_FOR_RANK
        )
        left -= epsilon * SHARE_FOR_RANK
        rank = min(max(answered, fewest), curator.alphabet_size)
    return Aim(first, domain, k, number, about, floor, request.k is None, rank, epsilon, left)


def wider_than(k: int, domain: Domain) -> int:
    """The number of itemsets whose least frequent one ranks are compared with."""
    return min(math.ceil(MARGIN * k), domain.size)


def fewest_items(k: int, *, max_size: int) -> int:
    """So many items make k itemsets, not fewer; more than LARGEST_GROUP is all the same.

    >>> [fewest_items(k, max_size=12) for k in (1, 2, 3, 4, 50)], fewest_items(50, max_size=1)
    ([1, 2, 2, 3, 6], 15)
    """
    numbers = range(1, LARGEST_GROUP + 1)
    return next((n for n in numbers if Domain(range(n), max_size).size >= k), LARGEST_GROUP + 1)


def marginals_err_less(k: int, frequency: float, *, items: int) -> bool:
    """Whether joint patterns of the items that carry an answer err less than shared supports of its itemsets.

    A transaction holds at least k * frequency of the answer on average, and about half as much again is a cap that it
    fits under: that is the noise of shared supports. The noise of patterns of g items, added up for an itemset of two
    or three, is 2^((g - 2.5) / 2).
    """
    shared = 1.5 * k * min(1.0, frequency)
    return shared > math.pow(2.0, (min(items, LARGEST_BASIS) - 2.5) / 2)
