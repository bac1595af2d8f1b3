"""What is spent along every chain of partitions: parallel composition, kept exactly.

A record lies in at most one partition at a time, so of all the questions about partitions it meets only those
along its own chain: from the partition of all records down to the one where it ends. Chains share few
different ways of having spent, so a way is kept once, and every partition only has the number of its way.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BudgetExceeded
from veilset.gate.accounting.budget import Account
from veilset.gate.mechanisms import ChainedLaplace

Way = tuple[Fraction, ...]
"""What the questions along a chain cost, the first question first."""


class Chains:
    """The account of all chains; none may spend more than the limit.

    >>> chains = Chains(Fraction(1))
    >>> ways = chains.charge(np.array([0]), np.array([0]), [Fraction(1, 6)])
    >>> ways = chains.charge(ways[[0, 0]], np.array([0, 1]), [Fraction(1, 3), Fraction(5, 6)])
    >>> chains.largest
    (Fraction(1, 6), Fraction(5, 6))
    """

    def __init__(self, limit: Fraction) -> None:
        self.limit = limit
        self.largest: Way = ()
        self._ways: list[Way] = [()]

    def charge(self, ways: Int64Array, costs: Int64Array, epsilons: Sequence[Fraction]) -> Int64Array:
        """Make chain i pay `epsilons[costs[i]]`, or raise BudgetExceeded and leave everything as it was.

        `ways[i]` is the number of the way that the chain took so far; returns the numbers of the ways it has
        taken now.
        """
        pairs, places = np.unique(ways * len(epsilons) + costs, return_inverse=True)
        longer = [(*self._ways[pair // len(epsilons)], epsilons[pair % len(epsilons)]) for pair in pairs]
        largest = max(longer, key=sum, default=self.largest)
        if sum(largest) > self.limit:
            raise BudgetExceeded(
                f"a chain of partitions would spend epsilon {sum(largest)}, more than the {self.limit} that was "
                "paid for; ask with less, or pay for more"
            )
        self.largest = max(self.largest, largest, key=sum)
        self._ways = longer
        numbers: Int64Array = places.astype(np.int64).reshape(-1)
        return numbers


class ParallelAccount:
    """All chains together, in a budget that has paid for them at once; its trace tells what the largest has spent."""

    def __init__(self, payer: Account, paid: ChainedLaplace) -> None:
        self.sensitivity = paid.sensitivity
        self._payer = payer
        self._paid = paid
        self._chains = Chains(paid.epsilon)

    def charge(self, ways: Int64Array, costs: Int64Array, epsilons: Sequence[Fraction]) -> Int64Array:
        """Make every chain pay, as `Chains.charge` does, and let the trace tell."""
        longer = self._chains.charge(ways, costs, epsilons)
        explained = replace(self._paid, largest_chain=self._chains.largest)
        self._payer.explain(self._paid, explained)
        self._paid = explained
        return longer
