"""How good the methods are on data that may be looked at: many seeded runs, scored against the exact answer.

For public data only. Every run has a seed of its own, derived from what it is (dataset, method, epsilon,
target, repeat), so that figures do not depend on the number of workers, their order, or what else is run.
Data is parsed once and shared by memory mapping; the exact answer is computed once for each target.

The package can be called: `veilset.evaluate(data, methods=..., epsilon=..., k=...)` is
`veilset.evaluate.verb.study_methods`.
"""

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl

from veilset._version import __version__
from veilset.api import run_method
from veilset.arguments import exact_number, instance
from veilset.callable_packages import make_callable
from veilset.errors import BadCall
from veilset.evaluate.metrics import Claims, Score, Truth, score
from veilset.evaluate.published import Queries, Reference, score_published, supports_by_itemset, supports_in
from veilset.evaluate.results import (
    CELL,
    CHOSEN_PRIVATELY,
    LATER_COLUMNS,
    METRICS,
    SCHEMA,
    ResultRow,
    documents,
    frame_of_rows,
    read_results,
    summary,
    with_later_columns,
    write_results,
)
from veilset.evaluate.shared_memory import fingerprint_of, map_transactions, peak_growth, share_transactions
from veilset.gate import Delta, Epsilon, SeededNoise, exact_delta, exact_epsilon
from veilset.integers import whole
from veilset.itemsets import Itemsets
from veilset.methods import find_method
from veilset.opening import Access, ItemChoice, unit_of
from veilset.raw.counts import ExactItemsets
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Transactions
from veilset.request import AUTO, PerOwner, PublishRequest, Request, Support, checked_per_owner
from veilset.results.estimates import count_of
from veilset.results.published import Published
from veilset.results.release import Release
from veilset.wording import counted, shown

__all__ = [
    "CELL",
    "METRICS",
    "SCHEMA",
    "Progress",
    "SeededRun",
    "Study",
    "documents",
    "evaluate",
    "summary",
    "with_later_columns",
]

make_callable(__name__, home="veilset.evaluate.verb", verb="study_methods")

TASKS = ("mine", "items", "publish")

