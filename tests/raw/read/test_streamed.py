"""Files of lists that are read batch by batch: the same transactions, in little memory."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_reading import baskets
from veilset.errors import BadCall, BadInput
from veilset.raw.read import read, streamed
from veilset.raw.read.files import ByteFile
from veilset.raw.transactions import Transactions


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a Parquet file in groups of three rows."""
    pq.write_table(table, path, row_group_size=3)


def write_arrow(table: pa.Table, path: Path) -> None:
    """Write an Arrow file in batches of three rows."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


WRITERS = {".parquet": write_parquet, ".arrow": write_arrow}


def in_batches(path: Path, **options: Any) -> Transactions:  # noqa: ANN401 - whatever `read` takes
    """What is read of a file, two rows at a time; fails where it is read as a whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed, "LEAST_STREAMED", 0)
        patch.setattr(streamed, "ROWS_IN_A_BATCH", 2)
        patch.delattr("veilset.raw.read.file_formats.read_table_file")
        return read(path, **options)


def are_same(one: Transactions, other: Transactions) -> bool:
    """Whether transactions have the same rows and names."""
    return baskets(one) == baskets(other) and one.alphabet.names == other.alphabet.names


cells = {
    "integers": (pa.int32(), st.integers(-(2**31), 2**31 - 1) | st.integers(0, 3)),
    "long integers": (pa.uint64(), st.integers(0, 2**64 - 1) | st.integers(0, 3)),
    "text": (pa.string(), st.text("ab7é", max_size=2)),
    "nothing": (pa.null(), st.none()),
}


@pytest.mark.parametrize("kind", cells)
@given(data=st.data(), suffix=st.sampled_from(list(WRITERS)))
def test_batches_give_the_transactions_that_the_whole_file_gives(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject, suffix: str
) -> None:
    """Integers, text, nulls among the items and in place of lists; and over a given alphabet."""
    arrow, values = cells[kind]
    rows = data.draw(st.lists(st.none() | st.lists(st.none() | values, max_size=4), max_size=9))
    path = tmp_path_factory.mktemp("lists") / f"lists{suffix}"
    WRITERS[suffix](pa.table({"items": pa.array(rows, pa.list_(arrow))}), path)
    assert are_same(in_batches(path), read(path))
    assert are_same(in_batches(path, alphabet=[1, 2, "a"]), read(path, alphabet=[1, 2, "a"]))


def test_a_column_of_lists_may_be_named(tmp_path: Path) -> None:
    """Then other columns are not read."""
    table = pa.table({"what": [["milk"], ["bread", "milk"]], "when": [1, 2]})
    pq.write_table(table, tmp_path / "lists.parquet")
    held = in_batches(tmp_path / "lists.parquet", item="what")
    assert baskets(held) == [["milk"], ["bread", "milk"]]


def test_a_bad_row_is_told_by_its_number_in_the_file(tmp_path: Path) -> None:
    """Not by that in its batch; skipped, it counts as one without items."""
    path = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"items": [[1.0], [2.0], [1.0], [1.5], [2.0]]}), path)
    with pytest.raises(BadInput, match=r"lists\.parquet, row 4 of the table: no item"):
        in_batches(path)
    assert baskets(in_batches(path, skip_bad_rows=True)) == [[1], [2], [1], [], [2]]


def test_names_that_no_row_holds_are_no_items(tmp_path: Path) -> None:
    """A dictionary may have more names than its rows; as a whole or in batches, they are not there."""
    names = pa.DictionaryArray.from_arrays(
        pa.array([0, 2, 0], pa.int32()), pa.array(["milk", "secret", "bread"])
    )
    path = tmp_path / "lists.arrow"
    write_arrow(pa.table({"items": pa.ListArray.from_arrays([0, 2, 3], names)}), path)
    assert in_batches(path).alphabet.names == read(path).alphabet.names == ("bread", "milk")


def test_lists_of_names_are_read_where_arrow_cannot_number_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then text comes as it is, from the first row on."""
    path = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"items": [["milk"], ["bread", "milk"]]}), path)
    opened, tried = streamed._opened, []

    def opened_without_numbers(file: ByteFile, *, numbers_text: bool) -> Any:  # noqa: ANN401
        tried.append(numbers_text)
        if numbers_text:
            raise pa.ArrowNotImplementedError("nested data")
        return opened(file, numbers_text=numbers_text)

    monkeypatch.setattr(streamed, "_opened", opened_without_numbers)
    assert baskets(in_batches(path)) == [["milk"], ["bread", "milk"]]
    assert tried == [True, False]


def test_owners_are_looked_at_together(tmp_path: Path) -> None:
    """So a table that tells them is read as a whole, however large it is."""
    path = tmp_path / "owned.parquet"
    pl.DataFrame({"who": ["a", "b", "a"], "what": [[1], [2], [3]]}).write_parquet(path)
    with pytest.raises(NameError, match="read_table_file"):
        in_batches(path, owner="who", item="what")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    """In the middle of reading it, too."""
    path = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"items": [[7, 8, 9]] * 2_000}), path, compression="none", use_dictionary=False)
    held = bytearray(path.read_bytes())
    held[100:400] = b"\xff" * 300
    path.write_bytes(held)
    with pytest.raises(BadInput, match="is damaged or breaks off"):
        in_batches(path)


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what to do about it."""
    path = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"items": [[1], [2]]}), path)
    full = partial(Path("/dev/full").open, "r+b")
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(BadCall, match=r"No space left on device\); set TMPDIR"):
        in_batches(path)


MEASURE = """
import json, sys, threading, time
from pathlib import Path
import veilset as vs
from veilset.raw.read import streamed

path = sys.argv[1]
streamed.LEAST_STREAMED, streamed.ROWS_IN_A_BATCH = int(sys.argv[2]), 1 << 13


def held() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


peak = 0


def watch() -> None:
    global peak
    while True:
        peak = max(peak, held())
        time.sleep(0.002)


vs.read(path.replace("large", "small"))  # what is compiled or imported on first use is not counted
before = held()
threading.Thread(target=watch, daemon=True).start()
rows = len(vs.read(path))
print(json.dumps({"rows": rows, "grown": (peak - before) / 1024}))
"""


def measured(path: Path, *, least_rows: int) -> dict[str, float]:
    """Megabytes that a process grows by, beside what is mapped from files."""
    call = [sys.executable, "-c", MEASURE, str(path), str(least_rows)]
    run = subprocess.run(call, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(run.stdout)
    return figures


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells")
def test_reading_in_batches_takes_a_fraction_of_the_memory(tmp_path: Path) -> None:
    """A few batches are held at a time; a control: a file that is read as a whole is held several times over."""
    random = np.random.default_rng(7)
    lengths = random.integers(8, 25, 800_000)
    codes = np.minimum(random.geometric(0.02, int(lengths.sum())), 400)
    offsets = pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
    lists = pa.table({"items": pa.ListArray.from_arrays(offsets, pa.array(codes))})
    pq.write_table(lists, tmp_path / "large.parquet", row_group_size=20_000)
    pq.write_table(lists[:9], tmp_path / "small.parquet")
    in_parts = measured(tmp_path / "large.parquet", least_rows=1)
    as_a_whole = measured(tmp_path / "large.parquet", least_rows=1 << 40)
    assert in_parts["rows"] == as_a_whole["rows"] == 800_000
    assert as_a_whole["grown"] > 2 * in_parts["grown"]
