"""Questions on a sample: drawn once, priced by what they reveal together, exactly as the proof says."""

import decimal
import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from curators import Untouchable, curator_over, engine_over
from laws import fits
from strategies import transactions_of
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import Budget, Curator, Noise, PrivacyUnit, SecureNoise, SeededNoise
from veilset.gate.accounting.amplification import (
    PRICE_STEP,
    SampleAccount,
    affordable,
    chance_of_a_unit,
    drawable_rate,
    price_of,
)
from veilset.gate.mechanisms import AboveThreshold, DiscreteLaplace, Exponential, OnSample

SURE = Fraction(10**6)
chances = st.fractions(Fraction(1, 2**32), 1)
epsilons = st.fractions(Fraction(1, 10**6), 50, max_denominator=10**6)


@given(epsilon=epsilons, chance=chances)
def test_a_price_is_the_formula_rounded_up(epsilon: Fraction, chance: Fraction) -> None:
    """Against ln(1 + q(e^E - 1)) as it stands, to 200 digits."""
    with decimal.localcontext(prec=200):
        e, q = (decimal.Decimal(x.numerator) / x.denominator for x in (epsilon, chance))
        exact = (1 + q * (e.exp() - 1)).ln()
        price = price_of(epsilon, chance=chance)
        rounded = decimal.Decimal(price.numerator) / price.denominator
        assert exact - decimal.Decimal("1e-190") <= rounded <= exact + decimal.Decimal("1.001e-9")
    assert price <= epsilon


@given(price=epsilons, chance=chances)
def test_what_a_price_buys_costs_no_more_and_a_little_more_would(price: Fraction, chance: Fraction) -> None:
    """The inverse is rounded down, by a few steps of what it stands for."""
    bought = affordable(price, chance=chance)
    assert bought >= 0
    assert price_of(bought, chance=chance) <= price
    more = (
        math.ceil(1 / chance) + 3
    )  # where few units are drawn, many steps on the sample make one of the price
    assert price_of(bought + more * PRICE_STEP, chance=chance) > price - PRICE_STEP


@given(epsilons=st.lists(epsilons, min_size=1, max_size=5), chance=chances)
def test_prices_rise_with_epsilon_and_add_up_to_no_less_than_their_sum_costs_alone(
    epsilons: list[Fraction], chance: Fraction
) -> None:
    """The price of a whole is at least the prices of its parts: amplifying each alone would be too cheap."""
    totals = [sum(epsilons[: number + 1], Fraction(0)) for number in range(len(epsilons))]
    prices = [price_of(total, chance=chance) for total in totals]
    assert prices == sorted(prices)
    assert prices[-1] >= sum(price_of(epsilon, chance=chance) - PRICE_STEP for epsilon in epsilons)


def law_of_sampled_number(rows: int, *, rate: float, decay: float, answers: int) -> npt.NDArray[np.float64]:
    """The exact law of one or two noisy numbers of transactions, all of one sample, within +-30."""
    sizes = np.arange(rows + 1)
    values = np.arange(-30, rows + 31)
    one = (
        (1 - math.exp(-decay))
        / (1 + math.exp(-decay))
        * np.exp(-decay * abs(values[None, :] - sizes[:, None]))
    )
    weights = stats.binom.pmf(sizes, rows, rate)
    joint = one if answers == 1 else one[:, :, None] * one[:, None, :]
    law: npt.NDArray[np.float64] = np.tensordot(weights, joint, axes=1)
    return law


def largest_log_ratio(*, owned: int, answers: int, epsilon: float, rate: float) -> float:
    """How far the laws on a database of 3 rows and on one with `owned` more are apart, at the most."""
    laws = [
        law_of_sampled_number(rows, rate=rate, decay=epsilon / owned, answers=answers)
        for rows in (3, 3 + owned)
    ]
    inside = tuple(slice(0, size) for size in laws[0].shape)
    return float(np.abs(np.log(laws[1][inside] / laws[0])).max())


@pytest.mark.parametrize(("owned", "answers"), [(1, 1), (1, 2), (2, 1), (3, 2)])
def test_the_price_covers_the_exact_loss_and_is_nearly_reached(owned: int, answers: int) -> None:
    """Noisy numbers of a sample at epsilon 0.8 each: their laws on neighbours differ by no more than was paid."""
    rate, epsilon = Fraction(1, 5), Fraction(4, 5)
    chance = chance_of_a_unit(rate, transactions=owned)
    loss = largest_log_ratio(owned=owned, answers=answers, epsilon=float(epsilon), rate=float(rate))
    price = float(price_of(answers * epsilon, chance=chance))
    assert loss <= price
    if owned == 1:
        assert loss > 0.99 * price


