"""Blocks that are worked on at once, in order."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from veilset.arrays import Int32Array
from veilset.raw import threads
from veilset.raw.read import cores, read
from veilset.raw.read.cores import on_all_cores, on_parts
from veilset.raw.read.files import SHORT_FILE


@pytest.mark.parametrize("cores", [1, 2, 5])
@pytest.mark.parametrize("number", [0, 1, 2, 40])
def test_what_comes_of_blocks_keeps_their_order(
    cores: int, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first blocks take the longest, and still come first."""
    monkeypatch.setattr(os, "cpu_count", lambda: cores)

    def work(block: int) -> int:
        time.sleep(0.002 if block < 3 else 0)
        return -block

    assert list(on_all_cores(work, range(number))) == [-block for block in range(number)]


def test_one_block_needs_no_thread() -> None:
    """It is worked on by whoever asks; a control: several are not."""
    assert set(on_all_cores(lambda _: threading.get_ident(), [1])) == {threading.get_ident()}
    assert threading.get_ident() not in set(on_all_cores(lambda _: threading.get_ident(), range(9)))


def test_a_short_file_of_numbers_needs_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it has two blocks where its last line lacks a newline; the control: a longer one starts threads."""
    path = tmp_path / "rows.dat"
    path.write_text(("1 2 3\n" * (SHORT_FILE // 6 - 1)).rstrip())
    monkeypatch.setattr(threads, "ThreadPoolExecutor", None)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert len(read(path).offsets) == SHORT_FILE // 6
    path.write_text("1 2 3\n" * (SHORT_FILE // 6 + 1))
    with pytest.raises(TypeError):
        read(path)


def test_the_first_bad_block_is_the_one_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a later one fails sooner; and blocks far behind it are not taken."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    taken = []

    def blocks() -> Iterator[int]:
        for block in range(1000):
            taken.append(block)
            yield block

    def work(block: int) -> int:
        if block == 3:
            time.sleep(0.02)
        if block >= 3:
            raise ValueError(block)
        return block

    with pytest.raises(ValueError, match=r"^3$"):
        list(on_all_cores(work, blocks()))
    assert len(taken) < 20


def test_a_bad_block_comes_before_blocks_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that breaks off is told about after the bad line in front of that; a control without such a line."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)

    def blocks() -> Iterator[int]:
        yield from (1, 2, 3)
        raise ValueError(4)

    def refuse(block: int) -> int:
        raise ValueError(block)

    with pytest.raises(ValueError, match=r"^1$"):
        list(on_all_cores(refuse, blocks()))
    with pytest.raises(ValueError, match=r"^4$"):
        list(on_all_cores(abs, blocks()))


def test_whoever_has_seen_enough_may_stop() -> None:
    """Blocks that are at work are waited for, and nothing is raised."""
    found = on_all_cores(abs, range(50))
    assert next(found) == 0
    found.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [0, 1, 3, 10])
def test_parts_of_an_array_are_all_of_it(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value once, whatever the parts."""
    monkeypatch.setattr(cores, "TOKENS_IN_A_PART", 3)
    tokens = np.arange(size, dtype=np.int32)

    def add_one(part: Int32Array) -> None:
        part += 1

    on_parts(add_one, tokens)
    assert tokens.tolist() == list(range(1, size + 1))
