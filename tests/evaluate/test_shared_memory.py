"""Transactions that several processes look at."""

from pathlib import Path

from strategies import arrays_of
from veilset.evaluate.shared_memory import map_transactions, share_transactions
from veilset.raw.transactions import Alphabet, Transactions


def rows_over(rows: list[list[int]], names: str) -> Transactions:
    """Transactions of a few codes."""
    return Transactions(*arrays_of(rows), Alphabet(names, is_given=True))


def test_shared_transactions_come_back_the_same(tmp_path: Path) -> None:
    """Also empty rows and items that never occur."""
    given_rows = rows_over([[0, 4], [], [1]], "abcdef")
    share_transactions(given_rows, tmp_path / "rows.arrow")
    mapped = map_transactions(tmp_path / "rows.arrow")
    assert mapped.offsets.tolist() == given_rows.offsets.tolist()
    assert mapped.items.tolist() == given_rows.items.tolist()
    assert len(mapped.alphabet) == 6
