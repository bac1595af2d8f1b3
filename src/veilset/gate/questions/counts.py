"""Questions that are answered with noisy counts."""

import math
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate.answers import (
    GaussianCounts,
    NoisyCount,
    NoisyCounts,
    NoisyHistogram,
    NoisyUnlikeness,
    NormalisedCounts,
)
from veilset.gate.questions.base import Questions, after_reshaping, on_chosen_items
from veilset.gate.questions.door import (
    check_countable,
    check_known,
    checked_cap,
    checked_classes,
    checked_items,
    checked_reshape,
    checked_truncation,
)
from veilset.gate.selection.length_scores import WEIGHT_STEPS, restricted
from veilset.integers import item_codes, whole
from veilset.itemsets import Itemsets
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.truncation import KeepAll, OnlyItems, Reshape, Truncation
from veilset.raw.engines import Engine
from veilset.wording import counted

LARGEST_MARGINAL = 16
"""A marginal of n items has 2^n cells: more items than this make a histogram that nobody can use."""

PARTS_OF_A_STEP = 8
"""An average length is known to 1/8."""
LONGEST_COMPARED = 256
"""Lengths are told apart up to 256 items: beyond, weights of four billion transactions do not fit into 64 bits."""


def checked_average(average: Fraction, limit: int) -> int:
    """An average length of transactions of 1 to `limit` items, in PARTS_OF_A_STEP.

    >>> checked_average(Fraction(5, 4), 3)
    10
    """
    if type(average) is not Fraction or not 1 <= average <= limit or PARTS_OF_A_STEP % average.denominator:
        raise BadCall(
            f"an average length of {average!r} is not possible; "
            f"give a Fraction from 1 to {limit} in steps of 1/{PARTS_OF_A_STEP}"
        )
    return int(average * PARTS_OF_A_STEP)


