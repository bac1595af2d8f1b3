"""Folders and patterns: several files as one source."""

import tracemalloc
from pathlib import Path

import polars as pl
import pytest

from reference_reading import baskets
from veilset.errors import BadInput
from veilset.raw.read import files_of_source, read, write_encoded
from veilset.raw.read.folders import files_in

FIRST = pl.DataFrame({"who": [1, 2], "what": ["milk", "bread"]})
SECOND = pl.DataFrame({"what": ["beer", "milk"], "who": [2, 3]})
TOGETHER = [["milk"], ["beer", "bread"], ["milk"]]


def write(path: Path, text: str) -> None:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_persons_are_put_together_across_parquet_files(tmp_path: Path) -> None:
    """Whatever the order of columns; marks of other programs are passed over."""
    FIRST.write_parquet(tmp_path / "1.parquet")
    (tmp_path / "later").mkdir()
    SECOND.write_parquet(tmp_path / "later" / "2.parquet")
    write(tmp_path / "_SUCCESS.parquet", "")
    write(tmp_path / ".hidden" / "3.parquet", "")
    write(tmp_path / "README.txt", "about the data")
    for source in (tmp_path, str(tmp_path / "**" / "[0-9].parquet")):
        held = read(source, owner="who", item="what")
        assert (baskets(held), held.is_by_person) == (TOGETHER, True)


def test_persons_are_put_together_across_csv_files(tmp_path: Path) -> None:
    """Each with its header; compressed or not; equal texts of two files are one."""
    FIRST.write_csv(tmp_path / "1.csv")
    SECOND.write_csv(tmp_path / "2.csv")
    assert baskets(read(tmp_path, owner="who", item="what")) == TOGETHER
    assert baskets(read(tmp_path / "*.csv", owner="who", item="what")) == TOGETHER


def test_rows_without_a_header_may_differ_in_length(tmp_path: Path) -> None:
    """Within a file, and so between files."""
    write(tmp_path / "1.csv", "1,0\n")
    write(tmp_path / "2.csv", "0,1,1\n")
    assert baskets(read(tmp_path, format="onehot", header=False)) == [["f0"], ["f1", "f2"]]


def test_line_files_follow_each_other(tmp_path: Path) -> None:
    """Numbers and names; an item of two files is one, and blank lines count."""
    write(tmp_path / "dat" / "1.dat", "1 2\n\n3")
    write(tmp_path / "dat" / "2.dat", "3 18446744073709551615\n")
    assert baskets(read(tmp_path / "dat")) == [[1, 2], [], [3], [3, 2**64 - 1]]
    write(tmp_path / "csv" / "1.csv", "milk,7\n")
    write(tmp_path / "csv" / "2.csv", "7,007,beer\n")
    assert baskets(read(tmp_path / "csv")) == [[7, "milk"], [7, "007", "beer"]]


def test_a_file_whose_name_looks_like_a_pattern_is_read(tmp_path: Path) -> None:
    """What is there is meant."""
    write(tmp_path / "a[1].dat", "1 2\n")
    assert baskets(read(tmp_path / "a[1].dat")) == [[1, 2]]


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    """In one line that names the folder, not what files hold."""
    with pytest.raises(BadInput, match="no file is called like"):
        read(tmp_path / "*.csv")
    write(tmp_path / "1.dat", "1 2\n")
    FIRST.write_csv(tmp_path / "2.csv")
    with pytest.raises(
        BadInput, match=r"several kinds \(.csv, .dat\); give a pattern for one of them, such as '.*\*.csv'"
    ):
        read(tmp_path)
    with pytest.raises(BadInput, match="several kinds"):
        read(tmp_path / "[12].*")
    SECOND.rename({"what": "item"}).write_csv(tmp_path / "3.csv")
    with pytest.raises(BadInput, match="no column 'what'"):
        read(tmp_path / "*.csv", owner="who", item="what")
    with pytest.raises(BadInput, match="different columns"):
        read(tmp_path / "*.csv", format="table")
    FIRST.write_parquet(tmp_path / "1.parquet")
    FIRST.with_columns(more=1).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(BadInput, match="different columns"):
        read(tmp_path / "*.parquet", format="table")
    write_encoded(read([["milk"]]), tmp_path / "3.arrow")
    write_encoded(read([["milk"]]), tmp_path / "4.arrow")
    with pytest.raises(BadInput, match="encoded transactions, which are read alone"):
        read(tmp_path / "*.arrow")


def test_the_files_of_a_source_are_told(tmp_path: Path) -> None:
    """So that none of them is written over."""
    write(tmp_path / "1.dat", "1 2\n")
    write(tmp_path / "2.dat", "1 2\n")
    both = [tmp_path / "1.dat", tmp_path / "2.dat"]
    assert files_of_source(str(tmp_path)) == files_of_source(str(tmp_path / "*.dat")) == both
    assert files_of_source("sqlite:///shop.db") == [Path("shop.db")]
    assert files_of_source("none.dat") == [Path("none.dat")]


def test_a_large_folder_of_other_files_takes_no_memory_for_them(tmp_path: Path) -> None:
    """Names of what is not read are not kept: somebody may name the root of a disk. Hidden folders are not entered."""
    (tmp_path / "many").mkdir()
    for number in range(3000):
        (tmp_path / "many" / f"{number}.log").touch()
    (tmp_path / "_old").mkdir()
    for name in ("a.dat", "_old/b.dat", ".c.dat", "many/d.dat"):
        (tmp_path / name).write_text("1 2\n", encoding="ascii")
    files_in(tmp_path, [".dat"])
    tracemalloc.start()
    found = files_in(tmp_path, [".dat"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [tmp_path / "a.dat", tmp_path / "many" / "d.dat"]
    assert peak < 3000 * 400
