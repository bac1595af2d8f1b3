"""The sentences that the study writes about the default method."""

import polars as pl
from benchmarks.default_method import against_best, cells_of, comparison, figures, item_figures

ROWS = [
    {"method": method, "dataset": dataset, "k": 50, "epsilon": epsilon, **dict.fromkeys(("bias",), 0.01)}
    | {"f_score": score, "relative_error": error, "mean_error": 0.1, "half_width": 0.25, "coverage": coverage}
    for method, dataset, epsilon, score, error, coverage in (
        ("planned", "chess", 0.1, 0.8, 0.2, 0.90),
        ("planned", "chess", 0.1, 0.9, 0.2, 0.98),
        ("planned", "retail", 1.0, 0.5, 0.1, 0.84),
        ("f1m", "chess", 0.1, 0.6, 0.1, 0.95),
        ("f1m", "retail", 1.0, 0.4, 0.3, 0.95),
        ("difffim", "chess", 0.1, 0.1, 0.5, 0.95),
        ("difffim", "retail", 1.0, 0.58, 0.05, 0.95),
    )
]
RESULTS = pl.DataFrame(ROWS)


def test_each_cell_is_compared_with_who_finds_most_there() -> None:
    """Not with who finds most on average; runs of a cell are averaged first."""
    own = against_best(cells_of(RESULTS)).sort("dataset")
    assert own["method_of_best"].to_list() == ["f1m", "difffim"]
    assert own["behind"].round(6).to_list() == [-0.25, 0.08]


def test_figures_say_how_often_intervals_hold() -> None:
    """How many cells are within the right coverages, and how many fail."""
    text = "\n".join(figures(RESULTS))
    assert "| `planned` | 0.850 | 0.500 | 0.675 |" in text
    assert "no more than 0.02 behind the best of all other methods in 1 of 2 cells" in text
    assert "half widths are 2.5 times the mean error. Of all released itemsets, 94 and 84 % have" in text
    assert "93 to 98 % in 50 % of 2 cells, and below 85 % in 1. It is lowest on retail" in text
    assert "(k = 50, epsilon 1: 84.0 %)" in text
    assert "no worse in 0 of 2 cells" in text


def test_comparison_lists_where_it_is_most_behind() -> None:
    """With the method that is ahead; dense data has a table of its own."""
    lines = list(comparison(RESULTS))
    assert "| retail | 50 | 1 | 0.500 | 0.580 | `difffim` |" in lines
    assert "| chess | 0.850 | 0.600 | +0.25 | +0.25 |" in lines
    dense, sparse = "\n".join(lines).split("**Sparse data**")
    assert "| `planned` | 0.85 |" in dense
    assert "| `planned` | 0.50 |" in sparse


def test_items_are_shown_dataset_by_dataset() -> None:
    """At k = 100 and three epsilons; what is said of all cells is of all of them."""
    shown = [{**row, "k": 100, "epsilon": epsilon} for row in ROWS for epsilon in (0.05, 0.25, 1.0)]
    text = "\n".join(item_figures(pl.DataFrame([*shown, *ROWS])))
    assert (
        "| retail | 0.50 | 0.58 | 0.50 | 0.58 | 0.50 | 0.58 | 0.10, 0.10, 0.10 | 0.84, 0.84, 0.84 |" in text
    )
    assert "| mean | 0.68 | 0.59 |" in text
    assert "Over all 8 cells it is ahead of the best of the others, or no more than 0.01 behind, in 4" in text
    assert "0.08 behind where it is most so; intervals hold in 93 to 98 % of cases in 4 cells" in text
