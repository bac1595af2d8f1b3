"""Text files: FIMI, SPMF and baskets, compressed or not, in blocks of any size, and which is which."""

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_reading import baskets, byte_file, lines_of_names, lines_of_numbers
from shared_data import DATA
from veilset.raw.read import Format, files, read
from veilset.raw.read.encode import encode
from veilset.raw.read.text import read_basket, read_fimi
from veilset.raw.transactions import Item

block_sizes = st.sampled_from([1, 3, 7, 1 << 20])
numbers = st.integers(0, 9) | st.sampled_from([10**9, 2**32, 2**40, 2**64 - 1])
number_rows = st.lists(st.lists(numbers, max_size=5), min_size=1, max_size=6)


def sets(rows: list[list[int]] | list[list[str]]) -> list[list[Item]]:
    """Each row without repeats, sorted."""
    return [sorted(set(row)) for row in rows]


def write(folder: Path, name: str, data: str | bytes) -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@given(rows=number_rows, block_bytes=block_sizes, end=st.sampled_from(["", "\n"]))
def test_fimi_rows_are_the_sets_of_numbers_on_each_line(
    rows: list[list[int]], block_bytes: int, end: str
) -> None:
    """Whatever the blocks, the numbers and the end of the file: a line is a transaction, a blank one too."""
    text = "1 2\n" + "\n".join(" ".join(map(str, row)) for row in rows) + end
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK_BYTES", block_bytes)
        found = encode(read_fimi(byte_file(text.encode())), None)
    expected = sets(lines_of_numbers(text))
    assert baskets(found) == expected
    assert found.alphabet.names == tuple(sorted({number for row in expected for number in row}))
    assert found.offsets.dtype == np.int64
    assert found.items.dtype == np.int32


