"""What is spent along every chain of partitions: parallel composition, kept exactly.

A record lies in at most one partition at a time, so of all the questions about partitions it meets only those
along its own chain: from the partition of all records down to the one where it ends. Chains share few
different ways of having spent, so a way is kept once, and every partition only has the number of its way.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from threading import Lock

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate.accounting.budget import Account
from veilset.gate.mechanisms import ChainedLaplace, check_share

Way = tuple[Fraction, ...]
"""What the questions along a chain cost, the first question first."""


class Chains:
    """The account of all chains; none may spend more than the limit.

    Every charge makes all chains longer, and gives their ways new numbers. A way is known until the next charge, so
    nobody can go on from the same one twice. Chains that are not named in a charge end there.

    >>> chains = Chains(Fraction(1))
    >>> ways = chains.charge(np.array([0]), np.array([0]), [Fraction(1, 6)])
    >>> ways = chains.charge(ways[[0, 0]], np.array([0, 1]), [Fraction(1, 3), Fraction(5, 6)])
    >>> chains.largest
    (Fraction(1, 6), Fraction(5, 6))
    """

    def __init__(self, limit: Fraction) -> None:
        check_share(limit)
        self.limit = limit
        self.largest: Way = ()
        self._ways: list[Way] = [()]
        self._first = 0  # the number of the first of these ways; numbers never come again
        self._lock = Lock()

    def charge(
        self,
        ways: Int64Array,
        costs: Int64Array,
        epsilons: Sequence[Fraction],
        *,
        tell: Callable[[Way], None] = lambda _: None,
    ) -> Int64Array:
        """Make chain i pay `epsilons[costs[i]]`, or raise BudgetExceeded and leave everything as it was.

        `ways[i]` is the number of the way that the chain took so far; returns the numbers of the ways it has
        taken now. The largest chain is told before it counts: whoever is told and raises has stopped it.
        """
        prices = tuple(epsilons)
        for epsilon in prices:
            check_share(epsilon)
        with self._lock:
            self._check(ways, costs, len(prices))
            pairs, places = np.unique((ways - self._first) * len(prices) + costs, return_inverse=True)
            longer = [(*self._ways[pair // len(prices)], prices[pair % len(prices)]) for pair in pairs]
            largest = max(longer, key=sum, default=self.largest)
            if sum(largest) > self.limit:
                raise BudgetExceeded(
                    f"a chain of partitions would spend epsilon {sum(largest)}, more than the {self.limit} that was "
                    "paid for; ask with less, or pay for more"
                )
            largest = max(self.largest, largest, key=sum)
            tell(largest)
            self._first += len(self._ways)
            self._ways, self.largest = longer, largest
            numbers: Int64Array = self._first + places.astype(np.int64).reshape(-1)
        return numbers

    def _check(self, ways: Int64Array, costs: Int64Array, number: int) -> None:
        """Raise BadCall for a way that is not known, or no longer, and for a price that was not given."""
        for places, first, last in (
            (ways, self._first, self._first + len(self._ways)),
            (costs, 0, number),
        ):
            is_inside = places.dtype.kind in "iu" and np.all((places >= first) & (places < last))
            if not is_inside or ways.shape != costs.shape or ways.ndim != 1:
                raise BadCall(
                    "chains of partitions go on from where the last split left them, each once, at a price of the "
                    "list; split what the last answer holds"
                )


class ParallelAccount:
    """All chains together, in a budget that has paid for them at once; its trace tells what the largest has spent."""

    def __init__(self, payer: Account, paid: ChainedLaplace) -> None:
        self.sensitivity = paid.sensitivity
        self._payer = payer
        self._paid = paid
        self._chains = Chains(paid.epsilon)

    def charge(self, ways: Int64Array, costs: Int64Array, epsilons: Sequence[Fraction]) -> Int64Array:
        """Make every chain pay, as `Chains.charge` does, and let the trace tell."""
        return self._chains.charge(ways, costs, epsilons, tell=self._tell)

    def _tell(self, largest: Way) -> None:
        """Put what the largest chain has spent into the trace; under the lock of the chains."""
        explained = replace(self._paid, largest_chain=largest)
        self._payer.explain(self._paid, explained)
        self._paid = explained
