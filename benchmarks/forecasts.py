"""How far forecasts are from what the study measured: `python -m benchmarks.forecasts`.

Reads the runs of the study and the facts of its datasets; no release is made. Writes a table into docs/plan.md.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import polars as pl

import veilset as vs
from benchmarks.study import ROOT, datasets
from benchmarks.written_tables import beginning, write_table
from veilset.evaluate import summary
from veilset.itemsets import Domain
from veilset.methods import Forecaster
from veilset.plan import Facts, forecasters, largest_asked, world_of
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.local import LocalEngine

STUDY, PAGE = ROOT / "docs" / "benchmarks" / "accuracy.parquet", ROOT / "docs" / "plan.md"
COMMAND = "python -m benchmarks.forecasts"


def compared(held: dict[str, vs.Transactions], results: pl.DataFrame) -> pl.DataFrame:
    """Every cell of the study that has a forecast: what was forecast, with the true k-th support as guess, and real."""
    cells = summary(results).filter(pl.col("k").is_not_null())
    rows = []
    for dataset, k in cells.select("dataset", "k").unique(maintain_order=True).iter_rows():
        data = held[dataset]
        facts = Facts(len(data), len(data.alphabet), data.items.size / len(data))
        found = LocalEngine(data).top(k, ItemsetFilter(max_size=None))
        guess = min(int(found.supports[-1]), len(data) - 1)
        here = cells.filter((pl.col("dataset") == dataset) & (pl.col("k") == k))
        rows += [_row(cell, facts, guess) for cell in here.iter_rows(named=True)]
    return pl.DataFrame([row for row in rows if row is not None])


def _row(cell: dict[str, object], facts: Facts, guess: int) -> dict[str, object] | None:
    """One cell; None where the method has no forecast for it, or claims nothing of what it found by chance."""
    forecaster = forecasters().get(str(cell["method"]))
    if forecaster is None or not cell["half_width_mean"]:
        return None
    k, epsilon = int(str(cell["k"])), Fraction(str(cell["epsilon"]))
    domain = Domain(items=range(facts.items), max_size=min(forecaster.largest_size(None), facts.items))
    if domain.size < k:
        return None
    forecast = _forecast(forecaster, facts, domain, guess=guess, k=k, epsilon=epsilon)
    return {
        **{name: cell[name] for name in ("dataset", "method", "k", "epsilon")},
        "found": forecast[0],
        "real": cell["f_score_mean"],
        "width": forecast[1] / float(str(cell["half_width_mean"])),
        "error": forecast[2] / float(str(cell["mean_error_mean"])),
    }


def _forecast(
    forecaster: Forecaster, facts: Facts, domain: Domain, *, guess: int, k: int, epsilon: Fraction
) -> tuple[float, float, float]:
    """The share that will be found, the relative half width, and the relative error."""
    largest = min(largest_asked(None), facts.items)
    world = world_of(facts, domain, largest=largest, k=k, guess=guess)
    made = forecaster.forecast(world, k, epsilon)
    return made.found, made.relative_half_width, made.relative_error


def by_method(cells: pl.DataFrame) -> Iterator[str]:
    """Each method: how far the found share is off on average, and forecast over real half widths and errors."""
    yield "| method | cells | found, off by | half width: forecast / real | off by | error: forecast / real | off by |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for (method,), part in cells.group_by(["method"], maintain_order=True):
        off = float(np.mean(np.abs((part["found"] - part["real"]).to_numpy())))
        ratios = [_ratios(part[column].to_numpy()) for column in ("width", "error")]
        yield f"| `{method}` | {part.height} | {off:.2f} | " + " | ".join(ratios) + " |"


def _ratios(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    """The geometric mean of ratios, and by what factor a single one is off from 1 on average."""
    logs = np.log(np.maximum(values, 1e-9))
    return f"{math.exp(float(logs.mean())):.2f} | {math.exp(float(np.abs(logs).mean())):.1f} times"


def main() -> None:
    """Compare all cells, and write the table."""
    cells = compared(datasets(is_quick=False), pl.read_parquet(STUDY))
    table = list(by_method(cells))
    write_table(PAGE, beginning("forecasts", COMMAND), table)
    print("\n".join(table))
    with pl.Config(tbl_rows=200):
        of_planned = cells.filter(pl.col("method") == "planned")
        print(
            of_planned.group_by("dataset", "epsilon")
            .agg(pl.col("width", "error").mean())
            .sort("dataset", "epsilon")
        )


if __name__ == "__main__":
    main()
