"""The Curator: the one door between raw data and everybody else.

Every `ask_` method is one question. It charges the budget (or raises BudgetExceeded before it looks), looks,
adds noise and returns a noisy answer; the charge is the row of the trace. A question's sensitivity is stated
for one transaction and multiplied by the number of transactions that one privacy unit may have.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from veilset.errors import BadCall
from veilset.gate.accounting.amplification import SampleAccount, SampledEngine, drawable_rate
from veilset.gate.mechanisms import ChainedLaplace, DiscreteLaplace
from veilset.gate.noisy_tree import NoisyTree
from veilset.gate.questions import prefix_tree
from veilset.gate.questions.base import under
from veilset.gate.questions.counts import CountQuestions
from veilset.gate.questions.partitions import Partitions
from veilset.gate.questions.selections import SelectionQuestions
from veilset.raw.cuts.truncation import KeepAll, Truncation
from veilset.raw.engines.partitions import ExactPartitions
from veilset.raw.kernels.cells import InnerNodes
from veilset.taxonomy import Taxonomy

if TYPE_CHECKING:
    from veilset.raw.engines import Engine


class Curator(CountQuestions, SelectionQuestions):
    """Answers questions about private transactions within a budget: counts, ranks, and whole structures."""

    def on_sample(self, rate: Fraction, *, epsilon: Fraction) -> "Curator":
        """A curator over a random sample, drawn once; what it is asked costs at most epsilon here, all together.

        Every transaction is in the sample with probability `rate`, which is public or paid for. Its questions
        cost what they say on the sample and less here: see `gate.sampling`. Its budget tells what they may
        cost on the sample, its trace rows stand among the charges of this curator.
        """
        drawn = drawable_rate(rate)
        account = SampleAccount(self.budget, rate=drawn, transactions=self.unit.transactions, epsilon=epsilon)
        engine = cast("Engine", SampledEngine(self._engine, rate=drawn, draw=self._noise.keys))
        return Curator(engine, budget=account, noise=self._noise, unit=self.unit)

    def ask_prefix_tree(
        self,
        order: tuple[int, ...],
        *,
        depth: int,
        threshold: int,
        epsilon: Fraction,
        truncation: Truncation | None = None,
    ) -> NoisyTree:
        """How many transactions begin with which items, in a public order: the nodes that reach a threshold.

        After the cut, a transaction is a path of its first `depth` items in the order. It moves the counts of the
        nodes on its path by 1, at most one on each level, so by `depth` all together. Every possible child of a
        node that is kept is tested alike, whether a transaction passed or not: see `gate.prefix_tree`.
        """
        codes, bound = np.array(order, dtype=np.int32), truncation or KeepAll()
        mechanism = DiscreteLaplace(depth * self.unit.transactions, epsilon) if depth > 0 else None
        if mechanism is None or not order or len(set(order)) < len(order):
            raise BadCall("a prefix tree needs different items in an order, and a depth of at least 1")
        prefix_tree.check_ends(threshold, width=len(order), scale=mechanism.scale)
        self.budget.charge(f"prefix tree of {len(order)} items, {depth} deep{under(truncation)}", mechanism)
        exact = self._engine.prefix_tree(codes, bound, self._noise.keys, depth=depth)
        return prefix_tree.grown(
            exact, order, depth=depth, threshold=threshold, mechanism=mechanism, noise=self._noise
        )

    def ask_partitions(self, taxonomy: Taxonomy, *, epsilon: Fraction) -> Partitions:
        """Records in partitions that can be split along a taxonomy; items that it does not hold are forgotten.

        Paid for once, before the first look, for all splits together: no chain of partitions may spend more
        than epsilon. A transaction moves one size by 1 at each level of one chain: see `gate.partitions`.
        """
        places = np.full(self.alphabet_size, -1, np.int32)
        places[taxonomy.items] = np.arange(taxonomy.items.size)
        mechanism = ChainedLaplace(self.unit.transactions, epsilon)
        self.budget.charge(f"sizes of partitions along a taxonomy of {taxonomy.items.size} items", mechanism)
        tree = InnerNodes(taxonomy.ends, taxonomy.first_child, taxonomy.child_starts)
        exact = ExactPartitions(self._engine.records(places), tree)
        return Partitions(exact, taxonomy, paid=mechanism, budget=self.budget, noise=self._noise)
