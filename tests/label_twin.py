"""A slow twin of comparisons with a noisy threshold, by summing over all values that the threshold can take.

A twin of `gate.selection.sparse_vector`: it follows the printed algorithms label by label and draws nothing.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray
from veilset.audit import geometric
from veilset.gate.selection.sparse_vector import COMPARISON_STEPS

LabelPath = tuple[bool, ...]

TAIL = 45
"""How many scales of noise are summed over: what is left out has a probability below 1e-19."""


def of_sparse_vector(
    supports: Sequence[int], k: int, threshold: int, epsilon: Fraction
) -> Iterator[tuple[LabelPath, float]]:
    """One noisy threshold at a quarter of epsilon; every "above" gets an equal share of the rest."""
    noisy, weights = _thresholds(threshold, float(epsilon / 4))
    share = float(epsilon * 3 / 4 / k)

    def walk(labels: LabelPath, weights: FloatArray) -> Iterator[tuple[LabelPath, float]]:
        if sum(labels) == k or len(labels) == len(supports):
            yield labels, float(weights.sum())
            return
        for label, p in _labels_at(supports[len(labels)], noisy, share):
            yield from walk((*labels, label), weights * p)

    return walk((), weights)


def of_blocks(
    supports: Sequence[int], k: int, threshold: int, epsilon: Fraction
) -> Iterator[tuple[LabelPath, float]]:
    """A new noisy threshold for each block; what is left is shared by the items that are still wanted."""
    step = epsilon / COMPARISON_STEPS

    def new_block(labels: LabelPath, p: float, left: Fraction) -> Iterator[tuple[LabelPath, float]]:
        wanted = k - sum(labels)
        share = left / (4 * wanted) // step * step if wanted else Fraction(0)
        if share == 0 or len(labels) == len(supports):
            yield labels, p
            return
        noisy, weights = _thresholds(threshold, float(share))
        yield from walk(labels, len(labels), noisy, p * weights, left - share)

    def walk(
        labels: LabelPath, start: int, noisy: FloatArray, weights: FloatArray, left: Fraction
    ) -> Iterator[tuple[LabelPath, float]]:
        wanted = k - sum(labels)
        if wanted == 0 or len(labels) == len(supports):
            yield labels, float(weights.sum())
            return
        share = left / wanted // step * step
        for label, chance in _labels_at(supports[len(labels)], noisy, float(share)):
            if len(labels) > start and label != labels[start]:
                yield from new_block((*labels, label), float((weights * chance).sum()), left - share)
            else:
                yield from walk((*labels, label), start, noisy, weights * chance, left)

    return new_block((), 1.0, epsilon)


def _thresholds(threshold: int, share: float) -> tuple[FloatArray, FloatArray]:
    """The values of a noisy threshold, and their probabilities."""
    reach = int(TAIL / share) + 1
    noise = np.arange(-reach, reach + 1, dtype=np.float64)
    return threshold + noise, geometric.chance(noise, share)


def _labels_at(
    support: int, noisy: FloatArray, share: float
) -> tuple[tuple[bool, FloatArray], tuple[bool, FloatArray]]:
    """Both labels, with their probabilities for each value of the noisy threshold."""
    above = geometric.chance_at_least(noisy - support, share)
    below = geometric.chance_at_least(
        support - noisy + 1, share
    )  # noise is symmetric: exact where `above` is nearly 1
    return (True, above), (False, below)
