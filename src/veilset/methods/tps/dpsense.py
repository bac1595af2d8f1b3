"""DPsense (Day and Li, ASIACCS 2015), as TPS uses it: noisy supports of all items from normalised transactions.

A transaction of more than theta items counts theta / length for each of them (T6: weights are integers, rounded
down). Where theta comes from is not printed in the TPS paper (T4); we choose it for ranking, not for counts.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Each question has a share of its own:

1. the length theta: one draw of the exponential mechanism over public limits, on monotone scores of sensitivity c;
2. the supports of transactions normalised to theta, or truncated to theta random items: discrete Laplace, L1
   sensitivity c theta;
3. to scale supports up again (`scaled_up`): the sum of the supports of some items, where one transaction adds at
   most m (public, or from the theta of 1), sensitivity c m. The items are public or were chosen from noisy answers.

With given items, transactions are restricted to them before anything else: a local transformation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator, KeepRandom, NoisyCount, NormalisedCounts
from veilset.itemsets import Itemsets
from veilset.methods.shared.noisy_values import MeasuredGroup, NoisyValues
from veilset.methods.shared.shrinkage import Shrunk, shrunk, shrunk_in_groups
from veilset.methods.tps.leanings import Leanings, support_classes
from veilset.methods.tps.lengths import USUAL_MIDDLE, USUAL_OF_CHOSEN, LengthLaws
from veilset.results.estimates import Estimates

LIMITS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)
"""The lengths to choose from: public, and few, so that a small share of epsilon can tell them apart."""
PRICE = 6
"""How many scales of noise one support at the k-th place must be worth; see docs/methods/tps.md."""
LEAST_NORMALISED, LEAST_MEAN = 0.01, 1e-3
"""0.01 of the supports is left on average at the least, and 0.001 of a transaction of each."""
SPARSE = 0.125
"""1/8 of what may be added is added by a transaction on average, at the most, where lengths differ much."""
MOST_ADDED = 50
"""What one transaction adds to the sum of supports at the most; longer ones are rare once items are chosen."""


def in_order(counts: NormalisedCounts) -> Int64Array:
    """Items from the largest noisy support to the smallest; ties by place."""
    return counts.items[np.argsort(-counts.values, kind="stable")]


def dpsense(
    curator: Curator,
    *,
    k: int,
    for_length: Fraction,
    for_supports: Fraction,
    price: int = PRICE,
    items: Int64Array | None = None,
    is_random: bool = False,
) -> NormalisedCounts:
    """Noisy supports of all items, or of some, from transactions normalised to a length that suits rank k.

    With `is_random`, long transactions keep that many random items instead: the same on average, but how many
    holders of an item keep it is then one more source of error. For comparison.
    """
    scale = curator.unit.transactions / for_supports
    limit = curator.ask_truncating_length(LIMITS, k=k, price=price * scale, epsilon=for_length, items=items)
    if not is_random:
        return curator.ask_normalised_supports(limit, epsilon=for_supports, items=items)
    kept = curator.ask_item_supports(epsilon=for_supports, truncation=KeepRandom(limit))
    return NormalisedCounts(kept.itemsets.items.astype(np.int64), kept.values, limit, kept.mechanism)


def scaled_up(
    curator: Curator,
    counts: NormalisedCounts,
    chosen: Sequence[int],
    *,
    most: int,
    number: NoisyCount,
    largest: int,
    epsilon: Fraction,
) -> Estimates:
    """The supports of chosen items: what normalised ones stand for, if their sum is to be right.

    No support is above the largest that is possible. Items lean to long transactions or to short ones.
    """
    total = curator.ask_total(np.array(chosen), most=most, epsilon=epsilon)
    place_of = {item: place for place, item in enumerate(counts.items.tolist())}
    places = np.array([place_of[item] for item in chosen], np.int64)
    steps = counts.mechanism.steps
    noisy = NoisyValues.laplace(counts.values / steps, float(counts.mechanism.scale) / steps)
    together = shrunk(noisy, places, largest=largest)
    if counts.limit >= counts.items.size:
        return together.estimates(Itemsets.of((item,) for item in chosen))
    measured = NormalisedAnswers(
        noisy, places, together, total, most, counts.limit, number, counts.items.size < curator.alphabet_size
    )
    return measured.supports(largest=largest).estimates(Itemsets.of((item,) for item in chosen))


@dataclass(frozen=True, slots=True, eq=False)
class NormalisedAnswers:
    """What was answered: noisy normalised supports, the places of those chosen, and the sum of their supports.

    `normalised` are those of the chosen ones, calm. Where transactions are restricted to some items, how many of them
    hold any is not known.
    """

    noisy: NoisyValues
    places: Int64Array
    normalised: Shrunk
    total: NoisyCount
    most: int
    limit: int
    number: NoisyCount
    is_restricted: bool

    def supports(self, *, largest: float) -> Shrunk:
        """The supports of the chosen items: in classes of equal shares, by what is counted of them."""
        leanings, values = self.leanings(), self.noisy.values.copy()
        laws = self.laws(leanings)
        values[self.places] = self._means
        classes = support_classes(values, float(self._means.max()))
        of_chosen = classes[self.places]
        groups, chosen = [], []
        some = np.unique(of_chosen)
        # An item in a class of which none was chosen is like the next rarer ones, or the rarest.
        nearest = some[np.minimum(np.searchsorted(some, classes), some.size - 1)]
        for each in some.tolist():
            members = np.flatnonzero(nearest == each)
            kept = leanings.kept_at(float(leanings.powers[of_chosen == each].mean()), laws)
            groups.append(MeasuredGroup(self.noisy.take(members), kept))
            chosen.append(np.searchsorted(members, self.places[of_chosen == each]))
        found = shrunk_in_groups(groups, chosen, largest=largest)
        return found.take(np.argsort(np.argsort(of_chosen, kind="stable"), kind="stable"))

    def leanings(self) -> Leanings:
        """Which of the chosen items lean to long transactions."""
        counted = float(self._means.sum())
        share = min(max(counted / max(self.total.value, 1), LEAST_NORMALISED), 1.0)
        others = max(float(self.noisy.values.sum()) - counted, 0.0)
        held = self._means / share / max(self.number.value, 1)
        return Leanings.of(self._means, others=others, held=held)

    def laws(self, leanings: Leanings) -> LengthLaws:
        """The laws of lengths, weighed by what the two sums say."""
        items, means = self.noisy.values.size, self._means
        laws = LengthLaws.of(
            self.limit, items=items, middle=USUAL_OF_CHOSEN if self.is_restricted else USUAL_MIDDLE
        )
        if not self.is_restricted:
            full = self.limit * max(self.number.value, 1)
            noise = float(np.linalg.norm(self.noisy.deviations)) / full
            of_number = math.sqrt(2) * _scale_of(self.number) / max(self.number.value, 1)
            laws = laws.explaining_filled(float(self.noisy.values.sum()) / full, math.hypot(noise, of_number))
        of_chosen = float(means.sum()) / max(float(self.noisy.values.sum()), float(means.sum()))
        return laws.explaining_total(
            float(self.total.value),
            _scale_of(self.total),
            normalised=means,
            powers=leanings.powers,
            error=float(np.linalg.norm(self.normalised.deviations) / means.sum()),
            most=self.most / of_chosen if self.is_capped else math.inf,
        )

    @property
    def is_capped(self) -> bool:
        """Whether the sum may lack what long transactions hold; not where rows are records, of about one length."""
        return self.is_restricted or self.total.value < SPARSE * self.most * self.number.value

    @property
    def _means(self) -> FloatArray:
        """Normalised supports of the chosen items, all above 0."""
        return np.maximum(self.normalised.means, LEAST_MEAN)


def _scale_of(count: NoisyCount) -> float:
    """The scale of its noise; 0 where it is public."""
    return 0.0 if count.mechanism is None else float(count.mechanism.scale)
