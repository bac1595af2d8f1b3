"""Which items lean to long transactions: classes of supports, and the lines that powers may be on."""

from fractions import Fraction

import numpy as np

import veilset as vs
from veilset.gate import SeededNoise
from veilset.methods.tps.leanings import CHANCES_OF_LINES, SupportClasses, support_classes


def test_powers_of_all_items_together_are_about_1() -> None:
    """Weighted by what is counted of them, where none is in many transactions and none was left out."""
    normalised = np.geomspace(20.0, 900.0, 60)
    classes = SupportClasses.of(normalised, np.arange(60))
    powers = classes.powers(np.full(classes.sizes.size, 1e-6))
    assert abs(CHANCES_OF_LINES @ powers @ classes.counted / classes.counted.sum() - 1) < 0.02
    assert np.all(np.diff(CHANCES_OF_LINES @ powers) > 0)


def test_items_that_most_transactions_hold_lean_to_no_length() -> None:
    """The same items, once rare and once popular."""
    classes = SupportClasses.of(np.array([100.0, 90.0]), np.arange(2))
    rare, popular = (CHANCES_OF_LINES @ classes.powers(np.full(1, held)) for held in (0.01, 0.9))
    assert np.all(popular < 0.4 * rare)


def test_classes_of_supports() -> None:
    """A factor of two each; everything rarer is in the last one, and noise below 0 as well."""
    assert support_classes(np.array([800.0, 900.0, 300.0, 1e-6, -5.0]), 800.0).tolist() == [0, 0, 1, 7, 7]


def sessions(rng: np.random.Generator) -> list[list[int]]:
    """20,000 transactions: one item is in most of them, often alone; 200 others are mostly in long ones."""
    lengths = np.minimum(rng.geometric(0.4, 20_000) * rng.choice([1, 8], 20_000, p=[0.8, 0.2]), 60)
    chances = 1 / np.arange(1, 201) ** 0.7
    chances /= chances.sum()
    return [
        sorted({0, *(1 + rng.choice(200, length - 1, replace=False, p=chances)).tolist()})
        if rng.random() < 0.7
        else sorted((1 + rng.choice(200, length, replace=False, p=chances)).tolist())
        for length in lengths.tolist()
    ]


def test_intervals_hold_where_popular_items_are_held_alone() -> None:
    """`frefirst` at epsilon 1/2, four runs."""
    data = vs.read(sessions(np.random.default_rng(5)))
    truth = vs.mine_exact(data, k=201, max_size=1)
    exact = dict(zip(truth.itemsets, truth.supports, strict=True))
    runs = [
        vs.items(
            data, epsilon=Fraction(1, 2), k=80, method="frefirst", public_items=True, noise=SeededNoise(seed)
        )
        for seed in range(4)
    ]
    found = [each for run in runs for each in run.itemsets]
    inside = [each.low <= exact[each.items] <= each.high for each in found]
    errors = [each.support / exact[each.items] - 1 for each in found]
    assert np.mean(inside) >= 0.9
    assert abs(np.mean(errors)) <= 0.15
