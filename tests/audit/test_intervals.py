"""Bounds on a probability, against the beta distribution."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from veilset.audit.intervals import at_least, at_most


@given(trials=st.integers(1, 500), share=st.floats(0, 1), error=st.sampled_from([0.025, 1e-4]))
def test_intervals_are_those_of_clopper_and_pearson(trials: int, share: float, error: float) -> None:
    """Against quantiles of the beta distribution."""
    successes = round(share * trials)
    low = stats.beta.ppf(error, successes, trials - successes + 1) if successes else 0.0
    high = stats.beta.ppf(1 - error, successes + 1, trials - successes) if successes < trials else 1.0
    assert at_least(successes, trials, error=error) == pytest.approx(low, abs=1e-9)
    assert at_most(successes, trials, error=error) == pytest.approx(high, abs=1e-9)
