"""The toy method of "add a method in an afternoon", taken from its page: run, audited, stopped where it is wrong."""

import re
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

import veilset as vs
from veilset import methods
from veilset.audit.verdicts import Verdict
from veilset.errors import BudgetExceeded
from veilset.gate import SeededNoise
from veilset.methods import Method, Paper

PAGE = Path(__file__).resolve().parents[1] / "docs" / "developing" / "method.md"
TOY = "frequent-pairs"


def code_of_page() -> str:
    """The one program of the page."""
    (code,) = re.findall(r'```text\n(""".*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(code)


def register(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a method on the list, as its row in the registry would."""
    module = ModuleType("veilset.methods.frequent_pairs")
    exec(code, module.__dict__)  # noqa: S102 - code of our own page
    monkeypatch.setitem(sys.modules, module.__name__, module)
    toy = Method.of(TOY, Paper("frequent_pairs", "a toy"), "items, then these and all their pairs")
    monkeypatch.setitem(methods.METHODS, TOY, toy)
    monkeypatch.setattr(methods, "EVERY_METHOD", (*methods.EVERY_METHOD, toy))


def test_the_toy_method_finds_what_is_obvious(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bread and milk are always together; the sum of its prices is epsilon, exactly."""
    register(code_of_page(), monkeypatch)
    baskets = [["bread", "milk"]] * 4000 + [["beer"]] * 1500 + [["salt", "beer"]] * 300
    release = vs.mine(baskets, method=TOY, k=4, epsilon=2, public_items=True, noise=SeededNoise(7))
    assert {found.items for found in release.itemsets} == {
        ("bread",),
        ("milk",),
        ("bread", "milk"),
        ("beer",),
    }
    assert release.spent == 2
    assert [charge.mechanism.epsilon for charge in release.trace] == [
        Fraction(2, 50),
        Fraction(49, 50),
        Fraction(49, 50),
    ]


def test_the_audit_cannot_refute_the_toy_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """Computed on pairs of neighbours; the control that is always there is refuted."""
    register(code_of_page(), monkeypatch)
    found = [each for each in vs.audit(TOY, samples=0) if isinstance(each, Verdict)]
    verdicts = {(each.method, each.verdict) for each in found}
    assert (TOY, "holds") in verdicts
    assert {verdict for method, verdict in verdicts if method == TOY} == {"holds"}


def test_a_toy_method_that_overspends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes more than a half twice is refused before the second look."""
    code = code_of_page().replace("half = first.remaining / 2", "half = first.remaining * 2 / 3")
    register(code, monkeypatch)
    with pytest.raises(BudgetExceeded):
        vs.mine([["a", "b"]] * 50, method=TOY, k=1, epsilon=1, public_items=True, noise=SeededNoise(7))
