"""Losses of transcripts: what is private costs its epsilon and no more; every way past the gate is seen."""

import math
from fractions import Fraction

import numpy as np
import pytest

from veilset.audit.neighbours import PAIRS, Pair
from veilset.audit.transcripts.lockstep import LockstepNoise
from veilset.audit.transcripts.losses import RunOn, epsilon_of_rho, largest_loss
from veilset.errors import BadCall
from veilset.gate import DiscreteGaussian, DiscreteLaplace, Exponential, Noise, drawable_rate, price_of
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.row_keys import NumberedRows
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.transactions import Transactions

ONE = Fraction(1)
PAIR = next(pair for pair in PAIRS if pair.name == "empty transaction")
TINY = Pair("tiny", "few enough for all samples", 2, (frozenset({0}), frozenset({1})), frozenset({0}))


def number(data: Transactions, noise: Noise, *, sensitivity: int = 1, epsilon: Fraction = ONE) -> int:
    """The number of transactions, with noise."""
    exact = ExactCounts(np.array([len(data)]))
    return int(noise.counts(exact, DiscreteLaplace(sensitivity, epsilon))[0])


def numbered(data: Transactions) -> NumberedRows:
    """The transactions, all taken for different."""
    return NumberedRows(CompressedRows(data.offsets, data.items), np.zeros(len(data), np.uint32))


def loss(run: RunOn, pair: Pair = PAIR, delta: Fraction = Fraction(0)) -> float:
    """What a run gives away."""
    return largest_loss(run, pair, delta=delta).epsilon


def test_a_count_costs_its_epsilon_exactly_and_two_of_them_twice_that() -> None:
    """Costs of decisions add up."""
    assert loss(number) == pytest.approx(1)
    assert loss(lambda data, noise: number(data, noise) + number(data, noise)) == pytest.approx(2)


def test_noise_for_another_sensitivity_is_noticed() -> None:
    """Less noise costs more, more noise less."""
    assert loss(lambda data, noise: number(data, noise, epsilon=2 * ONE)) == pytest.approx(2)
    assert loss(lambda data, noise: number(data, noise, sensitivity=4)) == pytest.approx(1 / 4)


def test_whatever_is_published_beside_the_noise_is_a_leak() -> None:
    """Also where the count itself is noisy."""
    assert loss(lambda data, noise: (number(data, noise), len(data))) == math.inf
    assert loss(lambda data, noise: (number(data, noise), len(data) > 0)) == pytest.approx(1)


def test_a_next_question_that_depends_on_the_data_is_a_leak() -> None:
    """One that depends on noisy answers is not."""

    def asks_by_data(data: Transactions, noise: Noise) -> int:
        odd = len(data) % 2
        return number(data, noise) if odd else noise.place(np.array([0, 0]), Exponential(1, 1, ONE))

    def asks_by_answer(data: Transactions, noise: Noise) -> int:
        half = ONE / 2
        first = number(data, noise, epsilon=half)
        return first if first % 2 else number(data, noise, epsilon=half)

    assert loss(asks_by_data) == math.inf
    assert loss(asks_by_answer) <= 1 + 1e-9


def test_one_more_question_on_one_side_is_a_leak() -> None:
    """A run that is over cannot be answered."""

    def asks_again(data: Transactions, noise: Noise) -> int:
        return (
            number(data, noise, epsilon=ONE / 2)
            if len(data) % 2
            else number(data, noise) + number(data, noise)
        )

    assert loss(asks_again) == math.inf


def test_an_error_that_only_one_database_shows_is_a_leak() -> None:
    """What a user sees of it is part of what is published."""

    def fails(data: Transactions, noise: Noise) -> int:
        if len(data) % 2:
            raise BadCall("an odd number of transactions")
        return number(data, noise)

    def fails_alike(data: Transactions, noise: Noise) -> int:
        raise BadCall(f"the same whatever the data: {number(data, noise) // 10**6}")

    assert loss(fails) == math.inf
    assert loss(fails_alike) == pytest.approx(1)


def test_numbers_that_nobody_decided_about_are_refused() -> None:
    """Uniform numbers and noise reach nobody but through a decision."""
    noise = LockstepNoise(0)
    with pytest.raises(AssertionError, match="outside of every decision"):
        noise.below(3)
    with pytest.raises(AssertionError, match="outside of every decision"):
        noise.discrete_laplace(ExactCounts(np.array([1])), scale=ONE)


@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(3, 4)], ids=str)
def test_a_sample_makes_questions_cheaper_by_what_the_theorem_says(rate: Fraction) -> None:
    """All samples are run through: the loss is the amplified price, and not the price on the sample."""
    drawn = drawable_rate(rate)

    def on_sample(data: Transactions, noise: Noise) -> int:
        keys = noise.sample_keys(rate=drawn).of_rows(numbered(data))
        sampled = int(np.count_nonzero(keys < np.uint64(drawn * 2**32)))
        exact = ExactCounts(np.array([sampled]))
        return int(noise.counts(exact, DiscreteLaplace(1, ONE))[0])

    price = float(price_of(ONE, chance=drawn))
    assert price < 1
    assert loss(on_sample, TINY) == pytest.approx(price, rel=1e-6)


def test_large_samples_are_not_judged() -> None:
    """Two to the number of transactions are too many: no verdict is better than a wrong one."""

    def on_sample(data: Transactions, noise: Noise) -> int:
        keys = noise.sample_keys(rate=Fraction(1, 2)).of_rows(numbered(data))
        return int(keys.size) * number(data, noise)

    with pytest.raises(BadCall, match="too many outcomes to run through"):
        largest_loss(on_sample, PAIRS[0])


def test_gaussian_noise_is_measured_by_rho_at_the_delta_that_is_claimed() -> None:
    """Without delta it protects nothing."""

    def gaussian(data: Transactions, noise: Noise) -> int:
        mechanism = DiscreteGaussian(1, ONE / 2, ONE, Fraction(1, 1000), 1)
        return int(noise.counts(ExactCounts(np.array([len(data)])), mechanism)[0])

    scale = float(DiscreteGaussian(1, ONE / 2, ONE, Fraction(1, 1000), 1).scale)
    assert loss(gaussian, delta=Fraction(1, 1000)) == pytest.approx(epsilon_of_rho(1 / (2 * scale**2), 1e-3))
    assert loss(gaussian) == math.inf
