"""Files that are not what they seem: each is refused in one line that names the option, or read harmlessly.

Harmless means: what would be items are items. No file ends in a traceback, and no message quotes what a file holds.
"""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_reading import byte_file
from shared_data import DATA
from veilset import datasets
from veilset.errors import BadCall, BadInput
from veilset.raw.read import misread, read
from veilset.raw.read.misread import Sample

ROWS = 60
ILLNESSES = ("E11 diabetes", "B20 HIV", "J45 asthma", "I10 hypertension", "F32 depression", "M54 back pain")
GOODS = ("milk", "bread", "beer", "tea", "salt", "rice", "jam", "eggs")


def lines(row: Callable[[int, random.Random], str], *, rows: int = ROWS, header: str = "") -> str:
    """A file with what `row` makes of the number of each row, under a header."""
    rng = random.Random(5)
    return header + "".join(row(number, rng) + "\n" for number in range(rows))


def some(rng: random.Random, names: tuple[str, ...], separator: str) -> str:
    """One to four of the names."""
    return separator.join(rng.sample(names, rng.randint(1, 4)))


def hospital(separator: str) -> str:
    """Patients and what they have."""
    return lines(lambda n, rng: f"patient {179 + n}{separator}" + some(rng, ILLNESSES, separator))


def sales(separator: str, *, header: bool = True) -> str:
    """A long table: customers, days, and what they bought."""
    names = separator.join(["customer", "day", "item"]) + "\n"
    return lines(
        lambda n, rng: separator.join([f"C-{1000 + n // 4}", f"2026-03-{1 + n % 4:02}", rng.choice(GOODS)]),
        header=names if header else "",
    )


def goods(separator: str, *, rows: int = ROWS) -> str:
    """Honest baskets."""
    return lines(lambda _, rng: some(rng, GOODS, separator), rows=rows)


def numbered(rows: int = ROWS) -> str:
    """Honest rows of numbers."""
    return lines(
        lambda _, rng: " ".join(map(str, sorted(rng.sample(range(50), rng.randint(1, 5))))), rows=rows
    )


