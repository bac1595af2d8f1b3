"""What memory there is, and what is said where there is too little of it."""

import errno
import re
import resource
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import veilset as vs
from veilset import memory_room
from veilset.cli import limited
from veilset.errors import MemoryTooSmall, VeilsetError

LIMIT = 900 << 20


def limited_process(*arguments: str | Path, megabytes: int) -> subprocess.CompletedProcess[str]:
    """The command under a limit on its addresses."""
    size = megabytes << 20
    return subprocess.run(
        [sys.executable, "-m", "veilset", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
    )


@pytest.mark.parametrize("megabytes", [150, 500])
def test_a_command_without_room_ends_in_one_line_that_says_how_much_it_needs(
    tmp_path: Path, megabytes: int
) -> None:
    """Libraries end with signals and tracebacks there; nothing of that is seen, and nothing is written."""
    table = tmp_path / "baskets.parquet"
    pl.DataFrame({"items": [["a", "b"], ["c"]]}).write_parquet(table)
    out = tmp_path / "release.json"
    call = ("mine", table, "--k", "1", "--epsilon", "1", "--public-items", "--out", out)
    ended = limited_process(*call, megabytes=megabytes)
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.startswith("veilset: ")
    assert "memory" in ended.stderr
    assert not out.exists()


def test_a_release_that_a_limit_leaves_no_room_for_is_refused_before_it_is_paid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The control: the same with room is made."""
    monkeypatch.setattr(memory_room, "memory_limit", lambda: LIMIT)
    monkeypatch.setattr(memory_room, "memory_free", lambda: 100 << 20)
    with pytest.raises(MemoryTooSmall, match=r"limit of 900 MB .*Nothing was spent") as refused:
        vs.mine([["a"]], k=1, epsilon=1, public_items=True)
    assert re.findall(r"\d+", str(refused.value)) == ["900"]  # how much the data takes is told to nobody
    monkeypatch.setattr(memory_room, "memory_free", lambda: 400 << 20)
    assert len(vs.mine([["a"]], k=1, epsilon=1, public_items=True)) == 1


def test_a_parquet_file_of_more_values_than_fit_says_how_much_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what the file says of itself, before any of it is read: 300 values are 1,200 bytes."""
    table = tmp_path / "baskets.parquet"
    pl.DataFrame({"items": [["a", "b", "c"]] * 100, "more": [1] * 100}).write_parquet(table)
    monkeypatch.setattr(memory_room, "memory_free", lambda: 1199)
    with pytest.raises(MemoryTooSmall, match=r"holds 300 values.*--engine spark"):
        vs.read(table, item="items")
    monkeypatch.setattr(memory_room, "memory_free", lambda: 1200)
    assert len(vs.read(table, item="items")) == 100


@pytest.mark.parametrize(
    "raised",
    [
        MemoryError(),
        pa.ArrowMemoryError("malloc of size 64 failed"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
    ids=["Python", "Arrow", "system"],
)
def test_data_that_does_not_fit_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception
) -> None:
    """Whoever runs out of memory; the control is an error that does mean damage."""
    table = tmp_path / "baskets.parquet"
    pl.DataFrame({"items": [["a"]]}).write_parquet(table)

    def fail(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("pyarrow.parquet.ParquetFile", fail)
    with pytest.raises(MemoryTooSmall, match="takes more memory"):
        vs.read(table)
    raised = pa.ArrowInvalid("not a file")
    with pytest.raises(vs.BadInput, match="damaged"):
        vs.read(table)


def test_memory_that_runs_out_is_an_error_of_both_kinds() -> None:
    """Whoever catches MemoryError catches it, and so does whoever catches ours."""
    assert issubclass(MemoryTooSmall, MemoryError)
    assert issubclass(MemoryTooSmall, VeilsetError)


def test_a_container_that_is_nearly_full_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of a container less what it holds, but for files that it would let go of."""
    for name, text in (("max", "1000\n"), ("taken", "900\n"), ("stat", "anon 5\ninactive_file 50\n")):
        (tmp_path / name).write_text(text)
    files = ((str(tmp_path / "max"), str(tmp_path / "taken")), (str(tmp_path / "none"), "none"))
    monkeypatch.setattr(memory_room, "CONTAINER_FILES", files)
    monkeypatch.setattr(memory_room, "CACHE_FILES", (str(tmp_path / "stat"),))
    assert memory_room.memory_free() == 150
    (tmp_path / "max").write_text("max\n")
    assert (memory_room.memory_free() or 0) > 1 << 20


def test_only_a_limited_process_that_nobody_watches_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or watchers would be watched."""
    monkeypatch.setattr(limited, "memory_limit", lambda: LIMIT)
    assert limited.is_limited()
    monkeypatch.setenv(limited.WATCHED, "1")
    assert not limited.is_limited()
    monkeypatch.delenv(limited.WATCHED)
    monkeypatch.setattr(limited, "memory_limit", lambda: None)
    assert not limited.is_limited()
