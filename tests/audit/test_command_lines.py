"""Canaries in files: what the command line lets out is seen, and nothing of it gives the canary away."""

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from thorough import THOROUGH
from veilset.audit.command_lines import CANARY_BASKETS, CommandLine, Finished, command_lines
from veilset.audit.lower_bound import ceiling
from veilset.audit.runner import Sampling, cases, command_verdict
from veilset.audit.verdicts import BROKEN, HOLDS
from veilset.cli import run_here
from veilset.errors import BadCall

LINES = {line.case: line for line in command_lines()}
PRIVATE = [line for line in command_lines() if line.name == "commands"]
FEW = 2
"""2 commands are audited where time matters; `make test-thorough` and `make audit` take all of them."""


def baskets_in(arguments: Sequence[str]) -> int:
    """How many lines the file of a command has."""
    return len(Path(arguments[1]).read_text(encoding="utf-8").splitlines())


def talkative(arguments: Sequence[str]) -> Finished:
    """A shell that tells on stderr how long the file is."""
    finished = run_here(arguments)
    return replace(finished, stderr=f"read {baskets_in(arguments)} lines\n")


def untidy(arguments: Sequence[str]) -> Finished:
    """A shell that leaves the file behind."""
    finished = run_here(arguments)
    data = Path(arguments[1])
    (data.parent / "written" / "copy.txt").write_bytes(data.read_bytes())
    return finished


def picky(arguments: Sequence[str]) -> Finished:
    """A shell that fails where the canary is."""
    return replace(run_here(arguments), code=2 if "44" in Path(arguments[1]).read_text() else 0)


@pytest.mark.parametrize("shell", [talkative, untidy, picky])
def test_what_leaks_beside_a_release_is_refuted(shell: object) -> None:
    """On stderr, in a file, by the exit code; 25 runs are two more than it takes."""
    line = next(line for line in PRIVATE if line.command == "items")
    found = command_verdict(line, shell, Sampling(Fraction(1), 25, 7))  # type: ignore[arg-type]
    assert found.verdict == BROKEN


def test_commands_stay_within_their_claim_and_the_control_does_not() -> None:
    """Each with the noise that ships, so no seed: one audit in twenty could fail by chance, and few come near it."""
    audited = cases("commands", epsilon=1, samples=40, seed=7, shell=run_here)
    assert len(audited) == 1 + len(PRIVATE)
    found = [case() for case in (audited if THOROUGH else audited[: 1 + FEW])]
    assert [verdict.verdict for verdict in found] == [BROKEN, *[HOLDS] * (len(found) - 1)], found
    assert all(verdict.seconds > 0 for verdict in found)


@pytest.mark.parametrize("line", PRIVATE, ids=lambda line: line.case)
def test_a_command_answers_and_all_it_tells_is_seen(line: CommandLine) -> None:
    """The trace, the promise and what was found; from files that differ by the canary alone."""
    with line.files() as (with_unit, without_unit):
        name = "data.csv" if line.is_by_person else "data.dat"
        texts = [(folder / name).read_text() for folder in (with_unit, without_unit)]
        seen = line.outcome(run_here, with_unit, Fraction(50))
    assert seen["exit code"] == 0
    assert {"number of trace", "text of promise in_words", "lines on stderr"} <= seen.keys()
    assert seen["is_private"] == 1
    more = len(texts[0].splitlines()) - len(texts[1].splitlines())
    assert more == (2 * CANARY_BASKETS if line.is_by_person else 1)
    assert not with_unit.exists()


def test_every_way_to_say_what_may_be_named_meets_either_unit() -> None:
    """For each command, both choices; for each choice, baskets and persons."""
    assert {line.command for line in PRIVATE} == {"mine", "items", "publish"}
    assert len({(line.command, line.choice) for line in PRIVATE}) == 6
    assert len({(line.choice, line.is_by_person) for line in PRIVATE}) == 4


def test_an_interrupt_stops_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a command it would end this command alone."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("veilset.items", interrupted)
    line = next(line for line in PRIVATE if line.command == "items")
    with pytest.raises(KeyboardInterrupt):
        command_verdict(line, run_here, Sampling(Fraction(1), 40, 7))


def test_a_command_that_is_run_here_is_the_command(fimi_file: Path, item_list: Path) -> None:
    """The same document, the same complaint, the same exit code."""
    call = ["items", str(fimi_file), "--alphabet", str(item_list), "--k", "2", "--json"]
    done = run_here([*call, "--epsilon", "1"])
    assert (done.code, done.stderr) == (0, "")
    assert json.loads(done.stdout)["is_private"]
    refused = run_here([*call, "--epsilon", "0"])
    assert refused.code == 2
    assert refused.stderr.startswith("veilset: ")


def test_commands_are_run_as_often_as_their_claim_needs_and_never_more_than_asked() -> None:
    """Twice what it takes to refute it, where that is more than a few hundred."""
    numbers = {
        (epsilon, samples): Sampling(Fraction(epsilon), samples, 7).of_commands()
        for epsilon in (1, 6)
        for samples in (40, 1000, 20_000)
    }
    assert [each.samples for each in numbers.values()] == [40, 300, 300, 40, 1000, 5966]
    assert ceiling(5966, delta=0.001) > 6.5


def test_a_method_is_audited_without_a_shell() -> None:
    """Only commands need one."""
    assert cases("em", epsilon=1, samples=100, seed=1)
    with pytest.raises(BadCall, match="shell"):
        cases("commands", epsilon=1, samples=100, seed=1)
