"""How long smart truncation takes."""

from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import MILLION, Files, apart, best_seconds
from veilset import read
from veilset.raw.cuts.row_keys import RowKeys, SipKeys
from veilset.raw.cuts.smart_cut import KeepSmart
from veilset.raw.cuts.truncation import KeepAll
from veilset.raw.engines.local import LocalEngine

MEASURED = ("retail", "mushroom", "kosarak-70k", MILLION)
LIMITS = (3, 5, 8)

ITEMS = 142
"""The most frequent items that are paired: a little more than 10,000 pairs."""

PAIRS = 10_000


def truncation(files: Files) -> pl.DataFrame:
    """Smart truncation, by 10,000 pairs of the most frequent items, beside counting them.

    All transactions are truncated to a limit, and for the comparison the supports of the same pairs are counted
    without truncation. Both on all cores, random keys included.
    """
    return pl.DataFrame(
        [row for name in MEASURED if name in files for row in apart(_measured, name, files[name])]
    )


def _measured(name: str, path: Path) -> list[dict[str, object]]:
    data = read(path)
    engine = LocalEngine(data)
    item_supports = np.bincount(data.items, minlength=len(data.alphabet))
    most_frequent = np.sort(np.argsort(-item_supports, kind="stable")[:ITEMS])
    pairs = np.array(list(combinations(most_frequent, 2))[:PAIRS], np.int32)
    offsets, scores = np.arange(0, pairs.size + 1, 2), item_supports[pairs].sum(axis=1)

    def draw() -> RowKeys:
        return SipKeys(np.array([3, 7], np.uint64))

    truncations = {limit: KeepSmart(limit, offsets, pairs.ravel(), scores) for limit in LIMITS}
    best = best_seconds(
        {
            "counting": lambda: engine.supports(offsets, pairs.ravel(), KeepAll(), draw),
            **{
                f"truncated to {limit}": partial(engine.lengths, truncation, draw, limit=1)
                for limit, truncation in truncations.items()
            },
        },
        runs=10,
    )
    return [
        {
            "dataset": name,
            "limit": limit,
            "longer transactions": float((data.lengths > limit).mean()),
            "counting (ms)": 1000 * best["counting"],
            "truncating (ms)": 1000 * best[f"truncated to {limit}"],
            "truncating / counting": best[f"truncated to {limit}"] / best["counting"],
        }
        for limit in LIMITS
    ]
