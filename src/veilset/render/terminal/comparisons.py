"""Two releases side by side in a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from veilset.render.terminal.streams import plain_text, stdout_console
from veilset.render.terminal.tables import number_column, plain_table
from veilset.wording import counted

if TYPE_CHECKING:
    from veilset.results.comparison import Comparison
    from veilset.results.release import ReleasedItemset


def print_comparison(shown: "Comparison", names: tuple[str, str], *, most: int = 50) -> None:
    """What both releases name as a table, what only one does as lists, and what it comes to."""
    console = stdout_console()
    if shown.in_both:
        columns = ("first", "95 % interval", "second", "95 % interval", "difference")
        table = plain_table("itemset", *map(number_column, columns), "intervals")
        for each in shown.in_both[:most]:
            first, second = each.first, each.second
            table.add_row(
                plain_text(", ".join(map(str, first.items))),
                *(f"{first.support:,}", f"{first.low:,} – {first.high:,}"),
                *(f"{second.support:,}", f"{second.low:,} – {second.high:,}"),
                f"{each.difference:+,}",
                "overlap" if each.overlaps else "apart",
            )
        console.print(table)
    if len(shown.in_both) > most:
        console.print(f"… and {len(shown.in_both) - most:,} more; --json prints them all")
    _print_only(f"Only in the first, {names[0]}", shown.only_first, most)
    _print_only(f"Only in the second, {names[1]}", shown.only_second, most)
    both = counted(len(shown.in_both), "itemset", separator=",")
    console.print(
        f"{both} in both, {len(shown.only_first):,} only in the first, {len(shown.only_second):,} only in the second. "
        f"{_about_intervals(shown)}Nothing was read but the releases, and nothing was spent."
    )


def _about_intervals(shown: "Comparison") -> str:
    """How many supports differ by more than noise explains, in a sentence."""
    if not shown.in_both:
        return ""
    if shown.apart == 0:
        return "The intervals of all those in both overlap: noise may explain the differences. "
    them = counted(shown.apart, "itemset", separator=",")
    return f"The intervals of {them} lie apart, which noise alone rarely explains. "


def _print_only(title: str, found: Sequence["ReleasedItemset"], most: int) -> None:
    """Itemsets that one release names, with their supports."""
    if not found:
        return
    told = "; ".join(f"{', '.join(map(str, each.items))} ({each.support:,})" for each in found[:most])
    rest = f"; and {len(found) - most:,} more" if len(found) > most else ""
    stdout_console().print(plain_text(f"{title}: {told}{rest}"))
