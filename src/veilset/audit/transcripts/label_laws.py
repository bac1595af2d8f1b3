"""The law of comparisons with a noisy threshold, from the noise that the gate's own code asks for.

The gate's code is run along every sequence of labels, with supports that are above or below as the sequence says. It
tells at which scale it wants noise for which threshold and for which support, and what it releases in the end. Nothing
else is taken from it: the probability of a sequence is the sum, over the values that a threshold can take, of the
products of the tails of all supports that were compared with it; noise of different thresholds is independent.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.audit import geometric
from veilset.audit.transcripts.laws import DecisionLaw
from veilset.gate import AboveThreshold, Noise
from veilset.gate.selection.sparse_vector import Comparisons, in_blocks, sparse_vector

Labels = tuple[bool, ...]
"""Whether each support that was compared is above, in order."""

TAIL = 45
"""How many scales of noise are summed over: what is left out has a probability below 1e-19."""

_ABOVE, _BELOW = 1, -1


@dataclass(frozen=True, slots=True)
class _Compared:
    """One noisy threshold, and what was compared with it: which place, at which scale."""

    scale: Fraction
    supports: list[tuple[int, Fraction]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Path:
    """A sequence of labels, all noise that it needs, and what is released then."""

    labels: Labels
    compared: Sequence[_Compared]
    released: Comparisons


class _LabelMissingError(Exception):
    """The code wants to compare one more support."""


class _Scripted:
    """Supports that are above or below as a script says; it remembers what noise was asked for."""

    def __init__(self, number: int, labels: Labels, *, stops_at_above: bool) -> None:
        self.number, self.compared = number, list[_Compared]()
        self._labels, self._stops_at_above, self._wants = labels, stops_at_above, 0

    def threshold(self, scale: Fraction) -> int:
        """The threshold lies between above and below."""
        self.compared.append(_Compared(scale))
        return 0

    def supports(self, start: int, end: int, scale: Fraction) -> Int64Array:
        """As the script says. In blocks nobody looks behind the first one that is above, among many below."""
        values = np.full(end - start, _BELOW)
        for place in range(start, end):
            if place >= len(self._labels):
                raise _LabelMissingError
            self.compared[-1].supports.append((place, scale))
            if self._labels[place]:
                values[place - start] = _ABOVE
                if self._stops_at_above:
                    break
        return values


@lru_cache(maxsize=64)
def _paths(
    number: int, wanted: int, sensitivity: int, epsilon: Fraction, *, by_blocks: bool
) -> tuple[_Path, ...]:
    """Every sequence of labels that the gate's code can release."""

    def walk(labels: Labels) -> Iterator[_Path]:
        scripted = _Scripted(number, labels, stops_at_above=by_blocks)
        compare = in_blocks if by_blocks else sparse_vector
        try:
            if not by_blocks and sum(labels) == wanted:  # what comes later is compared, but not told
                padded = (*labels, *[False] * (number - len(labels)))
                scripted = _Scripted(number, padded, stops_at_above=False)
            released = compare(scripted, wanted, sensitivity=sensitivity, epsilon=epsilon)
        except _LabelMissingError:
            yield from walk((*labels, True))
            yield from walk((*labels, False))
            return
        yield _Path(labels, _told(scripted.compared, len(labels)), released)

    return tuple(walk(()))


def _told(compared: Sequence[_Compared], number: int) -> tuple[_Compared, ...]:
    """Comparisons of the first supports only."""
    return tuple(
        _Compared(each.scale, [(place, scale) for place, scale in each.supports if place < number])
        for each in compared
    )


class LabelsLaw(DecisionLaw):
    """Which supports are above a noisy threshold; the outcome is what is released."""

    def __init__(
        self, supports: Int64Array, mechanism: AboveThreshold, *, threshold: int, by_blocks: bool
    ) -> None:
        self._supports, self._mechanism = supports, mechanism
        self._threshold, self._by_blocks = threshold, by_blocks

    def _all_paths(self) -> tuple[_Path, ...]:
        mechanism = self._mechanism
        return _paths(
            self._supports.size,
            mechanism.wanted,
            mechanism.sensitivity,
            mechanism.epsilon,
            by_blocks=self._by_blocks,
        )

    def log_chance(self, outcome: Comparisons) -> float:
        """The sum over all sequences of labels that are released as this."""
        chance = sum(self._chance(path) for path in self._all_paths() if path.released == outcome)
        return math.log(chance) if chance > 0 else -math.inf

    def _chance(self, path: _Path) -> float:
        product = 1.0
        for compared in path.compared:
            thresholds, weights = _thresholds(self._threshold, float(1 / compared.scale))
            for place, scale in compared.supports:
                share, support = float(1 / scale), int(self._supports[place])
                # Noise is symmetric: this way it is exact where the other label is nearly certain.
                least = thresholds - support if path.labels[place] else support - thresholds + 1
                weights = weights * geometric.chance_at_least(least, share)
            product *= float(weights.sum())
        return product

    def telling(self, other: "LabelsLaw") -> Iterable[Comparisons]:  # noqa: ARG002
        """All of them."""
        return {path.released: None for path in self._all_paths()}

    def draw(self, noise: Noise) -> Comparisons:
        """Labels by noise."""
        return noise.labels(
            self._supports, self._mechanism, threshold=self._threshold, by_blocks=self._by_blocks
        )


def _thresholds(threshold: int, share: float) -> tuple[FloatArray, FloatArray]:
    """The values of a noisy threshold, and their probabilities."""
    reach = int(TAIL / share) + 1
    noise = np.arange(-reach, reach + 1, dtype=np.float64)
    return threshold + noise, geometric.chance(noise, share)