def test_two_answers_of_one_sample_reveal_more_than_two_samples_would() -> None:
    """The control: the sum of two prices, each for itself, is exceeded by the exact loss."""
    loss = largest_log_ratio(owned=1, answers=2, epsilon=0.8, rate=0.2)
    assert loss > 2 * float(price_of(Fraction(4, 5), chance=Fraction(1, 5)))


def test_an_owner_who_gives_away_its_presence_by_any_transaction_loses_all_of_the_price() -> None:
    """Randomised response on "is the owner in the sample?" over all draws: q' is needed, the rate is too little."""
    rate, epsilon = Fraction(1, 5), Fraction(4, 5)
    truth = 1 / (1 + math.exp(-float(epsilon)))
    seen = 0.0
    for drawn in product([False, True], repeat=3):
        weight = math.prod(float(rate if is_drawn else 1 - rate) for is_drawn in drawn)
        seen += weight * (truth if any(drawn) else 1 - truth)
    loss = math.log(seen / (1 - truth))
    assert loss == pytest.approx(float(price_of(epsilon, chance=chance_of_a_unit(rate, transactions=3))))
    assert loss > float(price_of(epsilon, chance=rate))


def test_questions_on_a_sample_pay_by_how_much_they_raise_its_price() -> None:
    """The rows of the trace add up to the price of the sum; the sample's own account counts as on the sample."""
    curator = curator_over([frozenset({0})] * 20)
    sample = curator.on_sample(Fraction(1, 8), epsilon=Fraction(1, 2))
    sample.ask_number(epsilon=Fraction(1, 4))
    sample.ask_best(1, domain=sample.domain(max_size=1), epsilon=Fraction(3, 4))
    assert curator.budget.spent == price_of(Fraction(1), chance=Fraction(1, 8))
    assert [charge.mechanism.epsilon for charge in sample.budget.charges] == [Fraction(1, 4), Fraction(3, 4)]
    rows = [charge.mechanism for charge in curator.budget.charges]
    assert [type(row.mechanism) for row in rows if isinstance(row, OnSample)] == [
        DiscreteLaplace,
        Exponential,
    ]
    assert rows[0].epsilon == price_of(Fraction(1, 4), chance=Fraction(1, 8))


def test_the_whole_of_what_was_set_aside_can_be_spent_and_no_more() -> None:
    """A sample never costs more than the epsilon given for it."""
    curator = curator_over([frozenset({0})] * 20)
    sample = curator.on_sample(Fraction(1, 3), epsilon=Fraction(1, 10))
    sample.ask_number(epsilon=sample.budget.total / 3)
    sample.ask_number(epsilon=sample.budget.left)
    assert sample.budget.total > Fraction(1, 4)
    assert Fraction(1, 10) - 2 * PRICE_STEP <= curator.budget.spent <= Fraction(1, 10)
    with pytest.raises(BudgetExceeded, match="on a sample"):
        sample.ask_number(epsilon=PRICE_STEP)


def test_a_sample_is_not_drawn_before_a_question_on_it_is_paid() -> None:
    """Neither when it is set up nor when the budget refuses; a refused question leaves both accounts as they were."""
    engine = Untouchable(transactions_of([frozenset({0})]))
    unit = PrivacyUnit("transaction", 1)
    budget = Budget(Fraction(1, 10))
    curator = Curator(engine, budget=budget, noise=SeededNoise(1), unit=unit)  # type: ignore[arg-type]
    sample = curator.on_sample(Fraction(1, 2), epsilon=Fraction(1))
    for epsilon in (Fraction(1, 2), Fraction(5)):
        with pytest.raises(BudgetExceeded):
            sample.ask_number(epsilon=epsilon)
    assert sample.budget.spent == budget.spent == 0


def test_all_questions_see_the_same_sample_and_another_one_does_not() -> None:
    """One draw for each sample, whatever is asked."""
    curator = curator_over([frozenset({0})] * 1000, epsilon=1000 * SURE)
    sample, other = (curator.on_sample(Fraction(1, 2), epsilon=100 * SURE) for _ in range(2))
    numbers = [sample.ask_number(epsilon=SURE).value for _ in range(3)]
    assert numbers == [int(sample.ask_item_supports(epsilon=SURE).values[0])] * 3
    assert numbers[0] != other.ask_number(epsilon=SURE).value
    assert curator.ask_number(epsilon=SURE).value == 1000


