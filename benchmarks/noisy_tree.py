"""How long the noisy FP-tree takes."""

from fractions import Fraction
from pathlib import Path

import polars as pl

from benchmarks.measure import MILLION, Files, apart, best_seconds
from benchmarks.peers import baskets_of, mine_by_pyfim
from veilset import read
from veilset.api import mine
from veilset.exact import mine_exact
from veilset.gate import SecureNoise
from veilset.methods.dpfim.sample import Shape
from veilset.methods.dpfim.tree_questions import ask_tree
from veilset.opening import open_curator
from veilset.raw.transactions import Transactions

MEASURED = ("retail", "mushroom", MILLION)
K = 100


def noisy_tree(files: Files) -> pl.DataFrame:
    """DP-FIM: truncating, growing and mining the noisy FP-tree, beside FP-growth of pyfim on the same rows.

    The tree holds the items of the 100 best itemsets, at epsilon 1, up to 6 deep; the whole release by `dpfim` with its
    sample stands beside it. pyfim mines the 100 best itemsets exactly, from lists in memory, in the same run.
    """
    return pl.DataFrame([apart(_measured, name, files[name]) for name in MEASURED if name in files])


def _measured(name: str, path: Path) -> dict[str, object]:
    data, baskets = read(path), baskets_of(path)
    exact = mine_exact(data, k=K)
    codes = {code for itemset in exact.itemsets for code in map(data.alphabet.code, itemset)}
    shape = Shape(tuple(sorted(codes)), min(6, len(codes)), ())
    min_count = exact.supports[-1]
    best = best_seconds(
        {
            "tree": lambda: _grow_and_mine(data, shape),
            "release": lambda: mine(data, k=K, epsilon=1, method="dpfim", public_items=True),
            "pyfim": lambda: mine_by_pyfim(baskets, min_count, "fpgrowth"),
        },
        runs=3,
    )
    return {
        "dataset": name,
        "items": len(codes),
        "noisy tree (s)": best["tree"],
        "whole release (s)": best["release"],
        "pyfim fpgrowth (s)": best["pyfim"],
        "tree / pyfim": best["tree"] / best["pyfim"],
        "release / pyfim": best["release"] / best["pyfim"],
    }


def _grow_and_mine(data: Transactions, shape: Shape) -> None:
    curator = open_curator(data, epsilon=1, noise=SecureNoise(), public_items=True)
    tree, _ = ask_tree(curator, shape, epsilon=Fraction(1))
    tree.consistent(len(data)).top(K, max_size=16)
