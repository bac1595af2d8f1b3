"""The Markdown page of a study: what releases claim, beside what was hand-computed."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from benchmarks.choosing import methods_table
from benchmarks.claims import claims, claims_section
from benchmarks.study_pages import write_pages
from benchmarks.written_tables import END, beginning, with_table

from veilset.evaluate import SCHEMA


def run_with(**values: object) -> dict[str, Any]:
    """One run, except for what is said."""
    usual = {
        "task": "mine",
        "dataset": "retail",
        "method": "planned",
        "version": "0.1.0",
        "epsilon": 1.0,
        "k": 50,
        "study_seed": 7,
        "f_score": 0.5,
        "relative_error": 0.1,
        "seconds": 1.0,
        "is_complete": True,
        "is_sound": True,
        "by_size": [],
    }
    return {**dict.fromkeys(SCHEMA), **usual, **values}


def results_of(*runs: dict[str, Any]) -> pl.DataFrame:
    """Results as an evaluation returns them."""
    return pl.DataFrame(list(runs), schema=SCHEMA)


TWO_CELLS = results_of(
    run_with(coverage=0.94, bias=0.01, half_width=0.3, mean_error=0.1),
    run_with(coverage=0.96, bias=0.03, half_width=0.3, mean_error=0.1),
    run_with(coverage=0.80, bias=-0.05, half_width=0.1, mean_error=0.1, dataset="chess"),
    run_with(coverage=0.90, bias=-0.07, half_width=0.1, mean_error=0.1, dataset="chess"),
    run_with(coverage=None, epsilon=0.5),
)


def test_claims_are_those_of_a_hand_computed_example() -> None:
    """Two cells of two runs: 0.95 and 0.85, with standard errors of 0.01 and 0.05; who claimed nothing is left out."""
    (row,) = claims(TWO_CELLS).to_dicts()
    expected = {
        "method": "planned",
        "epsilon": 1.0,
        "cells": 2,
        "coverage": 0.9,
        "within": 1,
        "lowest": 0.85,
        "bias": -0.02,
        "absolute_bias": 0.04,
        "half_width_by_error": 2.0,
        "standard_error": (0.01**2 + 0.05**2) ** 0.5 / 2,
    }
    assert row == {name: pytest.approx(value) for name, value in expected.items()}


def test_a_single_run_has_no_standard_error() -> None:
    """Rather than one of 0."""
    assert claims(TWO_CELLS.head(1))["standard_error"].to_list() == [None]
    assert "| 0.940 | 1 of 1 |" in "\n".join(claims_section(TWO_CELLS.head(1)))


def test_the_page_tells_what_releases_claim(tmp_path: Path) -> None:
    """In a section with a row for each method and epsilon; without one where nothing was measured."""
    write_pages(TWO_CELLS, tmp_path, name="study", title="A study", command="make study")
    page = (tmp_path / "study.md").read_text(encoding="utf-8")
    assert "## What releases claim" in page
    assert "| planned | 1 | 0.900 ± 0.025 | 1 of 2 | 0.850 | -0.020 | 0.040 | 2.0 |" in page
    unmeasured = TWO_CELLS.filter(pl.col("coverage").is_null())
    write_pages(unmeasured, tmp_path, name="study", title="A study", command="make study")
    assert "claim" not in (tmp_path / "study.md").read_text(encoding="utf-8")


def test_the_page_on_choosing_gets_a_table_with_coverage() -> None:
    """Between its two comments, as often as it is written; methods without intervals have a dash."""
    results = pl.concat([TWO_CELLS, results_of(run_with(method="em", f_score=0.25))])
    page = f"before\n\n{beginning('items')}\nan old table\n{END}\n\nafter\n"
    written = with_table(page, beginning("items"), methods_table(results))
    assert written.startswith(f"before\n\n{beginning('items')}\n| method | 0.5 | 1 | all | coverage |\n")
    assert "| `planned` | 0.500 | 0.500 | 0.500 | 0.90 (0.90 to 0.90) |" in written
    assert "| `em` | – | 0.250 | 0.250 | – |" in written
    assert written.endswith(f"{END}\n\nafter\n")
    assert "an old table" not in written
    assert with_table(written, beginning("items"), methods_table(results)) == written


def test_a_page_without_a_place_for_the_table_is_refused() -> None:
    """Rather than left as it is; and the page on choosing has a place for both studies."""
    with pytest.raises(ValueError, match="no place for a table"):
        with_table("nothing", beginning("items"), methods_table(TWO_CELLS))
    page = (Path(__file__).parents[1] / "docs" / "choosing.md").read_text(encoding="utf-8")
    for study in ("itemsets", "items"):
        assert "| `planned` | 0.500" in with_table(page, beginning(study), methods_table(TWO_CELLS))
