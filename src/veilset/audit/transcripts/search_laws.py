"""The law of a search against one noisy threshold, step by step.

The probability of all that a search tells is the sum, over the values that the noisy threshold can take, of the
products of the tails of all candidates that were compared: those that were passed over, and those that were found. What
is compared next is asked of the search itself, along what was told.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray
from veilset.audit import geometric
from veilset.audit.transcripts.label_laws import TAIL
from veilset.audit.transcripts.laws import DecisionLaw, difference
from veilset.gate import (
    SHARE_FOR_SEARCH_THRESHOLD,
    AboveThreshold,
    CandidateSequence,
    Noise,
    SearchOutcome,
    SearchState,
)
from veilset.gate.draws import CountItemsets
from veilset.gate.selection.free_refusals import affordable_step
from veilset.itemsets import Itemset, Itemsets

MOST_PATHS = 200
"""At most 200 ways that a search can go are followed at a time: those that tell most so far."""


@dataclass(frozen=True, slots=True, eq=False)
class _SearchPath:
    """What was told so far, where the search stands, and how likely that is for each value of the noisy threshold."""

    state: SearchState
    told: SearchOutcome
    weights: FloatArray

    def log_chance(self) -> float:
        """Over all values of the threshold."""
        total = float(self.weights.sum())
        return math.log(total) if total > 0 else -math.inf


class SearchLaw(DecisionLaw):
    """What a search finds, step by step; the outcome is all that it tells."""

    def __init__(
        self, count: CountItemsets, mechanism: AboveThreshold, *, threshold: int, start: SearchState
    ) -> None:
        self._count, self._mechanism, self._threshold, self._start = count, mechanism, threshold, start
        self._known: dict[Itemset, int] = {}
        share = float(mechanism.epsilon * SHARE_FOR_SEARCH_THRESHOLD / mechanism.sensitivity)
        reach = int(TAIL / share) + 1
        noise = np.arange(-reach, reach + 1, dtype=np.float64)
        self._values: FloatArray = threshold + noise
        self._chances: FloatArray = geometric.chance(noise, share)

    def log_chance(self, outcome: SearchOutcome) -> float:
        """Step by step; minus infinity for what no search tells."""
        path: _SearchPath | None = self._at_start()
        for place in outcome.places:
            path = None if path is None else self._after(path).get(place)
        if path is None or path.told != outcome or self._step(path) is not None:
            return -math.inf
        return path.log_chance()

    def telling(self, other: "SearchLaw") -> Iterable[SearchOutcome]:
        """Every way that the search can go or, where these are too many, those that tell most from step to step."""
        ended: list[SearchOutcome] = []
        paths = [(self._at_start(), other._at_start())]  # noqa: SLF001 - of the same class
        while paths:
            going = [pair for pair in paths if self._step(pair[0]) is not None]
            ended += [mine.told for mine, _ in paths if self._step(mine) is None]
            paths = [
                (mine, theirs)
                for one, another in going
                for mine, theirs in _pairs(self._after(one), other._after(another))  # noqa: SLF001
            ]
            paths = sorted(paths, key=_tells)[-MOST_PATHS:]
        return ended

    def draw(self, noise: Noise) -> SearchOutcome:
        """By the gate's own code."""
        return noise.search(self._count, self._mechanism, threshold=self._threshold, start=self._start)

    def _at_start(self) -> _SearchPath:
        for_threshold = self._mechanism.epsilon * SHARE_FOR_SEARCH_THRESHOLD
        return _SearchPath(self._start, SearchOutcome((), (for_threshold,)), self._chances)

    def _step(self, path: _SearchPath) -> CandidateSequence | None:
        mechanism = self._mechanism
        return affordable_step(
            path.state, path.told.account, most=mechanism.wanted, epsilon=mechanism.epsilon
        )

    def _after(self, path: _SearchPath) -> dict[int | None, _SearchPath]:
        """Everything that the next step can tell; nothing where there is none."""
        step = self._step(path)
        if step is None:
            return {}
        share, passed_over = float(step.price / self._mechanism.sensitivity), path.weights
        following: dict[int | None, _SearchPath] = {}
        for place, support in enumerate(self._supports(step.candidates)):
            found = passed_over * geometric.chance_at_least(self._values - support, share)
            following[place] = _told(path, place, found, paid=(step.price,))
            # Noise is symmetric: this way it is exact where the other is nearly certain.
            passed_over = passed_over * geometric.chance_at_least(support - self._values + 1, share)
        following[None] = _told(path, None, passed_over)
        return following

    def _supports(self, candidates: Itemsets) -> list[int]:
        unknown = [itemset for itemset in candidates if itemset not in self._known]
        if unknown:
            counted = self._count(Itemsets.of(unknown)).values.tolist()
            self._known |= dict(zip(unknown, counted, strict=True))
        return [self._known[itemset] for itemset in candidates]


def _told(
    path: _SearchPath, place: int | None, weights: FloatArray, *, paid: tuple[Fraction, ...] = ()
) -> _SearchPath:
    told = SearchOutcome((*path.told.places, place), (*path.told.account, *paid))
    return _SearchPath(path.state.after(place), told, weights)


def _pairs(
    mine: dict[int | None, _SearchPath], theirs: dict[int | None, _SearchPath]
) -> list[tuple[_SearchPath, _SearchPath]]:
    """The same answers under both laws."""
    return [(path, theirs[place]) for place, path in mine.items() if place in theirs]


def _tells(pair: tuple[_SearchPath, _SearchPath]) -> float:
    return difference(pair[0].log_chance(), pair[1].log_chance())
