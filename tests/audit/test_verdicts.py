"""What an audit says, as scripts read it."""

import json

from veilset.audit.verdicts import Verdict


def test_a_verdict_has_the_keys_of_the_contract() -> None:
    """Scripts depend on these names."""
    verdict = Verdict("m", "c", False, 1.0, 0.5, 0.95, 10, "e")  # noqa: FBT003
    keys = {
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
    }
    assert set(verdict.to_dict()) == keys
    assert json.dumps(verdict.to_dict())
