"""Results in a terminal: plain words around numbers, and nothing loaded but what prints."""

import subprocess
import sys

import polars as pl
import pytest

from veilset import SeededNoise, mine, mine_exact
from veilset.audit.lower_bound import samples_needed
from veilset.audit.self_test import NoiseTest
from veilset.audit.verdicts import Verdict
from veilset.plan import Facts, make_plan
from veilset.render import terminal

Captured = pytest.CaptureFixture[str]


def test_the_terminal_loads_nothing_that_it_does_not_print() -> None:
    """Neither what computes results, nor arrays and frames."""
    program = (
        "import sys, veilset.render.terminal\n"
        "print(*(name for name in sys.modules if name.partition('.')[0] in {'veilset', 'numpy', 'polars', 'rich'}))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    names = ("_version", "deferred", "render", "results", "results.views", "wording")
    allowed = {"veilset", *(f"veilset.{name}" for name in names)}
    loaded = {name for name in run.stdout.split() if not name.startswith("veilset.render.terminal")}
    assert loaded == allowed


def test_a_release_is_told_with_its_cost_and_promise(capsys: Captured) -> None:
    """One itemset is not "1 itemsets"; thousands have commas."""
    release = mine(
        [["milk"]] * 2000, epsilon=1, k=1, alphabet=["milk"], transactions=2000, noise=SeededNoise(1)
    )
    terminal.print_release(release)
    shown = capsys.readouterr().out
    assert "1 itemset from 2,000 transactions, by planned" in shown
    assert "spent" in shown
    assert "NOT PRIVATE" in shown


def test_a_release_of_noise_says_so_in_its_first_line(capsys: Captured) -> None:
    """And one that is told from noise does not; rules of it say so, too."""
    rows = [["milk", "bread"]] * 700 + [["milk"]] * 300
    items = [f"item {number}" for number in range(30)]
    for epsilon, is_noise in (("0.001", True), ("10", False)):
        release = mine(rows, epsilon=epsilon, k=9, alphabet=["milk", "bread", *items], noise=SeededNoise(1))
        terminal.print_release(release)
        first = capsys.readouterr().out.splitlines()[0]
        assert first.startswith("These itemsets cannot be told from noise") == is_noise
        terminal.print_rules(release.rules(min_confidence=0), release, metric="confidence", number=1)
        first = capsys.readouterr().out.splitlines()[0]
        assert first.startswith("These itemsets cannot be told from noise") == is_noise


def test_what_is_left_out_of_a_table_is_said(capsys: Captured) -> None:
    """With where to find it."""
    found = mine_exact([["a", "b"], ["a"]], min_support=1)
    terminal.print_exact(found, most=2)
    assert "… and 1 more; --json prints them all" in capsys.readouterr().out


def test_methods_stand_side_by_side_five_in_a_row(capsys: Captured) -> None:
    """Each with its forecast; sizes in the singular where it is one."""
    made = make_plan(Facts(rows=20_000, items=50, length=4), k=20, epsilon=1, max_size=1)
    terminal.print_plan(made)
    shown = capsys.readouterr().out
    assert shown.count("share of the top 20 found") == -(-len(made.methods) // 5)
    sizes = [line for line in shown.splitlines() if line.startswith("itemsets of up to")]
    assert all("1 item" in line and "1 items" not in line for line in sizes)


def verdict_with(bound: float, ceiling: float | None, method: str = "m") -> Verdict:
    """A verdict on a claim of 1."""
    return Verdict(
        method,
        "c",
        printed=False,
        claim=1,
        bound=bound,
        confidence=0.95,
        samples=0,
        event="e",
        ceiling=ceiling,
        seconds=2,
    )


@pytest.mark.parametrize(("bound", "broken"), [(0.5, 0), (1.5, 1)])
def test_an_audit_says_how_many_claims_are_broken(capsys: Captured, bound: float, broken: int) -> None:
    """A bound above the claim breaks it."""
    terminal.print_verdicts([verdict_with(bound, None)])
    shown = capsys.readouterr().out
    assert f"1 case, {broken} with a bound above the claim." in shown
    assert "anything" in shown
    assert "cannot refute" not in shown
    assert "This took 2 seconds." in shown


def test_an_audit_says_what_it_could_show_and_how_many_samples_it_needs(capsys: Captured) -> None:
    """Exactly as the option takes it; and what became of the controls."""
    terminal.print_verdicts(
        [verdict_with(0.25, 0.75), verdict_with(1.5, 3.25, "control"), verdict_with(0, 2, "n")]
    )
    shown = capsys.readouterr().out
    assert "could show" in shown
    assert all(most in shown for most in ("0.75", "3.25", "2.00"))
    assert "1 case cannot refute the claim" in shown
    assert f"give --samples {samples_needed(1)} or more" in shown
    assert "2 cases, 0 with a bound above" in shown
    assert "1 of 1 control refuted, as all must be." in shown


def test_a_noise_test_is_a_line(capsys: Captured) -> None:
    """The scale, the draws, the p-value and the verdict."""
    terminal.print_noise_tests([NoiseTest("discrete Laplace noise, scale 3", draws=20_000, p_value=1e-9)])
    assert capsys.readouterr().out == "discrete Laplace noise, scale 3: 20,000 draws, p = 1e-09, BROKEN\n"


def test_a_study_shows_whether_intervals_hold_and_supports_are_too_high(capsys: Captured) -> None:
    """Coverage and bias beside the errors; nothing where a study did not measure them."""
    cell = {
        **dict.fromkeys(("f_score_mean", "f_score_sd", "relative_error_mean", "approximate_share"), 0.5),
        "dataset": "d",
        "task": "mine",
        "k": 50,
        "min_support": None,
        "epsilon": 1.0,
        "method": "m",
        "seconds_median": 1.0,
        "per_owner": None,
        "coverage_mean": 0.953,
        "bias_mean": 0.021,
    }
    terminal.print_study(
        pl.DataFrame([cell, {**cell, "epsilon": 2.0, "coverage_mean": None, "bias_mean": -0.3}])
    )
    head, first, second = (line.split() for line in capsys.readouterr().out.splitlines())
    assert head[head.index("coverage") + 1] == "bias"
    assert {"95.3%", "+2.1%"} <= set(first)
    assert "-30.0%" in second
    assert "95.3%" not in second
