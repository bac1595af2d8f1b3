"""An audit in a terminal: its verdicts, and the self-test of the noise."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Column

from veilset.render.terminal.streams import plain_text, print_line, stdout_console
from veilset.render.terminal.tables import plain_table
from veilset.wording import counted

if TYPE_CHECKING:
    from veilset.audit.self_test import NoiseTest
    from veilset.audit.verdicts import Verdict


def print_verdicts(found: Sequence["Verdict"]) -> None:
    """An audit as a table, each case on the pair of neighbours where it is worst, and what it comes to."""
    from veilset.audit.verdicts import worst_by_case  # noqa: PLC0415 - only where there is an audit

    claim, bound, most = (Column(name, justify="right") for name in ("claim", "bound", "could show"))
    table = plain_table("subject", "case", claim, bound, most, "verdict", "event")
    for verdict in worst_by_case(found):
        table.add_row(
            verdict.method,
            plain_text(verdict.case),
            f"{verdict.claim:g}",
            f"{verdict.bound:.3f}",
            "anything" if verdict.ceiling is None else f"{verdict.ceiling:.2f}",
            verdict.verdict,
            plain_text(verdict.event),
        )
    stdout_console().print(table)
    for line in _sum_of(found):
        print_line(line)


def _sum_of(found: Sequence["Verdict"]) -> Iterator[str]:
    """How many claims are broken, what could not have been, and what became of the controls."""
    controls = [verdict for verdict in found if verdict.is_control]
    audited = [verdict for verdict in found if not verdict.is_control]
    broken = sum(verdict.is_broken for verdict in audited)
    cases, seconds = counted(len(audited), "case"), sum(verdict.seconds for verdict in found)
    yield (
        f"{cases}, {broken} with a bound above the claim. A bound below it proves nothing. "
        "Shown is the pair of databases on which a case is worst; --json has all."
    )
    powerless = [verdict for verdict in found if not (verdict.is_broken or verdict.can_refute)]
    if powerless:
        needed = max(verdict.samples_needed for verdict in powerless)
        yield (
            f"{counted(len(powerless), 'case')} cannot refute the claim with this number of samples, whatever leaks; "
            f"to be able to, give --samples {needed} or more."
        )
    if controls:
        refuted = sum(verdict.is_broken for verdict in controls)
        yield f"{refuted} of {counted(len(controls), 'control')} refuted, as all must be."
    yield f"This took {counted(round(seconds), 'second')}."


def print_noise_tests(found: Sequence["NoiseTest"]) -> None:
    """The self-test of the noise, a line for each law."""
    for test in found:
        drawn = f"{test.draws:,} draws, p = {test.p_value:.3g}"
        print_line(f"{test.law}: {drawn}, {test.verdict}")
