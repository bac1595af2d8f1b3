"""Questions that may be asked before anybody knows which items there are; the last of them names the items.

A curator over unnamed items has no alphabet to show: it tells neither names nor how many items there are. What it can
be asked does not depend on either. Its last question hands out a `Curator` over the items that enough units hold, with
the same budget.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate.answers import Discovery, NoisyCount, NoisyHistogram
from veilset.gate.approximate_mechanisms import NamingLaw
from veilset.gate.curator import Curator
from veilset.gate.questions.base import PaidLooks
from veilset.gate.questions.door import checked_classes, checked_place
from veilset.gate.selection import item_discovery
from veilset.gate.selection.floored_supports import kth_support_of_all
from veilset.integers import whole
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.truncation import KeepAll, KeepRandom
from veilset.raw.engines import Engine
from veilset.raw.transactions import Item
from veilset.wording import ordinal


class UnnamedCurator(PaidLooks):
    """Answers what does not name an item, and then which items there are."""

    def ask_length_classes(self, classes: tuple[int, ...], *, epsilon: Fraction) -> NoisyHistogram:
        """How many transactions have how many items, in classes that begin at these numbers, from 0 up.

        A transaction is in one class, so it moves one of the counts by 1.
        """
        classes = checked_classes(classes, of="lengths")

        def look(engine: Engine) -> ExactCounts:
            lengths = engine.lengths(KeepAll(), self._noise.keys, limit=classes[-1])
            return ExactCounts(np.add.reduceat(lengths.values, np.array(classes, np.int64)))

        values, mechanism = self._noisy(
            f"lengths of transactions, in {len(classes)} classes", look, sensitivity=1, epsilon=epsilon
        )
        return NoisyHistogram(values, mechanism)

    def ask_kth_support(self, k: int, *, max_size: int, epsilon: Fraction) -> NoisyCount:
        """The support of the k-th most frequent itemset of up to `max_size` items; 0 where there are fewer.

        A transaction raises every support by 0 or 1, and so the k-th largest of them, whatever items there are.
        """
        k, max_size = checked_place(k, max_size)

        def look(engine: Engine) -> ExactCounts:
            return ExactCounts(np.array([kth_support_of_all(engine, k, max_size=max_size)]))

        values, mechanism = self._noisy(
            f"support of the {ordinal(k)} itemset", look, sensitivity=1, epsilon=epsilon
        )
        return NoisyCount(int(values[0]), mechanism)

    def ask_alphabet(
        self,
        law: NamingLaw,
        *,
        longest: int,
        epsilon: Fraction,
        delta: Fraction,
        lengths: NoisyHistogram,
    ) -> Curator:
        """The items that enough units hold, as a curator over them; all others are dropped from the data.

        A unit of c transactions moves the weights of items by at most c in the norm of the law, and names items that
        nobody else holds with a probability of at most delta: `selection.item_discovery` has the proof. `lengths`,
        the answer by which the law was chosen, goes along with the weights.
        """
        longest = whole(longest, "the longest length")
        if longest < 1:
            raise BadCall(f"transactions cut to {longest} items name nothing; give at least 1")
        mechanism = item_discovery.naming_mechanism(
            law, transactions=self.unit.transactions, longest=longest, epsilon=epsilon, delta=delta
        )
        engine = self._pay("items that enough transactions hold to be named", mechanism)
        weights = engine.weighted_items(
            item_discovery.weights_by_length(law, longest), KeepRandom(longest), self._noise.keys
        )
        named = self._noise.named(weights, mechanism)
        order = np.array(sorted(range(named.items.size), key=_by_name(engine, named.items)), np.int64)
        return Curator(
            engine.restricted(named.items[order]),
            budget=self.budget,
            noise=self._noise,
            unit=self.unit,
            public_number=self.public_number,
            discovery=Discovery(named.weights[order], mechanism, lengths),
        )


def _by_name(engine: Engine, items: Int64Array) -> Callable[[int], tuple[bool, Item]]:
    """Numbers first, then texts: an order that tells nothing about the data."""
    names = [engine.alphabet.names[code] for code in items.tolist()]
    return lambda place: (isinstance(names[place], str), names[place])
