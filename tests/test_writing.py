"""Files are there whole or not at all: a failure leaves what was there before, and nothing else."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

import veilset as vs
from veilset import datasets
from veilset.plan import Facts, plan_epsilon
from veilset.render.plan_report import write_plan_report
from veilset.writing import atomically, write_whole

TRADE = plan_epsilon(Facts(rows=1000, items=5, length=2), k=2, max_size=1)
BASKETS = [["milk", "tea"]] * 60 + [["tea"]] * 20


def release() -> vs.Release:
    """A small one, the same each time."""
    return vs.mine(BASKETS, k=2, epsilon=1, public_items=True, noise=vs.SeededNoise(1))


def published() -> vs.Published:
    """A small dataset with named items."""
    return vs.publish(BASKETS, epsilon=5, public_items=True, noise=vs.SeededNoise(1))


def test_a_file_takes_its_place_when_it_is_whole(tmp_path: Path) -> None:
    """Until then the old one is there; its permissions stay, and the name ends as it was asked to."""
    path = tmp_path / "out.dat.gz"
    path.write_text("old")
    path.chmod(0o600)
    with atomically(path) as part:
        part.write_text("new")
        assert (path.read_text(), part.parent, part.name.endswith("out.dat.gz")) == ("old", tmp_path, True)
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    """Nothing half-written stays, whatever failed."""
    path = tmp_path / "out.json"
    write_whole(path, "old\n")
    with pytest.raises(IsADirectoryError), atomically(path) as part:
        part.write_text("half") and tmp_path.write_text("no file")
    assert (path.read_text(), list(tmp_path.iterdir())) == ("old\n", [path])


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """Not the one that stands in for it."""
    with pytest.raises(OSError, match="No such file") as failed:
        write_whole(tmp_path / "no" / "out.json", "text")
    assert failed.value.filename == str(tmp_path / "no" / "out.json")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What it leads to is written."""
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_whole(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_device_is_written_to_as_it_is(tmp_path: Path) -> None:
    """And one that is full says so, by the name that was given."""
    (tmp_path / "full.json").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as failed:
        write_whole(tmp_path / "full.json", "text")
    assert failed.value.filename == str(tmp_path / "full.json")


WRITERS: dict[str, Callable[[Path], object]] = {
    "release.json": lambda path: release().save(path),
    "release.csv": lambda path: release().save(path),
    "release.parquet": lambda path: release().save(path),
    "page.html": lambda path: release().report(path),
    "plan.html": lambda path: write_plan_report(TRADE, path),
    "published.dat": lambda path: published().write(path),
    "published.parquet": lambda path: published().write(path),
    "baskets.csv": lambda path: datasets.write(datasets.groceries(20), path),
    "baskets.parquet": lambda path: datasets.write(datasets.groceries(20), path),
    "baskets.dat": lambda path: datasets.write_with_items(datasets.groceries(20), path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_brings_its_files_to_the_disk_before_they_take_their_place(
    tmp_path: Path, name: str
) -> None:
    """A disk that fails at that moment leaves the old files, byte by byte, and no others."""
    WRITERS[name](tmp_path / name)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with patch("veilset.writing.os.fsync", side_effect=full), pytest.raises(OSError, match="No space left"):
        WRITERS[name](tmp_path / name)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
