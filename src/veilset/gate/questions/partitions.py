"""Sizes of sub-partitions: records are taken apart along a public taxonomy, level by level, under noise.

Privacy argument. Let c be the number of transactions of one privacy unit, and let an extra transaction t be in
one of two databases. A split asks, for each partition that was named and each combination of the children of
its node, whether the noisy size of that sub-partition reaches a public threshold, and if so what it is. Noise of
rate epsilon / c is put on every size, that of empty sub-partitions, too: which ones are empty never shows, because
those that pass are drawn by the law of testing each (`gate.passing`), with the same threshold and noise as all
others, and answers are ordered by partition and combination. t lies in at most one of the partitions of a
split, meets one combination there, and so moves one size by 1: the odds of any answer change by a factor of at
most exp(epsilon / c) for the epsilon of that sub-partition. Next, only sub-partitions that passed can be split
further, and each record is in at most one of them; this data structure sees to it. So t meets one test a
level, along one chain, and `Chains` refuses a split after which any chain of tests, passed or not, could have
cost more than was paid. Given what was answered so far the next split is the same for both databases, so the
factors multiply to at most exp(paid / c). A privacy unit is up to c such transactions, added one after
another, in whatever partitions they lie: exp(paid).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate.accounting.budget import Account
from veilset.gate.accounting.parallel import Chains
from veilset.gate.answers import SubPartitions
from veilset.gate.mechanisms import ChainedLaplace
from veilset.gate.noise import Noise, float_at_least
from veilset.gate.selection.zero_counts import draw_number_passing, draw_passing_noise
from veilset.itemsets import draw_places
from veilset.raw.counts import ExactCounts
from veilset.raw.engines.partitions import ExactPartitions
from veilset.taxonomy import MOST_CHILDREN, Taxonomy


@dataclass(frozen=True, slots=True)
class SizeTest:
    """A sub-partition passes if its noisy size, at this epsilon, reaches the threshold."""

    epsilon: Fraction
    threshold: int

    def __post_init__(self) -> None:
        if self.epsilon <= 0 or self.threshold < 1:
            raise BadCall(
                f"a test at epsilon {self.epsilon} with threshold {self.threshold}; give an epsilon above 0 and a "
                "threshold of at least 1"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """Which partitions to split, and how: entry i is about `partitions[i]`, a place in the last answer.

    Partitions that are not named are dropped. Combinations of children of `nodes[i]` that are all items are
    tested by `tests[only_items[i]]`, all others by `tests[others[i]]`.
    """

    partitions: Int64Array
    nodes: Int64Array
    tests: tuple[SizeTest, ...]
    only_items: Int64Array
    others: Int64Array


_PARTITION = 1 << (MOST_CHILDREN + 1)
"""Sub-partition `mask` of the i-th partition has the key i * _PARTITION + mask; every mask is less than that."""


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """All sub-partitions in the order of their keys, in runs: those of one partition that have one test.

    Run r is about the partition `partitions[r]` of the split, has the test `tests[r]` and holds the keys from
    `firsts[r]` up to, not including, `ends[r]`.
    """

    partitions: Int64Array
    tests: Int64Array
    firsts: Int64Array
    ends: Int64Array

    @classmethod
    def of(cls, split: Refinement, taxonomy: Taxonomy) -> "_Runs":
        """For each partition the masks of items only, then all others: a node's items have the lowest bits."""
        number = split.partitions.size
        children = np.diff(taxonomy.first_child)[split.nodes]
        bounds = np.stack([np.ones_like(children), 1 << taxonomy.item_children[split.nodes], 1 << children])
        bounds += np.arange(number) * _PARTITION
        firsts, ends = bounds[:2].T.ravel(), bounds[1:].T.ravel()
        partitions = np.repeat(np.arange(number), 2)
        tests = np.stack([split.only_items, split.others]).T.ravel()
        real = firsts < ends
        return cls(partitions[real], tests[real], firsts[real], ends[real])


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Passed:
    """Sub-partitions that passed their test, by key, with the run of each and its noisy size."""

    keys: Int64Array
    runs: Int64Array
    sizes: Int64Array

    @classmethod
    def joined(cls, parts: Sequence["_Passed"]) -> "_Passed":
        """All of them, in the order of their keys."""
        keys = np.concatenate([part.keys for part in parts])
        order = np.argsort(keys)
        runs = np.concatenate([part.runs for part in parts])
        sizes = np.concatenate([part.sizes for part in parts])
        return cls(keys[order], runs[order], sizes[order])