def root_weights(most: int, largest: int) -> Int64Array:
    """What a transaction that holds 0, 1, ..., `largest` itemsets weighs on each, in steps: sqrt(most / n) at most.

    >>> (root_weights(2, 4) / WEIGHT_STEPS).round(3).tolist()
    [1.0, 1.0, 1.0, 0.816, 0.707]
    """
    whole = WEIGHT_STEPS * WEIGHT_STEPS
    weights = [min(WEIGHT_STEPS, math.isqrt(whole * most // max(number, 1))) for number in range(largest + 1)]
    return np.array(weights, dtype=np.int64)


class CountQuestions(Questions):
    """Counts with discrete Laplace noise. A question's sensitivity is stated for one transaction."""

    def ask_number(self, *, epsilon: Fraction) -> NoisyCount:
        """How many transactions there are: as published, or noisy. One transaction moves it by 1."""
        if self.public_number is not None:
            return NoisyCount(self.public_number, None)
        values, mechanism = self._noisy(
            "number of transactions", lambda engine: engine.number(), sensitivity=1, epsilon=epsilon
        )
        return NoisyCount(int(values[0]), mechanism)

    def ask_lengths(
        self, *, limit: int, epsilon: Fraction, truncation: Truncation | None = None
    ) -> NoisyHistogram:
        """How many transactions have 0, 1, ..., limit items (the last: or more), after truncation.

        A transaction has one length, so it moves one of the counts by 1.
        """
        limit = whole(limit, "the length limit")
        if limit < 1:
            raise BadCall(f"a length limit of {limit} leaves no histogram; give at least 1")
        bound = checked_truncation(truncation, self.alphabet_size)
        values, mechanism = self._noisy(
            f"lengths of transactions, from 0 to {counted(limit, 'item')} or more{after_reshaping(truncation)}",
            lambda engine: engine.lengths(bound, self._noise.keys, limit=limit),
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyHistogram(values, mechanism)

    def ask_item_supports(self, *, epsilon: Fraction, truncation: Truncation | None = None) -> NoisyCounts:
        """How many transactions hold each item of the alphabet, after truncation.

        A transaction moves as many counts by 1 as it holds items after truncation.
        """
        bound = checked_truncation(truncation, self.alphabet_size)
        every_item = Itemsets.of((code,) for code in range(self.alphabet_size))
        values, mechanism = self._noisy(
            f"supports of all items{after_reshaping(truncation)}",
            lambda engine: engine.item_supports(bound, self._noise.keys),
            sensitivity=self._l1(every_item, bound),
            epsilon=epsilon,
        )
        return NoisyCounts(every_item, values, mechanism)

    def ask_supports(
        self, itemsets: Itemsets, *, epsilon: Fraction, truncation: Truncation | None = None
    ) -> NoisyCounts:
        """How many transactions hold all of each itemset, after truncation.

        A transaction of L items after truncation moves at most C(L, size) of the itemsets of each size by 1.
        """
        bound = checked_truncation(truncation, self.alphabet_size)
        check_known(itemsets, self.alphabet_size)
        if len(itemsets) == 0:
            raise BadCall("no itemsets to count; ask for at least one")
        if len(set(itemsets)) < len(itemsets):  # a second copy would move without having been reckoned with
            raise BadCall("an itemset stands twice among those to count; give each once")
        values, mechanism = self._noisy(
            f"supports of {counted(len(itemsets), 'itemset')}{after_reshaping(truncation)}",
            lambda engine: engine.supports(itemsets.offsets, itemsets.items, bound, self._noise.keys),
            sensitivity=self._l1(itemsets, bound),
            epsilon=epsilon,
        )
        return NoisyCounts(itemsets, values, mechanism)

    def ask_reshaped_supports(
        self, itemsets: Itemsets, *, reshape: Reshape | None, epsilon: Fraction
    ) -> NoisyCounts:
        """How many rows hold all of each itemset, after each transaction became rows that share no item.

        A transaction moves each of the itemsets by at most 1, and so all together by at most their number. Every
        one of its rows would hold an empty itemset, which is refused.
        """
        check_countable(itemsets, self.alphabet_size)
        reshape = checked_reshape(reshape, self.alphabet_size)
        values, mechanism = self._noisy(
            f"supports of {counted(len(itemsets), 'itemset')}{after_reshaping(reshape)}",
            lambda engine: self._reshaped(engine, reshape).supports(
                itemsets.offsets, itemsets.items, KeepAll(), self._noise.keys
            ),
            sensitivity=len(itemsets),
            epsilon=epsilon,
        )
        return NoisyCounts(itemsets, values, mechanism)

    def ask_containment(
        self, itemsets: Itemsets | None, *, classes: tuple[int, ...], epsilon: Fraction
    ) -> NoisyHistogram:
        """The containment histogram: how many transactions hold how many of some itemsets; of all items without any.

        `classes` are the least numbers of each class, from 0 up. A transaction is in one class, so it moves
        one of the counts by 1.
        """
        classes = checked_classes(classes, of="numbers")
        if itemsets is not None:
            check_countable(itemsets, self.alphabet_size)

        def look(engine: Engine) -> ExactCounts:
            if itemsets is None:
                numbers = engine.lengths(KeepAll(), self._noise.keys, limit=classes[-1])
            else:
                numbers = engine.containment(itemsets.offsets, itemsets.items, limit=classes[-1])
            return ExactCounts(np.add.reduceat(numbers.values, np.array(classes, np.int64)))

        held = "items" if itemsets is None else "itemsets"
        among = "" if itemsets is None else f", of {counted(len(itemsets), 'candidate')}"
        values, mechanism = self._noisy(
            f"number of {held} held{among}, in {len(classes)} classes", look, sensitivity=1, epsilon=epsilon
        )
        return NoisyHistogram(values, mechanism)

    def ask_capped_counts(self, itemsets: Itemsets, *, most: int, epsilon: Fraction) -> NoisyCounts:
        """Supports under a contribution cap: one that holds n > most of the itemsets counts most / n on each.

        In steps of `gate.selection.length_scores`, rounded down: a transaction weighs at most WEIGHT_STEPS on each
        itemset, and at most `most` times that on all together, whatever their sizes. None holds more itemsets than
        there are: a larger `most` changes no answer, and is taken to be their number, which bounds what it weighs as
        well.
        """
        check_countable(itemsets, self.alphabet_size)
        most = checked_cap(most, itemsets)
        values, mechanism = self._noisy(
            f"supports of {counted(len(itemsets), 'itemset')}, contribution cap {most}",
            lambda engine: engine.capped_counts(
                itemsets.offsets, itemsets.items, most=most, steps=WEIGHT_STEPS
            ),
            sensitivity=most,
            epsilon=epsilon,
            steps=WEIGHT_STEPS,
        )
        return NoisyCounts(itemsets, values, mechanism)

    def ask_root_counts(self, itemsets: Itemsets, *, most: int, epsilon: Fraction) -> GaussianCounts:
        """Supports under a cap in the L2 norm: one that holds n > most of the itemsets counts sqrt(most / n) on each.

        In steps, rounded down: the squares of what a transaction weighs add up to at most `most`, in whole
        transactions; c transactions of one unit, all alike, move the counts by c times that length, so by c^2 `most`
        squared. Gaussian noise is put on every count; all such questions are accounted for together, and delta is paid
        by the first of them: see `gate.accounting.concentrated`.
        """
        check_countable(itemsets, self.alphabet_size)
        most = checked_cap(most, itemsets)
        engine, mechanism = self._pay_gaussian(
            f"supports of {counted(len(itemsets), 'itemset')}, contribution cap {most} in the L2 norm",
            squared_sensitivity=most * self.unit.transactions**2,
            epsilon=epsilon,
            steps=WEIGHT_STEPS,
        )
        weights = root_weights(most, len(itemsets))
        exact = engine.weighted_counts(itemsets.offsets, itemsets.items, weights)
        return GaussianCounts(itemsets, self._noise.counts(exact, mechanism), mechanism)

    def ask_normalised_supports(
        self, limit: int, *, epsilon: Fraction, items: Int64Array | None = None
    ) -> NormalisedCounts:
        """How many transactions hold each item, where one of n > limit items counts limit / n.

        In steps of `gate.selection.length_scores`: a transaction weighs at most WEIGHT_STEPS on each item, and at most
        `limit` times that on all items together. With `items`, transactions are restricted to them first. None is
        longer than there are items: a larger limit changes no answer, and is taken to be their number, which
        bounds what a transaction weighs as well.
        """
        limit = whole(limit, "the length limit")
        if limit < 1:
            raise BadCall(f"a length limit of {limit} leaves nothing of a transaction; give at least 1")
        items = None if items is None else checked_items(items, self.alphabet_size)
        codes = np.arange(self.alphabet_size) if items is None else items
        limit = min(limit, codes.size)

        def look(engine: Engine) -> ExactCounts:
            supports = engine.normalised_supports(
                np.array([limit], np.int64), restricted(items), self._noise.keys, steps=WEIGHT_STEPS
            )
            return ExactCounts(supports.values[codes, 0])

        values, mechanism = self._noisy(
            f"supports of items, transactions normalised to {counted(limit, 'item')}{on_chosen_items(items)}",
            look,
            sensitivity=limit,
            epsilon=epsilon,
            steps=WEIGHT_STEPS,
        )
        return NormalisedCounts(codes, values, limit, mechanism)

    def ask_unlikeness(
        self, items: Int64Array, *, limit: int, average: Fraction, epsilon: Fraction
    ) -> NoisyUnlikeness:
        """How unlike long and short transactions are in some items: the sum over these of |a - average b|.

        a and b are the supports of an item over transactions normalised to `limit` items, and to 1. If transactions of
        all lengths held the items in the same proportions, a would be as many times b for each item as transactions
        have items on average, `limit` at most. In steps of `gate.selection.length_scores`, each in PARTS_OF_A_STEP.

        A transaction of n items adds min(n, limit) to all a together, and 1 to all b, so it moves the sum by at most
        average - 1 or limit - average, whichever is more; what is lost by rounding down an item of b adds at most
        n average / WEIGHT_STEPS to that, and no transaction moves it by more than `limit`.
        """
        items = checked_items(items, self.alphabet_size)
        limit = whole(limit, "the length limit", least=2)
        if limit > LONGEST_COMPARED:
            raise BadCall(f"a length limit of {limit} is too large; give at most {LONGEST_COMPARED}")
        parts = checked_average(average, limit)
        rounded = average * Fraction(self.alphabet_size, WEIGHT_STEPS)
        moved = min(Fraction(limit), max(average - 1, limit - average + rounded))

        def look(engine: Engine) -> ExactCounts:
            limits = np.array([limit, 1], np.int64)
            supports = engine.normalised_supports(limits, KeepAll(), self._noise.keys, steps=WEIGHT_STEPS)
            to_limit, to_one = supports.values[items].T
            return ExactCounts(np.abs(PARTS_OF_A_STEP * to_limit - parts * to_one).sum(keepdims=True))

        values, mechanism = self._noisy(
            f"how unlike long and short transactions are in {counted(items.size, 'item')}, "
            f"up to {counted(limit, 'item')} in length",
            look,
            sensitivity=math.ceil(moved),
            epsilon=epsilon,
            steps=WEIGHT_STEPS * PARTS_OF_A_STEP,
        )
        return NoisyUnlikeness(int(values[0]), mechanism)

    def ask_total(self, items: Int64Array, *, most: int, epsilon: Fraction) -> NoisyCount:
        """The sum of the supports of some items, where one transaction adds at most `most`: its sensitivity."""
        items = checked_items(items, self.alphabet_size)
        most = min(whole(most, "the contribution cap"), items.size)
        if most < 1:
            raise BadCall(f"a transaction that may add {most} adds nothing; give at least 1")

        def look(engine: Engine) -> ExactCounts:
            lengths = engine.lengths(OnlyItems(items, KeepAll()), self._noise.keys, limit=most)
            return ExactCounts(lengths.values @ np.arange(most + 1)[:, None])

        values, mechanism = self._noisy(
            f"sum of the supports of {counted(items.size, 'item')}, contribution cap {most}",
            look,
            sensitivity=most,
            epsilon=epsilon,
        )
        return NoisyCount(int(values[0]), mechanism)

    def ask_marginal(
        self, items: tuple[int, ...], *, epsilon: Fraction, truncation: Truncation | None = None
    ) -> NoisyHistogram:
        """How many transactions hold exactly which of the items; bit i of a cell's number is `items[i]`.

        A transaction is in one cell, so it moves one of the 2^n counts by 1.
        """
        codes = item_codes(items, "items of a marginal")
        items = tuple(codes.tolist())
        if not 1 <= len(set(items)) == len(items) <= LARGEST_MARGINAL:
            raise BadCall(
                f"a marginal needs 1 to {LARGEST_MARGINAL} different items; "
                f"{counted(len(items), 'item')} given, of which {len(set(items))} different"
            )
        checked_items(codes, self.alphabet_size)
        bound = checked_truncation(truncation, self.alphabet_size)
        cells = f"{2 ** len(items)} cells"
        values, mechanism = self._noisy(
            f"marginal of {counted(len(items), 'item')} ({cells}){after_reshaping(truncation)}",
            lambda engine: engine.marginal(codes, bound, self._noise.keys),
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyHistogram(values, mechanism)
