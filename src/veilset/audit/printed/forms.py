"""What a printed form is, and two ways to measure how much it gives away: by sampling, by computing."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from veilset.audit.lower_bound import Bound, Outcome, lower_bound
from veilset.audit.neighbours import Basket
from veilset.audit.verdicts import Verdict

Database = Sequence[Basket]

SampledStep = Callable[[Database, float, np.random.Generator], Outcome]
"""One run of a step on a database with an epsilon: what an attacker sees of it."""

Law = Callable[[Database, float], Mapping[str, float]]
"""The probabilities of a step's outputs on a database with an epsilon; those that tell most are enough."""


class Measure(Protocol):
    """How much two neighbouring databases can be told apart by a step that claims to cost epsilon."""

    def __call__(
        self, with_unit: Database, without_unit: Database, *, epsilon: float, samples: int, seed: int
    ) -> Bound:
        """A lower bound on what the step costs; `samples` runs on each database, where it is run at all."""


@dataclass(frozen=True, slots=True)
class PrintedForm:
    """A step as a paper prints it, and a database on which one transaction more shows that it leaks.

    `step` says what is printed and `why` why it fails, both as a clause without a full stop. The rest of the
    paper's algorithm is left out, or taken as repaired: what breaks is this step alone.
    """

    number: str
    paper: str
    method: str
    step: str
    why: str
    rows: tuple[Basket, ...]
    extra: Basket
    measure: Measure

    def audit(self, *, epsilon: float, samples: int, seed: int) -> Verdict:
        """Give the step epsilon, which it claims not to exceed, and see how much it uses."""
        bound = self.measure((*self.rows, self.extra), self.rows, epsilon=epsilon, samples=samples, seed=seed)
        case = f"{self.number}: {self.step}"
        return Verdict.of(bound, method=self.method, case=case, printed=True, claim=epsilon)


def by_sampling(step: SampledStep, *, delta: float = 0.0) -> Measure:
    """Run the step on both databases and look for an event that tells them apart, by more than a claimed delta."""

    def measure(
        with_unit: Database, without_unit: Database, *, epsilon: float, samples: int, seed: int
    ) -> Bound:
        rng = np.random.default_rng(seed)
        outcomes = [[step(rows, epsilon, rng) for _ in range(samples)] for rows in (with_unit, without_unit)]
        return lower_bound(*outcomes, delta=delta)

    return measure


def by_computing(law: Law) -> Measure:
    """Take the output whose probabilities on the two databases differ by the largest factor."""

    def measure(
        with_unit: Database,
        without_unit: Database,
        *,
        epsilon: float,
        samples: int,  # noqa: ARG001 - nothing is sampled
        seed: int,  # noqa: ARG001
    ) -> Bound:
        inside, outside = law(with_unit, epsilon), law(without_unit, epsilon)
        logs = {output: math.log(inside[output] / outside[output]) for output in inside}
        telling = max(logs, key=lambda output: abs(logs[output]))
        side = "with" if logs[telling] > 0 else "without"
        return Bound(abs(logs[telling]), f"{telling}: likelier {side} the unit", confidence=1.0, samples=0)

    return measure


def support(rows: Database, itemset: Basket) -> int:
    """How many rows hold all of an itemset."""
    return sum(itemset <= row for row in rows)


def copies(number: int, *items: int) -> tuple[Basket, ...]:
    """Database that all hold the same items."""
    return (frozenset(items),) * number
