"""Sizes of sub-partitions: records are taken apart along a public taxonomy, level by level, under noise.

Privacy argument. Let c be the number of transactions of one privacy unit, and let an extra transaction t be in
one of two databases. A split asks, for each partition that was named and each combination of the children of
its node, whether the noisy size of that sub-partition reaches a public threshold, and if so what it is. Noise of
rate epsilon / c is put on every size, that of empty sub-partitions, too: which ones are empty never shows, because
those that pass are drawn by the law of testing each (`gate.selection.zero_counts`), with the same threshold and noise
as all others, and answers are ordered by partition and combination. t lies in at most one of the partitions of a
split, meets one combination there, and so moves one size by 1: the odds of any answer change by a factor of at
most exp(epsilon / c) for the epsilon of that sub-partition. Next, only sub-partitions that passed can be split
further, and each record is in at most one of them; this data structure sees to it. So t meets one test a
level, along one chain, and `ParallelAccount` refuses a split after which any chain of tests, passed or not, could have
cost more than was paid. Given what was answered so far the next split is the same for both databases, so the
factors multiply to at most exp(paid / c). A privacy unit is up to c such transactions, added one after
another, in whatever partitions they lie: exp(paid).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate.accounting.parallel import ParallelAccount
from veilset.gate.answers import SubPartitions
from veilset.gate.draws import Noise
from veilset.gate.mechanisms import ChainedLaplace
from veilset.gate.questions.base import Questions
from veilset.gate.questions.door import check_taxonomy
from veilset.gate.selection.noisy_test import NoisyTest, PassedCounts, SparseCounts
from veilset.integers import whole, whole_numbers
from veilset.raw.counts import ExactCounts
from veilset.raw.engines.partitions import ExactPartitions
from veilset.raw.kernels.cells import InnerNodes
from veilset.taxonomy import MOST_CHILDREN, Taxonomy
from veilset.wording import counted


@dataclass(frozen=True, slots=True)
class SizeTest:
    """A sub-partition passes if its noisy size, at this epsilon, reaches the threshold."""

    epsilon: Fraction
    threshold: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", whole(self.threshold, "the threshold of a test"))
        if type(self.epsilon) is not Fraction or self.epsilon <= 0 or self.threshold < 1:
            raise BadCall(
                f"a test at epsilon {self.epsilon} with threshold {self.threshold}; give an epsilon above 0, "
                "as a Fraction, and a threshold of at least 1"
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

    def __post_init__(self) -> None:
        for name in ("partitions", "nodes", "only_items", "others"):
            object.__setattr__(self, name, whole_numbers(getattr(self, name), f"{name} of a split"))
        object.__setattr__(self, "tests", tuple(self.tests))
        if any(type(test) is not SizeTest for test in self.tests):
            raise BadCall("a split is tested by a SizeTest; give nothing else")


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

    def under(self, test: int) -> "_TestedKeys":
        """The keys of all runs that have one test."""
        chosen = np.flatnonzero(self.tests == test)
        lengths = self.ends[chosen] - self.firsts[chosen]
        return _TestedKeys(chosen, self.firsts[chosen], np.append(0, np.cumsum(lengths)))


@dataclass(frozen=True, slots=True, eq=False)
class _TestedKeys:
    """The keys of some runs, in places without gaps: run `runs[i]` has the keys from `firsts[i]` at `starts[i]` on."""

    runs: Int64Array
    firsts: Int64Array
    starts: Int64Array

    @property
    def number(self) -> int:
        """How many there are."""
        return int(self.starts[-1])

    def places_of(self, keys: Int64Array) -> Int64Array:
        """The places of keys, all of which stand in these runs."""
        within = np.searchsorted(self.firsts, keys, side="right") - 1
        return self.starts[within] + keys - self.firsts[within]

    def passed(self, counts: PassedCounts) -> "_Passed":
        """What passed, by key."""
        within = np.searchsorted(self.starts, counts.places, side="right") - 1
        keys = self.firsts[within] + counts.places - self.starts[within]
        return _Passed(keys, self.runs[within], counts.values)


@dataclass(frozen=True, slots=True, eq=False)
class _Passed:
    """The keys of the sub-partitions that passed, the run of each, and their noisy sizes."""

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


class PartitionQuestions(Questions):
    """Records in partitions, which are asked further questions."""

    def ask_partitions(self, taxonomy: Taxonomy, *, epsilon: Fraction) -> "Partitions":
        """Records in partitions that can be split along a taxonomy; items that it does not hold are forgotten.

        Paid for once, before the first look, for all splits together: no chain of partitions may spend more
        than epsilon. A transaction moves one size by 1 at each level of one chain: see the argument above.
        """
        check_taxonomy(taxonomy, self.alphabet_size)
        places = np.full(self.alphabet_size, -1, np.int32)
        places[taxonomy.items] = np.arange(taxonomy.items.size)
        mechanism = ChainedLaplace(self.unit.transactions, epsilon)
        items = counted(taxonomy.items.size, "item")
        engine = self._pay(f"sizes of partitions along a taxonomy of {items}", mechanism)
        tree = InnerNodes(taxonomy.ends, taxonomy.first_child, taxonomy.child_starts)
        exact = ExactPartitions(engine.records(places), tree)
        account = ParallelAccount(self.budget, mechanism)
        return Partitions(exact, taxonomy, account=account, noise=self._noise)


class Partitions:
    """Private records in partitions. At first there is one, number 0; every split makes new ones.

    As in `Questions`, the exact partitions are kept under a hidden name, and `_pay` is the only method that reads it.
    """

    def __init__(
        self, exact: ExactPartitions, taxonomy: Taxonomy, *, account: ParallelAccount, noise: Noise
    ) -> None:
        self.__exact = exact
        self._taxonomy, self._account, self._noise = taxonomy, account, noise
        self._ways = np.zeros(1, np.int64)  # of each partition, as the account numbers them
        self._lock = Lock()

    def ask_split(self, split: Refinement) -> SubPartitions:
        """Split partitions by the children of a node: the sub-partitions that pass their test, with noisy sizes.

        A transaction is in one sub-partition of one partition, and moves its size by 1: see the argument above.
        """
        with self._lock:  # another split in between would go on from partitions that are no more
            return self._split(split)

    def _split(self, split: Refinement) -> SubPartitions:
        self._check(split)
        runs = _Runs.of(split, self._taxonomy)
        exact, ways = self._pay(split, runs)
        exact.keep(split.partitions)
        cells = exact.split(split.nodes)
        keys = cells.partitions * _PARTITION + cells.masks
        passed = self._test(runs, split.tests, keys, cells.sizes)
        places = np.searchsorted(passed.keys, keys)
        exact.become(np.where(np.isin(keys, passed.keys), places, -1), passed.keys.size)
        self._ways = ways[passed.runs]
        return SubPartitions(passed.keys // _PARTITION, passed.keys % _PARTITION, passed.sizes)

    def _pay(self, split: Refinement, runs: _Runs) -> tuple[ExactPartitions, Int64Array]:
        """Charge the chain of every run, or raise BudgetExceeded; then, and only then, hand out the exact partitions.

        With them comes what each chain has spent, as the account numbers it.
        """
        epsilons = [test.epsilon for test in split.tests]
        ways = self._account.charge(self._ways[split.partitions[runs.partitions]], runs.tests, epsilons)
        return self.__exact, ways

    def _check(self, split: Refinement) -> None:
        """Raise BadCall for a split of what is not there; a partition named twice would be asked twice."""
        if type(split) is not Refinement:
            raise BadCall(f"a {type(split).__name__} does not tell what to split; give a Refinement")
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
        """Every sub-partition under its test: those that records fall into (keys, exact sizes), and all others."""
        run_of = np.searchsorted(runs.firsts, keys, side="right") - 1
        parts = []
        for number, test in enumerate(tests):
            tested = runs.under(number)
            listed = np.flatnonzero(runs.tests[run_of] == number)
            counts = SparseCounts(tested.places_of(keys[listed]), ExactCounts(sizes[listed]), tested.number)
            noisy_test = NoisyTest(test.threshold, self._account.sensitivity, test.epsilon)
            parts.append(tested.passed(self._noise.passing(counts, noisy_test)))
        return _Passed.joined(parts)
