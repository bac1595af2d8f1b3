"""The Curator: the one door between raw data and everybody else.

Every `ask_` method is one question. It charges the budget (or raises BudgetExceeded before it looks), looks,
adds noise and returns a noisy answer; the charge is the row of the trace. A question's sensitivity is stated
for one transaction and multiplied by the number of transactions that one privacy unit may have.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np

from veilset.errors import BadCall
from veilset.gate import prefix_tree, scored
from veilset.gate.answers import Chosen, NoisyCount, NoisyCounts, NoisyHistogram
from veilset.gate.budget import Account
from veilset.gate.mechanisms import DiscreteLaplace, Exponential
from veilset.gate.noise import Noise
from veilset.gate.noisy_tree import NoisyTree
from veilset.gate.sampling import SampleAccount, SampledEngine, drawable_rate
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.raw.bound import Cut, KeepAll, OnlyItems, l1_sensitivity
from veilset.raw.counts import ExactCounts, Int64Array
from veilset.raw.engines import Engine
from veilset.raw.transactions import Item

LARGEST_GROUP = 16
"""Joint patterns have 2^n classes: more items than this make a histogram that nobody can use."""


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """Who is protected: the one thing in which neighbouring databases differ."""

    name: str
    transactions: int

    def sentence(self) -> str:
        """The unit in words."""
        if self.name == "transaction":
            return "one transaction"
        return f"one {self.name}, with at most {self.transactions} transactions"


class Curator:
    """Answers questions about private transactions within a budget. Has no length and cannot be iterated."""

    def __init__(
        self,
        engine: Engine,
        *,
        budget: Account,
        noise: Noise,
        unit: PrivacyUnit,
        public_number: int | None = None,
    ) -> None:
        self._engine = engine
        self._noise = noise
        self.budget = budget
        self.unit = unit
        self.public_number = public_number
        self.alphabet_size = len(engine.alphabet)
        self.alphabet_is_given = engine.alphabet.is_given
        self.is_private = noise.is_private

    def names(self, itemset: Itemset) -> tuple[Item, ...]:
        """What the items of an itemset are called; the alphabet is public."""
        return tuple(self._engine.alphabet.names[code] for code in itemset)

    def domain(self, *, max_size: int, min_size: int = 1) -> Domain:
        """All itemsets up to a size over the whole alphabet."""
        return Domain(items=range(self.alphabet_size), max_size=max_size, min_size=min_size)

    def on_sample(self, rate: Fraction, *, epsilon: Fraction) -> "Curator":
        """A curator over a random sample, drawn once; what it is asked costs at most epsilon here, all together.

        Every transaction is in the sample with probability `rate`, which is public or paid for. Its questions
        cost what they say on the sample and less here: see `gate.sampling`. Its budget tells what they may
        cost on the sample, its trace rows stand among the charges of this curator.
        """
        drawn = drawable_rate(rate)
        account = SampleAccount(self.budget, rate=drawn, transactions=self.unit.transactions, epsilon=epsilon)
        engine = cast("Engine", SampledEngine(self._engine, rate=drawn, draw=self._noise.keys))
        return Curator(engine, budget=account, noise=self._noise, unit=self.unit)

    def ask_number(self, *, epsilon: Fraction) -> NoisyCount:
        """How many transactions there are: as published, or noisy. One transaction moves it by 1."""
        if self.public_number is not None:
            return NoisyCount(self.public_number, None)
        values, mechanism = self._noisy(
            "number of transactions",
            lambda: self._engine.number(),  # noqa: PLW0108 - even the engine's method is looked up after the charge
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyCount(int(values[0]), mechanism)

    def ask_lengths(self, *, limit: int, epsilon: Fraction, cut: Cut | None = None) -> NoisyHistogram:
        """How many transactions have 0, 1, ..., limit items (the last: or more), after the cut.

        A transaction has one length, so it moves one of the counts by 1.
        """
        if limit < 1:
            raise BadCall(f"a length limit of {limit} leaves no histogram; give at least 1")
        bound = cut or KeepAll()
        values, mechanism = self._noisy(
            f"lengths up to {limit}{_under(cut)}",
            lambda: self._engine.lengths(bound, self._noise.keys, limit=limit),
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyHistogram(values, mechanism)

    def ask_item_supports(self, *, epsilon: Fraction, cut: Cut | None = None) -> NoisyCounts:
        """How many transactions hold each item of the alphabet, after the cut.

        A transaction moves as many counts by 1 as it holds items after the cut.
        """
        bound = cut or KeepAll()
        every_item = Itemsets.of((code,) for code in range(self.alphabet_size))
        values, mechanism = self._noisy(
            f"supports of all items{_under(cut)}",
            lambda: self._engine.item_supports(bound, self._noise.keys),
            sensitivity=self._l1(every_item, bound),
            epsilon=epsilon,
        )
        return NoisyCounts(every_item, values, mechanism)

    def ask_supports(self, itemsets: Itemsets, *, epsilon: Fraction, cut: Cut | None = None) -> NoisyCounts:
        """How many transactions hold all of each itemset, after the cut.

        A transaction of L items after the cut moves at most C(L, size) of the itemsets of each size by 1.
        """
        bound = cut or KeepAll()
        if len(itemsets) == 0:
            raise BadCall("no itemsets to count; ask for at least one")
        if len(set(itemsets)) < len(itemsets):  # a second copy would move without having been reckoned with
            raise BadCall("an itemset stands twice among those to count; give each once")
        values, mechanism = self._noisy(
            f"supports of {len(itemsets)} itemsets{_under(cut)}",
            lambda: self._engine.supports(itemsets.offsets, itemsets.items, bound, self._noise.keys),
            sensitivity=self._l1(itemsets, bound),
            epsilon=epsilon,
        )
        return NoisyCounts(itemsets, values, mechanism)

    def ask_joint_patterns(
        self, items: tuple[int, ...], *, epsilon: Fraction, cut: Cut | None = None
    ) -> NoisyHistogram:
        """How many transactions hold exactly which of the items; bit i of a pattern's number is `items[i]`.

        A transaction shows one pattern, so it moves one of the 2^n counts by 1.
        """
        if not 1 <= len(set(items)) == len(items) <= LARGEST_GROUP:
            raise BadCall(
                f"joint patterns need 1 to {LARGEST_GROUP} different items; {len(items)} were given"
            )
        bound, codes = cut or KeepAll(), np.array(items, dtype=np.int32)
        values, mechanism = self._noisy(
            f"joint patterns of {len(items)} items{_under(cut)}",
            lambda: self._engine.joint_patterns(codes, bound, self._noise.keys),
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyHistogram(values, mechanism)

    def ask_prefix_tree(
        self, order: tuple[int, ...], *, depth: int, threshold: int, epsilon: Fraction, cut: Cut | None = None
    ) -> NoisyTree:
        """How many transactions begin with which items, in a public order: the nodes that reach a threshold.

        After the cut, a transaction is a path of its first `depth` items in the order. It moves the counts of the
        nodes on its path by 1, at most one on each level, so by `depth` all together. Every possible child of a
        node that is kept is tested alike, whether a transaction passed or not: see `gate.prefix_tree`.
        """
        codes, bound = np.array(order, dtype=np.int32), cut or KeepAll()
        mechanism = DiscreteLaplace(depth * self.unit.transactions, epsilon) if depth > 0 else None
        if mechanism is None or not order or len(set(order)) < len(order):
            raise BadCall("a prefix tree needs different items in an order, and a depth of at least 1")
        prefix_tree.check_ends(threshold, width=len(order), scale=mechanism.scale)
        self.budget.charge(f"prefix tree of {len(order)} items, {depth} deep{_under(cut)}", mechanism)
        exact = self._engine.prefix_tree(codes, bound, self._noise.keys, depth=depth)
        return prefix_tree.grown(
            exact, order, depth=depth, threshold=threshold, mechanism=mechanism, noise=self._noise
        )

    def ask_kth_support(self, k: int, *, domain: Domain, epsilon: Fraction) -> NoisyCount:
        """The support of the k-th most frequent itemset of a domain (0 where the data holds fewer).

        A transaction raises every support by 0 or 1, and so the k-th largest of them.
        """
        domain.check_holds(k)
        values, mechanism = self._noisy(
            f"support of the {k}-th itemset",
            lambda: ExactCounts(np.array([scored.kth_support(self._engine, domain, k)])),
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyCount(int(values[0]), mechanism)

    def ask_largest_support(self, size: int, *, floor: int, epsilon: Fraction) -> NoisyCount:
        """The largest support of any itemset of that size, or the floor where it is less.

        A transaction raises every support by 0 or 1, and so the largest of them; also after a public floor.
        """
        domain = self.domain(min_size=size, max_size=size)
        values, mechanism = self._noisy(
            f"largest support of itemsets of {size} items, at least {floor}",
            lambda: ExactCounts(
                np.array([max(floor, scored.kth_support(self._engine, domain, 1, min_count=max(floor, 1)))])
            ),
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyCount(int(values[0]), mechanism)

    def ask_best(self, k: int, *, domain: Domain, epsilon: Fraction) -> Chosen:
        """The k best itemsets of a domain by the exponential mechanism, k draws without replacement.

        The score of an itemset is its support, floored as `gate.scored` explains: a transaction raises every
        score by 0 or 1, so scores are monotone with sensitivity 1. Itemsets that the data does not hold, or
        that lie under the floor, take part as one block.
        """
        domain.check_holds(k)
        mechanism = Exponential(draws=k, sensitivity=self.unit.transactions, epsilon=epsilon)
        self.budget.charge(f"best {k} of the {domain.size} {domain.sentence()}", mechanism)
        scores = scored.floored_supports(self._engine, domain, k, rate=mechanism.rate)
        return Chosen(
            tuple(scored.draw_best(scores, domain, k, rate=mechanism.rate, below=self._noise.below))
        )

    def ask_matching_rank(self, k: int, *, domain: Domain, most: int, epsilon: Fraction) -> int:
        """How many items are as frequent as the k-th itemset of a domain: the rank whose support is closest.

        One draw of the exponential mechanism over the ranks 1 to `most` of the alphabet's items, with minus
        the distance between the j-th largest item support and the k-th largest itemset support as score. A
        transaction raises both by 0 or 1, so it moves a score by at most 1, up or down: not monotone.
        """
        domain.check_holds(k)
        if not 1 <= most <= self.alphabet_size:
            raise BadCall(f"ranks up to {most} of {self.alphabet_size} items; give 1 to {self.alphabet_size}")
        mechanism = Exponential(1, self.unit.transactions, epsilon, is_monotone=False)
        self.budget.charge(f"how many items are as frequent as the {k}-th itemset, up to {most}", mechanism)
        distances = scored.rank_distances(self._engine, domain, k, most=most, draw=self._noise.keys)
        return 1 + scored.draw_place(-distances, rate=mechanism.rate, below=self._noise.below)

    def _l1(self, itemsets: Itemsets, cut: Cut) -> int:
        number = itemsets.number_by_size()
        return max(1, l1_sensitivity(cut, alphabet_size=self.alphabet_size, candidates=number))

    def _noisy(
        self, question: str, look: Callable[[], ExactCounts], *, sensitivity: int, epsilon: Fraction
    ) -> tuple[Int64Array, DiscreteLaplace]:
        """Charge, look, noise: in that order, here and nowhere else."""
        mechanism = DiscreteLaplace(sensitivity * self.unit.transactions, epsilon)
        self.budget.charge(question, mechanism)
        return self._noise.discrete_laplace(look(), scale=mechanism.scale), mechanism


def _under(cut: Cut | None) -> str:
    """How a cut shows in the trace: its name and limit, never a list of items."""
    if cut is None:
        return ""
    if isinstance(cut, OnlyItems):
        return f" on {len(cut.items)} chosen items{_under(cut.then)}"
    limit = getattr(cut, "limit", None)
    return "" if limit is None else f" under {type(cut).__name__}({limit})"