REFUSED: dict[str, tuple[str, str | bytes, dict[str, Any], str]] = {
    "a hospital with semicolons": ("a.csv", hospital(";"), {}, "give --separator ';'"),
    "the same in three rows": ("a.csv", "\n".join(hospital(";").split("\n")[:3]), {}, "give --separator ';'"),
    "a hospital, named basket": ("a.basket", hospital(";"), {}, "give --separator ';'"),
    "a hospital, compressed": ("a.csv.gz", gzip.compress(hospital(";").encode()), {}, "give --separator ';'"),
    "a hospital, told to be baskets": ("a.txt", hospital(";"), {"format": "basket"}, "give --separator ';'"),
    "a hospital, told to be a table": ("a.csv", hospital(";"), {"format": "table"}, "give --separator ';'"),
    "a hospital with semicolons as FIMI": ("a.dat", hospital(";"), {}, "line 1: not only .*--format basket"),
    "a hospital with commas": (
        "a.csv",
        hospital(","),
        {},
        "1st place of nearly every row.*--owner and --item",
    ),
    "a hospital, the separator told": (
        "a.csv",
        hospital(";"),
        {"separator": ";"},
        "1st place of nearly every row, as identifiers are",
    ),
    "tabs in .csv": ("a.csv", goods("\t"), {}, "give --separator tab"),
    "pipes": ("a.csv", goods("|"), {}, r"give --separator '\|'"),
    "pipes in .tsv": ("a.tsv", goods("|"), {}, r"give --separator '\|'"),
    "commas in .tsv": ("a.tsv", goods(","), {}, "give --separator ','"),
    "semicolons within quotes": (
        "a.csv",
        lines(lambda _, rng: f'"{some(rng, GOODS, ";")};x"'),
        {},
        "give --separator ';'",
    ),
    "an Excel export with sep=": ("a.csv", "sep=;\n" + goods(";"), {}, "give --separator ';'"),
    "a long table with a header": ("a.csv", sales(","), {}, "looks like a table.*--owner and --item"),
    "the same in four rows": ("a.csv", "\n".join(sales(",").split("\n")[:5]), {}, "looks like a table"),
    "a long table without header": ("a.csv", sales(",", header=False), {}, "looks like a table.*--no-header"),
    "a long table with tabs": ("a.tsv", sales("\t"), {}, "looks like a table"),
    "a long table with semicolons": ("a.csv", sales(";"), {}, "give --separator ';'"),
    "semicolons, columns named": (
        "a.csv",
        sales(";"),
        {"owner": "customer", "item": "item"},
        "give --separator ';'",
    ),
    "a header id,name,item": (
        "a.csv",
        lines(lambda n, rng: f"{n},Ann {n},{rng.choice(GOODS)}", header="id,name,item\n"),
        {},
        "looks like a table.*--owner and --item",
    ),
    "a table with gaps": (
        "a.csv",
        lines(lambda n, rng: f"{n % 7},,{rng.choice(GOODS)},", header="age,sex,likes,dislikes\n"),
        {},
        "looks like a table.*--format table",
    ),
    "a long table of numbers": (
        "a.dat",
        lines(lambda n, rng: f"{1000 + n // 3} {rng.randint(1, 20)}"),
        {},
        "looks like a long table.*--owner and --item",
    ),
    "the same, numbers of owners and items alike": (
        "a.dat",
        lines(lambda n, rng: f"{1 + n // 3} {rng.randint(1, 20)}"),
        {},
        "looks like a long table",
    ),
    "customer numbers in front of items": (
        "a.dat",
        lines(lambda n, rng: f"{90000 + n} " + " ".join(str(rng.randint(1, 20)) for _ in range(1 + n % 4))),
        {},
        "1st place of nearly every row, as identifiers are; .*give --format fimi",
    ),
    "the same in SPMF": (
        "a.spmf",
        lines(
            lambda n, rng: f"{90000 + n} -1 " + " ".join(str(rng.randint(1, 20)) for _ in range(1 + n % 4))
        ),
        {},
        "as identifiers are; .*give --format spmf",
    ),
    "a day and a receipt in front of items": (
        "a.tsv",
        lines(lambda n, rng: f"2026-03-{1 + n // 9:02}\tR-{7000 + n}\t" + some(rng, GOODS, "\t")),
        {},
        "2nd place of nearly every row, as identifiers are",
    ),
    "one identifier a line": (
        "a.csv",
        lines(lambda n, _: f"ann{n}@example.org"),
        {},
        "hardly any item in two",
    ),
    "one number a line": ("a.dat", lines(lambda n, _: str(7_000_000 + 13 * n)), {}, "hardly any item in two"),
    "free text": (
        "a.csv",
        lines(lambda n, rng: " ".join(rng.choices(GOODS, k=9)) + f" at {n}"),
        {},
        "hardly any item in two rows.*give --separator or --format",
    ),
    "JSON lines": (
        "a.csv",
        lines(lambda n, rng: json.dumps({"who": n, "items": rng.sample(GOODS, 2)})),
        {},
        "looks like JSON.*--format basket",
    ),
    "JSON lines, named so": ("a.jsonl", '{"a": 1}\n', {}, "give --format, one of"),
    "numbers and blanks in .csv": ("a.csv", numbered(), {}, "numbers parted by blanks.*give --format fimi"),
    "CR alone": ("a.csv", goods(",").replace("\n", "\r"), {}, "CR alone; save it with LF or CRLF"),
    "CR alone in FIMI": ("a.dat", numbered().replace("\n", "\r"), {}, "CR alone.*give --format fimi"),
    "UTF-16 with a mark": ("a.csv", goods(",").encode("utf-16"), {}, "is UTF-16 or binary.*save it as UTF-8"),
    "UTF-16 of the other kind": ("a.csv", b"\xfe\xff" + goods(",").encode("utf-16-be"), {}, "is UTF-16"),
    "UTF-16 without a mark": ("a.csv", goods(",").encode("utf-16-le"), {}, "is UTF-16 or binary"),
    "UTF-16 in FIMI": ("a.dat", numbered().encode("utf-16-le"), {}, "is UTF-16 or binary"),
    "NUL between items": ("a.csv", goods("\0"), {}, "it has NUL bytes"),
    "Latin-1": ("a.csv", ("käse,brot\n" * 9).encode("latin-1"), {}, "line 1: not UTF-8; save"),
    "Parquet, named CSV": ("a.csv", b"PAR1\x15\x00\x15\xff\n\x00PAR1\n\x00", {}, "is UTF-16 or binary"),
    "a suffix that tells nothing": ("a.txt", goods(","), {}, "give --format, one of fimi, spmf, basket"),
    "no suffix": ("a", numbered(), {}, "give --format, one of fimi, spmf, basket"),
    "a long table, no columns told": (
        "a.txt",
        sales(","),
        {"format": "long"},
        "name them with owner or basket, and item",
    ),
}

