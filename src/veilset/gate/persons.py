"""Questions that may be asked before anybody knows how many transactions of one person count.

A person is the privacy unit here, whole: with however many transactions. So the two questions are about persons, not
about transactions, and what they cost does not depend on the limit that is chosen by their answers. Whoever is not in
the data has no transaction, and nobody in the data has none: there is no class of persons with 0 transactions.
"""

from fractions import Fraction

import numpy as np

from veilset.gate.accounting.budget import Account
from veilset.gate.answers import NoisyCount, NoisyHistogram
from veilset.gate.draws import Noise
from veilset.gate.questions.base import PaidLooks, PrivacyUnit
from veilset.gate.questions.door import checked_classes, checked_place
from veilset.gate.selection.floored_supports import kth_support_of_all
from veilset.raw.counts import ExactCounts
from veilset.raw.engines import Engine
from veilset.wording import ordinal


class PersonCurator(PaidLooks):
    """Answers what it takes to choose how many transactions of one person count; names no item."""

    def __init__(self, engine: Engine, *, budget: Account, noise: Noise) -> None:
        """The engine is over all transactions of all persons, each with its owner."""
        super().__init__(engine, budget=budget, noise=noise, unit=PrivacyUnit("person", 1))

    def ask_transactions_by_person(self, classes: tuple[int, ...], *, epsilon: Fraction) -> NoisyHistogram:
        """How many persons have how many transactions, in classes that begin at these numbers, from 1 up.

        A person, with all transactions, is in one class, so one person moves one of the counts by 1.
        """
        classes = checked_classes(classes, of="transactions", first=1)

        def look(engine: Engine) -> ExactCounts:
            owned = engine.transactions_by_owner(limit=classes[-1])
            return ExactCounts(np.add.reduceat(owned.values, np.array(classes, np.int64) - 1))

        values, mechanism = self._noisy(
            f"transactions of a person, in {len(classes)} classes", look, sensitivity=1, epsilon=epsilon
        )
        return NoisyHistogram(values, mechanism)

    def ask_kth_support_of_one_each(self, k: int, *, max_size: int, epsilon: Fraction) -> NoisyCount:
        """The support of the k-th most frequent itemset over one transaction of each person, drawn at random.

        One more person is one more transaction, which raises every support by 0 or 1, and so the k-th largest of them,
        whatever items there are. Which transaction counts is drawn for each person apart.
        """
        k, max_size = checked_place(k, max_size)

        def look(engine: Engine) -> ExactCounts:
            one_each = engine.of_each_owner(1, self._noise.keys)
            return ExactCounts(np.array([kth_support_of_all(one_each, k, max_size=max_size)]))

        values, mechanism = self._noisy(
            f"support of the {ordinal(k)} itemset, one transaction of each person",
            look,
            sensitivity=1,
            epsilon=epsilon,
        )
        return NoisyCount(int(values[0]), mechanism)
