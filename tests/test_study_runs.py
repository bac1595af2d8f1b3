"""The study runs more of the cells whose coverage is in doubt."""

from pathlib import Path

import polars as pl
import pytest
from benchmarks import study
from benchmarks.study import MOST_RUNS, MOST_RUNS_OF_ITEMS, cells_in_doubt, measured_closely

import veilset as vs
from veilset.evaluate import Study

STEADY, IN_DOUBT = [0.94, 0.96, 0.95, 0.95], [1.0, 1.0, 0.2, 1.0]
"""Coverages of four runs: standard errors of 0.004 and of 0.2."""


def runs_of(data: dict[str, vs.Transactions], asked: Study, _: Path) -> pl.DataFrame:
    """As many rows as a study has runs; intervals of `privbasis` at epsilon 1 hold or fail together."""
    rows = [
        {
            "dataset": name,
            "method": method,
            "k": request.k,
            "epsilon": float(epsilon),
            "seed": repeat,
            "coverage": (IN_DOUBT if method == "privbasis" and epsilon == 1 else STEADY)[repeat % 4],
        }
        for name in data
        for method in asked.methods
        for request in asked.targets
        for epsilon in asked.epsilons
        for repeat in range(asked.repeats)
    ]
    return pl.DataFrame(rows)


def test_cells_are_in_doubt_where_runs_differ_much() -> None:
    """One cell of two."""
    cells = {"dataset": "d", "method": "planned", "k": 50}
    rows = [{**cells, "epsilon": 0.1, "coverage": each} for each in STEADY]
    rows += [{**cells, "epsilon": 1.0, "coverage": each} for each in IN_DOUBT]
    assert cells_in_doubt(pl.DataFrame(rows))["epsilon"].to_list() == [1.0]


def test_cells_are_in_doubt_where_they_may_fail() -> None:
    """The mean is far below the right coverages, and as likely above as below where nobody should rely on them."""
    cells = {"dataset": "d", "method": "planned", "k": 50}
    rows = [{**cells, "epsilon": 0.1, "coverage": each} for each in (0.84, 0.86, 0.85, 0.84)]
    rows += [{**cells, "epsilon": 1.0, "coverage": each} for each in (0.89, 0.90, 0.90, 0.89)]
    assert cells_in_doubt(pl.DataFrame(rows))["epsilon"].to_list() == [0.1]


def test_slow_methods_have_no_more_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is in doubt."""
    monkeypatch.setattr(study, "runs", runs_of)
    monkeypatch.setattr(study, "SLOW", ("privbasis",))
    asked = Study.of(methods=["privbasis"], ks=[5], epsilons=["1"], repeats=4)
    assert len(measured_closely({"d": vs.generate(100)}, asked, Path("unused"))) == 4


def test_items_in_doubt_have_fewer_runs_than_itemsets(monkeypatch: pytest.MonkeyPatch) -> None:
    """But more than at first."""

    def in_doubt(data: dict[str, vs.Transactions], asked: Study, file: Path) -> pl.DataFrame:
        coverages = IN_DOUBT * (asked.repeats // 4)
        return runs_of(data, asked, file).with_columns(coverage=pl.Series(coverages))

    monkeypatch.setattr(study, "runs", in_doubt)
    asked = Study.of(task="items", methods=["tps-pfm"], ks=[5], epsilons=["1"], repeats=4)
    results = measured_closely({"d": vs.generate(100)}, asked, Path("unused"))
    assert len(results) == MOST_RUNS_OF_ITEMS < MOST_RUNS


def test_cells_in_doubt_have_more_runs_and_no_run_counts_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """All other cells have the runs of the study."""
    monkeypatch.setattr(study, "runs", runs_of)
    asked = Study.of(methods=["f1m", "privbasis"], ks=[5], epsilons=["0.1", "1"], repeats=4)
    results = measured_closely({"d": vs.generate(100)}, asked, Path("unused"))
    numbers = {key: len(rows) for key, rows in results.group_by("method", "epsilon")}
    assert numbers == {
        ("f1m", 0.1): 4,
        ("f1m", 1.0): 4,
        ("privbasis", 0.1): 4,
        ("privbasis", 1.0): MOST_RUNS,
    }
