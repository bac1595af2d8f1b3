"""Laws of lengths: what two sums say of them, and what they leave of a support."""

import math

import numpy as np

from veilset.methods.tps.lengths import LENGTHS, USUAL_MIDDLE, LengthLaws


def laws(limit: int) -> LengthLaws:
    """Before anything is known."""
    return LengthLaws.of(limit, items=500, middle=USUAL_MIDDLE)


def test_weights_add_up_to_1_and_shares_fall_with_the_power() -> None:
    """Who leans to long transactions keeps less; at the power 1, it is what is filled over what is held."""
    found = laws(5)
    assert math.isclose(float(found.weights.sum()), 1.0, rel_tol=1e-6)
    assert np.all(np.diff(found.log_shares, axis=1) <= 1e-9)
    of_all = 5 * found.filled / (found.laws @ LENGTHS)
    assert np.allclose(found.log_shares_at(np.ones(1))[:, 0], np.log(of_all), atol=0.02)


def test_how_full_transactions_are_tells_how_long() -> None:
    """All filled to a limit of 5: much is lost. Filled by a third: most is kept."""
    full, short = (laws(5).explaining_filled(filled, 0.001) for filled in (0.999, 0.35))
    assert full.quantiles_at(1.0, (0.5,))[0] < math.log(0.45)
    assert short.quantiles_at(1.0, (0.5,))[0] > math.log(0.7)


def test_empty_transactions_may_hide_long_ones() -> None:
    """Filled by a third, with hardly any noise: lengths may be far more, if others are empty; never far less."""
    found = laws(5).explaining_filled(0.35, 0.001)
    assert float(found.weights[found.filled > 0.5].sum()) > 0.01
    assert float(found.weights[found.filled < 0.2].sum()) < 1e-6


def test_a_sum_of_supports_tells_what_share_was_counted() -> None:
    """1,000 of 4,000: a quarter, where nothing else is known, and the more surely the less noise."""
    normalised, powers = np.full(10, 100.0), np.ones(10)
    found = [
        laws(2).explaining_total(4000.0, noise, normalised=normalised, powers=powers, error=0.0)
        for noise in (10.0, 2000.0)
    ]
    (low, middle, high), (lower, _, higher) = (each.quantiles_at(1.0, (0.025, 0.5, 0.975)) for each in found)
    assert abs(middle - math.log(0.25)) < 0.05
    assert higher - lower > 3 * (high - low)


def test_a_sum_that_is_capped_hides_what_long_transactions_hold() -> None:
    """The same sum stands for more, where a transaction adds 4 at the most: less of it was counted."""
    normalised, powers = np.full(10, 100.0), np.ones(10)
    whole, capped = (
        laws(1).explaining_total(3000.0, 10.0, normalised=normalised, powers=powers, error=0.0, most=most)
        for most in (math.inf, 4.0)
    )
    assert capped.quantiles_at(1.0, (0.5,))[0] < whole.quantiles_at(1.0, (0.5,))[0] - 0.1
