"""How good a release is, against the exact answer. For public data only: these figures are not private."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from veilset.arrays import BoolArray, FloatArray, Int64Array
from veilset.itemsets import Itemset

APPROXIMATE = 0.2
"""delta of DiffFIM's Definition 5, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What an exact answer would hold.

    `wanted` itemsets reach the support `threshold`: the k-th largest, or the one asked for. Of them, `plain`
    have more than (1 + delta) times that support. `by_size[size]` counts the wanted ones of that size.
    """

    threshold: int
    wanted: int
    plain: int
    by_size: Mapping[int, int]
    delta: float = APPROXIMATE

    @classmethod
    def of(
        cls, supports: Int64Array, sizes: Int64Array, *, threshold: int, delta: float = APPROXIMATE
    ) -> "Truth":
        """From the supports and sizes of the exact answer."""
        plain = int(np.count_nonzero(supports > (1 + delta) * threshold))
        by_size = dict(
            zip(*(column.tolist() for column in np.unique(sizes, return_counts=True)), strict=True)
        )
        return cls(threshold, supports.size, plain, by_size, delta)


@dataclass(frozen=True, slots=True)
class SizeScore:
    """How many itemsets of a size were released, how many of them are right, and how many were wanted."""

    size: int
    released: int
    right: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Score:
    """How good a release is. Complete and sound as in DiffFIM's Definition 5.

    The relative error is the median over the released itemsets that are right, and None where none is: an
    itemset that should not be there has no support to be compared with. Of the same itemsets, `mean_error` is the mean
    relative error, and `half_width` the mean half width of the 95 % interval as a part of the true support.

    `coverage` is the part of all released itemsets whose true support lies in the interval; `bias` the mean of
    (released - true) over all of them, each as a part of the true support, or of the threshold where that is more.
    Both are None where nothing is released.
    """

    f_score: float
    precision: float
    recall: float
    false_negative_rate: float
    relative_error: float | None
    mean_error: float | None
    half_width: float | None
    coverage: float | None
    bias: float | None
    is_complete: bool
    is_sound: bool
    by_size: tuple[SizeScore, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """What a release says of its itemsets: their supports, 95 % intervals around these, and their sizes."""

    supports: Int64Array
    low: Int64Array
    high: Int64Array
    sizes: Int64Array


def score(truth: Truth, *, true: Int64Array, claims: Claims) -> Score:
    """Score released itemsets by their true supports and what is claimed of them.

    An itemset is right if its true support reaches the threshold: one that ties with the k-th is as good.

    >>> truth = Truth.of(np.array([90, 50, 40]), np.array([1, 1, 2]), threshold=40)
    >>> supports = np.array([99, 40, 30])
    >>> claims = Claims(supports, supports - 10, supports + 10, np.array([1, 1, 1]))
    >>> found = score(truth, true=np.array([90, 40, 3]), claims=claims)
    >>> round(found.f_score, 3), found.is_complete, found.is_sound
    (0.667, False, False)
    >>> found.relative_error, found.coverage  # the median of 10 % and 0 %; 3 is not within 20 to 40
    (0.05, 0.6666666666666666)
    """
    is_right = true >= truth.threshold
    right = min(int(is_right.sum()), truth.wanted)
    precision = right / true.size if true.size else float(truth.wanted == 0)
    recall = right / truth.wanted if truth.wanted else 1.0
    differences, at_least_1 = claims.supports - true, np.maximum(true, 1)
    errors = (np.abs(differences) / at_least_1)[is_right]
    half_widths = ((claims.high - claims.low) / 2 / at_least_1)[is_right]
    is_covered = (claims.low <= true) & (true <= claims.high)
    sizes = claims.sizes
    return Score(
        f_score=2 * precision * recall / (precision + recall) if right else float(truth.wanted == 0),
        precision=precision,
        recall=recall,
        false_negative_rate=1 - recall,
        relative_error=float(np.median(errors)) if errors.size else None,
        mean_error=_mean(errors),
        half_width=_mean(half_widths),
        coverage=_mean(is_covered),
        bias=_mean(differences / np.maximum(at_least_1, truth.threshold)),
        is_complete=int(np.count_nonzero(true > (1 + truth.delta) * truth.threshold)) == truth.plain,
        is_sound=bool(np.all(true >= (1 - truth.delta) * truth.threshold)),
        by_size=tuple(
            SizeScore(
                size,
                released=int(np.count_nonzero(sizes == size)),
                right=int(np.count_nonzero(is_right & (sizes == size))),
                wanted=truth.by_size.get(size, 0),
            )
            for size in sorted({*truth.by_size, *sizes.tolist()})
        ),
    )


def _mean(values: FloatArray | BoolArray) -> float | None:
    """The mean; None where there is nothing."""
    return float(np.mean(values)) if values.size else None


def random_queries(
    rng: np.random.Generator, *, items: int, longest: int, number: int = 50_000, classes: int = 5
) -> list[list[Itemset]]:
    """Counting queries as in DiffPart, Sec. 5.1: class i has lengths uniform in 1 to i/5 of the longest.

    Items are drawn uniformly from the alphabet; a query holds each at most once.
    """
    queries = []
    for i in range(1, classes + 1):
        most = min(max(1, i * longest // classes), items)
        lengths = rng.integers(1, most + 1, size=number // classes)
        drawn = rng.integers(0, items, size=int(lengths.sum())).tolist()
        ends = np.concatenate([[0], np.cumsum(lengths)]).tolist()
        queries.append([tuple(sorted(set(drawn[start:end]))) for start, end in pairwise(ends)])
    return queries


def query_error(
    exact: Int64Array, published: Int64Array, *, transactions: int, sanity: float = 0.001
) -> float:
    """The mean relative error of counting queries, with a sanity bound of 0.1 % of the transactions.

    >>> round(query_error(np.array([100, 0]), np.array([90, 2]), transactions=10_000), 6)
    0.15
    """
    bound = sanity * transactions
    return float((np.abs(published - exact) / np.maximum(exact, bound)).mean())


def fim_utility(exact: Mapping[Itemset, int], published: Mapping[Itemset, int]) -> float:
    """The top-K utility of DiffPart, Appendix E: 1 less the mean relative change of the top supports.

    An itemset that is not in the published top K counts as having support 0 there. 1 means identical.

    >>> round(fim_utility({(1,): 100, (2,): 50}, {(1,): 90, (3,): 60}), 6)
    0.45
    """
    changes = [abs(support - published.get(itemset, 0)) / support for itemset, support in exact.items()]
    return 1 - float(np.mean(changes))


def mean_and_sd(values: Sequence[float]) -> dict[str, float | None]:
    """The mean, the standard deviation over runs, and what that makes of the mean: its standard error.

    None where there is no value, or only one.

    >>> mean_and_sd([1.0, 3.0])["mean"], mean_and_sd([])
    (2.0, {'mean': None, 'sd': None, 'standard_error': None})
    """
    mean = float(np.mean(values)) if values else None
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    error = None if deviation is None else deviation / math.sqrt(len(values))
    return {"mean": mean, "sd": deviation, "standard_error": error}
