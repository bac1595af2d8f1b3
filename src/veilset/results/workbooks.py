"""A release as an Excel workbook, and itemsets as one readable cell: for people, who will not read them back.

Nothing is written as a formula, whatever an item is called.
"""

from collections.abc import Iterable, Sequence
from io import BytesIO
from types import ModuleType
from typing import TYPE_CHECKING, Any

from veilset.errors import BadCall
from veilset.wording import shown_name

if TYPE_CHECKING:
    from veilset.results.release import Release

LONGEST_CELL = 32_000
"""32,000 characters, a little less than what a cell of Excel takes; longer text is cut."""

_FORMULA_STARTS = ("=", "+", "-", "@")

_HEAD = ("itemset", "support", "low", "high", "share")
_WIDTHS = (50, 12, 12, 12, 10)


def itemset_in_words(items: Iterable[object]) -> str:
    """The items of an itemset in one cell; in front of what a spreadsheet takes for a formula stands an apostrophe.

    >>> itemset_in_words(["bread", "milk"]), itemset_in_words(["=1+1"]), itemset_in_words([-5])
    ('bread, milk', "'=1+1", '-5')
    """
    text = ", ".join(shown_name(item) for item in items)
    is_number = text.removeprefix("-").isdigit()
    return f"'{text}" if text.startswith(_FORMULA_STARTS) and not is_number else text


def check_workbooks() -> None:
    """BadCall where no workbook can be written, before anything is spent on what would go into one."""
    _xlsxwriter()


def workbook_of(release: "Release") -> bytes:
    """Three sheets: the itemsets, what is promised, and what was paid for."""
    held = BytesIO()
    with _xlsxwriter().Workbook(held, {"in_memory": True, "strings_to_formulas": False}) as book:
        bold = book.add_format({"bold": True})
        share = book.add_format({"num_format": "0.00%"})
        sheet = book.add_worksheet("itemsets")
        for column, width in enumerate(_WIDTHS):
            sheet.set_column(column, column, width, share if column == len(_WIDTHS) - 1 else None)
        _write_rows(sheet, [_HEAD, *_itemset_rows(release)], bold)
        sheet.freeze_panes(1, 0)
        about = book.add_worksheet("promise")
        about.set_column(0, 0, 22)
        about.set_column(1, 1, 110, book.add_format({"text_wrap": True}))
        _write_rows(about, [("", release.standing), *_about_rows(release)], bold)
        paid = book.add_worksheet("paid for")
        paid.set_column(0, 0, 90)
        paid.set_column(1, 1, 16)
        _write_rows(paid, [("question", "epsilon"), *_paid_rows(release)], bold)
    return held.getvalue()


def _itemset_rows(release: "Release") -> Iterable[tuple[object, ...]]:
    total = release.transactions.value
    for found in release.itemsets:
        words = ", ".join(shown_name(item) for item in found.items)
        yield words, found.support, found.low, found.high, found.support / total if total else ""


def _about_rows(release: "Release") -> Iterable[tuple[object, ...]]:
    yield "promise", str(release.promise)
    yield "epsilon", str(release.epsilon)
    yield "delta", str(release.delta)
    yield "transactions, about", release.transactions.value
    yield "method", release.method
    yield "made", "" if release.origin is None else release.origin.date
    yield "veilset", release.version
    yield from (("note", note) for note in release.notes)


def _paid_rows(release: "Release") -> Iterable[tuple[object, ...]]:
    return ((charge.sentence(), float(charge.mechanism.epsilon)) for charge in release.trace)


def _write_rows(sheet: Any, rows: Sequence[tuple[object, ...]], head: Any) -> None:  # noqa: ANN401 - it has no types
    """Numbers as numbers, the rest as text; the first row is the head."""
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            style = head if row == 0 else None
            if isinstance(value, int | float):
                sheet.write_number(row, column, value, style)
            else:
                sheet.write_string(row, column, str(value)[:LONGEST_CELL], style)


def _xlsxwriter() -> ModuleType:
    try:
        import xlsxwriter  # noqa: PLC0415 - optional
    except ImportError:
        raise BadCall(
            "writing a workbook needs xlsxwriter; install it with pip install 'veilset[excel]', or name the file .csv"
        ) from None
    module: ModuleType = xlsxwriter
    return module
