"""What an audit says: a claim, how much of it was seen to be used, and whether it stands."""

from dataclasses import asdict, dataclass
from typing import Any

from veilset.audit.lower_bound import Bound

HOLDS, BROKEN = "holds", "BROKEN"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One case of an audit. A bound above the claim refutes it; one below proves nothing, but was looked for.

    Where `delta` is claimed beside epsilon, it was taken off the likelier side before the bound was computed.
    `samples` is 0 and `confidence` 1 where the law of the output was computed instead of sampled.
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
        )

    @property
    def is_broken(self) -> bool:
        """Whether the bound refutes the claim."""
        return self.bound > self.claim * (1 + 1e-9)

    @property
    def verdict(self) -> str:
        """Whether the claim stands, in a word."""
        return BROKEN if self.is_broken else HOLDS

    def to_dict(self) -> dict[str, Any]:
        """The row that `veilset audit --json` prints."""
        return {**asdict(self), "verdict": self.verdict}
