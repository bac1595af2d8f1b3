"""Executors keep blocks for the next question: what is kept answers as the rows do, and may be lost at any time."""

import os
import shutil
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frames
from row_keys_twin import keys_of
from strategies import arrays_of, transactions_of
from veilset.raw import disk_arrays
from veilset.raw.block_files import folder_of_blocks
from veilset.raw.clustered import ClusteredTransactions, RowBlock
from veilset.raw.cuts.truncation import KeepAll
from veilset.raw.engines import block_store, cluster_rows, local
from veilset.raw.engines.block_store import BlockStore, engine_over_block, store_of_this_process
from veilset.raw.engines.local import LocalEngine
from veilset.raw.engines.opened import engine_over

ROWS = [frozenset({0, 1, 2}), frozenset({0, 1}), frozenset({1, 3, 4, 5}), frozenset(), frozenset({5})] * 40
PAIRS = arrays_of([[0, 1], [1, 5], [0, 1, 2]])
ITEMS = 6


@pytest.fixture(autouse=True)
def a_disk_with_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """However full the disk of this machine is."""
    monkeypatch.setattr(disk_arrays, "SHARE_LEFT_FREE", 10**9)


def draw() -> Any:  # noqa: ANN401
    """The same keys for every engine."""
    return keys_of(4)


@cache
def block() -> RowBlock:
    """5,000 rows, of which bitmaps of all items are made."""
    return frames.blocks_of(transactions_of(ROWS * 25), 1)[0]


def supports(engine: LocalEngine | None) -> list[int]:
    """What an engine knows."""
    assert engine is not None
    found: list[int] = engine.supports(*PAIRS, KeepAll(), draw).values.tolist()
    return found


@pytest.fixture(autouse=True)
def _bitmaps_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few rows there are, bitmaps are kept of them."""
    monkeypatch.setattr(local, "CHUNKS_BEFORE_BITMAPS", 0)


def test_a_block_that_one_process_met_is_known_to_the_others(tmp_path: Path) -> None:
    """With its bitmaps, in files that only their owner may open."""
    expected = supports(engine_over_block(block(), ITEMS))
    assert supports(BlockStore(tmp_path).keep("a", block().to_bytes(), ITEMS)) == expected
    files = {path.name: path.stat() for path in tmp_path.iterdir()}
    assert set(files) == {"a", "a.bitmaps"}
    assert {stat.S_IMODE(each.st_mode) for each in files.values()} == {0o600}
    assert supports(BlockStore(tmp_path).find("a", ITEMS)) == expected
    assert (tmp_path / "a.bitmaps").stat().st_mtime_ns == files["a.bitmaps"].st_mtime_ns


def test_bitmaps_are_those_of_the_file(tmp_path: Path) -> None:
    """The control: with other bitmaps in the file, the answer is another; of another size, they are made anew."""
    expected = supports(BlockStore(tmp_path).keep("a", block().to_bytes(), ITEMS))
    bitmaps = tmp_path / "a.bitmaps"
    bitmaps.write_bytes(bytes(bitmaps.stat().st_size))
    assert supports(BlockStore(tmp_path).find("a", ITEMS)) != expected
    bitmaps.write_bytes(b"torn")
    assert supports(BlockStore(tmp_path).find("a", ITEMS)) == expected


def test_arrays_of_a_file_can_be_changed_and_the_file_stays(tmp_path: Path) -> None:
    """Compiled code takes an array that cannot be changed for another type."""
    path = tmp_path / "numbers"
    assert disk_arrays.write_private_file(path, [np.arange(3).data, b"12345678"])
    mapped = disk_arrays.mapped_file(path)
    assert mapped is not None
    array = np.frombuffer(mapped, np.int64)
    array[0] = 9
    assert array[:3].tolist() == [9, 1, 2]
    assert path.read_bytes() == np.arange(3).tobytes() + b"12345678"
    assert disk_arrays.mapped_file(tmp_path / "nothing") is None


@pytest.mark.parametrize("folder", [True, False])
def test_a_name_that_nobody_keeps_is_not_known(folder: bool, tmp_path: Path) -> None:
    """In a folder and in memory."""
    store = BlockStore(tmp_path if folder else None)
    store.keep("a", block().to_bytes(), ITEMS)
    assert supports(store.find("a", ITEMS)) == supports(engine_over_block(block(), ITEMS))
    assert store.find("b", ITEMS) is None


def test_without_room_on_the_disk_a_block_answers_and_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of the disk stays free."""
    monkeypatch.setattr(disk_arrays, "SHARE_LEFT_FREE", 1)
    assert supports(BlockStore(tmp_path).keep("a", block().to_bytes(), ITEMS)) == supports(
        engine_over_block(block(), ITEMS)
    )
    assert list(tmp_path.iterdir()) == []
    assert BlockStore(tmp_path).find("a", ITEMS) is None


