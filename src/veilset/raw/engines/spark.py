"""The engine for data that outgrows one machine: executors of a Spark cluster count blocks and add up the counts.

Only the DataFrame API is used (`mapInArrow`, `repartition`, `coalesce`, `persist`, `collect`), so the frame may be one
of classic PySpark, of Spark Connect, or of Sail. A question is sent to the executors, which ask the local engine
about each block; their answers are added by executors, up to 16 at a time, and the driver adds the last few.
Noise is no matter of the engine: it is added once, at the gate.

Answers are sums of integers, merged by key or added, and random keys depend on what a transaction holds
(`raw.cuts.row_keys`). So they are those of the local engine, whatever the partitioning, and a partition that was lost
and is counted again changes nothing. Where keys are wanted, equal transactions must be in one block, so that each
can have its number among them: the first such question sends every transaction to a partition by a hash of what
it holds, once.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.raw.clustered import ClusteredTransactions, RowBlock
from veilset.raw.counts import ExactCounts, ExactItemsets, ExactRecords, ExactTree
from veilset.raw.cuts.row_keys import RowKeys, SipKeys
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.cuts.truncation import KeepAll, Reshape, Truncation
from veilset.raw.engines import DrawKeys, cluster_mining
from veilset.raw.engines.block_store import engine_over_block
from veilset.raw.engines.cluster_rows import NOTHING_DRAWN, ClusterRows
from veilset.raw.engines.cluster_supports import ClusterSupports
from veilset.raw.engines.cluster_work import (
    AskBlock,
    BecomeRows,
    DrawnKeys,
    KeyedCounts,
    Merge,
    added_by_key,
)
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.local import LocalEngine
from veilset.raw.engines.mining import UNLIMITED
from veilset.raw.kernels import prefix_tree
from veilset.raw.kernels.row_hashes import sum_of_rows
from veilset.raw.transactions import Alphabet


class SparkEngine:
    """Answers questions about transactions in blocks on a cluster; holds no row itself."""

    def __init__(self, rows: ClusterRows, alphabet: Alphabet, *, has_owners: bool = False) -> None:
        self.alphabet = alphabet
        self._cluster, self._has_owners = rows, has_owners
        nothing = RowBlock(np.zeros(1, np.int64), np.empty(0, np.int32))
        self._empty = engine_over_block(nothing, len(alphabet))

    @classmethod
    def over(cls, data: ClusteredTransactions) -> "SparkEngine":
        """The engine over transactions as they were read."""
        return cls(ClusterRows(data.blocks, len(data.alphabet)), data.alphabet, has_owners=data.has_owners)

    def __repr__(self) -> str:
        return "SparkEngine(private)"

    def reshaped(self, reshape: Reshape, draw: DrawKeys) -> "SparkEngine":
        """An engine over the rows that the transactions become."""
        self._empty.reshaped(reshape, _no_secret)  # raises where it does not fit
        keys = self._drawn(reshape, draw)
        rows = self._rows_for(keys).become(lambda engine, drawn: engine.reshaped(reshape, drawn), keys)
        return SparkEngine(rows, self.alphabet)

    def sample(self, draw: DrawKeys, *, below: int) -> "SparkEngine":
        """The same over the transactions whose random 32-bit key is below a bound."""
        become: BecomeRows = lambda engine, drawn: engine.sample(drawn, below=below)  # noqa: E731
        rows = self._cluster.together.become(become, DrawnKeys(draw()), keeps_equal=True)
        return SparkEngine(rows, self.alphabet)

    def of_each_owner(self, most: int, draw: DrawKeys) -> "SparkEngine":
        """An engine over at most that many transactions of each owner, drawn uniformly."""
        if not self._has_owners:
            return self
        become: BecomeRows = lambda engine, drawn: engine.of_each_owner(most, drawn)  # noqa: E731
        rows = self._cluster.by_owner.become(become, DrawnKeys(draw()))
        return SparkEngine(rows, self.alphabet, has_owners=True)

    def restricted(self, items: Int64Array) -> "SparkEngine":
        """An engine over the same transactions with no other items than these, in this order."""
        chosen = Alphabet([self.alphabet.names[code] for code in items.tolist()], is_given=True)
        become: BecomeRows = lambda engine, _: engine.restricted(items)  # noqa: E731
        return SparkEngine(self._cluster.become(become, NOTHING_DRAWN, alphabet_size=items.size), chosen)

    def weighted_items(self, weights: Int64Array, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """For each item the sum of `weights[n]` over the transactions that hold it, of n items after truncation."""
        return self._sum(
            lambda engine, keys: engine.weighted_items(weights, truncation, keys), truncation, draw
        )

    def number(self) -> ExactCounts:
        """How many transactions there are: one value."""
        return ExactCounts(np.array([self.rows()], np.int64))

    def transactions_by_owner(self, *, limit: int) -> ExactCounts:
        """How many owners have 1, 2, ..., limit transactions (the last value: or more)."""
        return self._sum(lambda engine, _: engine.transactions_by_owner(limit=limit))

    def lengths(self, truncation: Truncation, draw: DrawKeys, *, limit: int) -> ExactCounts:
        """How many transactions have 0, 1, ..., limit items (the last value: or more) after truncation."""
        return self._sum(lambda engine, keys: engine.lengths(truncation, keys, limit=limit), truncation, draw)

    def item_supports(self, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """How many transactions hold each item of the alphabet, after truncation."""
        if isinstance(truncation, KeepAll):
            return ExactCounts(self._item_supports.copy())
        return self._sum(lambda engine, keys: engine.item_supports(truncation, keys), truncation, draw)

    def supports(
        self, offsets: Int64Array, items: Int32Array, truncation: Truncation, draw: DrawKeys
    ) -> ExactCounts:
        """How many transactions hold all of each itemset `items[offsets[i]:offsets[i + 1]]`, after truncation."""
        return self._sum(
            lambda engine, keys: engine.supports(offsets, items, truncation, keys), truncation, draw
        )

    def normalised_supports(
        self, limits: Int64Array, truncation: Truncation, draw: DrawKeys, *, steps: int
    ) -> ExactCounts:
        """The support of each item where a transaction of n items, after truncation, counts limit / n if longer."""
        return self._sum(
            lambda engine, keys: engine.normalised_supports(limits, truncation, keys, steps=steps),
            truncation,
            draw,
        )

    def containment(self, offsets: Int64Array, items: Int32Array, *, limit: int) -> ExactCounts:
        """How many transactions hold 0, 1, ..., limit (the last value: or more) of the itemsets; none is empty."""
        return self._sum(lambda engine, _: engine.containment(offsets, items, limit=limit))

    def capped_counts(self, offsets: Int64Array, items: Int32Array, *, most: int, steps: int) -> ExactCounts:
        """The support of each itemset where a transaction that holds n of them counts most / n if that is less."""
        return self._sum(lambda engine, _: engine.capped_counts(offsets, items, most=most, steps=steps))

    def weighted_counts(self, offsets: Int64Array, items: Int32Array, weights: Int64Array) -> ExactCounts:
        """For each itemset the sum of `weights[n]` over the transactions that hold it, and n of the itemsets in all."""
        return self._sum(lambda engine, _: engine.weighted_counts(offsets, items, weights))

    def marginal(self, items: Int32Array, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """How many transactions hold exactly which of up to 16 given items, after truncation."""
        self._empty.marginal(items, truncation, _no_secret)  # raises where it does not fit
        if isinstance(truncation, KeepAll):
            known = self._counted.marginal(items, self.rows())
            if known is not None:
                return ExactCounts(known)
        return self._sum(lambda engine, keys: engine.marginal(items, truncation, keys), truncation, draw)

    def records(self, places: Int32Array) -> ExactRecords:
        """The different transactions, and how often each comes, with `places[item]` in the place of an item.

        Executors merge equal ones; what is left of different ones is held by the driver, who takes them apart.
        """

        def make(engine: LocalEngine) -> KeyedCounts:
            found = engine.records(places)
            return KeyedCounts(found.offsets, found.items, found.copies[:, None])

        merged = self._cluster.made(make, Merge(added_by_key))
        found = make(self._empty) if merged is None else merged
        return ExactRecords(found.offsets, found.items, found.values[:, 0].copy())

    def prefix_tree(
        self, order: Int32Array, truncation: Truncation, draw: DrawKeys, *, depth: int
    ) -> ExactTree:
        """The tree of transactions as paths of up to `depth` items in this order, after truncation."""
        empty = self._empty.prefix_tree(order, truncation, _no_secret, depth=depth)
        keys = self._drawn(truncation, draw)

        def make(engine: LocalEngine) -> ExactTree:
            return engine.prefix_tree(order, truncation, keys, depth=depth)

        merged = self._rows_for(keys).made(make, Merge(_added_trees))
        return empty if merged is None else merged

    def frequent(self, which: ItemsetFilter) -> ExactItemsets:
        """All itemsets that the filter lets through."""
        return self.top(UNLIMITED, which)

    def top(self, k: int, which: ItemsetFilter) -> ExactItemsets:
        """The k itemsets of largest support that the filter lets through; of those that tie for the last, some."""
        found = self._counted.top(k, which)
        return cluster_mining.top_of_groups(self, k, which) if found is None else found

    def row_sums(self, words: Uint64Array) -> Uint64Array:
        """For each row of words, one of every item: the sum over transactions of what they hash to, modulo 2^64."""

        def ask(engine: LocalEngine, _: DrawKeys) -> ExactCounts:
            held = engine.held
            sums = [sum_of_rows(held.offsets, held.items, each) for each in words]
            return ExactCounts(np.array(sums, np.uint64).view(np.int64))

        return self._sum(ask).values.view(np.uint64)

    @property
    def alphabet_size(self) -> int:
        """How many items there are."""
        return len(self.alphabet)

    @property
    def partitions(self) -> int:
        """How many blocks there are, at most."""
        return self._cluster.partitions

    def rows(self) -> int:
        """How many transactions there are."""
        return sum(self._cluster.census)

    def supports_of(self, offsets: Int64Array, items: Int32Array) -> ExactCounts:
        """The supports of itemsets over whole transactions."""
        return self.supports(offsets, items, KeepAll(), _no_secret)

    def of_groups(
        self, groups: int, name: Callable[[LocalEngine], KeyedCounts], merge: Callable[..., KeyedCounts]
    ) -> KeyedCounts:
        """What groups of partitions name, merged two by two."""
        found = self._cluster.made_of_groups(groups, name, Merge(merge))
        return name(self._empty) if found is None else found

    @cached_property
    def _item_supports(self) -> Int64Array:
        return self._sum(lambda engine, drawn: engine.item_supports(KeepAll(), drawn)).values

    @cached_property
    def _counted(self) -> ClusterSupports:
        """Supports that were counted, for the questions that follow."""
        return ClusterSupports(self._item_supports, lambda *itemsets: self.supports_of(*itemsets).values)

    def _sum(
        self, ask: AskBlock, truncation: Truncation | None = None, draw: DrawKeys | None = None
    ) -> ExactCounts:
        """The sum over all blocks of the answers to a question; BadCall before anything is sent where it is bad."""
        nothing = ask(self._empty, _no_secret).values
        keys = NOTHING_DRAWN if truncation is None or draw is None else self._drawn(truncation, draw)
        return ExactCounts(self._rows_for(keys).sum(ask, keys, nothing))

    def _drawn(self, reshape: Reshape, draw: DrawKeys) -> DrawnKeys:
        """The keys of a question, drawn here and now if anything is left to chance."""
        nothing = CompressedRows(np.zeros(1, np.int64), np.empty(0, np.int32))
        return NOTHING_DRAWN if reshape.keys_needed(nothing) is None else DrawnKeys(draw())

    def _rows_for(self, keys: DrawnKeys) -> ClusterRows:
        """The rows that can be asked with these keys."""
        return self._cluster if keys.keys is None else self._cluster.together


def _no_secret() -> RowKeys:
    """Keys for no rows at all."""
    return SipKeys(np.zeros(2, np.uint64))


def _added_trees(one: ExactTree, other: ExactTree) -> ExactTree:
    """The tree of the rows of both."""
    tree = prefix_tree.added(prefix_tree.added(prefix_tree.root_with_room(0), _tree(one)), _tree(other))
    number = int(tree.number[0])
    return ExactTree(tree.parents[:number].copy(), tree.ranks[:number].copy(), tree.counts[:number].copy())


def _tree(exact: ExactTree) -> prefix_tree.PrefixTree:
    number = np.array([exact.parents.size], np.int64)
    return prefix_tree.PrefixTree(exact.parents, exact.ranks, exact.counts, np.empty(0, np.int64), number)
