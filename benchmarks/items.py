"""How long choosing top-k items takes, and how much of it is the drawing of noise."""

import cProfile
import pstats
from functools import partial
from pathlib import Path

import polars as pl

import veilset as vs
from benchmarks.measure import Files, apart, best_seconds

COLUMNS = 41_270
"""As many items as the whole of kosarak has; those that the rows at hand lack are in the alphabet all the same."""
METHODS = tuple(method.name for method in vs.METHODS.values() if method.task == "items")


def items(files: Files) -> pl.DataFrame:
    """Top-k items of 41,270, from memory to a release of 100 at epsilon = 0.1 and 1.

    The share of noise is the part of a profiled run that OpenDP's samplers take.
    """
    name = "kosarak-70k"
    return pl.DataFrame(apart(_measured, files[name]) if name in files else [])


def release_of(data: vs.Transactions, method: str, epsilon: float) -> vs.Release:
    """The release that is measured."""
    return vs.items(data, method=method, k=100, epsilon=epsilon)


def _measured(path: Path) -> list[dict[str, object]]:
    rows = vs.read(path)
    data = vs.Transactions(rows.offsets, rows.items, vs.Alphabet(range(COLUMNS), is_given=True))
    ways = {
        (method, epsilon): partial(release_of, data, method, epsilon)
        for method in METHODS
        for epsilon in (0.1, 1)
    }
    best = best_seconds({f"{method} {epsilon}": way for (method, epsilon), way in ways.items()}, runs=3)
    return [
        {
            "method": method,
            "epsilon": float(epsilon),
            "seconds": best[f"{method} {epsilon}"],
            "share of noise": _share_of_noise(way),
        }
        for (method, epsilon), way in ways.items()
    ]


def _share_of_noise(way: partial[vs.Release]) -> float:
    """The share of `discrete_laplace`, with all it calls, in a profiled run."""
    profile = cProfile.Profile()
    profile.runcall(way)
    stats = pstats.Stats(profile).get_stats_profile()
    noise = stats.func_profiles.get("discrete_laplace")
    return noise.cumtime / stats.total_tt if noise else 0.0
