"""A release: complete, and the same after a round trip through every format."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from curators import curator_over
from veilset import Release, SeededNoise, mine
from veilset.errors import BadCall, BadInput
from veilset.gate import DiscreteLaplace, ItemNaming, NoisyCount
from veilset.itemsets import Itemsets
from veilset.results.estimates import Estimates

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
    with pytest.raises(BadCall, match=r"name it \.json, \.csv, \.parquet or \.xlsx"):
        release.save(tmp_path / "release.doc")
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


@pytest.fixture(scope="module", params=["gaussian", "laplace"])
def with_delta(request: pytest.FixtureRequest) -> Release:
    """Items that were found privately, by either law: long transactions or short ones."""
    fillers = [f"everyday item {n}" for n in range(12 if request.param == "gaussian" else 0)]
    data = [[*names, *fillers] for names in BASKETS]
    release = mine(data, epsilon=2, k=6, delta="1/3000000000", noise=SeededNoise(5))
    (named,) = (charge.mechanism for charge in release.trace if isinstance(charge.mechanism, ItemNaming))
    assert (named.law, named.delta) == (request.param, Fraction(1, 6 * 10**9))
    return release


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_a_release_with_delta_survives_a_round_trip(with_delta: Release, suffix: str, tmp_path: Path) -> None:
    """Delta is a fraction before and after, and so is the noise on what was named."""
    path = tmp_path / f"release.{suffix}"
    with_delta.save(path)
    loaded = Release.load(path)
    assert loaded == with_delta
    assert loaded.delta == Fraction(1, 3 * 10**9)
    assert loaded.trace == with_delta.trace


def test_delta_stands_in_the_document(with_delta: Release) -> None:
    """As a number for the eye, as a fraction in the promise and in the trace."""
    document = json.loads(with_delta.to_json())
    assert document["delta"] == float(Fraction(1, 3 * 10**9))
    assert document["promise"]["delta"] == "1/3000000000"
    paid = [Fraction(row["delta"]) for row in document["trace"] if "delta" in row]
    assert paid[0] == Fraction(1, 6 * 10**9)
    assert sum(paid) <= Fraction(1, 3 * 10**9)
    assert (document["is_conditional"], document["promise"]["items"]) == (False, "found privately")


def test_a_release_of_version_0_1_is_read(release: Release, tmp_path: Path) -> None:
    """Without delta, without a word about where the items came from."""
    document = json.loads(release.to_json())
    for newer in ("delta", "is_conditional"):
        del document[newer]
    for newer in ("delta", "items", "is_conditional"):
        del document["promise"][newer]
    document["version"] = "0.1.0"
    path = tmp_path / "old.json"
    path.write_text(json.dumps(document))
    loaded = Release.load(path)
    assert loaded.delta == 0
    assert (loaded.version, loaded.itemsets) == ("0.1.0", release.itemsets)
    assert loaded.promise == release.promise


def test_a_release_tells_whether_its_promise_is_conditional(release: Release) -> None:
    """In a field of its own: here the items were declared public."""
    assert json.loads(release.to_json())["is_conditional"] is True


def test_no_support_or_interval_goes_beyond_the_most_transactions_there_may_be() -> None:
    """100 transactions, give or take 30: of estimates that reach beyond 130, the rest is cut off."""
    curator = curator_over([])
    number = NoisyCount(100, DiscreteLaplace(1, Fraction(1, 10)))
    estimates = Estimates.within(Itemsets.of([(0,), (1,), (2,)]), np.array([90, 120, 500]), 60)
    made = Release.of(curator, estimates, method="by hand", number=number)
    assert made.transactions.high == 130
    told = [(found.low, found.support, found.high) for found in made.itemsets]
    assert told == [(130, 130, 130), (60, 120, 130), (30, 90, 130)]
    assert made.transactions.value == 130
