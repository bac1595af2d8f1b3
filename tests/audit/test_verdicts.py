"""What an audit says, as scripts read it."""

import json
from dataclasses import replace

import pytest

from veilset.audit.verdicts import (
    BROKEN,
    CANNOT_REFUTE,
    CONTROL,
    HOLDS,
    Verdict,
    is_failed,
    worst_by_case,
)

SAMPLED = Verdict(
    "m",
    "c",
    printed=False,
    claim=1.0,
    bound=0.5,
    confidence=0.95,
    samples=10,
    event="e",
    ceiling=3.0,
    seconds=0.2,
)
KEYS = {
    "method",
    "case",
    "printed",
    "claim",
    "delta",
    "bound",
    "confidence",
    "samples",
    "event",
    "verdict",
    "ceiling",
    "seconds",
}


def test_a_verdict_has_the_keys_of_the_contract() -> None:
    """Scripts depend on these names; what is computed has no ceiling."""
    assert set(SAMPLED.to_dict()) == KEYS
    assert json.loads(json.dumps(replace(SAMPLED, ceiling=None).to_dict()))["ceiling"] is None


@pytest.mark.parametrize(
    ("bound", "ceiling", "verdict"),
    [
        (0.5, 3.0, HOLDS),
        (0.5, None, HOLDS),
        (0.5, 1.0, CANNOT_REFUTE),
        (0.0, 0.2, CANNOT_REFUTE),
        (1.5, 3.0, BROKEN),
        (1.5, None, BROKEN),
    ],
)
def test_a_claim_holds_only_where_it_could_have_been_refuted(
    bound: float, ceiling: float | None, verdict: str
) -> None:
    """A ceiling that is not above the claim says nothing in favour of it."""
    assert replace(SAMPLED, bound=bound, ceiling=ceiling).verdict == verdict


@pytest.mark.parametrize(
    ("method", "bound", "failed"),
    [("m", 0.5, False), ("m", 1.5, True), (CONTROL, 0.5, True), (CONTROL, 1.5, False)],
)
def test_an_audit_fails_where_a_claim_is_broken_or_a_control_is_not(
    method: str, bound: float, failed: bool
) -> None:
    """Either alone is enough."""
    assert is_failed([SAMPLED, replace(SAMPLED, method=method, bound=bound)]) == failed


def test_the_worst_pair_stands_for_a_case() -> None:
    """What was computed and what was sampled apart."""
    found = [
        replace(SAMPLED, bound=bound, case=f"number; {pair}", ceiling=ceiling)
        for bound, pair, ceiling in [(0.2, "a", None), (0.7, "b", None), (0.3, "a", 4.0), (0.1, "b", 4.0)]
    ]
    assert [(each.case, each.bound) for each in worst_by_case(found)] == [
        ("number; b", 0.7),
        ("number; a", 0.3),
    ]
