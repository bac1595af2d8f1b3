"""The bound on epsilon: right about mechanisms that are known, and seldom too high."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from veilset.audit.lower_bound import Outcome, ceiling, lower_bound, samples_needed

Generator = np.random.Generator


def laplace(rng: Generator, true: int, *, scale: float) -> Outcome:
    """A count with discrete Laplace noise: epsilon is 1 / scale."""
    up, down = rng.geometric(-math.expm1(-1 / scale), size=2)
    return {"count": true + int(up) - int(down)}


def randomised_response(rng: Generator, true: int, *, epsilon: float) -> Outcome:
    """The truth with probability e^epsilon / (1 + e^epsilon)."""
    return {"answer": true if rng.random() < 1 / (1 + math.exp(-epsilon)) else 1 - true}


def choice(rng: Generator, true: int, *, epsilon: float) -> Outcome:
    """One of four, by the exponential mechanism; the unit moves one score by 1."""
    weights = np.exp(epsilon * np.array([true, 0, 0, 0]))
    return {"chosen": int(rng.choice(4, p=weights / weights.sum()))}


def two_counts(rng: Generator, true: int, *, scale: float) -> Outcome:
    """Something that does not depend on the data beside something that does."""
    return {"idle": int(rng.integers(5)), **laplace(rng, true, scale=scale)}


KNOWN: dict[str, tuple[Callable[[Generator, int], Outcome], float]] = {
    "Laplace, epsilon 1": (lambda rng, true: laplace(rng, true, scale=1), 1.0),
    "Laplace, epsilon 1/4": (lambda rng, true: laplace(rng, true, scale=4), 0.25),
    "randomised response, epsilon 1": (lambda rng, true: randomised_response(rng, true, epsilon=1), 1.0),
    "choice, epsilon 2": (lambda rng, true: choice(rng, true, epsilon=2), 2 - math.log((3 + math.e**2) / 4)),
    "two statistics, epsilon 1": (lambda rng, true: two_counts(rng, true, scale=1), 1.0),
}
"""Mechanisms, and the largest ln of a ratio of probabilities that they have."""


def sampled(draw: Callable[[Generator, int], Outcome], seed: int, samples: int) -> float:
    """The bound on a mechanism between the true values 1 and 0."""
    rng = np.random.default_rng(seed)
    return lower_bound([draw(rng, 1) for _ in range(samples)], [draw(rng, 0) for _ in range(samples)]).epsilon


@pytest.mark.parametrize("name", KNOWN)
def test_the_bound_comes_close_to_a_known_epsilon_and_not_above(name: str) -> None:
    """At least 0.8 of the truth where samples allow it."""
    draw, epsilon = KNOWN[name]
    samples = 60_000 if epsilon < 0.5 else 10_000
    assert 0.8 * epsilon <= sampled(draw, 3, samples) <= epsilon


def test_half_the_noise_is_noticed() -> None:
    """A mechanism that claims epsilon 1 and spends 2 is refuted with a thousand samples."""
    assert sampled(lambda rng, true: laplace(rng, true, scale=0.5), 4, 1000) > 1


def test_false_alarms_are_as_rare_as_claimed() -> None:
    """The bound exceeds the truth in at most 5 % of audits; 300 audits of a tight mechanism."""
    alarms = sum(sampled(lambda rng, true: laplace(rng, true, scale=1), seed, 200) > 1 for seed in range(300))
    assert stats.binom.sf(alarms - 1, 300, 0.05) > 1e-6


def test_outcomes_that_are_possible_on_one_side_only_give_a_bound_that_grows() -> None:
    """With the logarithm of the number of samples."""
    with_unit: list[Outcome] = [{"seen": 1}] * 4000
    without_unit: list[Outcome] = [{}] * 4000
    assert lower_bound(with_unit[:400], without_unit[:400]).epsilon > 3.5
    found = lower_bound(with_unit, without_unit)
    assert found.epsilon > 6
    assert "seen" in found.event


LEAK = 0.05


def sometimes_all(rng: Generator, true: int) -> Outcome:
    """Randomised response at epsilon 1, but for one case in twenty, in which the unit shows: delta is 0.05."""
    if rng.random() < LEAK:
        return {"answer": 2 + true}
    return randomised_response(rng, true, epsilon=1)


def bound_with(delta: float, seed: int, samples: int) -> float:
    """The bound on that mechanism where delta is claimed."""
    rng = np.random.default_rng(seed)
    outcomes = [[sometimes_all(rng, true) for _ in range(samples)] for true in (1, 0)]
    return lower_bound(*outcomes, delta=delta).epsilon


def test_a_claimed_delta_is_taken_off_the_event() -> None:
    """Without it the mechanism is refuted by what happens on one side only; with it the bound comes close to 1."""
    assert bound_with(0.0, 3, 4000) > 2
    assert 0.8 <= bound_with(LEAK, 3, 20_000) <= 1
    assert bound_with(LEAK / 2, 3, 20_000) > 1


def test_false_alarms_are_as_rare_as_claimed_with_delta() -> None:
    """The bound exceeds the truth in at most 5 % of audits, also where delta is all that tells the sides apart."""
    alarms = sum(bound_with(LEAK, seed, 300) > 1 for seed in range(200))
    assert stats.binom.sf(alarms - 1, 200, 0.05) > 1e-6


def test_an_event_as_rare_as_delta_says_nothing() -> None:
    """One side alone shows it, and yet no epsilon follows."""
    with_unit: list[Outcome] = [{"seen": 1} if place % 25 == 0 else {} for place in range(2000)]
    assert lower_bound(with_unit, [{}] * 2000, delta=0.04).epsilon == 0
    assert lower_bound(with_unit, [{}] * 2000, delta=0.0).epsilon > 0.5


@given(samples=st.integers(4, 300), delta=st.sampled_from([0.0, 0.001, 0.3]), is_reversed=st.booleans())
def test_the_ceiling_is_the_bound_of_a_mechanism_that_tells_all(
    samples: int, delta: float, is_reversed: bool
) -> None:
    """No sample could show more than an event that always comes out on one side and never on the other."""
    told: list[list[Outcome]] = [[{"seen": 1}] * samples, [{"seen": 0}] * samples]
    found = lower_bound(*(reversed(told) if is_reversed else told), delta=delta)
    assert found.ceiling == ceiling(samples, delta=delta)
    assert found.epsilon in {found.ceiling, 0.0}  # too few to choose an event, or the most there is
    assert samples < 40 or found.epsilon > 0


def test_a_hundred_samples_cannot_refute_a_claim_of_six() -> None:
    """Whatever leaks."""
    assert round(ceiling(100), 2) == 2.57
    assert samples_needed(6) > 100


@given(
    claim=st.floats(0.01, 6),
    delta=st.sampled_from([0.0, 0.001, 0.2]),
    confidence=st.sampled_from([0.9, 0.95, 0.99999]),
)
def test_as_many_samples_as_needed_can_refute_and_one_less_cannot(
    claim: float, delta: float, confidence: float
) -> None:
    """The least number whose ceiling is above the claim. An odd number has its middle sample to measure with."""
    needed = samples_needed(claim, delta, confidence=confidence)
    assert ceiling(needed, delta=delta, confidence=confidence) > claim
    assert ceiling(needed - 1, delta=delta, confidence=confidence) <= claim * (1 + 1e-9)


def test_what_never_varies_is_passed_over() -> None:
    """Constants beside one statistic that tells everything; and nothing but constants."""
    with_unit: list[Outcome] = [{"version": 3, "seen": 1}] * 200
    without_unit: list[Outcome] = [{"version": 3, "seen": 0}] * 200
    assert "seen" in lower_bound(with_unit, without_unit).event
    assert lower_bound(with_unit, with_unit).event == "nothing stood out"
