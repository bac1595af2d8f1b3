"""The Curator: the one door between raw data and everybody else.

Every `ask_` method is one question. It charges the budget (or raises BudgetExceeded before it looks), looks,
adds noise and returns a noisy answer; the charge is the row of the trace. A question's sensitivity is stated
for one transaction and multiplied by the number of transactions that one privacy unit may have.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import cast

import numpy as np

from veilset.errors import BadCall
from veilset.gate import above_threshold, normalised, prefix_tree, scored
from veilset.gate.answers import Chosen, Found, NoisyCount, NoisyCounts, NoisyHistogram, NormalisedCounts
from veilset.gate.budget import Account
from veilset.gate.mechanisms import AboveThreshold, ChainedLaplace, DiscreteLaplace, Exponential
from veilset.gate.noise import Noise
from veilset.gate.noisy_tree import NoisyTree
from veilset.gate.partitions import Partitions
from veilset.gate.sampling import SampleAccount, SampledEngine, drawable_rate
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.raw.bound import Cut, KeepAll, OnlyItems, Reshape, l1_sensitivity
from veilset.raw.counts import ExactCounts, Int64Array
from veilset.raw.engines import Engine
from veilset.raw.kernels.partitions import Tree
from veilset.raw.partitions import ExactPartitions
from veilset.raw.transactions import Item
from veilset.taxonomy import Taxonomy

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

    def ask_held(
        self, itemsets: Itemsets | None, *, classes: tuple[int, ...], epsilon: Fraction
    ) -> NoisyHistogram:
        """How many transactions hold how many of some itemsets; of all items, where none are given.

        `classes` are the least numbers of each class, from 0 up. A transaction is in one class, so it moves
        one of the counts by 1.
        """
        if len(classes) < 2 or classes[0] != 0 or any(a >= b for a, b in pairwise(classes)):
            raise BadCall(
                "classes of numbers must begin with 0 and rise; give at least two, such as 0, 1, 2, 4"
            )
        starts = np.array(classes, np.int64)
        of_what = "the items" if itemsets is None else f"{len(itemsets)} itemsets"

        def look() -> ExactCounts:
            limit = classes[-1]
            if itemsets is None:
                numbers = self._engine.lengths(KeepAll(), self._noise.keys, limit=limit)
            else:
                numbers = self._engine.held(itemsets.offsets, itemsets.items, limit=limit)
            return ExactCounts(np.add.reduceat(numbers.values, starts))

        if itemsets is not None:
            _check_countable(itemsets)
        values, mechanism = self._noisy(
            f"how many of {of_what} transactions hold, in {len(classes)} classes",
            look,
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyHistogram(values, mechanism)

    def ask_shared_supports(self, itemsets: Itemsets, *, most: int, epsilon: Fraction) -> NoisyCounts:
        """How many transactions hold each itemset, where one that holds n > most of them counts most / n for each.

        In steps of `gate.normalised`, rounded down: a transaction weighs at most STEPS on each itemset, and at
        most `most` times STEPS on all together, whatever their sizes.
        """
        _check_countable(itemsets)
        if most < 1:
            raise BadCall(
                f"a transaction that may count for {most} itemsets counts for none; give at least 1"
            )
        values, mechanism = self._noisy(
            f"supports of {len(itemsets)} itemsets, at most {most} from one transaction",
            lambda: self._engine.shared_supports(
                itemsets.offsets, itemsets.items, most=most, steps=normalised.STEPS
            ),
            sensitivity=min(most, len(itemsets)),
            epsilon=epsilon,
            steps=normalised.STEPS,
        )
        return NoisyCounts(itemsets, values, mechanism)

    def ask_reshaped_supports(
        self, itemsets: Itemsets, *, reshape: Reshape | None, epsilon: Fraction
    ) -> NoisyCounts:
        """How many rows hold all of each itemset, after each transaction became rows that share no item.

        A transaction moves each of the itemsets by at most 1, and so all together by at most their number. An
        empty itemset would be held by every one of its rows, and is refused.
        """
        _check_countable(itemsets)
        values, mechanism = self._noisy(
            f"supports of {len(itemsets)} itemsets{_under(reshape)}",
            lambda: self._reshaped(reshape).supports(
                itemsets.offsets, itemsets.items, KeepAll(), self._noise.keys
            ),
            sensitivity=len(itemsets),
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

    def ask_best(
        self, k: int, *, domain: Domain, epsilon: Fraction, reshape: Reshape | None = None
    ) -> Chosen:
        """The k best itemsets of a domain by the exponential mechanism, k draws without replacement.

        The score of an itemset is its support, floored as `gate.scored` explains: a transaction raises every
        score by 0 or 1, so scores are monotone with sensitivity 1. So they are where supports are counted over
        the rows that transactions become, because no two rows of one transaction share an item. Itemsets that
        the data does not hold, or that lie under the floor, take part as one block.
        """
        domain.check_holds(k)
        mechanism = Exponential(draws=k, sensitivity=self.unit.transactions, epsilon=epsilon)
        self.budget.charge(f"best {k} of the {domain.size} {domain.sentence()}{_under(reshape)}", mechanism)
        scores = scored.floored_supports(self._reshaped(reshape), domain, k, rate=mechanism.rate)
        return Chosen(
            tuple(scored.draw_best(scores, domain, k, rate=mechanism.rate, below=self._noise.below))
        )

    def ask_best_of(
        self, k: int, candidates: Itemsets, *, epsilon: Fraction, reshape: Reshape | None = None
    ) -> Chosen:
        """The k best of a public list of itemsets by the exponential mechanism, k draws without replacement.

        The score of an itemset is its support, over the rows that transactions become where that is asked for.
        A transaction raises it by 0 or 1 (see `ask_best`): monotone with sensitivity 1.
        """
        _check_countable(candidates)
        if not 1 <= k <= len(candidates):
            raise BadCall(f"the best {k} of {len(candidates)} itemsets; give a k from 1 to {len(candidates)}")
        mechanism = Exponential(draws=k, sensitivity=self.unit.transactions, epsilon=epsilon)
        self.budget.charge(f"best {k} of {len(candidates)} listed itemsets{_under(reshape)}", mechanism)
        supports = self._reshaped(reshape).supports(
            candidates.offsets, candidates.items, KeepAll(), self._noise.keys
        )
        scores = scored.ExactScores(dict(zip(candidates, supports.values.tolist(), strict=True)), floor=-1)
        return Chosen(tuple(scored.draw_listed(scores, k, rate=mechanism.rate, below=self._noise.below)))

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

    def ask_truncating_length(
        self,
        limits: tuple[int, ...],
        *,
        k: int,
        price: Fraction,
        epsilon: Fraction,
        items: Int64Array | None = None,
    ) -> int:
        """To how many items transactions are best normalised: one of the limits, by the exponential mechanism.

        The score of a limit is the k-th largest normalised support, less a public price for each item of the
        limit (`gate.normalised`). A transaction raises every score by 0 to 1: monotone with sensitivity 1.
        With `items`, transactions are restricted to them first.
        """
        among = self.alphabet_size if items is None else self._number_of(items)
        if not limits or not 1 <= k <= among:
            raise BadCall(
                f"the {k}-th of {among} items, {len(limits)} limits; give limits, and k from 1 up to all"
            )
        mechanism = Exponential(1, self.unit.transactions, epsilon)
        self.budget.charge(f"the length to normalise to, of {len(limits)}{_among(items)}", mechanism)
        scores = normalised.limit_scores(
            self._engine, np.array(limits, np.int64), items, k=k, price=price, draw=self._noise.keys
        )
        return limits[
            scored.draw_place(scores, rate=mechanism.rate / normalised.STEPS, below=self._noise.below)
        ]

    def ask_normalised_supports(
        self, limit: int, *, epsilon: Fraction, items: Int64Array | None = None
    ) -> NormalisedCounts:
        """How many transactions hold each item, where one of n > limit items counts limit / n.

        In steps of `gate.normalised`: a transaction weighs at most STEPS on each item, and at most
        limit * STEPS on all items together. With `items`, transactions are restricted to them first.
        """
        if limit < 1:
            raise BadCall(f"a length limit of {limit} leaves nothing of a transaction; give at least 1")
        number = self.alphabet_size if items is None else self._number_of(items)
        codes = np.arange(number) if items is None else items
        cut = normalised.restricted(items)
        values, mechanism = self._noisy(
            f"supports of items in transactions normalised to {limit}{_among(items)}",
            lambda: ExactCounts(
                self._engine.normalised_supports(
                    np.array([limit], np.int64), cut, self._noise.keys, steps=normalised.STEPS
                ).values[codes, 0]
            ),
            sensitivity=min(limit, number),
            epsilon=epsilon,
            steps=normalised.STEPS,
        )
        return NormalisedCounts(codes, values, limit, mechanism)

    def ask_total(self, items: Int64Array, *, most: int, epsilon: Fraction) -> NoisyCount:
        """The sum of the supports of some items, where one transaction adds at most `most`: its sensitivity."""
        most = min(most, self._number_of(items))
        if most < 1:
            raise BadCall(f"a transaction that may add {most} adds nothing; give at least 1")
        cut = OnlyItems(items, KeepAll())
        values, mechanism = self._noisy(
            f"sum of the supports of {items.size} items, at most {most} from one transaction",
            lambda: ExactCounts(
                self._engine.lengths(cut, self._noise.keys, limit=most).values @ np.arange(most + 1)[:, None]
            ),
            sensitivity=most,
            epsilon=epsilon,
        )
        return NoisyCount(int(values[0]), mechanism)

    def ask_above_kth(self, items: Int64Array, k: int, *, epsilon: Fraction, by_blocks: bool) -> Found:
        """Up to k of the items whose support reaches that of the k-th of them, compared in their order.

        By the sparse vector technique, or by blocks (PFM): `gate.above_threshold` has both, and why they are
        private. A transaction raises every support by 0 or 1, and so the k-th largest of them.
        """
        if not 1 <= k <= self._number_of(items):
            raise BadCall(f"the {k} most frequent of {items.size} items; give k from 1 up to all of them")
        mechanism = AboveThreshold(k, self.unit.transactions, epsilon)
        self.budget.charge(f"which of {items.size} items are among their {k} most frequent", mechanism)
        supports = self._engine.item_supports(KeepAll(), self._noise.keys).values[items]
        label = above_threshold.in_blocks if by_blocks else above_threshold.sparse_vector
        labels = label(
            supports,
            k,
            threshold=int(np.partition(supports, supports.size - k)[supports.size - k]),
            sensitivity=self.unit.transactions,
            epsilon=epsilon,
            add_noise=lambda values, scale: self._noise.discrete_laplace(ExactCounts(values), scale=scale),
        )
        self.budget.explain(mechanism, replace(mechanism, account=labels.account))
        return Found(tuple(items[list(labels.above)].tolist()))

    def ask_partitions(self, taxonomy: Taxonomy, *, epsilon: Fraction) -> Partitions:
        """Records in partitions that can be split along a taxonomy; items that it does not hold are forgotten.

        Paid for once, before the first look, for all splits together: no chain of partitions may spend more
        than epsilon. A transaction moves one size by 1 at each level of one chain: see `gate.partitions`.
        """
        places = np.full(self.alphabet_size, -1, np.int32)
        places[taxonomy.items] = np.arange(taxonomy.items.size)
        mechanism = ChainedLaplace(self.unit.transactions, epsilon)
        self.budget.charge(f"sizes of partitions along a taxonomy of {taxonomy.items.size} items", mechanism)
        tree = Tree(taxonomy.ends, taxonomy.first_child, taxonomy.child_starts)
        exact = ExactPartitions(self._engine.records(places), tree)
        return Partitions(exact, taxonomy, paid=mechanism, budget=self.budget, noise=self._noise)

    def _number_of(self, items: Int64Array) -> int:
        """How many items were chosen; each of the alphabet, and each once."""
        size = self.alphabet_size
        if (
            items.size == 0
            or not 0 <= items.min() <= items.max() < size
            or np.unique(items).size < items.size
        ):
            raise BadCall(f"choose different items, by codes from 0 to {size - 1}, and at least one")
        return int(items.size)

    def _reshaped(self, reshape: Reshape | None) -> Engine:
        """The engine over what the transactions become; asked for after the charge."""
        return self._engine if reshape is None else self._engine.reshaped(reshape, self._noise.keys)

    def _l1(self, itemsets: Itemsets, cut: Cut) -> int:
        number = itemsets.number_by_size()
        return max(1, l1_sensitivity(cut, alphabet_size=self.alphabet_size, candidates=number))

    def _noisy(
        self,
        question: str,
        look: Callable[[], ExactCounts],
        *,
        sensitivity: int,
        epsilon: Fraction,
        steps: int = 1,
    ) -> tuple[Int64Array, DiscreteLaplace]:
        """Charge, look, noise: in that order, here and nowhere else."""
        mechanism = DiscreteLaplace(sensitivity * self.unit.transactions, epsilon, steps)
        self.budget.charge(question, mechanism)
        return self._noise.discrete_laplace(look(), scale=mechanism.scale), mechanism


def _among(items: Int64Array | None) -> str:
    return "" if items is None else f" on {items.size} chosen items"


def _check_countable(itemsets: Itemsets) -> None:
    """Raise BadCall where rows that share no item could move a support by more than 1, or one stands twice."""
    if len(itemsets) == 0 or 0 in itemsets.number_by_size() or len(set(itemsets)) < len(itemsets):
        raise BadCall("itemsets to count must be different, and none empty; give at least one, each once")


def _under(cut: Reshape | None) -> str:
    """How a cut or a split shows in the trace: its name and limit, never a list of items."""
    if cut is None:
        return ""
    if isinstance(cut, OnlyItems):
        return f" on {len(cut.items)} chosen items{_under(cut.then)}"
    limit = getattr(cut, "limit", None)
    return "" if limit is None else f" under {type(cut).__name__}({limit})"
