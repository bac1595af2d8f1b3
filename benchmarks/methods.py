"""How long every method takes, from data to a release."""

from functools import partial
from pathlib import Path

import polars as pl

import veilset as vs
from benchmarks.measure import MILLION, Files, apart, best_seconds
from benchmarks.peers import split_by_polars

MEASURED = ("retail", "mushroom", "kosarak-70k", "MSNBC", MILLION)
METHODS = tuple(
    method.name for method in vs.METHODS.values() if method.task == "mine" and method.name != "strawman"
)
"""The strawman refuses alphabets of more than a few hundred items."""


def methods(files: Files) -> pl.DataFrame:
    """Every method, from data to a release of 100 itemsets at epsilon = 1.

    From memory, as a multiple of the time in which veilset mines the exact top 100, which is not private; and
    from the file, as a multiple of the time in which Polars reads it and splits its lines into lists.
    """
    return pl.DataFrame(
        [row for name in MEASURED if name in files for row in apart(_measured, name, files[name])]
    )


def release_of(data: vs.Transactions | Path, method: str) -> vs.Release:
    """The release that is measured."""
    return vs.mine(data, method=method, k=100, epsilon=1, public_items=True)


def _measured(name: str, path: Path) -> list[dict[str, object]]:
    transactions = vs.read(path)
    best = best_seconds(
        {
            "Polars": lambda: split_by_polars(path),
            "exact": lambda: vs.mine_exact(transactions, k=100),
            **{f"{method} from memory": partial(release_of, transactions, method) for method in METHODS},
            **{f"{method} from file": partial(release_of, path, method) for method in METHODS},
        },
        runs=3,
    )
    return [
        {
            "dataset": name,
            "method": method,
            "exact (s)": best["exact"],
            "from memory (s)": best[f"{method} from memory"],
            "from memory / exact": best[f"{method} from memory"] / best["exact"],
            "Polars reads (s)": best["Polars"],
            "from file (s)": best[f"{method} from file"],
            "from file / Polars": best[f"{method} from file"] / best["Polars"],
        }
        for method in METHODS
    ]
