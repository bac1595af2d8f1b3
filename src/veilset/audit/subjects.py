"""What is audited: every method of the registry and every question of the gate, each as a law of outcomes.

A subject turns a database and a seed into an outcome, which is what an attacker could see of one run: which
itemsets came out, their noisy supports, how many transactions there seem to be.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from veilset.api import open_curator
from veilset.audit.lower_bound import Outcome
from veilset.gate import (
    Curator,
    Cut,
    DropLonger,
    KeepAll,
    KeepBest,
    KeepRandom,
    KeepSimilar,
    KeepSmart,
    NoisyTree,
    OnlyItems,
    SeededNoise,
)
from veilset.itemsets import Itemset, Itemsets
from veilset.methods import METHODS, Method
from veilset.raw.transactions import Transactions
from veilset.release import Release
from veilset.target import Target

Ask = Callable[[Curator, Fraction], Outcome]
AskUnder = Callable[[Curator, Fraction, Cut], Outcome]


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that claims to cost epsilon."""

    name: str
    case: str
    ask: Ask

    def outcome(self, data: Transactions, *, epsilon: Fraction, seed: int) -> Outcome:
        """One run, with a budget of exactly epsilon."""
        curator = open_curator(data, epsilon=epsilon, noise=SeededNoise(seed), threads=1)
        return self.ask(curator, epsilon)


TARGETS: Mapping[str, Mapping[str, Target]] = {
    "mine": {
        "k = 2": Target.of(k=2, max_size=2),
        "support 4": Target.of(min_support=4, max_size=2),
    },
}
"""For each task, what its methods are asked for under the audit."""


def of_method(name: str) -> list[Subject]:
    """A method with everything it can be asked for."""
    method = METHODS[name]
    return [
        Subject(name, case, _run(method, target)) for case, target in TARGETS.get(method.task, {}).items()
    ]


def _run(method: Method, target: Target) -> Ask:
    return lambda curator, epsilon: _seen(method.run(curator, target, epsilon=epsilon))


def _seen(release: Release) -> Outcome:
    """What an attacker sees of a release."""
    outcome = {"number of itemsets": len(release), "number of transactions": release.transactions.value}
    for found in release.itemsets:
        itemset = "{" + ", ".join(map(str, found.items)) + "}"
        outcome[f"{itemset} released"] = 1
        outcome[f"support of {itemset}"] = found.support
    return outcome


def of_questions() -> list[Subject]:
    """Every question of the gate; those that take a cut, under each kind of cut."""
    plain = [Subject("questions", name, ask) for name, ask in QUESTIONS.items()]
    under_cuts = [
        Subject("questions", f"{name} under {label}", _under(ask, cut))
        for name, ask in QUESTIONS_UNDER_A_CUT.items()
        for label, cut in CUTS.items()
    ]
    return [*plain, *under_cuts]


def _under(ask: AskUnder, cut: Callable[[int], Cut]) -> Ask:
    return lambda curator, epsilon: ask(curator, epsilon, cut(curator.alphabet_size))


def _counts(name: str, values: npt.NDArray[np.int64]) -> Outcome:
    return {f"{name} {place}": int(value) for place, value in enumerate(values)}


def _chosen(itemsets: tuple[Itemset, ...]) -> Outcome:
    """Which itemset came first, and so on; and which came at all."""
    places = {f"place {place}": hash(itemset) % 2**31 for place, itemset in enumerate(itemsets)}
    return {**places, **{f"{itemset} chosen": 1 for itemset in itemsets}}


def _above(scale: Fraction) -> int:
    """A threshold that three empty children seldom reach."""
    return math.ceil(scale)


def _paths(tree: NoisyTree) -> Outcome:
    """Which nodes came out, and their counts."""
    paths: list[Itemset] = [()]
    for parent, rank in zip(tree.parents[1:].tolist(), tree.ranks[1:].tolist(), strict=True):
        paths.append((*paths[parent], tree.order[rank]))
    return {f"path {path}": int(count) for path, count in zip(paths[1:], tree.counts[1:], strict=True)}


def _of_sample(sample: Curator) -> Outcome:
    """Two answers on one sample, which together cost all that was set aside for it."""
    half = sample.budget.total / 2
    lengths = sample.ask_lengths(limit=3, epsilon=half)
    items = sample.ask_item_supports(cut=KeepRandom(2), epsilon=half)
    return {**_counts("length", lengths.values), **_counts("item", items.values)}


QUESTIONS: Mapping[str, Ask] = {
    "number": lambda curator, epsilon: {"number": curator.ask_number(epsilon=epsilon).value},
    "k-th support": lambda curator, epsilon: {
        "support": curator.ask_kth_support(3, domain=curator.domain(max_size=2), epsilon=epsilon).value
    },
    "largest support": lambda curator, epsilon: {
        "support": curator.ask_largest_support(2, floor=1, epsilon=epsilon).value
    },
    "lengths and items of a sample": lambda curator, epsilon: _of_sample(
        curator.on_sample(Fraction(1, 4), epsilon=epsilon)
    ),
    "best 2": lambda curator, epsilon: _chosen(
        curator.ask_best(2, domain=curator.domain(max_size=2), epsilon=epsilon).itemsets
    ),
    "matching rank": lambda curator, epsilon: {
        "rank": curator.ask_matching_rank(
            4, domain=curator.domain(max_size=2), most=curator.alphabet_size, epsilon=epsilon
        )
    },
}

QUESTIONS_UNDER_A_CUT: Mapping[str, AskUnder] = {
    "lengths": lambda curator, epsilon, cut: _counts(
        "length", curator.ask_lengths(limit=4, cut=cut, epsilon=epsilon).values
    ),
    "item supports": lambda curator, epsilon, cut: _counts(
        "item", curator.ask_item_supports(cut=cut, epsilon=epsilon).values
    ),
    "supports": lambda curator, epsilon, cut: _counts(
        "itemset", curator.ask_supports(Itemsets.of([(0,), (1,), (0, 1)]), cut=cut, epsilon=epsilon).values
    ),
    "joint patterns": lambda curator, epsilon, cut: _counts(
        "pattern", curator.ask_joint_patterns((0, 1, 2), cut=cut, epsilon=epsilon).values
    ),
    "prefix tree": lambda curator, epsilon, cut: _paths(
        curator.ask_prefix_tree((1, 0, 2), depth=2, threshold=_above(6 / epsilon), cut=cut, epsilon=epsilon)
    ),
}

CUTS: Mapping[str, Callable[[int], Cut]] = {
    "no cut": lambda _: KeepAll(),
    "DropLonger(2)": lambda _: DropLonger(2),
    "KeepRandom(2)": lambda _: KeepRandom(2),
    "KeepBest(1)": lambda items: KeepBest(1, np.arange(items, dtype=np.int64)),
    "KeepSmart(2)": lambda _: KeepSmart(
        2, np.array([0, 2, 4]), np.array([0, 1, 0, 2], dtype=np.int32), scores=np.array([5, 4])
    ),
    "KeepSimilar(2)": lambda _: KeepSimilar(
        2, np.array([2, 0, 1]), np.array([0, 2]), np.array([0, 1], dtype=np.int32)
    ),
    "OnlyItems, KeepRandom(1)": lambda _: OnlyItems(np.array([0, 1]), KeepRandom(1)),
}
"""Every cut, for an alphabet of that size."""
