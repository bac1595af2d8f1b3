"""A release: complete, and the same after a round trip through every format."""

import subprocess
import sys
from pathlib import Path

import pytest

from veilset import Release, SeededNoise, mine
from veilset.errors import BadCall, BadInput

BASKETS = [["milk", "bread, sliced"]] * 700 + [["milk", 'the "best" tea']] * 400 + [["käse"]] * 100


@pytest.fixture(scope="module")
def release() -> Release:
    """Named itemsets, with names that are hard to write down."""
    return mine(BASKETS, epsilon=1, k=6, public_items=True, noise=SeededNoise(5))


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_a_release_survives_a_round_trip(release: Release, suffix: str, tmp_path: Path) -> None:
    """Itemsets, intervals, trace, promise: all of it comes back equal."""
    path = tmp_path / f"release.{suffix}"
    release.save(path)
    assert Release.load(path) == release


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
@pytest.mark.parametrize("items", [[3, 2**64 - 1], [-5, 7]], ids=["unsigned", "signed"])
def test_numbered_items_come_back_as_numbers(items: list[int], suffix: str, tmp_path: Path) -> None:
    """Item ids of 64 bits keep their type and value."""
    release = mine([items] * 500, epsilon=1, k=3, public_items=True, noise=SeededNoise(1))
    path = tmp_path / f"release.{suffix}"
    release.save(path)
    assert Release.load(path) == release
    assert {item for found in release.itemsets for item in found.items} == set(items)


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_an_empty_release_survives_a_round_trip(suffix: str, tmp_path: Path) -> None:
    """Nothing found is a result, too."""
    release = mine(BASKETS, epsilon=1, min_support=10**9, public_items=True, noise=SeededNoise(1))
    path = tmp_path / f"release.{suffix}"
    release.save(path)
    assert Release.load(path) == release


def test_a_file_that_is_no_release_is_refused_in_one_line(tmp_path: Path, release: Release) -> None:
    """Wrong suffix, wrong content, missing companion of a CSV."""
    with pytest.raises(BadCall, match=r"name it \.json, \.csv or \.parquet"):
        release.save(tmp_path / "release.xlsx")
    for name, content in [
        ("a.json", "{}"),
        ("b.json", "no"),
        ("c.parquet", "no"),
        ("d.csv", "items,support\n"),
    ]:
        (tmp_path / name).write_text(content)
        with pytest.raises(BadInput, match="is not a release that veilset wrote"):
            Release.load(tmp_path / name)


def test_a_seeded_release_is_not_private_for_life(tmp_path: Path, release: Release) -> None:
    """In Python, in words, and after a round trip; a release with real noise is."""
    release.save(tmp_path / "r.json")
    assert not release.is_private
    assert not Release.load(tmp_path / "r.json").is_private
    assert str(release.promise).startswith("NOT PRIVATE")
    real = mine(BASKETS, epsilon=1, k=2, public_items=True)
    assert real.is_private
    assert "1-differential privacy" in str(real.promise)


def test_frames_have_the_columns_that_are_documented(release: Release) -> None:
    """Polars and pandas show the same."""
    frame = release.to_frame()
    assert frame.columns == ["items", "support", "low", "high", "frequency"]
    assert frame["frequency"].max() <= 1  # type: ignore[operator]
    pandas = release.to_pandas()
    assert pandas["items"].tolist() == [frozenset(found.items) for found in release.itemsets]
    assert pandas["support"].tolist() == frame["support"].to_list()


def test_without_pandas_the_error_tells_what_to_install(tmp_path: Path) -> None:
    """pandas is optional: everything else works, `to_pandas` says what is missing."""
    (tmp_path / "pandas.py").write_text("raise ImportError")
    program = (
        "import veilset as vs\n"
        "release = vs.mine([['a', 'b']] * 99, epsilon=1, k=2, public_items=True)\n"
        "try: release.to_pandas()\n"
        "except vs.BadCall as error: print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "pip install 'veilset[pandas]'" in run.stdout
