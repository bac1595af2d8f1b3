"""Who answers a question about raw data: one protocol, several engines, the same answers."""

from collections.abc import Callable
from typing import Protocol

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.counts import ExactCounts, ExactItemsets, ExactRecords, ExactTree
from veilset.raw.cuts.row_keys import RowKeys
from veilset.raw.cuts.truncation import Reshape, Truncation
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.transactions import Alphabet

DrawKeys = Callable[[], RowKeys]
"""Draws a secret, and with it the random keys of all transactions; called only where something is left to chance."""


class Engine(Protocol):
    """Exact answers about one set of transactions. Only the gate and the exact miner may ask."""

    @property
    def alphabet(self) -> Alphabet:
        """The public items; a count over items has one value for each, in this order."""

    def reshaped(self, reshape: Reshape, draw: DrawKeys) -> "Engine":
        """An engine over the rows that the transactions become."""

    def sample(self, draw: DrawKeys, *, below: int) -> "Engine":
        """The same over the transactions whose random 32-bit key is below a bound."""

    def of_each_owner(self, most: int, draw: DrawKeys) -> "Engine":
        """An engine over at most that many transactions of each owner, drawn uniformly."""

    def restricted(self, items: Int64Array) -> "Engine":
        """An engine over the same transactions with no other items than these, in this order."""

    def weighted_items(self, weights: Int64Array, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """For each item the sum of `weights[n]` over the transactions that hold it, of n items after truncation."""

    def number(self) -> ExactCounts:
        """How many transactions there are: one value."""

    def transactions_by_owner(self, *, limit: int) -> ExactCounts:
        """How many owners have 1, 2, ..., limit transactions (the last value: or more).

        Where no owners are known, every transaction is somebody's only one.
        """

    def lengths(self, truncation: Truncation, draw: DrawKeys, *, limit: int) -> ExactCounts:
        """How many transactions have 0, 1, ..., limit items (the last value: or more) after truncation."""

    def item_supports(self, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """How many transactions hold each item of the alphabet, after truncation."""

    def supports(
        self, offsets: Int64Array, items: Int32Array, truncation: Truncation, draw: DrawKeys
    ) -> ExactCounts:
        """How many transactions hold all of each itemset `items[offsets[i]:offsets[i + 1]]`, after truncation.

        The empty itemset is held by every transaction.
        """

    def normalised_supports(
        self, limits: Int64Array, truncation: Truncation, draw: DrawKeys, *, steps: int
    ) -> ExactCounts:
        """The support of each item where a transaction of n items, after truncation, counts limit / n if longer.

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

    def weighted_counts(self, offsets: Int64Array, items: Int32Array, weights: Int64Array) -> ExactCounts:
        """For each itemset the sum of `weights[n]` over the transactions that hold it, and n of the itemsets in all."""

    def marginal(self, items: Int32Array, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """How many transactions hold exactly which of up to 16 given items, after truncation.

        Bit i of a cell's number tells whether `items[i]` is held: 2^len(items) cells.
        """

    def records(self, places: Int32Array) -> ExactRecords:
        """The different transactions, and how often each comes, with `places[item]` in the place of an item.

        Items of place -1 are left out, and so are transactions that hold nothing else.
        """

    def prefix_tree(
        self, order: Int32Array, truncation: Truncation, draw: DrawKeys, *, depth: int
    ) -> ExactTree:
        """The tree of transactions as paths of up to `depth` items in this order, after truncation."""

    def frequent(self, which: ItemsetFilter) -> ExactItemsets:
        """All itemsets that the filter lets through."""

    def top(self, k: int, which: ItemsetFilter) -> ExactItemsets:
        """The k itemsets of largest support that the filter lets through; of those that tie for the last, some."""
