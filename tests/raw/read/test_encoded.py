"""Encoded transactions: what comes back, and what is refused."""

import gzip
import mmap
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_reading import baskets
from veilset.errors import BadCall, BadInput
from veilset.marks import ENCODED_MARK
from veilset.raw.read import read, write_encoded
from veilset.raw.read.encoded import holds_given_alphabet
from veilset.raw.transactions import Alphabet, Item, Transactions

items = st.integers(-(2**63), 2**64 - 1) | st.integers(0, 3) | st.text("ab7é", max_size=2)
Arrays = dict[str, list[Any]]


def again(held: Transactions, folder: Path) -> Transactions:
    """What is read of these transactions once they were written."""
    write_encoded(held, folder / "data.arrow")
    return read(folder / "data.arrow")


def are_same(one: Transactions, other: Transactions) -> bool:
    """Whether transactions agree in everything."""
    owners = [None if held.owners is None else held.owners.tolist() for held in (one, other)]
    alphabets = [(held.alphabet.names, held.alphabet.is_given, held.is_by_person) for held in (one, other)]
    return baskets(one) == baskets(other) and owners[0] == owners[1] and alphabets[0] == alphabets[1]


def small() -> Transactions:
    """Baskets of named items, two of them one person's."""
    frame = pl.DataFrame({"who": ["a", "a", "b"], "items": [["milk", "7"], ["bread"], ["bread", "milk"]]})
    return read(frame, owner="who", item="items")


