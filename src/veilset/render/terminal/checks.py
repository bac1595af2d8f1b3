"""How data is read, in a terminal: the columns with what each is read as, the figures, the next command."""

from typing import TYPE_CHECKING

from veilset.render.terminal.streams import plain_text, stdout_console
from veilset.render.terminal.tables import plain_table, print_facts
from veilset.wording import counted

if TYPE_CHECKING:
    from veilset.checking import DataCheck

_COLUMNS_SHOWN = 30
"""30 columns are listed; a one-hot table may have thousands."""


def print_check(found: "DataCheck") -> None:
    """Lines of text, a table of the columns, the figures, and what to do next."""
    console = stdout_console()
    for line in found.lines():
        console.print(plain_text(line))
    if found.columns:
        console.print()
        table = plain_table("column", "type", "read as")
        for column in found.columns[:_COLUMNS_SHOWN]:
            table.add_row(plain_text(column.name), plain_text(column.kind), plain_text(column.role))
        console.print(table)
        others = len(found.columns) - _COLUMNS_SHOWN
        if others > 0:
            console.print(plain_text(f"… and {counted(others, 'more column', separator=',')}"))
    if found.facts:
        console.print()
        print_facts(found.facts)
    console.print()
    console.print(plain_text(f"Next: {found.next_step}"), soft_wrap=True)
