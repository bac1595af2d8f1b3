"""What classes of items may have for supports: caps, sums, and laws of shares."""

import math

import numpy as np
import pytest

from veilset.methods.tps import drawn_supports
from veilset.methods.tps.capped_sums import SUM_CAPS
from veilset.methods.tps.drawn_supports import DrawnSupports
from veilset.methods.tps.leanings import SupportClasses
from veilset.methods.tps.lengths import LENGTHS, LengthLaws

ROWS = 10_000


def drawn_of(numbers: np.ndarray, *, limit: int = 2, items: int = 40) -> DrawnSupports:
    """Items of 100 each, as counted, in transactions of these lengths, a row for each draw."""
    laws = LengthLaws.of(numbers, limit)
    return DrawnSupports.of(laws, SupportClasses.of(np.full(items, 100.0), np.arange(items)), number=ROWS)


def either_length() -> np.ndarray:
    """All of 4 items, or all of 16: two draws."""
    return np.array([np.where(length == LENGTHS, ROWS, 1e-6) for length in (4, 16)])


def test_supports_are_what_shares_were_counted_of() -> None:
    """Half of a transaction of 4 items counts, and an eighth of one of 16, whatever the power."""
    supports = drawn_of(either_length()).supports[:, :, 0]
    assert np.allclose(supports, [[2 * 4000.0], [8 * 4000.0]], rtol=0.01)


@pytest.mark.parametrize(("total", "length"), [(8000.0, 0), (32_000.0, 1)])
def test_a_sum_tells_which_lengths_it_is(total: float, length: int) -> None:
    """With little noise; with much it tells nothing."""
    drawn = drawn_of(either_length())
    told, untold = (
        drawn.explaining_total(total, scale, cap=40, error=0.0).weights.sum(axis=1) for scale in (100.0, 1e7)
    )
    assert told[length] > 0.99
    assert untold == pytest.approx([0.5, 0.5], abs=0.01)


def test_a_cap_is_reckoned_with() -> None:
    """A sum of 10,000, where no transaction adds more than 1: all 16 of its items, not 4, are behind it."""
    found = drawn_of(either_length()).explaining_total(9600.0, 10.0, cap=1, error=0.0).weights.sum(axis=1)
    assert found[1] > 0.99


def test_the_more_noise_the_smaller_the_cap() -> None:
    """A cap costs noise in proportion; what it takes costs doubt."""
    drawn = drawn_of(either_length())
    caps = [drawn.choose_cap(noise).most for noise in (1.0, 300.0, 30_000.0)]
    assert caps[0] > caps[1] >= caps[2]
    assert set(caps) <= {*SUM_CAPS, 40}


def test_shares_are_as_far_apart_as_is_told() -> None:
    """The further tilts are apart; not at all where nothing is lost."""
    mixed = np.where(np.isin(LENGTHS, [1, 4, 16]), ROWS / 3, 1e-6)[None, :]
    near, far = (np.ptp(np.log(drawn_of(mixed).kept(0, spread).shares)) for spread in (0.1, 0.4))
    assert far == pytest.approx(4 * near, rel=0.2)
    nothing_lost = drawn_of(mixed, limit=900).kept(0, 0.4)
    assert nothing_lost.middle == pytest.approx(1.0)
    assert np.all(nothing_lost.gaps < 1e-3)


def test_tilts_are_further_apart_than_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a fifth."""
    mixed = np.where(np.isin(LENGTHS, [1, 4, 16]), ROWS / 3, 1e-6)[None, :]
    wide = np.ptp(np.log(drawn_of(mixed).kept(0, 0.1).shares))
    monkeypatch.setattr(drawn_supports, "BEYOND_TOLD", 1.0)
    assert wide == pytest.approx(1.2 * np.ptp(np.log(drawn_of(mixed).kept(0, 0.1).shares)), rel=0.05)


def test_lengths_that_are_in_doubt_widen_all_shares() -> None:
    """Up to what one or the other draw says; a sum that tells takes the doubt away."""
    drawn = drawn_of(either_length())
    told = drawn.explaining_total(32_000.0, 100.0, cap=40, error=0.0)
    assert sum(drawn.kept(0, 0.2).doubt) > 0.9 * math.log(4)
    assert sum(told.kept(0, 0.2).doubt) < 0.2