Progress = Callable[[int, int], None]
"""Is told how many runs are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Study:
    """What is run: every method at every epsilon for every target, `repeats` times."""

    methods: tuple[str, ...]
    epsilons: tuple[Fraction, ...]
    targets: tuple[Request, ...]
    task: str
    repeats: int
    seed: int
    per_owner: tuple[PerOwner | None, ...] = (None,)
    delta: Fraction | None = None

    @classmethod
    def of(  # noqa: PLR0913 - all keyword-only
        cls,
        *,
        methods: Sequence[str],
        epsilons: Sequence[Epsilon],
        ks: Sequence[int] = (),
        min_supports: Sequence[Support] = (),
        max_size: int | None = None,
        task: str = "mine",
        repeats: int = 10,
        seed: int = 7,
        per_owner: PerOwner | Sequence[PerOwner] | None = None,
        delta: Delta | None = None,
    ) -> "Study":
        """Check what a caller handed in; thresholds are studied beside the numbers of itemsets.

        `per_owner` transactions of one person count in a run, where the data has owners; several numbers, or "auto",
        are studied beside each other. What is dropped counts as an error: the exact answer is that of all transactions.
        Items are public, unless `delta` is given: then each run finds them privately.
        """
        if not isinstance(task, str) or task not in TASKS:  # type: ignore[redundant-expr]
            raise BadCall(f"there is no task {shown(task)}; give one of {', '.join(TASKS)}")
        repeats = whole(repeats, "repeats", least=1, most=_MOST_REPEATS)
        seed = whole(
            seed, "the seed of a study", least=0, most=2**63 - 1
        )  # results hold it as a 64-bit number
        for name, given in (
            ("methods", methods),
            ("epsilons", epsilons),
            ("ks", ks),
            ("min_supports", min_supports),
        ):
            instance(given, Sequence, name, give="a list")  # type: ignore[type-abstract]
        if task == "publish" and min_supports:
            raise BadCall("a published dataset is measured by its top k; give k, no minimum support")
        size = 1 if task == "items" else max_size
        targets = [Request.of(k=k, max_size=size) for k in ks]
        targets += [Request.of(min_support=support, max_size=size) for support in min_supports]
        if not (methods and epsilons and targets):
            raise BadCall("give at least one method, one epsilon, and one k or minimum support")
        names = tuple(find_method(method, task=task).name for method in methods)
        return cls(
            names,
            tuple(exact_epsilon(exact_number(each, "epsilon", such_as="0.5")) for each in epsilons),
            tuple(targets),
            task,
            repeats,
            seed,
            _limits(per_owner),
            None if delta is None else exact_delta(exact_number(delta, "delta", such_as="1e-9")),
        )


@dataclass(frozen=True, slots=True)
class SeededRun:
    """One seeded run of one method; what it is decides its seed."""

    task: str
    dataset: str
    fingerprint: str
    method: str
    version: str
    epsilon: float
    k: int | None
    min_support: str | None
    max_size: int | None
    repeat: int
    study_seed: int
    per_owner: int | None = None
    """0 where it is chosen privately: see `veilset.evaluate.results.CHOSEN_PRIVATELY`."""
    delta: float | None = None

    @property
    def seed(self) -> int:
        """A seed of 63 bits, the same for every version; what came later counts only where it is given."""
        told = asdict(self)
        later = [f"{name}={told.pop(name)}" for name in LATER_COLUMNS if told[name] is not None]
        parts = [str(value) for name, value in told.items() if name not in {"version", *LATER_COLUMNS}]
        text = "|".join([*parts, *later])
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1

    @property
    def limit(self) -> PerOwner | None:
        """How many transactions of one person count."""
        return AUTO if self.per_owner == CHOSEN_PRIVATELY else self.per_owner

    @property
    def request(self) -> Request:
        """What is asked for."""
        return Request.of(k=self.k, min_support=self.min_support, max_size=self.max_size)


_SECONDS_BETWEEN_WRITES = 2.0
"""2 seconds of work are lost at most where a study is killed; what was done before is in the file."""

_MOST_REPEATS = 1_000_000
"""A million runs of each combination: more than anybody waits for."""


def evaluate(
    datasets: Mapping[str, Transactions],
    study: Study,
    *,
    workers: int = 1,
    results: Path | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Run a study on datasets, which are looked at: public data only.

    `results` is a Parquet file to append to; what it holds already is not run again, so that a long study can be
    stopped, or killed, and taken up by the same call. `workers` processes share the work and do not change the
    figures. Returns one row for each run of the study, with the columns of `SCHEMA`.
    """
    with tempfile.TemporaryDirectory() as folder:
        jobs = [job for name, held in datasets.items() for job in _jobs(name, held, study, Path(folder))]
        done = {_key(row): row for row in read_results(results)}
        missing = [job for job in jobs if _key(asdict(job.run)) not in done]
        with _kept(done, results) as keep:
            for number, row in enumerate(_rows(missing, workers), start=1):
                done[_key(row)] = row
                keep()
                if progress is not None:
                    progress(len(jobs) - len(missing) + number, len(jobs))
    return frame_of_rows(done[_key(asdict(job.run))] for job in jobs)


@contextmanager
def _kept(done: Mapping[tuple[object, ...], ResultRow], results: Path | None) -> Iterator[Callable[[], None]]:
    """Hands out what brings the runs that are done to the disk, now and then, and at the end, however it comes."""
    held, last = len(done), time.monotonic()

    def keep() -> None:
        nonlocal held, last
        if results is not None and time.monotonic() - last >= _SECONDS_BETWEEN_WRITES:
            write_results(done.values(), results)
            held, last = len(done), time.monotonic()

    try:
        yield keep
    finally:
        if results is not None and len(done) > held:
            write_results(done.values(), results)


@dataclass(frozen=True, slots=True)
class Job:
    """A run, where its data lies, the exact answer, and what else a published dataset is measured by."""

    run: SeededRun
    data: Path
    truth: Truth
    reference: Reference


def _jobs(name: str, held: Transactions, study: Study, folder: Path) -> Iterator[Job]:
    """All runs of a study on one dataset, which is put where workers find it."""
    if len(held) == 0:
        raise BadCall(f"{name} holds no transaction; there is nothing to measure on it")
    for limit in study.per_owner:
        unit_of(held, limit)
    path = folder / f"{len(list(folder.iterdir()))}.arrow"
    share_transactions(held, path)
    fingerprint = fingerprint_of(held)
    queries = Queries.on(held, seed=study.seed) if study.task == "publish" else Queries()
    for request in study.targets:
        found, threshold = _exact_answer(name, held, request)
        truth = Truth.of(found.supports, np.diff(found.offsets), threshold=threshold)
        reference = Reference(supports_by_itemset(found), queries, len(held.alphabet))
        cells = product(study.methods, study.per_owner, study.epsilons, range(study.repeats))
        for method, limit, epsilon, repeat in cells:
            run = SeededRun(
                task=study.task,
                dataset=name,
                fingerprint=fingerprint,
                method=method,
                version=__version__,
                epsilon=float(epsilon),
                k=request.k,
                min_support=None if request.min_support is None else str(request.min_support),
                max_size=request.max_size,
                repeat=repeat,
                study_seed=study.seed,
                per_owner=CHOSEN_PRIVATELY if limit == AUTO else limit,
                delta=None if study.delta is None else float(study.delta),
            )
            yield Job(run, path, truth, reference)


