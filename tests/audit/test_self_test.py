"""The self-test of the noise accepts what ships and rejects what does not fit."""

from fractions import Fraction

from veilset.arrays import Int64Array
from veilset.audit.self_test import check_noise
from veilset.gate import SecureNoise, SeededNoise
from veilset.raw.counts import ExactCounts


class HalfNoise(SeededNoise):
    """Noise of nine tenths of the scale that was asked for."""

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """Too little."""
        return super().discrete_laplace(counts, scale=scale * Fraction(9, 10))


def test_the_self_test_accepts_good_noise_and_rejects_bad() -> None:
    """The noise that ships passes; a tenth less does not."""
    assert all(test.is_fine for test in check_noise(SecureNoise(), draws=5000))
    assert not any(test.is_fine for test in check_noise(HalfNoise(1)))
