"""How long splitting takes."""

from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import MILLION, Files, apart, best_seconds
from benchmarks.truncation import ITEMS, LIMITS, MEASURED, PAIRS
from veilset import read
from veilset.itemsets import Itemsets
from veilset.methods.splitsample import DELTA, GAMMA
from veilset.methods.splitsample.count_estimation import candidate_ranges, known_ranges
from veilset.raw.cuts.row_keys import RowKeys
from veilset.raw.cuts.split import Split
from veilset.raw.cuts.truncation import KeepAll
from veilset.raw.engines.local import LocalEngine

K = 100
"""Itemsets of each size to keep, as for the top 100."""


def splitting(files: Files) -> pl.DataFrame:
    """SplitSample's split, by itemsets of the most frequent items, beside counting 10,000 pairs of them.

    All transactions are split into pieces of a limit, by items, pairs and larger itemsets as count estimation
    makes them for the top 100, and an engine is made over the pieces. Both on all cores.
    """
    names = [name for name in dict.fromkeys((*MEASURED, MILLION)) if name in files]
    return pl.DataFrame([row for name in names for row in apart(_measured, name, files[name])])


def _measured(name: str, path: Path) -> list[dict[str, object]]:
    data = read(path)
    engine = LocalEngine(data)
    item_supports = np.bincount(data.items, minlength=len(data.alphabet))
    most_frequent = np.sort(np.argsort(-item_supports, kind="stable")[:ITEMS])
    pairs = Itemsets.of(list(combinations(most_frequent.tolist(), 2))[:PAIRS])

    def count() -> list[int]:
        supports = engine.supports(pairs.offsets, pairs.items, KeepAll(), _no_keys).values
        return [int(each) for each in supports]

    found = candidate_ranges(
        known_ranges(((item,), int(item_supports[item])) for item in most_frequent.tolist()),
        known_ranges(zip(pairs, count(), strict=True)),
        max_size=DELTA,
        min_count=1,
        most=K,
    )
    listed, weights = Itemsets.of(found), np.array([each.weight(GAMMA) for each in found.values()])
    splits = {limit: Split(limit, listed.offsets, listed.items, weights) for limit in LIMITS}
    best = best_seconds(
        {
            "counting": lambda: engine.supports(pairs.offsets, pairs.items, KeepAll(), _no_keys),
            **{f"to {limit}": partial(engine.reshaped, split, _no_keys) for limit, split in splits.items()},
        },
        runs=10,
    )
    held = np.add.reduceat(np.isin(data.items, most_frequent), data.offsets[:-1]) * (data.lengths > 0)
    return [
        {
            "dataset": name,
            "limit": limit,
            "longer transactions": float((held > limit).mean()),
            "counting (ms)": 1000 * best["counting"],
            "splitting (ms)": 1000 * best[f"to {limit}"],
            "splitting / counting": best[f"to {limit}"] / best["counting"],
        }
        for limit in LIMITS
    ]


def _no_keys() -> RowKeys:
    """A split leaves nothing to chance."""
    raise AssertionError