def test_blocks_that_were_written_first_are_removed_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has mapped one keeps it."""
    size = len(block().to_bytes())
    disk = shutil.disk_usage(tmp_path)._replace(total=4 * size)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: disk)
    store = BlockStore(tmp_path)
    for place, name in enumerate("abc"):
        store.keep(name, block().to_bytes(), ITEMS)
        os.utime(tmp_path / name, (place, place))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]
    assert BlockStore(tmp_path).find("a", ITEMS) is None
    assert supports(store.find("a", ITEMS)) == supports(engine_over_block(block(), ITEMS))


def test_a_process_keeps_only_the_blocks_that_were_asked_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as its memory may hold."""
    nbytes = engine_over_block(block(), ITEMS).held.nbytes
    monkeypatch.setattr(block_store, "MOST_BYTES_IN_MEMORY", 2 * nbytes)
    store = BlockStore(None)
    for name in "abab":
        store.keep(name, block().to_bytes(), ITEMS)
    assert store.find("a", ITEMS) is not None
    store.keep("c", block().to_bytes(), ITEMS)
    assert [store.find(name, ITEMS) is not None for name in "abc"] == [True, False, True]


@pytest.fixture
def fresh_store() -> Iterator[None]:
    """The store of the process is made anew, before and after."""
    for cached in (store_of_this_process, folder_of_blocks):
        cached.cache_clear()
    yield
    for cached in (store_of_this_process, folder_of_blocks):
        cached.cache_clear()


@pytest.mark.usefixtures("fresh_store")
@pytest.mark.parametrize(("name", "is_used"), [("blockmgr-1", True), ("scratch", False)])
def test_only_folders_that_spark_removes_are_written_to(
    name: str, is_used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that a user has named would keep private rows for ever."""
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{folder},/elsewhere")
    store_of_this_process().keep("a", block().to_bytes(), ITEMS)
    assert (folder / "veilset" / "a").exists() == is_used
    if is_used:
        assert stat.S_IMODE((folder / "veilset").stat().st_mode) == 0o700


class CountedFrame(frames.FrameInMemory):
    """A frame that tells which columns are asked for."""

    asked: list[tuple[str, ...]] = []  # noqa: RUF012 - one for the test

    def select(self, *names: str) -> frames.FrameInMemory:
        """Note them."""
        self.asked.append(names)
        return super().select(*names)


@pytest.mark.usefixtures("fresh_store")
def test_rows_are_sent_once_and_again_where_they_were_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later questions name blocks. An executor that knows no names is sent the rows, and answers the same."""
    monkeypatch.setattr(cluster_rows, "LEAST_ROWS", 1)
    monkeypatch.setattr(cluster_rows, "FAN_IN", 2)
    monkeypatch.setattr(CountedFrame, "asked", [])
    data = transactions_of(ROWS)
    batches = frames.clustered(data, 5).blocks.partitions
    engine = engine_over(ClusteredTransactions(CountedFrame(batches), data.alphabet))
    expected = LocalEngine(data).supports(*PAIRS, KeepAll(), draw).values

    def asked() -> list[tuple[str, ...]]:
        CountedFrame.asked.clear()
        assert np.array_equal(engine.supports(*PAIRS, KeepAll(), draw).values, expected)
        return [columns for columns in CountedFrame.asked if columns != ("rows",)]

    rows, names = ("block", "name"), ("name",)
    assert [asked(), asked()] == [[rows], [names]]
    store_of_this_process.cache_clear()
    assert [asked(), asked()] == [[names, rows], [names]]
    for _ in range(9):  # nothing is ever kept: names are given up
        store_of_this_process.cache_clear()
        asked()
    assert asked() == [rows]


@pytest.mark.usefixtures("fresh_store")
def test_what_is_merged_by_executors_is_asked_again_where_a_block_was_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A tree of paths, in a tree of merges."""
    monkeypatch.setattr(cluster_rows, "LEAST_ROWS", 1)
    monkeypatch.setattr(cluster_rows, "FAN_IN", 2)
    data = transactions_of(ROWS)
    engine, order = engine_over(frames.clustered(data, 5)), np.arange(ITEMS, dtype=np.int32)
    counts = []
    for _ in range(2):
        counts.append(engine.prefix_tree(order, KeepAll(), draw, depth=2).counts.tolist())
        store_of_this_process.cache_clear()
    assert counts[0] == counts[1]
