"""An audit in a terminal: its verdicts, and the self-test of the noise."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Column
from rich.text import Text

from veilset.render.terminal.streams import print_line, stdout_console
from veilset.render.terminal.tables import plain_table
from veilset.wording import counted

if TYPE_CHECKING:
    from veilset.audit.self_test import NoiseTest
    from veilset.audit.verdicts import Verdict


def print_verdicts(found: Sequence["Verdict"]) -> None:
    """An audit as a table, and what it comes to."""
    claim, bound = (Column(name, justify="right") for name in ("claim", "bound"))
    table = plain_table("subject", "case", claim, bound, "verdict", "event")
    for verdict in found:
        table.add_row(
            verdict.method,
            Text(verdict.case),
            f"{verdict.claim:g}",
            f"{verdict.bound:.3f}",
            verdict.verdict,
            Text(verdict.event),
        )
    stdout_console().print(table)
    broken = sum(verdict.is_broken for verdict in found)
    cases = counted(len(found), "case")
    print_line(f"{cases}, {broken} with a bound above the claim. A bound below it proves nothing.")


def print_noise_tests(found: Sequence["NoiseTest"]) -> None:
    """The self-test of the noise, a line for each law."""
    for test in found:
        drawn = f"{test.draws:,} draws, p = {test.p_value:.3g}"
        print_line(f"{test.law}: {drawn}, {test.verdict}")
