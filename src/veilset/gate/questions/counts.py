"""Questions that are answered with noisy counts."""

from fractions import Fraction
from itertools import pairwise

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate.answers import NoisyCount, NoisyCounts, NoisyHistogram, NormalisedCounts
from veilset.gate.questions.base import Questions, check_countable, on_some, under
from veilset.gate.selection import length_scores as normalised
from veilset.itemsets import Itemsets
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.truncation import KeepAll, OnlyItems, Reshape, Truncation

LARGEST_GROUP = 16
"""Joint patterns have 2^n classes: more items than this make a histogram that nobody can use."""


class CountQuestions(Questions):
    """Counts with discrete Laplace noise. A question's sensitivity is stated for one transaction."""

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

    def ask_lengths(
        self, *, limit: int, epsilon: Fraction, truncation: Truncation | None = None
    ) -> NoisyHistogram:
        """How many transactions have 0, 1, ..., limit items (the last: or more), after the cut.

        A transaction has one length, so it moves one of the counts by 1.
        """
        if limit < 1:
            raise BadCall(f"a length limit of {limit} leaves no histogram; give at least 1")
        bound = truncation or KeepAll()
        values, mechanism = self._noisy(
            f"lengths up to {limit}{under(truncation)}",
            lambda: self._engine.lengths(bound, self._noise.keys, limit=limit),
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyHistogram(values, mechanism)

    def ask_item_supports(self, *, epsilon: Fraction, truncation: Truncation | None = None) -> NoisyCounts:
        """How many transactions hold each item of the alphabet, after the cut.

        A transaction moves as many counts by 1 as it holds items after the cut.
        """
        bound = truncation or KeepAll()
        every_item = Itemsets.of((code,) for code in range(self.alphabet_size))
        values, mechanism = self._noisy(
            f"supports of all items{under(truncation)}",
            lambda: self._engine.item_supports(bound, self._noise.keys),
            sensitivity=self._l1(every_item, bound),
            epsilon=epsilon,
        )
        return NoisyCounts(every_item, values, mechanism)

    def ask_supports(
        self, itemsets: Itemsets, *, epsilon: Fraction, truncation: Truncation | None = None
    ) -> NoisyCounts:
        """How many transactions hold all of each itemset, after the cut.

        A transaction of L items after the cut moves at most C(L, size) of the itemsets of each size by 1.
        """
        bound = truncation or KeepAll()
        if len(itemsets) == 0:
            raise BadCall("no itemsets to count; ask for at least one")
        if len(set(itemsets)) < len(itemsets):  # a second copy would move without having been reckoned with
            raise BadCall("an itemset stands twice among those to count; give each once")
        values, mechanism = self._noisy(
            f"supports of {len(itemsets)} itemsets{under(truncation)}",
            lambda: self._engine.supports(itemsets.offsets, itemsets.items, bound, self._noise.keys),
            sensitivity=self._l1(itemsets, bound),
            epsilon=epsilon,
        )
        return NoisyCounts(itemsets, values, mechanism)

    def ask_reshaped_supports(
        self, itemsets: Itemsets, *, reshape: Reshape | None, epsilon: Fraction
    ) -> NoisyCounts:
        """How many rows hold all of each itemset, after each transaction became rows that share no item.

        A transaction moves each of the itemsets by at most 1, and so all together by at most their number. An
        empty itemset would be held by every one of its rows, and is refused.
        """
        check_countable(itemsets)
        values, mechanism = self._noisy(
            f"supports of {len(itemsets)} itemsets{under(reshape)}",
            lambda: self._reshaped(reshape).supports(
                itemsets.offsets, itemsets.items, KeepAll(), self._noise.keys
            ),
            sensitivity=len(itemsets),
            epsilon=epsilon,
        )
        return NoisyCounts(itemsets, values, mechanism)

    def ask_containment(
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
                numbers = self._engine.containment(itemsets.offsets, itemsets.items, limit=limit)
            return ExactCounts(np.add.reduceat(numbers.values, starts))

        if itemsets is not None:
            check_countable(itemsets)
        values, mechanism = self._noisy(
            f"how many of {of_what} transactions hold, in {len(classes)} classes",
            look,
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyHistogram(values, mechanism)

    def ask_capped_counts(self, itemsets: Itemsets, *, most: int, epsilon: Fraction) -> NoisyCounts:
        """How many transactions hold each itemset, where one that holds n > most of them counts most / n for each.

        In steps of `gate.normalised`, rounded down: a transaction weighs at most STEPS on each itemset, and at
        most `most` times STEPS on all together, whatever their sizes. None holds more itemsets than there are:
        a larger `most` changes no answer, and is taken to be their number, which bounds what it weighs as well.
        """
        check_countable(itemsets)
        if most < 1:
            raise BadCall(
                f"a transaction that may count for {most} itemsets counts for none; give at least 1"
            )
        most = min(most, len(itemsets))
        values, mechanism = self._noisy(
            f"supports of {len(itemsets)} itemsets, at most {most} from one transaction",
            lambda: self._engine.capped_counts(
                itemsets.offsets, itemsets.items, most=most, steps=normalised.STEPS
            ),
            sensitivity=most,
            epsilon=epsilon,
            steps=normalised.STEPS,
        )
        return NoisyCounts(itemsets, values, mechanism)

    def ask_normalised_supports(
        self, limit: int, *, epsilon: Fraction, items: Int64Array | None = None
    ) -> NormalisedCounts:
        """How many transactions hold each item, where one of n > limit items counts limit / n.

        In steps of `gate.normalised`: a transaction weighs at most STEPS on each item, and at most
        limit * STEPS on all items together. With `items`, transactions are restricted to them first. None is
        longer than there are items: a larger limit changes no answer, and is taken to be their number, which
        bounds what a transaction weighs as well.
        """
        if limit < 1:
            raise BadCall(f"a length limit of {limit} leaves nothing of a transaction; give at least 1")
        number = self.alphabet_size if items is None else self._number_of(items)
        limit = min(limit, number)
        codes = np.arange(number) if items is None else items
        truncation = normalised.restricted(items)
        values, mechanism = self._noisy(
            f"supports of items in transactions normalised to {limit}{on_some(items)}",
            lambda: ExactCounts(
                self._engine.normalised_supports(
                    np.array([limit], np.int64), truncation, self._noise.keys, steps=normalised.STEPS
                ).values[codes, 0]
            ),
            sensitivity=limit,
            epsilon=epsilon,
            steps=normalised.STEPS,
        )
        return NormalisedCounts(codes, values, limit, mechanism)

    def ask_total(self, items: Int64Array, *, most: int, epsilon: Fraction) -> NoisyCount:
        """The sum of the supports of some items, where one transaction adds at most `most`: its sensitivity."""
        most = min(most, self._number_of(items))
        if most < 1:
            raise BadCall(f"a transaction that may add {most} adds nothing; give at least 1")
        truncation = OnlyItems(items, KeepAll())
        values, mechanism = self._noisy(
            f"sum of the supports of {items.size} items, at most {most} from one transaction",
            lambda: ExactCounts(
                self._engine.lengths(truncation, self._noise.keys, limit=most).values
                @ np.arange(most + 1)[:, None]
            ),
            sensitivity=most,
            epsilon=epsilon,
        )
        return NoisyCount(int(values[0]), mechanism)

    def ask_marginal(
        self, items: tuple[int, ...], *, epsilon: Fraction, truncation: Truncation | None = None
    ) -> NoisyHistogram:
        """How many transactions hold exactly which of the items; bit i of a pattern's number is `items[i]`.

        A transaction shows one pattern, so it moves one of the 2^n counts by 1.
        """
        if not 1 <= len(set(items)) == len(items) <= LARGEST_GROUP:
            raise BadCall(
                f"joint patterns need 1 to {LARGEST_GROUP} different items; {len(items)} were given"
            )
        bound, codes = truncation or KeepAll(), np.array(items, dtype=np.int32)
        values, mechanism = self._noisy(
            f"joint patterns of {len(items)} items{under(truncation)}",
            lambda: self._engine.marginal(codes, bound, self._noise.keys),
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyHistogram(values, mechanism)
