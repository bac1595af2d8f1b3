"""What methods would learn of the model: lengths and ranks, against their definitions."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from veilset.forecast import World
from veilset.forecast.curve import popularity, support_curve
from veilset.forecast.model import chance_to_be_reached, expected_rank, model_lengths
from veilset.itemsets import Domain
from veilset.methods.shared.truncation import LONGEST_LENGTH


def world_of(items: int, *, rows: int = 10_000) -> World:
    """Items held independently, half of them on average."""
    shares = popularity(items=items, length=items / 2)
    curve = support_curve(shares, rows=rows, max_size=2)
    return World(rows, shares, Domain(items=range(items), max_size=2), curve)


def test_lengths_are_those_of_all_transactions_that_the_model_can_have() -> None:
    """Six items, of which the first four count: every way to hold them, with its probability."""
    world = world_of(6)
    expected = np.zeros(LONGEST_LENGTH + 1)
    for held in product([False, True], repeat=4):
        expected[sum(held)] += np.where(held, world.shares[:4], 1 - world.shares[:4]).prod()
    lengths = model_lengths(world, 4, epsilon=Fraction(1))
    assert lengths.values.tolist() == np.rint(world.rows * expected).astype(int).tolist()


def test_longer_transactions_are_one_class() -> None:
    """Of 200 items a transaction holds 100, which is 64 and longer."""
    lengths = model_lengths(world_of(200), 200, epsilon=Fraction(1))
    assert lengths.values.size == LONGEST_LENGTH + 1
    assert lengths.values[-1] == pytest.approx(10_000, rel=0.01)


def test_the_expected_rank_is_the_closest_one_where_noise_is_small() -> None:
    """And the middle of all ranks where it is large."""
    world = world_of(20)
    k = 30
    distances = np.abs(world.rows * world.shares - world.curve.at_rank(k))
    assert expected_rank(world, k, rate=1000.0) == 1 + int(distances.argmin())
    assert expected_rank(world, k, rate=0.0) == round((1 + 20) / 2)


def test_an_itemset_is_reached_if_its_items_and_its_least_likely_pair_are() -> None:
    """A pair that nothing is chosen by has no say."""
    chances = {(0,): 0.9, (1,): 0.8, (2,): 0.5, (0, 1): 0.7, (1, 2): 0.6}
    assert chance_to_be_reached((0,), chances) == 0.9
    assert chance_to_be_reached((0, 2), chances) == pytest.approx(0.9 * 0.5)
    assert chance_to_be_reached((0, 1, 2), chances) == pytest.approx(0.9 * 0.8 * 0.5 * 0.6)


def test_uneven_lengths_have_the_same_mean_and_vary_as_drawn_ones_do() -> None:
    """The slow way: transactions with an exponential activity, each item held with the chance that it gives."""
    shares = np.concatenate([popularity(items=20, length=3.0), np.full(100, 0.004)])
    curve = support_curve(shares, rows=100_000, max_size=2)
    even = World(100_000, shares, Domain(items=range(120), max_size=2), curve)
    uneven = replace(even, unevenness=1.0)
    rng = np.random.default_rng(3)
    activities = rng.exponential(size=(200_000, 1))
    drawn = (rng.random((200_000, 120)) < 1 - np.exp(-activities * shares / (1 - shares))).sum(axis=1)
    numbers = np.arange(LONGEST_LENGTH + 1)
    lengths = model_lengths(uneven, 120, epsilon=Fraction(1)).values / uneven.rows
    mean, variance = lengths @ numbers, lengths @ numbers**2 - (lengths @ numbers) ** 2
    assert mean == pytest.approx(shares.sum(), rel=0.01)
    assert mean == pytest.approx(drawn.mean(), rel=0.02)
    assert variance == pytest.approx(drawn.var(), rel=0.05)
    assert (
        variance
        > 2 * model_lengths(even, 120, epsilon=Fraction(1)).values @ (numbers - mean) ** 2 / even.rows
    )


def test_lengths_have_the_mean_that_is_known_where_shares_add_up_to_more() -> None:
    """As where a guess of a support made all shares larger."""
    shorter = replace(world_of(20), length=4.0)
    lengths = model_lengths(shorter, 20, epsilon=Fraction(1)).values
    assert lengths @ np.arange(lengths.size) / lengths.sum() == pytest.approx(4.0, rel=0.01)
