"""Who answers a question about raw data: one protocol, several engines, the same answers."""

from collections.abc import Callable
from typing import Protocol

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.counts import ExactCounts, ExactItemsets, ExactTree
from veilset.raw.cuts.truncation import Keys, Reshape, Truncation
from veilset.raw.engines.partitions import ExactRecords
from veilset.raw.transactions import Alphabet

DrawKeys = Callable[[int], Keys]
"""Draws that many random keys, for cuts that choose at random."""


class Engine(Protocol):
    """Exact answers about one set of transactions. Only the gate and the exact miner may ask."""

    @property
    def alphabet(self) -> Alphabet:
        """The public items; a count over items has one value for each, in this order."""

    def reshaped(self, reshape: Reshape, draw: DrawKeys) -> "Engine":
        """An engine over the rows that the transactions become."""

    def sample(self, draw: DrawKeys, *, below: int) -> "Engine":
        """The same over the transactions whose random 32-bit key is below a bound."""

    def number(self) -> ExactCounts:
        """How many transactions there are: one value."""

    def lengths(self, truncation: Truncation, draw: DrawKeys, *, limit: int) -> ExactCounts:
        """How many transactions have 0, 1, ..., limit items (the last value: or more) after the cut."""

    def item_supports(self, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """How many transactions hold each item of the alphabet, after the cut."""

    def supports(
        self, offsets: Int64Array, items: Int32Array, truncation: Truncation, draw: DrawKeys
    ) -> ExactCounts:
        """How many transactions hold all of each itemset `items[offsets[i]:offsets[i + 1]]`, after the cut.

        The empty itemset is held by every transaction.
        """

    def normalised_supports(
        self, limits: Int64Array, truncation: Truncation, draw: DrawKeys, *, steps: int
    ) -> ExactCounts:
        """The support of each item where a transaction of n items, after the cut, counts limit / n if longer.

        In integer steps, `steps` of them for a whole transaction, rounded down for each transaction. One row
        for each item, one column for each limit.
        """

    def containment(self, offsets: Int64Array, items: Int32Array, *, limit: int) -> ExactCounts:
        """How many transactions hold 0, 1, ..., limit (the last value: or more) of the itemsets; none is empty."""

    def capped_counts(self, offsets: Int64Array, items: Int32Array, *, most: int, steps: int) -> ExactCounts:
        """The support of each itemset where a transaction that holds n of them counts most / n if that is less.

        In integer steps, `steps` of them for a whole transaction, rounded down for each transaction. No
        itemset may be empty.
        """

    def marginal(self, items: Int32Array, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """How many transactions hold exactly which of up to 16 given items, after the cut.

        Bit i of a pattern's number tells whether `items[i]` is held: 2^len(items) values.
        """

    def records(self, places: Int32Array) -> ExactRecords:
        """The different transactions, and how often each comes, with `places[item]` in the place of an item.

        Items of place -1 are left out, and so are transactions that hold nothing else.
        """

    def prefix_tree(
        self, order: Int32Array, truncation: Truncation, draw: DrawKeys, *, depth: int
    ) -> ExactTree:
        """The tree of transactions as paths of up to `depth` items in this order, after the cut."""

    def frequent(
        self, *, min_count: int, max_size: int | None, min_size: int = 1, items: Int32Array | None = None
    ) -> ExactItemsets:
        """All itemsets held by at least `min_count` transactions, of given sizes, over the given items."""

    def top(
        self,
        k: int,
        *,
        max_size: int | None,
        min_size: int = 1,
        min_count: int = 1,
        items: Int32Array | None = None,
    ) -> ExactItemsets:
        """The k itemsets of largest support; of those that tie for the last places, some."""