@pytest.mark.parametrize("last", ["5", "5 6", " ".join(map(str, range(200))), f"{2**40} 1"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_short_file_is_read_whatever_follows_its_last_newline(tmp_path: Path, last: str, end: str) -> None:
    """What is in front of that is taken as it was parsed, as if it were all."""
    text = f"1 2\n3 4 3\n\n{last}{end}"
    assert baskets(read(write(tmp_path, "rows.dat", text))) == sets(lines_of_numbers(text))


@given(
    rows=st.lists(st.lists(st.text("ab é", max_size=2), max_size=4), min_size=1, max_size=6),
    block_bytes=block_sizes,
    has_header=st.booleans(),
)
def test_basket_rows_are_the_sets_of_names_on_each_line(
    rows: list[list[str]], block_bytes: int, *, has_header: bool
) -> None:
    """Whatever the blocks: a line is a transaction of its cells, and a header is none."""
    text = "".join(",".join(row) + "\n" for row in [["x"], *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK_BYTES", block_bytes)
        data = ("item, item\n" * has_header + text).encode()
        found = encode(read_basket(byte_file(data), separator=",", has_header=has_header), None)
    assert baskets(found) == sets(lines_of_names(text))


@pytest.mark.parametrize(
    "data",
    [
        "1 2\n\n3",
        "1 2\n\n3\n",
        "1 2\r\n\r\n3\r\n",
        "\ufeff1\t2\n\n3\n",
        " 1  2 \n \n3 3\n",
        gzip.compress(b"1 2\n\n3\n", mtime=0),
        gzip.compress(b"1 2\n", mtime=0) + gzip.compress(b"\n3\n", mtime=0),
        pa.compress(b"1 2\n\n3\n", "zstd", asbytes=True),
    ],
)
@pytest.mark.parametrize(
    ("name", "options"), [("data.dat", {}), ("data", {"format": "fimi"}), ("data.txt.gz", {"format": "fimi"})]
)
def test_fimi_comes_in_many_guises(
    tmp_path: Path, data: str | bytes, name: str, options: dict[str, Any]
) -> None:
    """Newlines, blanks, a byte order mark and compression make no difference, whatever the suffix."""
    found = read(write(tmp_path, name, data), **options)
    assert baskets(found) == [[1, 2], [], [3]]
    assert found.owners is None


def test_standard_input_may_be_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash reads standard input, decompressed if need be, in the format that is given."""
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(b"milk,bread\nmilk\n"))))
    monkeypatch.setattr(sys, "stdin", stream)
    assert baskets(read("-", format="basket")) == [["bread", "milk"], ["milk"]]


def test_spmf_names_stand_for_numbers(tmp_path: Path) -> None:
    """Numbers get the names that the file gives them, comments are passed over, sequences are sets."""
    text = "@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n@ITEM=2=rye bread\n# note\n2 1\n3\n2 -1 1 -1 2 -1 -2\n"
    expected = [["milk", "rye bread"], ["3"], ["milk", "rye bread"]]
    assert baskets(read(write(tmp_path, "data.spmf", text))) == expected
    assert baskets(read(write(tmp_path, "data.txt", text), format="spmf")) == expected


def test_an_spmf_number_without_a_name_never_takes_that_of_another(tmp_path: Path) -> None:
    """Item 3 is not item 1, which is called 3; an empty name is none."""
    text = "@ITEM=1=3\n@ITEM=2=@3\n@ITEM=5=\n@ITEM=6=\n1 3\n2 5\n"
    assert baskets(read(write(tmp_path, "data.spmf", text))) == [["3", "@@3"], ["5", "@3"]]


@pytest.mark.parametrize(
    ("text", "reading", "expected"),
    [
        ("10307 -1 10311 -1 -2\n10307 -1 -2\n", "spmf", [[10307, 10311], [10307]]),
        ("% note\n1 2\n", "spmf", [[1, 2]]),
        ("3 1\n", "fimi", [[1, 3]]),
        ("\n7\n", "fimi", [[], [7]]),
        ("\n\nmilk\n", "basket", [[], [], ["milk"]]),
        ("3,1\n", "basket", [[1, 3]]),
        ("3,01\n", "basket", [[3, "01"]]),
        ("10,9,x,-5,007,99999999999999999999\n", "basket", [[-5, 9, 10, "007", "99999999999999999999", "x"]]),
        ("-\n", "basket", [["-"]]),
        ("-5,18446744073709551615,18446744073709551616\n", "basket", [[-5, 2**64 - 1, str(2**64)]]),
        ("-9223372036854775808,-9223372036854775809\n", "basket", [[-(2**63), str(-(2**63) - 1)]]),
        ("-5,3\n", "basket", [[-5, 3]]),
    ],
)
def test_a_name_that_is_written_like_an_integer_is_one(
    tmp_path: Path, text: str, reading: Format, expected: list[list[Item]]
) -> None:
    """Each by itself: integers of up to 64 bits without leading zeros first, then text."""
    assert baskets(read(write(tmp_path, "data.txt", text), format=reading)) == expected


@pytest.mark.parametrize("name", ["a.dat", "a.spmf", "a.csv", "a.tsv.gz"])
@pytest.mark.parametrize(("text", "rows"), [("", 0), ("\n", 1), ("\n\n", 2)])
def test_no_transaction_and_no_item_are_data(tmp_path: Path, name: str, text: str, rows: int) -> None:
    """A file without lines holds none, one of blank lines empty ones; the alphabet has no item."""
    found = read(write(tmp_path, name, text))
    assert len(found) == rows
    assert (found.items.size, len(found.alphabet)) == (0, 0)


def test_baskets_may_have_quotes_a_header_and_another_separator(tmp_path: Path) -> None:
    """Quoted cells keep separators and quotes; `header` drops a line; a .tsv file has tabs."""
    text = 'first;second\n"half; half";"the ""best"" milk"\n bread ; \n'
    found = read(write(tmp_path, "data.csv", text), separator=";", header=True)
    assert baskets(found) == [["half; half", 'the "best" milk'], ["bread"]]
    assert baskets(read(write(tmp_path, "data.tsv", "a, b\tc\n"))) == [["a, b", "c"]]


def test_the_format_that_is_given_wins(tmp_path: Path) -> None:
    """A .dat file of names is read as baskets if the caller says so."""
    assert baskets(read(write(tmp_path, "data.dat", "b,a\n"), format="basket")) == [["a", "b"]]


@pytest.mark.parametrize("alphabet", [["30", 20, 10], "items.txt", "names.tsv"])
def test_a_given_alphabet_drops_other_items_and_keeps_its_order(
    tmp_path: Path, alphabet: list[Item] | str
) -> None:
    """Codes follow the alphabet, unknown items vanish, empty rows stay; a vocabulary renames."""
    write(tmp_path, "items.txt", "30\n20\n\n10\n")
    write(tmp_path, "names.tsv", "30\tmilk\tdairy\n20\tbread\tbakery\n10\tbeer\tdrinks\n")
    source = tmp_path / alphabet if isinstance(alphabet, str) else alphabet
    found = read(write(tmp_path, "data.dat", "10 20 30\n10 10 7 99999999999\n7\n"), alphabet=source)
    assert found.offsets.tolist() == [0, 3, 4, 4]
    assert found.items.tolist() == [0, 1, 2, 2]
    assert found.alphabet.is_given
    expected = {"items.txt": (30, 20, 10), "names.tsv": ("milk", "bread", "beer")}
    assert found.alphabet.names == expected.get(str(alphabet), ("30", 20, 10))


@pytest.mark.skipif(not DATA.exists(), reason="needs the shared datasets")
def test_real_datasets_have_their_published_sizes() -> None:
    """Rows, distinct items, longest row and number of items are those recorded with the files."""
    for recorded in json.loads((DATA / "stats.json").read_text())["datasets"].values():
        found = read(DATA / recorded["file"])
        assert len(found) == recorded["transactions"]
        assert len(found.alphabet) == recorded["distinct_items"]
        assert found.lengths.max() == recorded["max_len"]
        assert found.items.size == recorded["occurrences"]


@pytest.mark.skipif(not DATA.exists(), reason="needs the shared datasets")
def test_names_and_numbers_with_a_vocabulary_give_the_same_baskets() -> None:
    """Groceries as names, and as numbers whose names a vocabulary tells, are the same data."""
    by_name = read(DATA / "Groceries.csv.zst")
    by_number = read(DATA / "Groceries.dat.zst", alphabet=DATA / "Groceries.vocab.tsv")
    assert sorted(map(set, baskets(by_name)), key=sorted) == sorted(map(set, baskets(by_number)), key=sorted)
