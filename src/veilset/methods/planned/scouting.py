"""Scouting: about which support the answer has at least, and whether few items carry it.

Privacy argument. The support of the k-th itemset changes by at most c, the transactions of one privacy unit; where a
threshold is given it is not asked for. How many items are as frequent is one draw of the exponential mechanism on a
score of sensitivity c that is not monotone; it is asked only where the first answer says that it matters. Each takes
its share of epsilon; everything else is post-processing.
"""

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction

from veilset.gate import Curator, NoisyCount
from veilset.itemsets import Domain
from veilset.methods.planned.knowledge import Knowledge
from veilset.methods.planned.overlap import GaussianOffer
from veilset.methods.planned.settings import Settings
from veilset.methods.shared.preliminaries import Preliminaries
from veilset.request import Request


@dataclass(frozen=True, slots=True)
class ThresholdEstimate:
    """A support that about k itemsets reach, and the lowest that it may be."""

    support: int
    floor: int

    @classmethod
    def given(cls, min_count: int) -> "ThresholdEstimate":
        """The threshold that the caller gave: nothing lies below it."""
        return cls(max(min_count, 1), max(min_count, 1))

    @classmethod
    def of(cls, kth_support: NoisyCount, *, number: int, settings: Settings) -> "ThresholdEstimate":
        """From the noisy support of the k-th itemset among a number of transactions."""
        support = min(max(kth_support.value, 1), max(number, 1))
        scale = float(kth_support.mechanism.scale) if kth_support.mechanism else 0.0
        return cls(support, max(1, math.floor(support - settings.floor_in_scales * scale)))


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
        gaussian: the chance to put Gaussian noise on counts, where there is a delta.
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
    gaussian: GaussianOffer | None = None

    @property
    def k(self) -> int:
        """How many itemsets are wanted; for a threshold, about how many it stands for."""
        return self.preliminaries.k

    @property
    def number(self) -> int:
        """About how many transactions there are, at least 1."""
        return max(self.preliminaries.number.value, 1)

    @property
    def most_transactions(self) -> int:
        """The most transactions that there may be: the noisy number may be too low for what is measured."""
        noise = self.preliminaries.number.mechanism
        return self.number + (0 if noise is None else noise.half_width())

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
    is_given = request.k is None
    price = Fraction(0) if is_given else epsilon * settings.share_for_kth
    if is_given:
        estimate = ThresholdEstimate.given(preliminaries.min_count)
    else:
        answer = curator.ask_kth_support(preliminaries.k, domain=domain, epsilon=price)
        estimate = ThresholdEstimate.of(answer, number=preliminaries.number.value, settings=settings)
    scouting = SparseScouting(
        preliminaries=preliminaries,
        domain=domain,
        settings=settings,
        unit_transactions=curator.unit.transactions,
        threshold=estimate.support,
        floor=estimate.floor,
        is_given=is_given,
        epsilon=epsilon,
        remaining=preliminaries.remaining - price,
        gaussian=_gaussian_offer(curator),
    )
    return _ask_rank(curator, scouting) if is_rank_worth_asking(scouting) else scouting


def _gaussian_offer(curator: Curator) -> GaussianOffer | None:
    """Gaussian noise for whoever has a delta that is not spent."""
    budget = curator.budget
    if budget.delta_left == 0:
        return None
    return GaussianOffer(lambda epsilon: budget.gaussian_cost(epsilon).rho, curator.unit.transactions)


def _ask_rank(curator: Curator, scouting: SparseScouting) -> DenseScouting | SparseScouting:
    """Ask how many items are as frequent as the k-th itemset."""
    rank = curator.ask_matching_rank(
        scouting.compared_rank,
        domain=scouting.domain,
        most=min(scouting.compared_rank, curator.alphabet_size),
        epsilon=scouting.price(scouting.settings.share_for_rank),
    )
    return with_rank(scouting, rank)


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