def test_a_sample_of_everything_is_the_data_at_its_own_price() -> None:
    """Rate 1: no transaction is missing, nothing is cheaper."""
    rows = [frozenset({0, 1}), frozenset({2}), frozenset()]
    curator = curator_over(rows, epsilon=SURE)
    lengths = curator.on_sample(Fraction(1), epsilon=SURE).ask_lengths(limit=2, epsilon=SURE)
    assert lengths.values.tolist() == [1, 1, 1]
    assert curator.budget.spent == SURE


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(3)], ids=["secure", "seeded"])
@pytest.mark.parametrize(("factor", "is_right"), [(0.9, False), (1.0, True), (1.1, False)])
def test_every_subset_is_drawn_as_often_as_independent_coins_say(
    noise: Noise, factor: float, is_right: bool
) -> None:
    """Three transactions of one item each: eight samples, and ten percent more or less is told apart."""
    engine = engine_over([frozenset({0}), frozenset({1}), frozenset({2})])
    below = int(Fraction(3, 10) * 2**32)
    drawn: Counter[tuple[int, ...]] = Counter()
    for _ in range(8_000):
        drawn[tuple(engine.sample(noise.keys, below=below)._rows.items.tolist())] += 1
    rate = 0.3 * factor
    subsets = [tuple(i for i in range(3) if number >> i & 1) for number in range(8)]
    law = {subset: rate ** len(subset) * (1 - rate) ** (3 - len(subset)) for subset in subsets}
    assert fits(drawn, law) == is_right


def test_a_sample_of_owners_prices_the_chance_of_any_of_their_transactions() -> None:
    """Two transactions an owner: q' = 3/4 at a rate of one half, and sensitivities stay doubled."""
    unit = PrivacyUnit("owner", 2)
    curator = curator_over([frozenset({0})] * 4, unit=unit)
    sample = curator.on_sample(Fraction(1, 2), epsilon=Fraction(1))
    answer = sample.ask_number(epsilon=Fraction(1, 2))
    assert answer.mechanism == DiscreteLaplace(2, Fraction(1, 2))
    assert curator.budget.spent == price_of(Fraction(1, 2), chance=Fraction(3, 4))


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1, 2), Fraction(3, 2), Fraction(1, 2**40)])
def test_rates_that_draw_no_sample_are_refused(rate: Fraction) -> None:
    """Before anything is charged."""
    curator = curator_over([frozenset({0})])
    with pytest.raises(BadCall, match="above 0, at most 1"):
        curator.on_sample(rate, epsilon=Fraction(1))


@given(rate=st.fractions(Fraction(1, 2**32), 1))
def test_a_rate_is_rounded_down_to_what_keys_can_tell(rate: Fraction) -> None:
    """By less than one key."""
    assert 0 <= rate - drawable_rate(rate) < Fraction(1, 2**32)


def test_what_a_charge_on_a_sample_says_can_grow_but_not_what_it_costs() -> None:
    """An explanation reaches the trace of the data; prices stay as they were."""
    budget = Budget(Fraction(1))
    account = SampleAccount(budget, rate=Fraction(1, 8), transactions=1, epsilon=Fraction(1, 5))
    paid = AboveThreshold(3, 1, Fraction(1, 2))
    account.charge("which", paid)
    before = budget.spent
    account.explain(paid, AboveThreshold(3, 1, Fraction(1, 2), (Fraction(1, 4),)))
    (charge,) = budget.charges
    assert budget.spent == before
    assert "used epsilon 0.25 in 1 part," in charge.sentence()
    with pytest.raises(BadCall, match="what was paid stays"):
        account.explain(account.charges[0].mechanism, AboveThreshold(3, 1, Fraction(1, 3)))


def test_a_question_may_cost_nothing_more_where_prices_are_rounded_up() -> None:
    """The first pays for a whole step, and a second one fits into it."""
    budget = Budget(Fraction(1))
    account = SampleAccount(budget, rate=Fraction(1, 2**32), transactions=1, epsilon=Fraction(1, 2))
    for _ in range(2):
        account.charge("number", DiscreteLaplace(1, Fraction(1, 1000)))
    assert [charge.mechanism.epsilon for charge in budget.charges] == [PRICE_STEP, 0]
