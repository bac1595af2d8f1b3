"""How many itemsets transactions contain, learned from noise; what is kept under a cap; which cap is best."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over
from planned_cases import overlap_over
from veilset.gate import Budget, NoisyHistogram, PrivacyUnit
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemsets
from veilset.methods.planned.histogram_laws import CLASSES, MOST, NUMBERS, Total
from veilset.methods.planned.overlap import (
    CAPS,
    FewItems,
    GaussianOffer,
    Overlap,
    ask_overlap,
    draws_of_items,
)
from veilset.methods.planned.settings import DEFAULT

Floats = npt.NDArray[np.float64]


def histogram_of(numbers: npt.NDArray[np.int64], *, epsilon: Fraction | int, seed: int = 1) -> NoisyHistogram:
    """The noisy classes of some numbers."""
    mechanism = DiscreteLaplace(1, Fraction(epsilon))
    exact = np.histogram(numbers, bins=[*CLASSES, 10**9])[0]
    noise = np.rint(np.random.default_rng(seed).laplace(0, float(mechanism.scale), len(CLASSES)))
    return NoisyHistogram((exact + noise).astype(np.int64), mechanism)


def log_normal(middle: float, width: float, *, rows: int = 100_000) -> npt.NDArray[np.int64]:
    """Numbers as the model has them."""
    drawn = np.random.default_rng(5).lognormal(middle, width, rows)
    return np.clip(np.rint(drawn), 0, MOST).astype(np.int64)


def in_classes(overlap: Overlap) -> Floats:
    """The number of transactions in each class but the first."""
    numbers: Floats = np.add.reduceat(overlap.transactions, np.array(CLASSES[1:]) - 1)
    return numbers


def kept_of(numbers: npt.NDArray[np.int64], most: int) -> float:
    """The share that a cap leaves, by its definition."""
    return float(np.minimum(numbers, most).sum() / numbers.sum())


@pytest.mark.parametrize(("middle", "width"), [(0.5, 0.6), (1.5, 0.8), (2.5, 0.3), (3.0, 1.0)])
@pytest.mark.parametrize("most", [1, 2, 8, 33])
def test_a_log_normal_overlap_is_recovered_under_little_noise(middle: float, width: float, most: int) -> None:
    """What a cap leaves of an average support is right to two hundredths, though classes are wide."""
    numbers = log_normal(middle, width)
    found = Overlap.of(histogram_of(numbers, epsilon=1), numbers.size, settings=DEFAULT)
    assert found.transactions.sum() == pytest.approx((numbers > 0).sum(), rel=0.02)
    assert found.kept(most) == pytest.approx(kept_of(numbers, most), abs=0.02)


def power_law(exponent: float, *, rows: int = 40_000) -> npt.NDArray[np.int64]:
    """Lengths of sessions: most hold one, a few hold hundreds."""
    return np.minimum(np.random.default_rng(6).zipf(exponent, rows), 300)


def poisson(mean: float, *, rows: int = 40_000) -> npt.NDArray[np.int64]:
    """Lengths of baskets that are all much alike."""
    return np.random.default_rng(7).poisson(mean, rows)


@pytest.mark.parametrize(
    "numbers", [power_law(2.3), power_law(2.6), poisson(4.0), poisson(9.0)], ids=["2.3", "2.6", "4", "9"]
)
def test_long_and_short_tails_are_read_under_much_noise(numbers: npt.NDArray[np.int64]) -> None:
    """Where noise hides the last classes, those before them tell of the tail: the share is about right on average."""
    found = [
        Overlap.of(
            histogram_of(numbers, epsilon=Fraction(1, 100), seed=seed), numbers.size, settings=DEFAULT
        ).kept(4)
        for seed in range(20)
    ]
    assert float(np.mean(np.log(found))) == pytest.approx(math.log(kept_of(numbers, 4)), abs=0.1)


def test_a_class_that_no_noise_explains_is_believed_against_the_model() -> None:
    """Two lengths, far apart: no log-normal law is like that, and no average of laws may smooth it."""
    numbers = np.repeat([2, 100], [70_000, 30_000])
    found = Overlap.of(histogram_of(numbers, epsilon=1), numbers.size, settings=DEFAULT)
    exact = np.histogram(numbers, bins=[*CLASSES[1:], 10**9])[0]
    assert in_classes(found) == pytest.approx(exact, rel=0.003, abs=20)


@pytest.mark.parametrize("more", [100, 1000, 30_000])
def test_what_departs_from_a_log_normal_law_is_believed_as_well(more: int) -> None:
    """Some that hold a hundred, beside baskets as the model has them."""
    numbers = np.append(log_normal(1.0, 0.6), np.full(more, 100))
    found = Overlap.of(histogram_of(numbers, epsilon=1), numbers.size, settings=DEFAULT)
    assert in_classes(found)[CLASSES.index(65) - 1] == pytest.approx(more, rel=0.05)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 50), Fraction(1, 100)])
@pytest.mark.parametrize("far", [65, 129, 257])
def test_a_heavy_draw_of_noise_in_a_far_class_is_not_believed(far: int, epsilon: Fraction) -> None:
    """Four scales, as one draw of a hundred has: less than one of them is believed, and the best cap is the same."""
    mechanism, numbers = DiscreteLaplace(1, epsilon), log_normal(1.5, 0.6, rows=20_000)
    exact = np.histogram(numbers, bins=[*CLASSES, 10**9])[0].astype(np.int64)
    drawn = exact.copy()
    drawn[CLASSES.index(far)] += round(4 * float(mechanism.scale))
    without, found = (
        Overlap.of(NoisyHistogram(values, mechanism), numbers.size, settings=DEFAULT)
        for values in (exact, drawn)
    )
    assert found.transactions[far - 1 :].sum() < float(mechanism.scale)
    for most in (1, 5, 20):
        assert found.kept(most) == pytest.approx(without.kept(most), abs=0.01)
    best, best_without = (each.best_cap(support=500, noise=10) for each in (found, without))
    assert best.most == best_without.most


@pytest.mark.parametrize("largest", [1, 2, 6, 40, 300])
def test_nothing_is_held_above_the_largest_number(largest: int) -> None:
    """There are no more itemsets to hold, whatever the histogram says of classes above."""
    values = np.array([100, 300, 350, 250, 90, 80, 70, 60, 50, 40, 30])
    found = Overlap.of(
        NoisyHistogram(values, DiscreteLaplace(1, Fraction(1, 5))), 1400, largest=largest, settings=DEFAULT
    )
    assert found.transactions[:largest].sum() > 0
    assert found.transactions[largest:].sum() == 0


def test_a_known_total_moves_what_noise_leaves_open() -> None:
    """Supports that add up to more make transactions hold more; under little noise the histogram has its way."""
    numbers = log_normal(1.5, 0.8, rows=1000)
    noisy = histogram_of(numbers, epsilon=Fraction(1, 50))
    held = [
        float(NUMBERS @ Overlap.of(noisy, numbers.size, settings=DEFAULT, total=total).transactions)
        for total in (
            Total(part * float(numbers.sum()), DEFAULT.known_total_within) for part in (0.5, 1.0, 2.0)
        )
    ]
    assert held == sorted(held)
    assert held[2] > 1.2 * held[0]
    clear = histogram_of(numbers, epsilon=1000)
    twice_as_much = Total(2.0 * float(numbers.sum()), DEFAULT.known_total_within)
    without, wrong = (
        Overlap.of(clear, numbers.size, settings=DEFAULT, total=total) for total in (None, twice_as_much)
    )
    assert wrong.kept(3) == pytest.approx(without.kept(3), abs=0.01)


def test_what_is_held_by_more_than_hold_any_is_counted_in_proportion() -> None:
    """The number that hold any is itself an estimate: a support a little above it is not all others at once."""
    found = overlap_over({1: 1000})
    assert found.counted(np.array([999.0, 1001.0, 1100.0]), 1) == pytest.approx([999, 1001, 1100], rel=1e-6)


def test_under_much_noise_the_model_speaks() -> None:
    """A single noisy class of 50 does not make transactions that hold 257: the tail stays thin."""
    mechanism = DiscreteLaplace(1, Fraction(1, 20))
    values = np.array([0, 300, 350, 250, 90, 10, 0, 0, 0, 0, 50])
    found = Overlap.of(NoisyHistogram(values, mechanism), 1000, settings=DEFAULT).transactions
    assert found[256:].sum() < 5


@given(
    values=st.lists(st.integers(-500, 5000), min_size=len(CLASSES), max_size=len(CLASSES)),
    number=st.integers(1, 10_000),
    epsilon=st.sampled_from([Fraction(1, 100), Fraction(1), Fraction(10**6)]),
    most=st.sampled_from(CAPS),
    support=st.floats(0.5, 20_000),
    largest=st.integers(1, 2 * MOST),
    total=st.none() | st.builds(Total, st.sampled_from([1.0, 5e3, 1e7]), st.sampled_from([0.25, 1.0])),
)
def test_whatever_the_histogram_shares_are_shares(
    values: list[int],
    number: int,
    epsilon: Fraction,
    most: int,
    support: float,
    largest: int,
    total: Total | None,
) -> None:
    """Negative counts and nonsense: no negative transactions, nothing kept outside 0 to 1, no cap besides."""
    histogram = NoisyHistogram(np.array(values), DiscreteLaplace(1, epsilon))
    found = Overlap.of(histogram, number, largest=largest, total=total, settings=DEFAULT)
    assert np.isfinite(found.transactions).all()
    assert found.transactions.min() >= 0
    assert found.transactions[largest:].sum() == 0
    assert 0 <= found.kept(most) <= 1
    counted = float(found.counted(np.array([support]), most)[0])
    assert 0 <= counted <= support * (1 + 1e-6)
    cap = found.best_cap(support=support, noise=1 / float(epsilon))
    assert cap.most in CAPS
    assert 0 < cap.kept <= 1 + 1e-6
    assert np.isfinite(cap.error)


def test_what_is_kept_is_right_by_hand() -> None:
    """Of 10 * 1 + 10 * 4 a cap of 2 leaves 10 + 20; nothing is lost where nobody holds more."""
    found = overlap_over({1: 10, 4: 10})
    assert [found.kept(most) for most in (1, 2, 3, 4, 9)] == [20 / 50, 30 / 50, 40 / 50, 1, 1]
    assert overlap_over({}).kept(1) == 1


def test_a_rare_itemset_is_counted_as_an_average_one() -> None:
    """Where it is likelier the more itemsets a transaction holds."""
    found = overlap_over({1: 1000, 10: 1000})
    assert found.counted(np.array([20.0]), 2) == pytest.approx(20 * found.kept(2), rel=0.02)


def test_what_all_transactions_hold_is_counted_as_transactions_are() -> None:
    """It cannot be likelier in some of them: 1000 whole ones, and 2 / 10 of the others."""
    found = overlap_over({1: 1000, 10: 1000})
    assert found.counted(np.array([2000.0]), 2) == pytest.approx(1200, rel=0.01)


@pytest.mark.parametrize("chance", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("most", [1, 3])
def test_what_is_counted_is_right_on_data_that_fit_the_model(chance: float, most: int) -> None:
    """A transaction that holds n has the itemset with probability 1 - (1 - q)^n: drawn, counted, compared."""
    rng = np.random.default_rng(2)
    numbers = rng.choice([1, 2, 5, 12], size=200_000, p=[0.3, 0.3, 0.3, 0.1])
    has_it = rng.random(numbers.size) < 1 - (1 - chance) ** numbers
    under_cap = float(np.minimum(1, most / numbers[has_it]).sum())
    found = overlap_over(dict(zip(*np.unique(numbers, return_counts=True), strict=True)))
    assert found.counted(np.array([float(has_it.sum())]), most) == pytest.approx(under_cap, rel=0.02)


def test_more_is_counted_of_a_larger_support_and_under_a_larger_cap() -> None:
    """Of one overlap, over the whole range."""
    found = Overlap.of(histogram_of(log_normal(1.5, 0.8), epsilon=1), 100_000, settings=DEFAULT)
    supports = np.geomspace(1, 90_000, 60)
    counted = np.array([found.counted(supports, most) for most in CAPS])
    assert (np.diff(counted, axis=1) >= 0).all()
    assert (np.diff(counted, axis=0) >= -1e-9).all()


def test_noise_asks_for_small_caps_and_precision_for_large_ones() -> None:
    """The best cap never rises with the noise: from one that loses nothing down to 1."""
    found = overlap_over({1: 5000, 4: 3000, 16: 2000})
    chosen = [found.best_cap(support=500, noise=unit).most for unit in (0.001, 1, 5, 20, 100, 10_000)]
    assert chosen == sorted(chosen, reverse=True)
    assert chosen[0] >= 16
    assert chosen[-1] == 1


def test_no_cap_is_better_by_its_own_error() -> None:
    """The noise of a count scaled up, and what is lost unevenly, by hand for each cap."""
    found, support, unit = overlap_over({1: 5000, 4: 3000, 16: 2000}), 300.0, 4.0
    best = found.best_cap(support=support, noise=unit)

    def error(most: int) -> float:
        kept = float(found.counted(np.array([support]), most)[0]) / support
        return float(np.sqrt(2 * (most * unit / kept) ** 2 + (0.4 * (1 - kept) * support) ** 2))

    assert best.error == pytest.approx(min(error(most) for most in CAPS))
    assert best.error == pytest.approx(error(best.most))
    assert 1 < best.most < 16


def test_caps_and_classes_rise_from_where_they_must() -> None:
    """Caps from 1, classes from 0, without repeats, within what an overlap tells apart."""
    assert CAPS[0] == CLASSES[1] == 1
    assert CLASSES[0] == 0
    assert list(CAPS) == sorted(set(CAPS))
    assert CAPS[-1] <= MOST


def test_an_overlap_costs_what_it_says() -> None:
    """One question, of the items or of itemsets; with hardly any noise it tells how many hold any."""
    rows = [frozenset({0, 1, 2})] * 50 + [frozenset({3})] * 30 + [frozenset()] * 20
    curator = curator_over(rows, epsilon=Fraction(200))
    lengths = ask_overlap(curator, None, number=100, epsilon=Fraction(100), settings=DEFAULT)
    assert curator.budget.spent == 100
    itemsets = Itemsets.of([(0, 1), (2,)])
    some = ask_overlap(curator, itemsets, number=100, epsilon=Fraction(100), settings=DEFAULT)
    assert lengths.transactions.sum() == pytest.approx(80, abs=1)
    assert lengths.transactions[[0, 2]].sum() == pytest.approx(80, rel=0.5)
    assert some.transactions[1] == pytest.approx(50, abs=1)


def test_gaussian_noise_is_taken_where_it_errs_less() -> None:
    """Where transactions contain many of the itemsets, and there is a delta; never without one."""
    numbers = np.zeros(MOST)
    numbers[59] = 50_000.0
    few = np.append(50_000.0, np.zeros(MOST - 1))
    long, short = Overlap.known(numbers, DEFAULT), Overlap.known(few, DEFAULT)
    budget = Budget(Fraction(1), delta=Fraction(1, 10**10))
    offer = GaussianOffer(lambda epsilon: budget.gaussian_cost(epsilon).rho, 1)
    assert not long.best_cap(support=2000.0, noise=5.0).is_root
    cap = replace(long, gaussian=offer).best_cap(support=2000.0, noise=5.0)
    assert cap.is_root
    assert cap.error < long.best_cap(support=2000.0, noise=5.0).error
    assert not replace(short, gaussian=offer).best_cap(support=2000.0, noise=5.0).is_root


def test_the_deviation_that_is_predicted_is_that_of_the_question() -> None:
    """Of a count that one unit of three transactions moves by 3 in the L2 norm, at the epsilon of Laplace noise."""
    curator = curator_over([], epsilon=Fraction(1), delta=Fraction(1, 10**9), unit=PrivacyUnit("person", 3))
    offer = GaussianOffer(lambda epsilon: curator.budget.gaussian_cost(epsilon).rho, 3)
    for _ in range(2):  # the second costs as much, and has less noise
        predicted = offer.deviation(3 / 0.125)
        drawn = curator.ask_root_counts(Itemsets.of([(0,)]), most=1, epsilon=Fraction(1, 8)).mechanism
        assert predicted == pytest.approx(float(drawn.scale / drawn.steps), rel=1e-3)


def test_draws_of_few_items_are_those_that_it_takes() -> None:
    """The collector's problem by trying it: of five items, draws until there are 1, ..., 5 different ones."""
    rng = np.random.default_rng(1)
    needed = np.zeros((4000, 5))
    for row in needed:
        drawn_items = rng.integers(5, size=200).tolist()
        found: set[int] = set()
        for number, item in enumerate(drawn_items, start=1):
            if item not in found:
                found.add(item)
                row[len(found) - 1] = number
    assert draws_of_items(5)[:5] == pytest.approx(needed.mean(axis=0), rel=0.03)
    assert draws_of_items(5)[5:].tolist() == [draws_of_items(5)[4]] * (MOST - 5)