def _exact_answer(name: str, held: Transactions, request: Request) -> tuple[ExactItemsets, int]:
    """The exact answer, and the support from which an itemset is right."""
    engine = LocalEngine(held)
    if request.k is None:
        min_count = max(1, count_of(request.min_support or Fraction(1), transactions=len(held)))
        min_count = min(min_count, len(held) + 1)  # beyond it, nothing is frequent
        above = ItemsetFilter(min_count=min_count, max_size=request.max_size)
        return engine.frequent(above), min_count
    found = engine.top(request.k, ItemsetFilter(max_size=request.max_size))
    if found.supports.size < request.k:
        held_itemsets = found.supports.size
        raise BadCall(
            f"{name} holds only {counted(held_itemsets, 'itemset')}, fewer than k = {request.k}; give a smaller k"
        )
    return found, int(found.supports[-1])


def _rows(jobs: Sequence[Job], workers: int) -> Iterator[ResultRow]:
    """The results of all jobs, in their order."""
    if workers < 1:
        raise BadCall(f"{workers} workers do nothing; give at least 1")
    if workers == 1 or len(jobs) < 2:
        yield from map(_measured, jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_measured, jobs)


def _measured(job: Job) -> ResultRow:
    """Do one run and score it."""
    run = job.run
    held = map_transactions(job.data, has_public_items=run.delta is None)
    method = find_method(run.method, task=run.task)
    request = PublishRequest() if run.task == "publish" else run.request
    access = Access(
        epsilon=run.epsilon,
        noise=SeededNoise(run.seed),
        items=ItemChoice(delta=run.delta),
        per_owner=run.limit,
        threads=1,
    )
    with peak_growth() as peak:
        start = time.perf_counter()
        found = run_method(method, request, access, held)
        seconds = time.perf_counter() - start
    return {
        **asdict(run),
        "seed": run.seed,
        **_scores(found, held, job),
        "seconds": seconds,
        "peak_bytes": peak.bytes,
    }


def _scores(found: Release | Published, held: Transactions, job: Job) -> ResultRow:
    """The columns of metrics. Shared transactions name their items by their codes, so results hold codes."""
    if isinstance(found, Published):
        return _scores_published(found, held, job)
    itemsets = Itemsets.of(tuple(map(int, released.items)) for released in found.itemsets)
    rows = [(released.support, released.low, released.high) for released in found.itemsets]
    supports, low, high = np.array(rows, np.int64).reshape(-1, 3).T
    claims = Claims(supports, low, high, np.diff(itemsets.offsets))
    return {**asdict(_score(itemsets, claims, held, job.truth)), "fim_utility": None, "query_error": None}


def _scores_published(published: Published, held: Transactions, job: Job) -> ResultRow:
    """The top k of a published dataset are scored like a release of them; the error is that of queries."""
    scored = score_published(published, job.reference, max_size=job.run.max_size)
    top, supports = Itemsets(scored.top.offsets, scored.top.items), scored.top.supports
    claims = Claims(supports, supports, supports, np.diff(top.offsets))
    return {
        **asdict(_score(top, claims, held, job.truth)),
        **dict.fromkeys(("half_width", "coverage")),  # a published dataset claims no intervals
        "relative_error": float(np.mean(scored.query_error)),
        "fim_utility": scored.fim_utility,
        "query_error": scored.query_error,
    }


def _score(itemsets: Itemsets, claims: Claims, held: Transactions, truth: Truth) -> Score:
    """Score itemsets and what is claimed of them."""
    return score(truth, true=supports_in(LocalEngine(held, threads=1), itemsets), claims=claims)


def _limits(per_owner: PerOwner | Sequence[PerOwner] | None) -> tuple[PerOwner | None, ...]:
    """Every number of transactions of one person that is to be studied, once."""
    if per_owner is None:
        return (None,)
    several = per_owner if isinstance(per_owner, Sequence) and not isinstance(per_owner, str) else [per_owner]
    given = tuple(dict.fromkeys(map(checked_per_owner, several)))
    if not given:
        raise BadCall(
            "per_owner lists no number of transactions of one person; give numbers from 1 up, or auto"
        )
    return given


def _key(row: ResultRow) -> tuple[object, ...]:
    """What tells one run from another."""
    return tuple(row[field.name] for field in fields(SeededRun))
