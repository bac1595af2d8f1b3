"""The prior by which supports of larger itemsets are told: as wide as what it is made of is uncertain."""

import math

import numpy as np
import pytest

from planned_cases import measured
from veilset.itemsets import Itemset
from veilset.methods.planned.posterior import Posterior, grid_to
from veilset.methods.planned.prior import LIFTS, WIDTHS, prior_of
from veilset.methods.planned.settings import DEFAULT
from veilset.methods.planned.told_prior import LogSupport, expected_log, with_told_prior

NUMBER = 50_000
GRID = grid_to(NUMBER)


def known_supports(**supports: tuple[float, float]) -> dict[Itemset, LogSupport]:
    """Supports of itemsets that are named by their items, with the variance of their logarithm."""
    return {
        tuple(map(int, name[1:])): LogSupport(math.log(support), variance)
        for name, (support, variance) in supports.items()
    }


def test_a_triple_is_expected_from_its_pairs_as_where_it_is_looked_for() -> None:
    """The mean is that of the prior of the search; each pair is in two of three products, so 4 / 9 of its variance."""
    known = known_supports(
        _0=(400, 0.1), _1=(300, 0.1), _2=(200, 0.1), _01=(60, 0.09), _02=(50, 0.0), _12=(40, 0.18)
    )
    plain = {itemset: math.exp(each.mean) for itemset, each in known.items()}
    slacks = dict.fromkeys(plain, 0.0)
    searched = prior_of([(0, 1, 2)], plain, 1000, slacks=slacks, settings=DEFAULT)
    expected = expected_log((0, 1, 2), known, 1000)
    assert expected is not None
    assert math.exp(expected.mean) == pytest.approx(searched.expected[0])
    assert expected.variance == pytest.approx(4 / 9 * 0.27)


def test_no_itemset_is_expected_to_be_more_frequent_than_a_subset_or_from_what_is_not_known() -> None:
    """Two items that nearly all transactions contain; and a pair of which one item was never looked at."""
    known = known_supports(_0=(900, 0.0), _1=(990, 0.0))
    expected = expected_log((0, 1), known, 500)
    assert expected is not None
    assert math.exp(expected.mean) == pytest.approx(900)
    assert expected_log((0, 2), known, 500) is None


def pair_of(item_deviation: float, *, pair_scale: float = 1e6) -> Posterior:
    """Two items of 5,000, as well known as that, and their pair, of which an answer says next to nothing."""
    items = Posterior.measured(
        [(0,), (1,)], measured([5000.0, 5000.0], GRID, scale=item_deviation / math.sqrt(2)), GRID
    )
    pair = Posterior.measured([(0, 1)], measured([800.0], GRID, scale=pair_scale), GRID)
    return items + pair


def widths_of(posterior: Posterior) -> list[float]:
    """Standard deviations of the logarithms of supports, by the prior alone."""
    logs = np.log(posterior.grid)
    chances = np.exp(posterior.log_prior - posterior.log_prior.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    means = chances @ logs
    widths: list[float] = np.sqrt(chances @ logs**2 - means**2).tolist()
    return widths


def test_the_prior_of_a_pair_is_as_wide_as_its_items_are_uncertain() -> None:
    """And that of items stays as it was."""
    well, badly = (with_told_prior(pair_of(deviation), NUMBER, DEFAULT) for deviation in (20.0, 2500.0))
    assert widths_of(badly)[2] > 1.2 * widths_of(well)[2]
    assert widths_of(badly)[:2] == widths_of(pair_of(2500.0))[:2]


def test_lifts_are_averaged_over_all_laws_that_explain_the_answers() -> None:
    """Pairs that are e times as frequent as independence says: the prior is around that; of none, around the usual."""
    count, rng = 60, np.random.default_rng(5)
    items: list[Itemset] = [(item,) for item in range(2 * count)]
    pairs: list[Itemset] = [(2 * place, 2 * place + 1) for place in range(count)]
    known = Posterior.measured(items, measured([5000.0] * 2 * count, GRID, scale=10.0), GRID)
    expected = 5000 * 5000 / NUMBER
    told = {}
    for name, scale in (("well", 5.0), ("not", 1e7)):
        values = expected * np.exp(1 + 0.25 * rng.normal(size=count)) + rng.laplace(0, scale, count)
        both = known + Posterior.measured(pairs, measured(values.tolist(), GRID, scale=scale), GRID)
        prior = with_told_prior(both, NUMBER, DEFAULT).log_prior[-1]
        told[name] = math.log(GRID[int(np.argmax(prior))] / expected)
    assert told["well"] == pytest.approx(1.0, abs=0.2)
    assert told["not"] == pytest.approx(DEFAULT.usual_lift, abs=0.3)
    assert min(LIFTS) < told["not"] < max(LIFTS)
    assert len(WIDTHS) > 1


def test_intervals_of_pairs_hold_where_items_are_little_more_than_noise() -> None:
    """Most of the items are rare, and noise makes some of them look frequent, so their pairs are expected to be.

    Intervals hold four of five with the prior that doubts items, and a third with the one that takes them as known.
    """
    rng = np.random.default_rng(11)
    count = 300
    supports = np.where(rng.random(2 * count) < 0.3, 5000.0, 800.0)
    seen = supports + rng.laplace(0, 900.0, supports.size)
    items: list[Itemset] = [(item,) for item in range(2 * count)]
    pairs: list[Itemset] = [(2 * place, 2 * place + 1) for place in range(count)]
    lifts = np.exp(0.5 + 0.3 * rng.normal(size=count))
    rarest = np.minimum(supports[::2], supports[1::2])
    true = np.minimum(supports[::2] * supports[1::2] / NUMBER * lifts, rarest)
    counts = true + rng.laplace(0, 400.0, count)
    posterior = Posterior.measured(items, measured(seen.tolist(), GRID, scale=900.0), GRID)
    prior = prior_of(
        pairs,
        dict(zip(items, posterior.means.tolist(), strict=True)),
        NUMBER,
        slacks=dict.fromkeys(items, 0.0),
        settings=DEFAULT,
    )
    both = posterior + Posterior.measured(
        pairs, measured(counts.tolist(), GRID, scale=400.0), GRID, prior=prior
    )

    def coverage(known: Posterior) -> float:
        told = known.fine(np.arange(2 * count, 3 * count)).estimates()
        return float(((told.low <= true) & (true <= told.high)).mean())

    assert coverage(with_told_prior(both, NUMBER, DEFAULT)) > 0.75
    assert coverage(both) < 0.5
