"""Generated data of other shapes: the same from the same seed, and a table that says what the runs say."""

from itertools import islice

import numpy as np
import polars as pl
import pytest
from benchmarks.shapes import EPSILONS, SHAPES, cells_of, table


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_made_again_from_its_seed(name: str) -> None:
    """The first rows, of items that are not negative."""

    def first(seed: int) -> list[list[int]]:
        return [row.tolist() for row in islice(SHAPES[name](np.random.default_rng(seed)), 30)]

    assert first(1) == first(1) != first(2)
    assert all(item >= 0 for row in first(1) for item in row)


def test_lengths_are_as_the_shapes_say() -> None:
    """Sessions of very different lengths; baskets and rows of one length."""
    lengths = {
        name: [row.size for row in islice(SHAPES[name](np.random.default_rng(3)), 4000)]
        for name in ("heavy-tailed sessions", "ten items each", "a table")
    }
    assert set(lengths["ten items each"]) == {10}
    assert set(lengths["a table"]) == {15}
    sessions = np.array(lengths["heavy-tailed sessions"])
    assert np.mean(sessions >= 10) == pytest.approx(10**-1.3, rel=0.3)
    assert sessions.max() > 200


def test_the_table_has_a_row_for_each_shape_and_counts_cells() -> None:
    """Two runs of a cell are averaged; a cell out of the band is not counted."""
    measures = {"f_score": 0.5, "bias": 0.01, "mean_error": 0.1, "half_width": 0.3}
    runs = pl.DataFrame(
        [
            {
                "method": "planned",
                "dataset": name,
                "epsilon": float(epsilon),
                "coverage": coverage,
                **measures,
            }
            for name in SHAPES
            for epsilon in EPSILONS
            for coverage in ((0.7, 0.9) if name == "walks" else (0.94, 0.96))
        ]
    )
    first, _, *rows = table(cells_of(runs))
    number = len(SHAPES) * len(EPSILONS)
    assert f"in {number - len(EPSILONS)} of {number} cells" in first
    assert "3.0 times" in first
    assert len(rows) == 2 + len(SHAPES)
    assert "| walks | 0.50, 0.50, 0.50 | 0.80, 0.80, 0.80 | +1 %, +1 %, +1 % | 10 %, 10 %, 10 % |" in rows
