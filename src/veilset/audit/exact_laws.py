"""Output laws computed instead of sampled, where an output is a choice among few: no statistics, no doubt.

The exponential mechanism chooses by exact scores. On a small alphabet all choices can be listed, on both
databases, and the largest ratio of their probabilities is the exact privacy loss.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np

from veilset.arrays import Int64Array
from veilset.audit import label_law
from veilset.audit.lower_bound import Bound
from veilset.audit.neighbours import Pair
from veilset.audit.verdicts import Verdict
from veilset.gate import SeededNoise
from veilset.gate.mechanisms import Exponential
from veilset.gate.selection import floored_supports, subsets
from veilset.itemsets import Domain, Itemset
from veilset.raw.cuts.truncation import KeepAll
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Transactions
from veilset.wording import ordinal

LogLaw = Mapping[object, float]
"""The logarithm of the probability of every output."""


def best_verdict(pair: Pair, *, draws: int, size: int, epsilon: Fraction) -> Verdict:
    """The best `draws` itemsets up to a size, on a pair."""
    domain = Domain(items=range(pair.items), max_size=size)
    laws = (law_of_best(data, domain, draws, epsilon=epsilon) for data in pair.both())
    return _compared(f"best {draws} of itemsets up to {size}; {pair.name}", *laws, epsilon=epsilon)


def rank_verdict(pair: Pair, *, epsilon: Fraction) -> Verdict:
    """The matching rank, on a pair."""
    domain = Domain(items=range(pair.items), max_size=2)
    laws = (law_of_rank(data, domain, k=min(4, domain.size), epsilon=epsilon) for data in pair.both())
    return _compared(f"matching rank; {pair.name}", *laws, epsilon=epsilon)


def frequent_items_verdict(pair: Pair, *, least: int, most: int, epsilon: Fraction) -> Verdict:
    """The items that are as frequent as an itemset, chosen in one draw, on a pair."""
    domain, most = Domain(items=range(pair.items), max_size=2), min(most, pair.items)
    laws = (
        law_of_frequent_items(data, domain, min(4, domain.size), least=least, most=most, epsilon=epsilon)
        for data in pair.both()
    )
    return _compared(f"{least} to {most} frequent items in one draw; {pair.name}", *laws, epsilon=epsilon)


def labels_verdict(pair: Pair, *, k: int, by_blocks: bool, epsilon: Fraction) -> Verdict:
    """Which items are above the k-th, by blocks or by the sparse vector technique, on a pair."""
    how = "by blocks" if by_blocks else "by a sparse vector"
    laws = (
        law_of_labels(_item_supports(data), k, epsilon=epsilon, by_blocks=by_blocks) for data in pair.both()
    )
    return _compared(f"above the {ordinal(k)} item {how}; {pair.name}", *laws, epsilon=epsilon)


EXACT_LAWS = (
    partial(best_verdict, draws=1, size=2),
    partial(best_verdict, draws=2, size=2),
    partial(best_verdict, draws=2, size=1),
    rank_verdict,
    partial(frequent_items_verdict, least=1, most=1),
    partial(frequent_items_verdict, least=1, most=3),
    partial(labels_verdict, k=1, by_blocks=True),
    partial(labels_verdict, k=2, by_blocks=True),
    partial(labels_verdict, k=3, by_blocks=True),
    partial(labels_verdict, k=2, by_blocks=False),
)
"""Each turns a pair and epsilon into a verdict."""


def law_of_best(data: Transactions, domain: Domain, draws: int, *, epsilon: Fraction) -> LogLaw:
    """Every sequence of draws of `ask_best`, all itemsets of the domain listed one by one."""
    rate = Exponential(draws, 1, epsilon).rate
    found = floored_supports.floored_supports(LocalEngine(data, threads=1), domain, draws, rate=rate)
    sizes = range(domain.min_size, min(domain.max_size, len(domain.items)) + 1)
    itemsets = [itemset for size in sizes for itemset in combinations(domain.items, size)]
    scores = {itemset: found.listed.get(itemset, found.floor) for itemset in itemsets}
    return dict(_sequences(scores, draws, float(rate)))


def _sequences(
    scores: Mapping[Itemset, int], draws: int, rate: float
) -> Iterator[tuple[tuple[Itemset, ...], float]]:
    if draws == 0:
        yield (), 0.0
        return
    total = _log_sum([rate * score for score in scores.values()])
    for itemset, score in scores.items():
        rest = {other: value for other, value in scores.items() if other != itemset}
        for sequence, log_probability in _sequences(rest, draws - 1, rate):
            yield (itemset, *sequence), rate * score - total + log_probability


def law_of_rank(data: Transactions, domain: Domain, k: int, *, epsilon: Fraction) -> LogLaw:
    """Every rank of `ask_matching_rank`."""
    rate = float(Exponential(1, 1, epsilon, is_monotone=False).rate)
    engine = LocalEngine(data, threads=1)
    distances = floored_supports.rank_distances(
        engine, domain, k, most=len(domain.items), draw=SeededNoise(0).keys
    )
    logs = [-rate * distance for distance in distances.tolist()]
    total = _log_sum(logs)
    return {rank: value - total for rank, value in enumerate(logs, start=1)}


def law_of_frequent_items(
    data: Transactions, domain: Domain, k: int, *, least: int, most: int, epsilon: Fraction
) -> LogLaw:
    """Every set of `ask_frequent_items`, listed one by one."""
    rate = float(Exponential(1, 1, epsilon, is_monotone=False).rate)
    engine = LocalEngine(data, threads=1)
    margins = floored_supports.margins_of_items(engine, domain, k, most=most, draw=SeededNoise(0).keys)
    logs = {
        chosen: -rate * subsets.loss_of(margins, list(chosen))
        for size in range(least, most + 1)
        for chosen in combinations(range(margins.size), size)
    }
    total = _log_sum(list(logs.values()))
    return {chosen: value - total for chosen, value in logs.items()}


def _item_supports(data: Transactions) -> Int64Array:
    return LocalEngine(data, threads=1).item_supports(KeepAll(), SeededNoise(0).keys).values


def law_of_labels(supports: Int64Array, k: int, *, epsilon: Fraction, by_blocks: bool) -> LogLaw:
    """Every sequence of labels of `ask_above_kth`, written down from the algorithm without drawing anything."""
    threshold = int(np.sort(supports)[-k])
    walk = label_law.of_blocks if by_blocks else label_law.of_sparse_vector
    return {labels: math.log(p) for labels, p in walk(supports.tolist(), k, threshold, epsilon) if p > 0}


def _log_sum(logs: Sequence[float]) -> float:
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in logs))


def _compared(case: str, with_unit: LogLaw, without_unit: LogLaw, *, epsilon: Fraction) -> Verdict:
    """The largest loss over all outputs; infinite where one is possible on one database only."""
    if with_unit.keys() != without_unit.keys():
        loss, output = math.inf, next(iter(with_unit.keys() ^ without_unit.keys()))
    else:
        loss, output = max(
            ((abs(with_unit[key] - without_unit[key]), key) for key in with_unit), key=lambda found: found[0]
        )
    bound = Bound(loss, f"output {output}", confidence=1.0, samples=0)
    return Verdict.of(bound, method="questions", case=f"{case} (exact)", printed=False, claim=float(epsilon))
