"""Scouting: about which support the answer has at least, and whether few items carry it.

Privacy argument. The support of the k-th itemset changes by at most c, the transactions of one privacy unit; where a
threshold is given it is not asked for. How many items are as frequent is one draw of the exponential mechanism on a
score of sensitivity c that is not monotone; it is asked only where the first answer says that it matters. Each takes
its share of epsilon; everything else is post-processing.
"""

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction

from veilset.gate import Curator
from veilset.itemsets import Domain
from veilset.methods.planned.knowledge import Knowledge
from veilset.methods.planned.settings import Settings
from veilset.methods.shared.preliminaries import Preliminaries
from veilset.request import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Scouting:
    """What is looked for, and what remains of epsilon after the small questions.

    Attributes:
        preliminaries: the first answers, with k and the noisy number of transactions.
        domain: every itemset that may be in the answer.
        settings: the tuning of every later step.
        unit_transactions: how many transactions one privacy unit has.
        threshold: about k itemsets have this support or more.
        floor: the lowest that this support may be.
        is_given: whether the threshold was given by the caller.
        epsilon: all of it.
        remaining: what is not spent.
    """

    preliminaries: Preliminaries
    domain: Domain
    settings: Settings
    unit_transactions: int
    threshold: int
    floor: int
    is_given: bool
    epsilon: Fraction
    remaining: Fraction

    @property
    def k(self) -> int:
        """How many itemsets are wanted; for a threshold, about how many it stands for."""
        return self.preliminaries.k

    @property
    def number(self) -> int:
        """About how many transactions there are, at least 1."""
        return max(self.preliminaries.number.value, 1)

    @property
    def compared_rank(self) -> int:
        """The rank of the itemset whose support items and pairs are compared with: somewhat more than k."""
        return min(math.ceil(self.settings.margin * self.k), self.domain.size)

    @property
    def fewest_items(self) -> int:
        """No fewer items make k itemsets."""
        return fewest_items(self.k, max_size=self.domain.max_size, largest_group=self.settings.largest_group)

    def price(self, share: Fraction) -> Fraction:
        """A share of all of epsilon."""
        return self.epsilon * share

    def noise(self, epsilon: Fraction, *, cap: int = 1) -> float:
        """The scale of the noise of counts that one transaction moves by the cap, all together."""
        return cap * self.unit_transactions / float(epsilon)

    def support_in_question(self, known: Knowledge) -> float:
        """The support that an itemset of the answer has at least, by what is known."""
        return self.threshold if self.is_given else max(known.kth_support(self.k), self.floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseScouting(Scouting):
    """Many items carry the answer, or a transaction contains little of it: sizes are measured one after another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseScouting(Scouting):
    """Few items carry the answer, and transactions contain much of it: marginals of these items err less.

    About `rank` items are as frequent as the k-th itemset.
    """

    rank: int


def ask_scouting(
    curator: Curator,
    request: Request,
    preliminaries: Preliminaries,
    *,
    domain: Domain,
    epsilon: Fraction,
    settings: Settings,
) -> DenseScouting | SparseScouting:
    """Ask for the k-th support, unless a threshold is given, and how many items are as frequent, if few may be."""
    number = max(preliminaries.number.value, 1)
    if request.k is None:
        threshold = floor = max(preliminaries.min_count, 1)
        price = Fraction(0)
    else:
        price = epsilon * settings.share_for_kth
        answer = curator.ask_kth_support(preliminaries.k, domain=domain, epsilon=price)
        threshold = min(max(answer.value, 1), number)
        scale = float(answer.mechanism.scale) if answer.mechanism else 0.0
        floor = lowest_support(threshold, scale, settings)
    scouting = SparseScouting(
        preliminaries=preliminaries,
        domain=domain,
        settings=settings,
        unit_transactions=curator.unit.transactions,
        threshold=threshold,
        floor=floor,
        is_given=request.k is None,
        epsilon=epsilon,
        remaining=preliminaries.left - price,
    )
    return _ask_rank(curator, scouting) if is_rank_worth_asking(scouting) else scouting


def _ask_rank(curator: Curator, scouting: SparseScouting) -> DenseScouting | SparseScouting:
    """Ask how many items are as frequent as the k-th itemset."""
    rank = curator.ask_matching_rank(
        scouting.compared_rank,
        domain=scouting.domain,
        most=min(scouting.compared_rank, curator.alphabet_size),
        epsilon=scouting.price(scouting.settings.share_for_rank),
    )
    return with_rank(scouting, rank)


def lowest_support(threshold: int, scale: float, settings: Settings) -> int:
    """The lowest that the k-th support may be, where noise of a scale made it the threshold."""
    return max(1, math.floor(threshold - settings.floor_in_scales * scale))


def is_rank_worth_asking(scouting: Scouting) -> bool:
    """Whether marginals would err less if no more items than necessary carried the answer."""
    fewest = scouting.fewest_items
    return fewest <= scouting.settings.largest_group and marginals_err_less(scouting, items=fewest)


def with_rank(scouting: SparseScouting, answered: int) -> DenseScouting | SparseScouting:
    """After the number of items was paid for: dense, where few enough items carry the answer."""
    settings = scouting.settings
    paid = replace(scouting, remaining=scouting.remaining - scouting.price(settings.share_for_rank))
    rank = min(max(answered, scouting.fewest_items), len(scouting.domain.items))
    if rank > settings.most_carriers or not marginals_err_less(scouting, items=rank):
        return paid
    return DenseScouting(**{field.name: getattr(paid, field.name) for field in fields(paid)}, rank=rank)


def fewest_items(k: int, *, max_size: int, largest_group: int) -> int:
    """The fewest items that make k itemsets; one more than the largest group, where that is too small.

    >>> [fewest_items(k, max_size=12, largest_group=14) for k in (1, 2, 3, 4, 50)]
    [1, 2, 2, 3, 6]
    >>> fewest_items(50, max_size=1, largest_group=14)
    15
    """
    numbers = range(1, largest_group + 1)
    return next((n for n in numbers if Domain(range(n), max_size).size >= k), largest_group + 1)


def marginals_err_less(scouting: Scouting, *, items: int) -> bool:
    """Whether a marginal of the items that carry an answer errs less than capped counts of its itemsets.

    A transaction contains at least k * frequency of the answer on average, and about half as much again is a cap that
    it fits under: that is the noise of capped counts. The noise of a marginal of g items, added up for an itemset of
    two or three, is 2^((g - 2.5) / 2).
    """
    settings, frequency = scouting.settings, scouting.threshold / scouting.number
    capped = settings.cap_over_average * scouting.k * min(1.0, frequency)
    return capped > math.pow(2.0, (min(items, settings.largest_basis) - settings.scouted_size) / 2)