@given(rows=st.lists(st.lists(items, max_size=4), max_size=5))
def test_what_is_written_is_what_is_read(
    rows: list[list[Item]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Integers stay integers, text text, and a row without items is one."""
    held = read(rows)
    assert are_same(again(held, tmp_path_factory.mktemp("encoded")), held)


@pytest.mark.parametrize("kind", [pl.Int8, pl.Int16, pl.UInt16, pl.Int32, pl.UInt32, pl.Int64, pl.UInt64])
def test_integers_of_every_width_are_kept(tmp_path: Path, kind: type[pl.DataType]) -> None:
    """As columns of a table may have them."""
    held = read(pl.DataFrame({"items": pl.Series([[3, 1], [2], []], dtype=pl.List(kind))}))
    assert held.alphabet.names == (1, 2, 3)
    assert are_same(again(held, tmp_path), held)


@pytest.mark.parametrize("largest", [0, 1 << 30], ids=["disk", "memory"])
def test_encoded_rows_over_another_alphabet_leave_the_file_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: int
) -> None:
    """Wherever the copy lies that is changed."""
    monkeypatch.setattr(sys.modules["veilset.raw.read.encode"], "LARGEST_COPY_IN_MEMORY", largest)
    held = again(read([["milk", "bread"], ["beer"], ["milk", "beer"]]), tmp_path)
    before = (tmp_path / "data.arrow").read_bytes()
    over_list = read(tmp_path / "data.arrow", alphabet=["milk", "bread"])
    assert baskets(over_list) == [["milk", "bread"], [], ["milk"]]
    assert (tmp_path / "data.arrow").read_bytes() == before
    assert baskets(held) == [["bread", "milk"], ["beer"], ["beer", "milk"]]


def test_owners_and_the_alphabet_that_was_given_are_kept(tmp_path: Path) -> None:
    """Whose a row is, and whether the items are public by a list; a control: that they are not, too."""
    by_owner = small()
    assert are_same(again(by_owner, tmp_path), by_owner)
    assert not holds_given_alphabet(tmp_path / "data.arrow")
    frame = pl.DataFrame({"who": ["a", "b"], "what": ["milk", "bread"]})
    by_person = read(frame, owner="who", item="what", alphabet=["milk", "beer", 7, 10**30])
    assert by_person.is_by_person
    assert are_same(again(by_person, tmp_path), by_person)
    assert holds_given_alphabet(tmp_path / "data.arrow")
    assert not holds_given_alphabet(tmp_path / "missing.arrow")


def test_rows_that_are_a_part_of_others_are_written_alone(tmp_path: Path) -> None:
    """Items in front of the first row and behind the last are nobody's."""
    part = Transactions(
        np.array([1, 2, 4]), np.array([0, 1, 0, 2, 1], np.int32), Alphabet(["a", "b", "c"], is_given=True)
    )
    assert baskets(again(part, tmp_path)) == [["b"], ["a", "c"]]


def test_the_file_is_mapped_and_never_written_to(tmp_path: Path) -> None:
    """Arrays lie in the file's own memory; kernels may write to them, but the file stays as it was."""
    found = again(small(), tmp_path)
    before = (tmp_path / "data.arrow").read_bytes()
    for array in (found.offsets, found.items, found.owners):
        assert isinstance(array.base.obj, mmap.mmap)  # type: ignore[union-attr]
    found.items[:] = 0
    assert (tmp_path / "data.arrow").read_bytes() == before


def test_a_file_can_be_written_anew_while_it_is_read(tmp_path: Path) -> None:
    """Whoever reads the old one keeps it; it is replaced, never cut short under the reader."""
    first = again(read([["a", "b"]]), tmp_path)
    again(read([["c"]]), tmp_path)
    assert baskets(first) == [["a", "b"]]
    assert [path.name for path in tmp_path.iterdir()] == ["data.arrow"]


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    """It holds the data: others must be given the right to read it."""
    again(small(), tmp_path)
    assert (tmp_path / "data.arrow").stat().st_mode & 0o077 == 0


def test_it_may_be_compressed_and_read_over_an_alphabet(tmp_path: Path) -> None:
    """Then it is not mapped, but the same; items that an alphabet does not list are left out."""
    held = small()
    again(held, tmp_path)
    (tmp_path / "data.arrow.gz").write_bytes(gzip.compress((tmp_path / "data.arrow").read_bytes()))
    assert are_same(read(tmp_path / "data.arrow.gz"), held)
    over = read(tmp_path / "data.arrow", alphabet=["milk"])
    assert (baskets(over), over.alphabet.is_given) == ([["milk"], [], ["milk"]], True)


@pytest.mark.parametrize("option", [{"format": "list"}, {"owner": "who"}, {"item": "items"}])
def test_options_of_tables_mean_nothing_here(tmp_path: Path, option: dict[str, Any]) -> None:
    """An encoded file says itself what it holds."""
    again(small(), tmp_path)
    with pytest.raises(BadCall, match="means nothing for encoded transactions"):
        read(tmp_path / "data.arrow", **option)


def test_only_arrow_files_are_written(tmp_path: Path) -> None:
    """The name says how it will be read; and a folder that is not there is told in one line."""
    with pytest.raises(BadCall, match=r"name it \.arrow"):
        write_encoded(small(), tmp_path / "data.parquet")
    with pytest.raises(BadCall, match="cannot be written"):
        write_encoded(small(), tmp_path / "missing" / "data.arrow")


def forged(path: Path, arrays: Arrays, marks: dict[bytes, bytes]) -> Path:
    """A file like an encoded one, with other arrays."""
    types = {"offsets": pa.int64(), "items": pa.int32(), "owners": pa.int64(), "are_integers": pa.uint8()}
    lists = {
        name: pa.array([values], pa.large_list(types.get(name, pa.large_string())))
        for name, values in arrays.items()
    }
    table = pa.table(lists).replace_schema_metadata(marks)
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return path


FINE: Arrays = {"offsets": [0, 2, 3], "items": [0, 1, 1], "owners": [0, 1], "names": ["a", "7"]}


def test_arrays_that_are_rows_are_read(tmp_path: Path) -> None:
    """The control of the next tests: they change one thing of this."""
    found = read(forged(tmp_path / "data.arrow", FINE, {ENCODED_MARK: b"1"}))
    assert baskets(found) == [["a", "7"], ["7"]]


@pytest.mark.parametrize(
    "changed",
    [
        {"offsets": [0, 2, 4]},
        {"offsets": [0, 2, 2]},
        {"offsets": [0, 2**40, 3]},
        {"offsets": [0, -1, 3]},
        {"offsets": [1, 2, 3]},
        {"offsets": []},
        {"items": [0, 2, 1]},
        {"items": [-1, 1, 1]},
        {"items": [1, 1, 1]},
        {"items": [1, 0, 1]},
        {"owners": [0]},
        {"owners": [1, 0]},
        {"owners": [-1, 0]},
        {"owners": [0, 2]},
        {"names": ["a"]},
        {"names": ["a", "a"]},
        {"names": ["a", None]},
        {"items": [0, None, 1]},
        {"are_integers": [1, 0]},
        {"are_integers": [0]},
    ],
)
def test_arrays_that_are_no_rows_are_refused(tmp_path: Path, changed: Arrays) -> None:
    """In one line, before any kernel trusts them."""
    path = forged(tmp_path / "data.arrow", {**FINE, **changed}, {ENCODED_MARK: b"1"})
    with pytest.raises(BadInput, match="is damaged or was changed since it was encoded"):
        read(path)


def test_a_file_of_another_version_or_without_the_mark_is_not_read(tmp_path: Path) -> None:
    """A table that looks like one of ours by chance is a table."""
    with pytest.raises(BadInput, match="another version"):
        read(forged(tmp_path / "data.arrow", FINE, {ENCODED_MARK: b"2"}))
    with pytest.raises(BadInput, match="can be read in several ways"):
        read(forged(tmp_path / "other.arrow", FINE, {}))
    for missing in ("offsets", "items", "names"):
        arrays = {name: values for name, values in FINE.items() if name != missing}
        with pytest.raises(BadInput, match="is damaged"):
            read(forged(tmp_path / "data.arrow", arrays, {ENCODED_MARK: b"1"}))


def flipped(data: bytes, place: int) -> bytes:
    """The data with other bits in one byte."""
    return data[:place] + bytes([data[place] ^ 0x81]) + data[place + 1 :]


def cut(data: bytes, place: int) -> bytes:
    """The data up to a byte."""
    return data[:place]


@pytest.mark.parametrize("damage", [flipped, cut])
def test_a_damaged_file_is_refused_or_still_holds_rows(
    tmp_path: Path, damage: Callable[[bytes, int], bytes]
) -> None:
    """Whichever byte is hit: an error of ours, or rows over an alphabet; never anything else."""
    again(small(), tmp_path)
    data = (tmp_path / "data.arrow").read_bytes()
    path = tmp_path / "damaged.arrow"
    outcomes = set()
    for place in range(0, len(data), 3):
        path.write_bytes(damage(data, place))
        try:
            found = read(path)
        except BadInput:
            outcomes.add("refused")
            continue
        outcomes.add("read")
        rows = baskets(found)
        assert all(len(set(row)) == len(row) for row in rows)
    assert "refused" in outcomes
