"""Questions about ranks: a support by its rank, or which itemsets, items or lengths are best."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate.answers import Chosen, FoundItems, NoisyCount
from veilset.gate.mechanisms import AboveThreshold, Exponential
from veilset.gate.questions.base import Questions, after_reshaping, on_chosen_items
from veilset.gate.questions.door import check_countable, checked_items, checked_rank, checked_reshape
from veilset.gate.selection.floored_supports import (
    ExactScores,
    floored_supports,
    kth_support,
    margins_of_items,
    rank_distances,
)
from veilset.gate.selection.free_refusals import SearchOutcome, SearchState
from veilset.gate.selection.length_scores import WEIGHT_STEPS, limit_scores
from veilset.integers import whole
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.truncation import KeepAll, Reshape
from veilset.raw.engines import Engine
from veilset.wording import counted, ordinal


class SelectionQuestions(Questions):
    """Ranks and choices. A score's sensitivity is stated for one transaction."""

    def ask_kth_support(self, k: int, *, domain: Domain, epsilon: Fraction) -> NoisyCount:
        """The support of the k-th most frequent itemset of a domain (0 where the data holds fewer).

        A transaction raises every support by 0 or 1, and so the k-th largest of them.
        """
        k = checked_rank(k, domain, self.alphabet_size)
        values, mechanism = self._noisy(
            f"support of the {ordinal(k)} itemset",
            lambda engine: ExactCounts(np.array([kth_support(engine, domain, k)])),
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyCount(int(values[0]), mechanism)

    def ask_largest_support(self, size: int, *, floor: int, epsilon: Fraction) -> NoisyCount:
        """The largest support of any itemset of that size, or the floor where it is less.

        A transaction raises every support by 0 or 1, and so the largest of them; also after a public floor.
        """
        floor, domain = whole(floor, "the floor"), self.domain(min_size=size, max_size=size)

        def look(engine: Engine) -> ExactCounts:
            largest = kth_support(engine, domain, 1, min_count=max(floor, 1))
            return ExactCounts(np.array([max(floor, largest)]))

        values, mechanism = self._noisy(
            f"largest support of itemsets of {counted(size, 'item')}, at least {floor}",
            look,
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyCount(int(values[0]), mechanism)

    def ask_best(
        self, k: int, *, domain: Domain, epsilon: Fraction, reshape: Reshape | None = None
    ) -> Chosen:
        """The k best itemsets of a domain by the exponential mechanism, k draws without replacement.

        The score of an itemset is its support, floored as `gate.selection.floored_supports` explains: a transaction
        raises every score by 0 or 1, so scores are monotone with sensitivity 1. So they are where supports are
        counted over the rows that transactions become, because no two rows of one transaction share an item. Itemsets
        that the data does not hold, or that lie under the floor, take part as one block.
        """
        k = checked_rank(k, domain, self.alphabet_size)
        reshape = checked_reshape(reshape, self.alphabet_size)
        mechanism = Exponential(draws=k, sensitivity=self.unit.transactions, epsilon=epsilon)
        engine = self._pay(
            f"best {k} by support, of the {domain.size} {domain.sentence()}{after_reshaping(reshape)}",
            mechanism,
        )
        scores = floored_supports(self._reshaped(engine, reshape), domain, k, rate=mechanism.rate)
        return Chosen(self._noise.best(scores, mechanism, domain=domain))

    def ask_best_of(
        self, k: int, candidates: Itemsets, *, epsilon: Fraction, reshape: Reshape | None = None
    ) -> Chosen:
        """The k best of a public list of itemsets by the exponential mechanism, k draws without replacement.

        The score of an itemset is its support, over the rows that transactions become where that is asked for.
        A transaction raises it by 0 or 1 (see `ask_best`): monotone with sensitivity 1.
        """
        check_countable(candidates, self.alphabet_size)
        k, reshape = whole(k, "k"), checked_reshape(reshape, self.alphabet_size)
        if not 1 <= k <= len(candidates):
            raise BadCall(f"the best {k} of {len(candidates)} itemsets; give a k from 1 to {len(candidates)}")
        mechanism = Exponential(draws=k, sensitivity=self.unit.transactions, epsilon=epsilon)
        question = (
            f"best {k} by support, of {counted(len(candidates), 'candidate')}{after_reshaping(reshape)}"
        )
        engine = self._reshaped(self._pay(question, mechanism), reshape)
        supports = engine.supports(candidates.offsets, candidates.items, KeepAll(), self._noise.keys)
        scores = ExactScores(dict(zip(candidates, supports.values.tolist(), strict=True)), floor=-1)
        return Chosen(self._noise.best(scores, mechanism))

    def ask_matching_rank(self, k: int, *, domain: Domain, most: int, epsilon: Fraction) -> int:
        """How many items are as frequent as the k-th itemset of a domain: the rank whose support is closest.

        One draw of the exponential mechanism over the ranks 1 to `most` of the alphabet's items, with minus
        the distance between the j-th largest item support and the k-th largest itemset support as score. A
        transaction raises both by 0 or 1, so it moves a score by at most 1, up or down: not monotone.
        """
        k = checked_rank(k, domain, self.alphabet_size)
        most = whole(most, "the last rank")
        if not 1 <= most <= self.alphabet_size:
            raise BadCall(f"ranks up to {most} of {self.alphabet_size} items; give 1 to {self.alphabet_size}")
        mechanism = Exponential(1, self.unit.transactions, epsilon, is_monotone=False)
        question = f"number of items as frequent as the {ordinal(k)} itemset, at most {most}"
        engine = self._pay(question, mechanism)
        distances = rank_distances(engine, domain, k, most=most, draw=self._noise.keys)
        return 1 + self._noise.place(-distances, mechanism)

    def ask_frequent_items(
        self, k: int, *, domain: Domain, least: int, most: int, epsilon: Fraction
    ) -> tuple[int, ...]:
        """The items of a domain that are as frequent as its k-th itemset; at most `most`, at least `least` of them.

        One draw of the exponential mechanism over sets of items (`gate.selection.subsets`). The threshold is the k-th
        largest support of an itemset, or the support of the item of rank `most` where that is more. A transaction
        raises the threshold and every support by 0 or 1, so it moves a score by at most 1, up or down: not monotone.
        """
        k = checked_rank(k, domain, self.alphabet_size)
        least, most = whole(least, "the least number"), whole(most, "the most")
        if not 1 <= least <= most <= len(domain.items):
            raise BadCall(
                f"{least} to {most} of {len(domain.items)} items; give numbers from 1 to {len(domain.items)}"
            )
        mechanism = Exponential(1, self.unit.transactions, epsilon, is_monotone=False)
        engine = self._pay(
            f"items as frequent as the {ordinal(k)} itemset, {least} to {most} of them", mechanism
        )
        margins = margins_of_items(engine, domain, k, most=most, draw=self._noise.keys)
        places = self._noise.subset(margins, mechanism, least=least, most=most)
        return tuple(domain.items[place] for place in places)

    def ask_frequent_of(
        self, k: int, candidates: Itemsets, *, domain: Domain, epsilon: Fraction
    ) -> tuple[Itemset, ...]:
        """Which of a public list of itemsets are as frequent as the k-th itemset of a domain; none, some or all.

        One draw of the exponential mechanism over sets of candidates (`gate.selection.subsets`). A transaction raises
        the threshold, which is the k-th largest support, and every support by 0 or 1, so it moves a score by at most 1,
        up or down: not monotone.
        """
        check_countable(candidates, self.alphabet_size)
        k = checked_rank(k, domain, self.alphabet_size)
        mechanism = Exponential(1, self.unit.transactions, epsilon, is_monotone=False)
        question = (
            f"itemsets as frequent as the {ordinal(k)} itemset, of {counted(len(candidates), 'candidate')}"
        )
        engine = self._pay(question, mechanism)
        counts = engine.supports(candidates.offsets, candidates.items, KeepAll(), self._noise.keys)
        margins = counts.values - kth_support(engine, domain, k)
        places = self._noise.subset(margins, mechanism, least=0, most=len(candidates))
        listed = list(candidates)
        return tuple(listed[place] for place in places)

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
        limit (`gate.selection.length_scores`). A transaction raises every score by 0 to 1: monotone with sensitivity 1.
        With `items`, transactions are restricted to them first.
        """
        items = None if items is None else checked_items(items, self.alphabet_size)
        among = self.alphabet_size if items is None else items.size
        k, limits = whole(k, "k"), tuple(whole(limit, "a length limit", least=1) for limit in limits)
        if type(price) is not Fraction:
            raise BadCall(f"a price of {price!r} is no exact number; give a Fraction")
        if not limits or not 1 <= k <= among:
            raise BadCall(
                f"the {ordinal(k)} of {counted(among, 'item')} and {counted(len(limits), 'limit')}; "
                f"give at least 1 limit, and k from 1 to {among}"
            )
        mechanism = Exponential(1, self.unit.transactions, epsilon)
        question = f"length to which transactions are normalised, of {counted(len(limits), 'length')}"
        engine = self._pay(f"{question}{on_chosen_items(items)}", mechanism)
        scores = limit_scores(
            engine, np.array(limits, np.int64), items, k=k, price=price, draw=self._noise.keys
        )
        return limits[self._noise.place(scores, mechanism, steps=WEIGHT_STEPS)]

    def ask_above_kth(self, items: Int64Array, k: int, *, epsilon: Fraction, by_blocks: bool) -> FoundItems:
        """Up to k of the items whose support reaches that of the k-th of them, compared in their order.

        By the sparse vector technique, or by blocks (PFM): `gate.selection.sparse_vector` has both, and why they are
        private. A transaction raises every support by 0 or 1, and so the k-th largest of them.
        """
        items, k = checked_items(items, self.alphabet_size), whole(k, "k")
        if not 1 <= k <= items.size:
            raise BadCall(f"the {k} most frequent of {items.size} items; give k from 1 to {items.size}")
        mechanism = AboveThreshold(k, self.unit.transactions, epsilon)
        question = f"which of {counted(items.size, 'item')} are among their {k} most frequent"
        supports = self._pay(question, mechanism).item_supports(KeepAll(), self._noise.keys).values[items]
        threshold = int(np.partition(supports, supports.size - k)[supports.size - k])
        compared = self._noise.labels(supports, mechanism, threshold=threshold, by_blocks=by_blocks)
        self.budget.explain(mechanism, replace(mechanism, account=compared.account))
        return FoundItems(tuple(items[list(compared.above)].tolist()))

    def ask_search(
        self, start: SearchState, *, k: int, domain: Domain, most: int, epsilon: Fraction
    ) -> SearchOutcome:
        """What a search for itemsets as frequent as the k-th of a domain finds; at most `most` of them, step by step.

        Every step names candidates in an order, by what was found before; told is the first of them that reaches a
        noisy threshold, or that none does, which costs nothing: `gate.selection.free_refusals` has why that is private.
        A transaction raises every support by 0 or 1, and so the k-th largest of them, which is the threshold.
        """
        k, most = checked_rank(k, domain, self.alphabet_size), whole(most, "the most", least=1)
        mechanism = AboveThreshold(most, self.unit.transactions, epsilon)
        engine = self._pay(f"search for itemsets as frequent as the {ordinal(k)} itemset", mechanism)

        def count(itemsets: Itemsets) -> ExactCounts:
            check_countable(itemsets, self.alphabet_size)
            return engine.supports(itemsets.offsets, itemsets.items, KeepAll(), self._noise.keys)

        threshold = kth_support(engine, domain, k)
        found = self._noise.search(count, mechanism, threshold=threshold, start=start)
        self.budget.explain(mechanism, replace(mechanism, account=found.account))
        return found
