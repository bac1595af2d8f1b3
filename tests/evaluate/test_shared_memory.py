"""Transactions that several processes look at."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from strategies import arrays_of
from veilset.evaluate.shared_memory import fingerprint_of, map_transactions, share_transactions
from veilset.raw.transactions import Alphabet, Transactions


def rows_over(rows: list[list[int]], names: str) -> Transactions:
    """Transactions of a few codes."""
    return Transactions(*arrays_of(rows), Alphabet(list(names), is_given=True))


def test_shared_transactions_come_back_the_same(tmp_path: Path) -> None:
    """Also empty rows and items that never occur."""
    given_rows = rows_over([[0, 4], [], [1]], "abcdef")
    share_transactions(given_rows, tmp_path / "rows.arrow")
    mapped = map_transactions(tmp_path / "rows.arrow")
    assert mapped.offsets.tolist() == given_rows.offsets.tolist()
    assert mapped.items.tolist() == given_rows.items.tolist()
    assert len(mapped.alphabet) == 6
    assert (mapped.owners, mapped.is_by_person, mapped.alphabet.is_given) == (None, False, True)


def test_owners_and_units_come_back_too(tmp_path: Path) -> None:
    """Whose a row is decides who is protected, and tells datasets apart; items can be left to be found."""
    plain = rows_over([[0], [1], [0, 1]], "ab")
    owned = replace(plain, owners=np.array([0, 0, 1]))
    by_person = replace(plain, is_by_person=True)
    for name, held in (("owned", owned), ("by-person", by_person)):
        share_transactions(held, tmp_path / name)
    assert map_transactions(tmp_path / "owned").owners.tolist() == [0, 0, 1]  # type: ignore[union-attr]
    assert map_transactions(tmp_path / "by-person").is_by_person
    assert not map_transactions(tmp_path / "owned", has_public_items=False).alphabet.is_given
    prints = [fingerprint_of(held) for held in (plain, owned, replace(owned, owners=np.array([0, 1, 1])))]
    assert len(set(prints)) == 3