HARMLESS: dict[str, tuple[str, str | bytes, dict[str, Any], int]] = {
    "Windows line ends": ("a.csv", goods(",").replace("\n", "\r\n"), {}, len(GOODS)),
    "a UTF-8 mark": ("a.csv", "\ufeff" + goods(","), {}, len(GOODS)),
    "names with commas, in quotes": ("a.csv", '"milk, whole",bread\n"milk, whole"\n' * 30, {}, 2),
    "semicolons in a few names": ("a.csv", goods(",") + '"salt; fine"\n' * 9, {}, len(GOODS) + 1),
    "ten baskets": ("a.csv", goods(",", rows=10), {}, len(GOODS)),
    "three baskets of two": ("a.csv", "milk,bread\nbeer,tea\nmilk,tea\n", {}, 4),
    "the same basket many times": ("a.csv", "milk,bread\n" * 99, {}, 2),
    "the same numbers many times": ("a.dat", "1 2\n" * 99, {}, 2),
    "rows of one length, a number for each value": (
        "a.dat",
        lines(lambda _, rng: " ".join(str(10 * column + rng.randint(0, 3)) for column in range(23))),
        {},
        92,
    ),
    "one item in each row": ("a.csv", lines(lambda n, _: GOODS[n % 8]), {}, len(GOODS)),
    "blank lines": ("a.csv", "\n" * 99 + goods(","), {}, len(GOODS)),
    "nothing": ("a.csv", "", {}, 0),
    "all semicolons, the separator told": ("a.csv", goods(";"), {"separator": ";"}, len(GOODS)),
    "tabs, the separator told by name": ("a.csv", goods("\t"), {"separator": "tab"}, len(GOODS)),
    "a long table, columns told": ("a.csv", sales(","), {"owner": "customer", "item": "item"}, len(GOODS)),
    "an Excel export with sep=,": ("a.csv", "sep=,\n" + goods(","), {}, len(GOODS) + 1),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_misread_file_is_refused_in_one_line_that_names_the_option(tmp_path: Path, case: str) -> None:
    """The message is for whoever owns the data, and yet quotes nothing of it."""
    name, data, options, message = REFUSED[case]
    (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises((BadInput, BadCall), match=message) as refused:
        read(tmp_path / name, **options)
    text = str(refused.value).replace(str(tmp_path), "")
    assert "\n" not in text
    assert not any(word in text for word in (*GOODS, *ILLNESSES, "patient", "C-1", "R-7", "example", "Ann"))


@pytest.mark.parametrize("case", HARMLESS)
def test_a_file_that_is_what_it_seems_is_read(tmp_path: Path, case: str) -> None:
    """Items are items, and nothing else is."""
    name, data, options, items = HARMLESS[case]
    (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    assert len(read(tmp_path / name, **options).alphabet) == items


@pytest.mark.parametrize(
    ("name", "data", "options"),
    [
        ("a.csv", hospital(";"), {"separator": ",", "format": "basket"}),
        ("a.csv", hospital(","), {"format": "basket"}),
        ("a.csv", sales(","), {"format": "basket"}),
        ("a.csv", goods("\t"), {"separator": ","}),
        ("a.csv", goods(",").replace("\n", "\r"), {"separator": ",", "format": "basket"}),
        ("a.csv", goods("\0"), {"separator": ",", "format": "basket"}),
        ("a.csv", numbered(), {"format": "basket"}),
        ("a.dat", lines(lambda n, _: str(n)), {"format": "fimi"}),
        ("a.spmf", lines(lambda n, _: str(n)), {"format": "spmf"}),
    ],
)
def test_what_is_given_is_not_doubted(tmp_path: Path, name: str, data: str, options: dict[str, Any]) -> None:
    """An explicit format and separator read the file as it is."""
    (tmp_path / name).write_text(data, newline="")
    assert len(read(tmp_path / name, **options)) == max(1, data.count("\n"))


honest_rows = st.lists(st.lists(st.sampled_from(GOODS), min_size=1, max_size=4), min_size=3, max_size=60)


@given(
    rows=honest_rows,
    odd=st.binary(max_size=30).filter(lambda row: b"\n" not in row and row[:2] not in misread.UTF_16_MARKS),
    place=st.integers(0, 60),
)
def test_one_row_never_makes_a_file_look_misread(rows: list[list[str]], odd: bytes, place: int) -> None:
    """Whatever it holds and wherever it stands: what is within cells is judged by most rows."""
    honest = [",".join(row).encode() for row in rows]
    file = byte_file(b"\n".join([*honest[:place], odd, *honest[place:]]) + b"\n")
    misread.check_encoding(file, override="")
    misread.check_separators(file, separator=",")


def sample(rows: list[list[int]]) -> Sample:
    """The rows as a sample."""
    return Sample.of(np.cumsum([0, *map(len, rows)]), np.array([value for row in rows for value in row], int))


@pytest.mark.parametrize(("scale", "numbers"), [(1, [7, 5, 1]), (misread.MOST_AS_THEY_ARE, [2, 1, 0])])
def test_a_sample_has_the_first_rows_that_hold_anything(scale: int, numbers: list[int]) -> None:
    """Rows without values are passed over, later ones not looked at, positions those of the file."""
    found = sample([[7 * scale, 5 * scale], [], [5 * scale], *[[scale]] * 2000])
    assert found.rows == misread.ROWS_LOOKED_AT - 1
    assert found.lengths[:3].tolist() == [2, 1, 1]
    assert found.at(0)[:3].tolist() == numbers
    assert found.at(1).tolist() == [numbers[1]]
    assert sample([]).rows == sample([[], []]).rows == 0


@pytest.mark.parametrize("share", [0.9, 1.0])
def test_identifiers_are_told_by_nearly_all_rows(share: float) -> None:
    """A position is one of identifiers if nearly every row holds there what no other does."""
    rows = [[1000 + n if n < share * 100 else 7, n % 5, n % 3] for n in range(100)]
    assert misread.identifier_position(sample(rows)) == (0 if share == 1 else None)
    assert misread.identifier_position(sample(rows[:30])) is None
    assert misread.share_of_items_once(sample([row[:1] for row in rows])) == pytest.approx(share)


@pytest.mark.skipif(not DATA.exists(), reason="needs the shared datasets")
def test_no_real_dataset_looks_misread() -> None:
    """Rows of one length, ascending numbers and rare items are no signs of anything."""
    for path in sorted(DATA.glob("*.dat.zst")):
        read(path)


@pytest.mark.parametrize("name", ["a.dat", "a.csv", "a.parquet"])
@pytest.mark.parametrize("rows", [1, 10, 100, 1000])
def test_no_generated_dataset_looks_misread(tmp_path: Path, name: str, rows: int) -> None:
    """Groceries and Quest data are read as they were written."""
    for made in (datasets.groceries(rows), datasets.quest(rows)):
        datasets.write(made, tmp_path / name)
        assert len(read(tmp_path / name)) == rows
