"""The self-test accepts what ships and rejects every draw that does not have its law."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from veilset.arrays import Int64Array
from veilset.audit.self_test import check_noise, p_value
from veilset.gate import Exponential, SecureNoise, SeededNoise
from veilset.gate.selection.noisy_test import NoisyTest, PassedCounts, SparseCounts
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.row_keys import NumberedRows, RowKeys, SipKeys
from veilset.raw.cuts.rows import Keys

LESS = Fraction(4, 5)


class LessLaplace(SeededNoise):
    """Laplace noise of four fifths of the scale that was asked for."""

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """Too little."""
        return super().discrete_laplace(counts, scale=scale * LESS)


class LessGaussian(SeededNoise):
    """Gaussian noise of four fifths of the scale."""

    def discrete_gaussian(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """Too little."""
        return super().discrete_gaussian(counts, scale=scale * LESS)


class LowNumbers(SeededNoise):
    """Integers of which the upper ones come a little less often."""

    def below(self, bound: int) -> int:
        """Once in six times the smaller of two."""
        first = super().below(bound)
        return min(first, super().below(bound)) if super().below(6) == 0 else first


@dataclass(frozen=True, repr=False, eq=False)
class _LowerHalf(SipKeys):
    def of_rows(self, numbered: NumberedRows) -> Keys:
        return super().of_rows(numbered) & np.uint32(2**31 - 1)


class LowKeys(SeededNoise):
    """Keys that never have their upper bit."""

    def keys(self) -> RowKeys:
        """Half of them."""
        return _LowerHalf(np.zeros(2, np.uint64))


class FasterDraws(SeededNoise):
    """Choices at half again the rate that was paid for."""

    def place(self, scores: Int64Array, mechanism: Exponential, *, steps: int = 1) -> int:
        """Too sure."""
        return super().place(scores * 3, mechanism, steps=steps * 2)

    def subset(self, margins: Int64Array, mechanism: Exponential, *, least: int, most: int) -> list[int]:
        """Too sure."""
        return super().subset(margins * 2, mechanism, least=least, most=most)


class NoZeros(SeededNoise):
    """Tests the counts that are listed, and none of the others."""

    def passing(self, counts: SparseCounts, test: NoisyTest) -> PassedCounts:
        """Tells which counts are not 0."""
        passed = super().passing(counts, test)
        listed = np.isin(passed.places, counts.places)
        return PassedCounts(passed.places[listed], passed.values[listed])


@cache
def broken(noise: Callable[[int], Any]) -> frozenset[str]:
    """What does not have its law, of one of the above with the seed 1: each of them is tested once, and asked often."""
    return frozenset(test.law for test in check_noise(noise(1), draws=12_000) if not test.is_fine)


def test_the_noise_that_ships_has_its_laws() -> None:
    """Both sources, every law."""
    assert all(test.is_fine for test in check_noise(SecureNoise(), draws=5000))
    assert broken(SeededNoise) == set()


@pytest.mark.parametrize(
    ("noise", "seen"),
    [
        (LessLaplace, "discrete Laplace noise, scale 3"),
        (LessGaussian, "discrete Gaussian noise, scale 7/2"),
        (LowNumbers, "uniform integers below 10"),
        (LowNumbers, "uniform integers below 27670116110564327424"),
        (LowKeys, "uniform keys of 32 bits"),
        (FasterDraws, "one place"),
        (FasterDraws, "a set of 1 to 3 of 4"),
        (NoZeros, "which of 5 counts pass, 2 of them listed"),
        (NoZeros, "the value of a zero that passes"),
    ],
)
def test_a_draw_that_does_not_have_its_law_is_seen(noise: Callable[[int], Any], seen: str) -> None:
    """Each kind of draw has a control."""
    assert seen in broken(noise)


def test_all_laws_see_the_noise_that_they_are_made_of() -> None:
    """Comparisons, tests and names rest on Laplace noise; so they notice when it is too small."""
    found = broken(LessLaplace)
    assert {"a sparse vector", "blocks", "items named by Laplace noise"} <= found


def test_an_outcome_that_a_law_excludes_is_never_accepted() -> None:
    """However rare."""
    assert p_value(Counter({"a": 1000, "b": 1}), {"a": 1.0, "b": 0.0}) == 0
