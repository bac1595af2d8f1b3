"""The statistics of the whole: `make soak`, or `python -m benchmarks.fire soak [--releases N]`.

1,000 releases on generated data: 95 % intervals hold in 93 to 99 % of cases, forecasts of the error are within a factor
of 2 of what is measured, and everything that is drawn has its law. A few minutes.
"""

import argparse
import os
from fractions import Fraction

import numpy as np
import polars as pl

import veilset as vs
from benchmarks.fire.page import Row
from benchmarks.forecasts import _row as forecast_row
from veilset.audit.self_test import check_noise
from veilset.evaluate import Study, evaluate, summary
from veilset.plan import Facts
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.local import LocalEngine

LEAST, MOST = 0.93, 0.99
"""Coverage of 95 % intervals over all releases of a method."""
FACTOR = 2.0
"""Forecasts are within a factor of 2, as a geometric mean over cells."""
METHODS, EPSILONS, KS = ("planned", "truncated-em", "privbasis"), (Fraction(1, 2), Fraction(2)), (20, 50)


def generated() -> dict[str, vs.Transactions]:
    """Two datasets that anybody can make: skewed items, and groups of items that go together."""
    rng = np.random.default_rng(26)
    skewed = [sorted(set(row)) for row in (rng.zipf(1.4, (8000, 8)) % 300).tolist()]
    groups = [
        sorted(
            {
                int(item)
                for item in np.flatnonzero(rng.random(60) < np.where(np.arange(60) // 6 == kind, 0.6, 0.05))
            }
        )
        for kind in rng.integers(0, 10, 6000)
    ]
    return {"skewed": vs.read(skewed), "groups": vs.read(groups)}


def forecasts(held: dict[str, vs.Transactions], cells: pl.DataFrame) -> float:
    """Forecast over measured half widths of `planned`, as a geometric mean; the true k-th support is the guess."""
    ratios = []
    for cell in cells.filter(pl.col("method") == "planned").iter_rows(named=True):
        data = held[cell["dataset"]]
        facts = Facts(len(data), len(data.alphabet), data.items.size / len(data))
        guess = min(
            int(LocalEngine(data).top(cell["k"], ItemsetFilter(max_size=None)).supports[-1]), len(data) - 1
        )
        row = forecast_row(cell, facts, guess)
        if row is not None:
            ratios.append(float(str(row["width"])))
    return float(np.exp(np.mean(np.log(ratios))))


def campaign(arguments: list[str]) -> list[Row]:
    """Make the releases and judge them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fire soak")
    parser.add_argument("--releases", type=int, default=1000)
    given = parser.parse_args(arguments)
    held = generated()
    repeats = max(2, given.releases // (len(held) * len(METHODS) * len(EPSILONS) * len(KS)) + 1)
    study = Study.of(methods=METHODS, epsilons=EPSILONS, ks=KS, repeats=repeats, seed=26)
    runs = evaluate(held, study, workers=os.cpu_count() or 1)
    covered = runs.group_by("method", maintain_order=True).agg(pl.col("coverage").mean())
    ratio = forecasts(held, summary(runs))
    noise = check_noise(vs.SecureNoise())
    print(dict(covered.iter_rows()), f"forecast / measured half width {ratio:.2f}")
    command = f"python -m benchmarks.fire soak --releases {given.releases}"
    fine = sum(test.is_fine for test in noise)
    return [
        judged(runs.height, dict(covered.iter_rows()), ratio, command),
        Row("laws of noise and choice", len(noise), fine, "nothing", command),
    ]


def judged(releases: int, coverage: dict[str, float], ratio: float, command: str) -> Row:
    """Whether all intervals and the forecast are as promised; if not, none of the releases counts as held."""
    is_held = all(LEAST <= share <= MOST for share in coverage.values()) and 1 / FACTOR < ratio < FACTOR
    words = ", ".join(f"{method} {share:.3f}" for method, share in coverage.items())
    figures = f"coverage {words}; forecast by measured width {ratio:.2f}"
    return Row(
        "releases as promised: intervals and forecasts",
        releases,
        releases if is_held else 0,
        f"{'nothing' if is_held else 'what is promised'}: {figures}",
        command,
    )
