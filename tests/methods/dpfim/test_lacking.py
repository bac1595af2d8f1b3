"""What a tree lacks, learnt from counts: estimates near the truth, and intervals that hold, with controls."""

from fractions import Fraction

import numpy as np
import pytest

from veilset.arrays import FloatArray
from veilset.gate import NoisyCounts, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemsets
from veilset.methods.dpfim.lacking import Regression, combined, levelled, uneven_parts
from veilset.methods.dpfim.tree_supports import TreeSupports, drawn_together


def _known(
    supports: FloatArray, variances: FloatArray, *, ended: FloatArray | None = None, size: int = 1
) -> TreeSupports:
    """Itemsets of a size, later ones less frequent."""
    number = supports.size
    calm = drawn_together(supports, variances) if ended is None else supports
    itemsets = Itemsets.of(tuple(range(place, place + size)) for place in range(number))
    lateness = np.linspace(0, 0.9, number)
    return TreeSupports(itemsets, supports, variances, lateness, calm, np.ones(number), ended)


def _asked(known: TreeSupports, true: FloatArray, noise: FloatArray, scale: int) -> NoisyCounts:
    values = np.rint(true + noise).astype(np.int64)
    return NoisyCounts(known.itemsets, values, DiscreteLaplace(scale, Fraction(1)))


@pytest.mark.parametrize(("level", "slope"), [(1.0, 0.0), (1.04, 0.0), (1.0, 0.3)])
def test_what_the_tree_lacks_is_learnt_from_the_counts(level: float, slope: float) -> None:
    """Forty itemsets, clear counts: the average is close to the truth, whatever the tree lost."""
    true = np.linspace(4000, 1000, 40)
    known = _known(true / (level + slope * np.linspace(0, 0.9, 40)), np.full(40, 100.0))
    noise = SeededNoise(1)._arrays.laplace(scale=100, size=40)
    estimates = combined(known, _asked(known, true, noise, 100), most=10_000)
    errors = np.abs(estimates.supports - true)
    assert np.median(errors) < np.median(np.abs(noise))
    assert np.mean(errors <= estimates.half_widths) > 0.9


@pytest.mark.parametrize(("uneven", "least"), [(0.0, 0.93), (0.3, 0.85)])
def test_intervals_hold_where_the_tree_lacks_unevenly(uneven: float, least: float) -> None:
    """In 20 trees that hold about half of what they should."""
    rng, inside, widths = np.random.default_rng(4), [], []
    true = np.geomspace(20_000, 2000, 60)
    for _ in range(20):
        known = _known(true / 1.8 * np.exp(uneven * rng.standard_normal(60)), np.full(60, 100.0))
        found = combined(known, _asked(known, true, rng.laplace(scale=400, size=60), 400), most=50_000)
        inside.append(np.mean((found.low <= true) & (true <= found.high)))
        widths.append(float(found.half_widths.mean()))
    assert np.mean(inside) > least
    assert np.mean(widths) < 400 * np.log(20) * 1.05


def test_noise_in_the_tree_does_not_draw_supports_to_nothing() -> None:
    """200 supports of about 500 with noise of 1,500 in the tree: what a tree says less is no loss of a factor."""
    rng = np.random.default_rng(6)
    true = rng.uniform(400, 600, 200)
    supports, variances = true + rng.laplace(scale=1000, size=200), np.full(200, 2e6)
    known = _known(supports, variances)
    asked = _asked(known, true, rng.laplace(scale=1000, size=200), 1000)
    found = combined(known, asked, most=50_000)
    assert np.mean((found.low <= true) & (true <= found.high)) > 0.9
    naive = float(supports @ asked.values / (supports @ supports))
    fitted = levelled(known, asked)
    assert naive < 0.3
    assert float(np.mean(fitted.size)) == pytest.approx(500, rel=0.4)


def _coverage_of_dense(*, told: float, told_ended: float = 1.0) -> tuple[float, float]:
    """Trees with normal noise that lack a share of what ended; `told` scales the noise, `told_ended` what ended.

    How often intervals hold, and how wide they are.
    """
    rng, inside, widths = np.random.default_rng(8), [], []
    true = np.geomspace(9000, 5000, 100)
    for _ in range(40):
        ended = np.geomspace(100, 800, 100)
        share = rng.uniform(0.1, 0.7)
        supports = true - share * ended + rng.normal(scale=60, size=100)
        known = _known(supports, np.full(100, (told * 60.0) ** 2), ended=told_ended * ended, size=2)
        found = combined(known, _asked(known, true, rng.laplace(scale=600, size=100), 600), most=12_000)
        inside.append(np.mean((found.low <= true) & (true <= found.high)))
        widths.append(float(found.half_widths.mean()))
    return float(np.mean(inside)), float(np.mean(widths))


def test_a_dense_tree_is_as_exact_as_its_noise_and_what_ended_say_and_controls_are_not() -> None:
    """About 95 %, at a sixth of the width of the counts; less for who halves the noise, more for who doubles it."""
    held, width = _coverage_of_dense(told=1.0)
    assert 0.92 <= held <= 0.985
    assert width < 600 * np.log(20) / 6
    assert _coverage_of_dense(told=0.3, told_ended=0.1)[0] < 0.85
    assert _coverage_of_dense(told=2.5)[0] > 0.985


def test_unevenness_is_skewed_and_changes_nothing_on_average() -> None:
    """An itemset may lack far more than others, and not far less than nothing."""
    parts, gaps = uneven_parts(np.array([0.02, 0.5]))
    assert parts.mean(axis=1) == pytest.approx([1, 1])
    assert parts[1, -1] - 1 > 1.5 * (1 - parts[1, 0])
    assert np.all(gaps[1] > gaps[0])


def test_larger_itemsets_may_all_lack_the_same_number() -> None:
    """Rare ones lack the most of themselves: a factor alone does not explain that."""
    tree = np.geomspace(300, 12_000, 80)
    true = tree + 3000
    known = _known(tree, np.full(80, 100.0), size=2)
    asked = _asked(known, true, np.random.default_rng(2).laplace(scale=800, size=80), 800)
    coefficients, _ = Regression.of(known).fitted(asked.values.astype(float), np.full(80, 2 * 800.0**2))
    assert coefficients[-1] * tree.mean() == pytest.approx(3000, rel=0.35)
    found = combined(known, asked, most=50_000)
    assert np.median(np.abs(found.supports - true)) < 500
