"""`veilset.evaluate(...)`: how accurate methods are on public data, in one call."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from veilset.arguments import a_path, instance, truth
from veilset.errors import BadCall
from veilset.evaluate import Progress, Study, evaluate, summary
from veilset.gate import Delta, Epsilon
from veilset.integers import whole
from veilset.opening import as_transactions
from veilset.raw.transactions import Transactions
from veilset.request import PerOwner, Support
from veilset.wording import shown


def study_methods(  # noqa: PLR0913 - all keyword-only, each documented
    data: Transactions | Any,  # noqa: ANN401 - whatever `read` takes
    *,
    methods: str | Sequence[str],
    epsilon: Epsilon | Sequence[Epsilon],
    k: int | Sequence[int] | None = None,
    min_support: Support | Sequence[Support] | None = None,
    max_size: int | None = None,
    task: str = "mine",
    repeats: int = 10,
    seed: int = 7,
    per_owner: PerOwner | Sequence[PerOwner] | None = None,
    delta: Delta | None = None,
    workers: int | None = 1,
    results: str | Path | None = None,
    progress: Progress | None = None,
    name: str = "data",
    runs: bool = False,
) -> pl.DataFrame:
    """How accurate methods are on PUBLIC data, against the exact answer. NOT private.

    Every combination of a method, an epsilon and a target is run `repeats` times with seeds of its own, and scored.

    Args:
        data: what `veilset.read` returned, or anything that it reads; it is looked at, so public data only.
        methods: a name from `veilset.METHODS`, or several.
        epsilon: a privacy budget, or several.
        k: a number of itemsets, or several.
        min_support: a threshold, or several, beside the numbers of itemsets.
        max_size: the most items in an itemset.
        task: "mine", "items" or "publish".
        repeats: how often each combination is run.
        seed: the same seed gives the same figures.
        per_owner: how many transactions of one person count, or several numbers, or "auto".
        delta: lets every run find the items privately.
        workers: how many processes share the work; None for one on each core. The figures do not depend on it.
        results: a Parquet file to append the runs to; those that it holds are not run again.
        progress: is told how many runs are done, and how many there are.
        name: what the data is called in the results.
        runs: whether to return every run; by default one row for each combination.

    >>> found = study_methods(
    ...     [["bread", "milk"]] * 900 + [["beer"]] * 50, methods="planned", epsilon=[0.1, 1], k=3, repeats=2
    ... )
    >>> found["epsilon"].to_list(), found["f_score_mean"].to_list()
    ([0.1, 1.0], [1.0, 1.0])
    """
    study = Study.of(
        methods=_several(methods, "methods"),
        epsilons=_several(epsilon, "epsilon"),
        ks=_several(k, "k"),
        min_supports=_several(min_support, "min_support"),
        max_size=max_size,
        task=task,
        repeats=repeats,
        seed=seed,
        per_owner=per_owner,
        delta=delta,
    )
    if progress is not None and not callable(progress):
        raise BadCall(f"progress is {shown(progress)}; give a function, or leave it out")
    called = instance(name, str, "name", give="text")
    returns_runs = truth(runs, "runs")
    found = evaluate(
        {called: as_transactions(data)},
        study,
        workers=(os.cpu_count() or 1) if workers is None else whole(workers, "workers", least=1),
        results=None if results is None else Path(a_path(results, "results")),
        progress=progress,
    )
    return found if returns_runs else summary(found)


def _several(given: Any, name: str) -> Sequence[Any]:  # noqa: ANN401 - one or several of a kind
    """What was given as a list: one thing is a list of one."""
    if given is None:
        return ()
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return given
    if isinstance(given, dict | set | frozenset):
        raise BadCall(f"{name} is {shown(given)}; give one, or a list of several")
    return [given]
