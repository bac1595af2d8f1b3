"""What an audit says: a claim, how much of it was seen to be used, and whether it stands."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from veilset.audit.lower_bound import Bound, refuted_from, samples_needed

HOLDS, BROKEN, CANNOT_REFUTE = "holds", "BROKEN", "cannot refute"
CONTROL = "control"
"""The subject of cases that are there to be refuted: an audit that does not refute them cannot refute anything."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One case of an audit. A bound above the claim refutes it; one below proves nothing, but was looked for.

    Where `delta` is claimed beside epsilon, it was taken off the likelier side before the bound was computed.
    `ceiling` is the largest bound that the samples could have shown, and `seconds` the time that they took.
    `samples` is 0, `confidence` 1 and there is no ceiling where the law of the output was computed.
    """

    method: str
    case: str
    printed: bool
    claim: float
    bound: float
    confidence: float
    samples: int
    event: str
    delta: float = 0.0
    ceiling: float | None = None
    seconds: float = 0.0

    @classmethod
    def of(
        cls, bound: Bound, *, method: str, case: str, printed: bool, claim: float, delta: float = 0.0
    ) -> "Verdict":
        """A bound against the claim."""
        return cls(
            method=method,
            case=case,
            printed=printed,
            claim=claim,
            bound=bound.epsilon,
            confidence=bound.confidence,
            samples=bound.samples,
            event=bound.event,
            delta=delta,
            ceiling=bound.ceiling,
        )

    @property
    def is_broken(self) -> bool:
        """Whether the bound refutes the claim."""
        return self.bound > refuted_from(self.claim)

    @property
    def can_refute(self) -> bool:
        """Whether there are enough samples to refute the claim, had there been something to see."""
        return self.ceiling is None or self.ceiling > refuted_from(self.claim)

    @property
    def is_exact(self) -> bool:
        """Whether probabilities were computed, and nothing was sampled."""
        return self.ceiling is None

    @property
    def samples_needed(self) -> int:
        """How many samples on each database could refute the claim."""
        return samples_needed(self.claim, self.delta, confidence=self.confidence)

    @property
    def is_control(self) -> bool:
        """Whether this case is there to be refuted."""
        return self.method == CONTROL

    @property
    def verdict(self) -> str:
        """Whether the claim stands, in a word or two."""
        if self.is_broken:
            return BROKEN
        return HOLDS if self.can_refute else CANNOT_REFUTE

    def to_dict(self) -> dict[str, Any]:
        """The row that `veilset audit --json` prints."""
        return {**asdict(self), "verdict": self.verdict}


def is_failed(found: Sequence[Verdict]) -> bool:
    """Whether a claim is broken, or a control is not: then what the others say means nothing."""
    return any(verdict.is_broken != verdict.is_control for verdict in found)


def worst_by_case(found: Sequence[Verdict]) -> list[Verdict]:
    """The largest bound of each case over all pairs of neighbours: computed ones and sampled ones apart."""
    worst: dict[tuple[object, ...], Verdict] = {}
    for verdict in found:
        key = verdict.method, verdict.case.partition(";")[0], verdict.claim, verdict.is_exact
        if key not in worst or verdict.bound > worst[key].bound:
            worst[key] = verdict
    return list(worst.values())