def test_what_a_cap_takes_from_a_rare_one_of_few_items_is_told_better() -> None:
    """Transactions are draws of eight items, one of them rare; of many items, a cap would take less from that."""
    rng = np.random.default_rng(2)
    popularity = np.array([0.14] * 7 + [0.02])
    draws = np.minimum(rng.geometric(0.12, 40_000), 60)
    is_held = rng.random((draws.size, 8)) < 1 - (1 - popularity) ** draws[:, None]
    lengths = is_held.sum(axis=1)
    rarest = is_held[:, -1]
    counted = float(np.minimum(1.0, 2 / np.maximum(lengths[rarest], 1)).sum())
    numbers = np.bincount(lengths, minlength=MOST + 1)[1 : MOST + 1].astype(float)
    many = Overlap.known(numbers, DEFAULT)
    supports = np.array([float(rarest.sum())])
    as_few, as_many = (
        float(overlap.counted(supports, 2)[0]) for overlap in (replace(many, few=FewItems(8)), many)
    )
    assert as_few == pytest.approx(counted, rel=0.15)
    assert as_many > 1.2 * counted


def test_what_a_cap_takes_from_a_rare_pair_of_few_items_is_told_better() -> None:
    """All pairs of eight items are counted; a rare one is with long transactions once more for each of its items."""
    rng = np.random.default_rng(3)
    popularity = np.array([0.14] * 6 + [0.04, 0.03])
    draws = np.minimum(rng.geometric(0.12, 60_000), 60)
    lengths_and_pair = rng.random((draws.size, 8)) < 1 - (1 - popularity) ** draws[:, None]
    lengths = lengths_and_pair.sum(axis=1)
    pairs = lengths * (lengths - 1) // 2
    has_rarest = lengths_and_pair[:, 6] & lengths_and_pair[:, 7]
    counted = float(np.minimum(1.0, 3 / np.maximum(pairs[has_rarest], 1)).sum())
    numbers = np.bincount(pairs, minlength=MOST + 1)[1 : MOST + 1].astype(float)
    many = Overlap.known(numbers, DEFAULT)
    supports = np.array([float(has_rarest.sum())])
    as_few, as_many = (
        float(overlap.counted(supports, 3)[0]) for overlap in (replace(many, few=FewItems(8, 2.0)), many)
    )
    assert counted < as_few < 1.35 * counted
    assert as_many > 1.6 * counted


def test_an_overlap_knows_of_few_items() -> None:
    """How many the alphabet has, or the itemsets, and how many an itemset has on average."""
    curator = curator_over([frozenset({0, 1})] * 50, epsilon=Fraction(200))
    lengths = ask_overlap(curator, None, number=50, epsilon=Fraction(1), settings=DEFAULT)
    itemsets = Itemsets.of([(0, 1), (1,)])
    some = ask_overlap(curator, itemsets, number=50, epsilon=Fraction(1), settings=DEFAULT)
    assert lengths.few == FewItems(curator.alphabet_size)
    assert some.few == FewItems(2, 1.5)
