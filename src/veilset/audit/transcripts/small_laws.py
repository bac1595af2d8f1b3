"""Every decision behind the gate on a small example, with the chances of all that can come out: for tests of draws."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import numpy as np

from veilset.audit.transcripts.label_laws import LabelsLaw
from veilset.audit.transcripts.laws import BestLaw, DecisionLaw, PlaceLaw, SubsetLaw
from veilset.audit.transcripts.search_laws import SearchLaw
from veilset.audit.transcripts.tails import gaussian_at_least, log_laplace_at_least
from veilset.audit.transcripts.threshold_laws import NamesLaw, PassingLaw
from veilset.audit.two_steps import TwoSteps
from veilset.gate import AboveThreshold, Exponential, ItemNaming, NamingLaw, Noise
from veilset.gate.selection.floored_supports import ExactScores
from veilset.gate.selection.noisy_test import NoisyTest, SparseCounts
from veilset.itemsets import Domain, Itemsets
from veilset.raw.counts import ExactCounts

Chances = Mapping[Hashable, float]
Key = Callable[[Any], Hashable]
"""What is looked at of an outcome."""


@dataclass(frozen=True, slots=True)
class SmallLaw:
    """A decision, what is looked at of its outcome, and how likely each of that is."""

    law: DecisionLaw
    key: Key
    chances: Chances

    def draw(self, noise: Noise) -> Hashable:
        """One outcome."""
        return self.key(self.law.draw(noise))


def every_decision() -> dict[str, SmallLaw]:
    """A law for every decision of `gate.draws` but noisy counts, which are tested by themselves."""
    one = Fraction(1)
    listed = {(0,): 3, (1,): 2, (0, 1): 2}
    domain = Domain(items=range(3), max_size=2)
    supports = np.array([5, 2, 4, 3])
    return {
        "best 2 of a domain, 3 of 6 listed": _all_of(
            BestLaw(ExactScores(listed, 1), Exponential(2, 1, 2 * one), domain),
            permutations([*combinations(range(3), 1), *combinations(range(3), 2)], 2),
        ),
        "best 2 of a list": _all_of(BestLaw(ExactScores(listed, -1), Exponential(2, 1, 2 * one), None)),
        "one place": _all_of(PlaceLaw(np.array([4, 0, 7, 7]), Exponential(1, 1, one, is_monotone=False), 2)),
        "a set of 1 to 3 of 4": _all_of(
            SubsetLaw(np.array([2, -1, 0, -3]), Exponential(1, 1, 2 * one, is_monotone=False), 1, 3)
        ),
        "a sparse vector": _all_of(
            LabelsLaw(supports, AboveThreshold(2, 1, 4 * one), threshold=4, by_blocks=False)
        ),
        "blocks": _all_of(LabelsLaw(supports, AboveThreshold(2, 1, 4 * one), threshold=4, by_blocks=True)),
        "a search of two steps": _search(),
        "which of 5 counts pass, 2 of them listed": _passing(),
        "the value of a zero that passes": _value_of_a_zero(),
        "items named by Laplace noise": _naming("laplace"),
        "items named by Gaussian noise": _naming("gaussian"),
    }


def _all_of(law: DecisionLaw, outcomes: Iterable[object] | None = None) -> SmallLaw:
    """A law of few outcomes, each with its own chance."""
    every = law.telling(law) if outcomes is None else outcomes
    return SmallLaw(law, str, {str(outcome): math.exp(law.log_chance(outcome)) for outcome in every})


def _search() -> SmallLaw:
    supports = {(0,): 5, (1,): 3, (0, 1): 3, (0, 2): 2, (1, 2): 1}

    def count(itemsets: Itemsets) -> ExactCounts:
        return ExactCounts(np.array([supports[itemset] for itemset in itemsets]))

    mechanism = AboveThreshold(2, 1, Fraction(4))
    return _all_of(SearchLaw(count, mechanism, threshold=3, start=TwoSteps(Fraction(3, 2))))


def _passing() -> SmallLaw:
    exact = {1: 3, 4: 1}
    counts = SparseCounts(np.array([4, 1]), ExactCounts(np.array([1, 3])), 5)
    test = NoisyTest(2, 1, Fraction(1))
    chances = [math.exp(log_laplace_at_least(2 - exact.get(place, 0), 1.0)) for place in range(5)]
    return SmallLaw(PassingLaw(counts, test), lambda passed: tuple(passed.places.tolist()), _sets(chances))


def _sets(chances: list[float]) -> Chances:
    """How likely each set of places is, if each place is in it with a chance of its own."""
    places = range(len(chances))
    return {
        chosen: math.prod(chances[place] if place in chosen else 1 - chances[place] for place in places)
        for size in range(len(chances) + 1)
        for chosen in combinations(places, size)
    }


def _value_of_a_zero() -> SmallLaw:
    none = np.zeros(0, np.int64)
    law = PassingLaw(SparseCounts(none, ExactCounts(none), 1), NoisyTest(1, 2, Fraction(1)))
    a = math.exp(-1 / 2)
    values: Chances = {value: (1 - a) / (1 + a) * a**value for value in range(1, 200)}
    silent = 1 - math.exp(log_laplace_at_least(1, 2.0))
    return SmallLaw(law, lambda passed: passed.values.sum().item(), {0: silent, **values})


def _naming(law: NamingLaw) -> SmallLaw:
    mechanism = ItemNaming(
        law,
        longest=1,
        sensitivity=1,
        epsilon=Fraction(1),
        delta=Fraction(1, 10),
        scale=Fraction(2),
        threshold=4,
        steps=1,
    )
    weights = [5, 0, 3, 1]
    tail = gaussian_at_least if law == "gaussian" else (lambda m, s: math.exp(log_laplace_at_least(m, s)))
    chances = [tail(4 - weight, 2.0) if weight else 0.0 for weight in weights]
    naming = NamesLaw(ExactCounts(np.array(weights)), mechanism)
    return SmallLaw(naming, lambda named: tuple(named.items.tolist()), _sets(chances))
