"""Every small database against every neighbour of it: no example is left out, and no outcome.

A database of n rows over m items is a multiset of the 2^m baskets; a neighbour has one more unit, a multiset of up to c
baskets. For each pair the question is asked of both at once, in every way in which its decisions can be answered that
tells something (`DecisionLaw.telling` lists all outcomes of a choice, and for counts the one that tells most),
for each side. What comes out is the largest privacy loss there is, exactly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any

from veilset.audit.neighbours import Basket, Pair
from veilset.audit.transcripts.laws import DecisionLaw
from veilset.audit.transcripts.lockstep import most_telling
from veilset.audit.transcripts.losses import Loss, RunOn, transcript_loss
from veilset.audit.transcripts.threshold_laws import PassingLaw


@dataclass(frozen=True, slots=True)
class SmallModel:
    """All databases of up to `rows` rows over `items` items, and units of up to `transactions` of these rows."""

    rows: int
    items: int
    transactions: int

    def baskets(self) -> list[Basket]:
        """Every basket, the empty one first."""
        sizes = range(self.items + 1)
        return [frozenset(chosen) for size in sizes for chosen in combinations(range(self.items), size)]

    def pairs(self) -> Iterator[Pair]:
        """Every pair, the larger of them with at most that number of rows."""
        baskets = self.baskets()
        for units in range(1, self.transactions + 1):
            for extra in combinations_with_replacement(baskets, units):
                for others in range(self.rows - units + 1):
                    for rows in combinations_with_replacement(baskets, others):
                        yield Pair("small", "anything", self.items, rows, extra[0], extra[1:])


class EveryBranch:
    """Answers decisions that lead to others in every telling way, one play after another."""

    def __init__(self) -> None:
        self._script: list[int] = []
        self._widths: list[int] = []

    def choose(self, mine: Sequence[DecisionLaw], others: Sequence[DecisionLaw]) -> Sequence[Any]:
        """What the script says of tests, which are followed by others; of all else what tells most."""
        outcomes = most_telling(mine, others)
        if not isinstance(mine[0], PassingLaw):
            return outcomes
        place = len(self._widths)
        self._widths.append(len(outcomes))
        return [outcomes[self._script[place] if place < len(self._script) else 0]]

    def next_play(self) -> bool:
        """Go on to the next branch; False where there is none."""
        script = [*self._script, *[0] * (len(self._widths) - len(self._script))][: len(self._widths)]
        while script and script[-1] + 1 == self._widths[len(script) - 1]:
            script.pop()
        self._widths = []
        if not script:
            return False
        script[-1] += 1
        self._script = script
        return True


def largest_of_all(run: RunOn, pair: Pair, *, delta: Fraction, seed: int) -> Loss:
    """The largest loss over all branches, in both directions."""
    worst = Loss(0.0, "nothing stood out")
    sides = (pair.with_unit(), "with the unit"), (pair.without_unit(), "without the unit")
    for (one, name), (other, _) in (sides, sides[::-1]):
        branches, is_open = EveryBranch(), True
        while is_open:
            loss = transcript_loss(run, one, other, choose=branches.choose, seed=seed, delta=delta, side=name)
            worst = max(worst, loss, key=lambda found: found.epsilon)
            is_open = branches.next_play()
    return worst