class Partitions:
    """Private records in partitions. At first there is one, number 0; every split makes new ones."""

    def __init__(
        self,
        exact: ExactPartitions,
        taxonomy: Taxonomy,
        *,
        paid: ChainedLaplace,
        budget: Account,
        noise: Noise,
    ) -> None:
        self._exact = exact
        self._taxonomy = taxonomy
        self._paid = paid
        self._budget = budget
        self._noise = noise
        self._chains = Chains(paid.epsilon)
        self._ways = np.zeros(1, np.int64)  # of each partition, as the account numbers them

    def ask_split(self, split: Refinement) -> SubPartitions:
        """Split partitions by the children of a node: the sub-partitions that pass their test, with noisy sizes.

        A transaction is in one sub-partition of one partition, and moves its size by 1: see the argument above.
        """
        self._check(split)
        runs = _Runs.of(split, self._taxonomy)
        epsilons = [test.epsilon for test in split.tests]
        ways = self._chains.charge(self._ways[split.partitions[runs.partitions]], runs.tests, epsilons)
        self._explain()
        self._exact.keep(split.partitions)
        cells = self._exact.split(split.nodes)
        keys = cells.partitions * _PARTITION + cells.masks
        passed = self._test(runs, split.tests, keys, cells.sizes)
        places = np.searchsorted(passed.keys, keys)
        self._exact.become(np.where(np.isin(keys, passed.keys), places, -1), passed.keys.size)
        self._ways = ways[passed.runs]
        return SubPartitions(passed.keys // _PARTITION, passed.keys % _PARTITION, passed.sizes)

    def _explain(self) -> None:
        """Let the trace tell what the largest chain has spent by now."""
        explained = replace(self._paid, largest_chain=self._chains.largest)
        self._budget.explain(self._paid, explained)
        self._paid = explained

    def _check(self, split: Refinement) -> None:
        """Raise BadCall for a split of what is not there; a partition named twice would be asked twice."""
        if np.unique(split.partitions).size != split.partitions.size:
            raise BadCall("a partition stands twice among those to split; name each once")
        for places, number in (
            (split.partitions, self._ways.size),
            (split.nodes, self._taxonomy.nodes),
            (split.only_items, len(split.tests)),
            (split.others, len(split.tests)),
        ):
            if places.size != split.partitions.size or np.any((places < 0) | (places >= number)):
                raise BadCall("a split needs a node and two tests for each partition, all of which exist")

    def _test(self, runs: _Runs, tests: Sequence[SizeTest], keys: Int64Array, sizes: Int64Array) -> _Passed:
        """Every sub-partition under its test: the seen ones (keys, exact sizes), and those that are empty."""
        run_of = np.searchsorted(runs.firsts, keys, side="right") - 1
        parts = []
        for number, test in enumerate(tests):
            # Rounded up to a float here, so that seen and unseen ones have the same noise to the last bit.
            scale = Fraction(float_at_least(self._paid.sensitivity / test.epsilon))
            seen = np.flatnonzero(runs.tests[run_of] == number)
            noisy = self._noise.discrete_laplace(ExactCounts(sizes[seen]), scale=scale)
            passing = noisy >= test.threshold
            parts.append(_Passed(keys[seen[passing]], run_of[seen[passing]], noisy[passing]))
            parts.append(self._test_empty(runs, number, test.threshold, scale, keys))
        return _Passed.joined(parts)

    def _test_empty(
        self, runs: _Runs, test: int, threshold: int, scale: Fraction, keys: Int64Array
    ) -> _Passed:
        """The empty sub-partitions of all runs with one test: how many pass, which ones, with what noise."""
        chosen = np.flatnonzero(runs.tests == test)
        before, until = np.searchsorted(keys, runs.firsts[chosen]), np.searchsorted(keys, runs.ends[chosen])
        empty = np.cumsum(runs.ends[chosen] - runs.firsts[chosen] - (until - before))
        among = int(empty.max(initial=0))
        number = draw_number_passing(among, threshold=threshold, rate=1 / scale, below=self._noise.below)
        places = np.array(sorted(draw_places(number, among, self._noise.below)), dtype=np.int64)
        within = np.searchsorted(empty, places, side="right")
        ranks = places - np.append(0, empty)[within]
        sizes = draw_passing_noise(
            number, threshold=threshold, noise=lambda zeros: self._noise.discrete_laplace(zeros, scale=scale)
        )
        return _Passed(_empty_keys(ranks, runs.firsts[chosen[within]], keys), chosen[within], sizes)


def _empty_keys(ranks: Int64Array, firsts: Int64Array, keys: Int64Array) -> Int64Array:
    """The keys from `firsts[i]` on that are not taken, that of rank `ranks[i]` (from 0); `keys` are taken, ascending.

    The taken key at place j has `keys[j] - j` free ones below it, which never falls with j. So the free key of
    rank r after a first one has as many taken keys below it as have at most the free ones that it has below it.
    """
    free_below = firsts - np.searchsorted(keys, firsts) + ranks
    return free_below + np.searchsorted(keys - np.arange(keys.size), free_below, side="right")
