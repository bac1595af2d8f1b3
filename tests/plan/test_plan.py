"""The plan: forecasts from public facts agree with what the methods do, and with the laws they rest on."""

import json
import math
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset import SeededNoise, Transactions, mine, mine_exact, read
from veilset.errors import BadCall
from veilset.forecast import Forecast
from veilset.forecast.curve import TOLERANCE, popularity, support_curve
from veilset.forecast.laws import (
    chances_to_be_among_first,
    chances_to_be_drawn,
    support_above_zero,
    support_to_be_drawn,
)
from veilset.gate.mechanisms import Exponential, Mechanism
from veilset.itemsets import Domain
from veilset.methods import METHODS
from veilset.plan import FORECASTERS, Facts, Plan, make_plan
from veilset.plan.bounds import (
    Usefulness,
    diffpart_error,
    diffpart_failure_chance,
    necessary_epsilon,
    necessary_epsilon_when_short,
    sufficient_epsilon_when_short,
)

SHOP = Facts(rows=20_000, items=40, length=5)


def forecast_of(plan: Plan, method: str) -> Forecast:
    """The forecast for one method."""
    return next(each.forecast for each in plan.methods if each.forecast.method == method)


def baskets_of_the_model(facts: Facts, seed: int) -> Transactions:
    """Data as the model has it: every item held independently, with the model's share."""
    shares = popularity(items=facts.items, length=facts.length)
    held = np.random.default_rng(seed).random((facts.rows, facts.items)) < shares
    return read([np.flatnonzero(row).tolist() for row in held], alphabet=range(facts.items))


@pytest.fixture(scope="module")
def baskets() -> Transactions:
    """One dataset of the model."""
    return baskets_of_the_model(SHOP, seed=5)


def test_every_method_that_mines_has_a_forecast() -> None:
    """A method without one would silently be missing from the table."""
    assert set(FORECASTERS) == {name for name, method in METHODS.items() if method.task == "mine"}
    plan = make_plan(SHOP, k=10, epsilon=1)
    assert [each.forecast.method for each in plan.methods] == list(FORECASTERS)


@pytest.mark.parametrize("method", FORECASTERS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(3)])
def test_the_stages_of_a_forecast_spend_exactly_epsilon(method: str, epsilon: Fraction) -> None:
    """Nothing is left over and nothing is counted twice."""
    stages = forecast_of(make_plan(SHOP, k=30, epsilon=epsilon), method).stages
    assert sum(stage.times * stage.mechanism.epsilon for stage in stages) == epsilon


def test_truncated_em_spends_stage_by_stage_what_was_forecast(baskets: Transactions) -> None:
    """Sensitivities, draws and shares of epsilon are those of a release's trace."""
    stages = forecast_of(make_plan(SHOP, k=12, epsilon=0.7), "truncated-em").stages
    trace = mine(baskets, k=12, epsilon=0.7, method="truncated-em", noise=SeededNoise(1)).trace
    assert [stage.mechanism for stage in stages] == [charge.mechanism for charge in trace]


def test_privbasis_spends_on_each_kind_of_question_what_was_forecast(baskets: Transactions) -> None:
    """How many items, pairs and bases there are depends on the data; the shares of epsilon do not."""
    stages = forecast_of(make_plan(SHOP, k=60, epsilon=2), "privbasis").stages
    trace = mine(baskets, k=60, epsilon=2, method="privbasis", noise=SeededNoise(1)).trace

    def by_kind(mechanisms: list[Mechanism]) -> dict[tuple[str, bool], Fraction]:
        spent: dict[tuple[str, bool], Fraction] = {}
        for each in mechanisms:
            kind = type(each).__name__, getattr(each, "is_monotone", False)
            spent[kind] = spent.get(kind, Fraction(0)) + each.epsilon
        return spent

    forecast = [stage.mechanism for stage in stages for _ in range(stage.times)]
    assert by_kind(list(forecast)) == by_kind([charge.mechanism for charge in trace])
    assert stages[0].mechanism == trace[0].mechanism
    assert stages[1].mechanism == trace[1].mechanism


@pytest.mark.parametrize(("k", "epsilon"), [(12, 1), (30, 2), (200, 2)])
def test_planned_asks_question_by_question_what_was_forecast(
    baskets: Transactions, k: int, epsilon: int
) -> None:
    """Small questions cost what was said; what counts get depends on the data: half as much to twice."""
    stages = forecast_of(make_plan(SHOP, k=k, epsilon=epsilon), "planned").stages
    trace = mine(baskets, k=k, epsilon=epsilon, method="planned", noise=SeededNoise(1)).trace
    forecast = [stage for stage in stages for _ in range(stage.times)]
    asked = {"support of the k-th itemset": "support of the", "lengths": "how many of the items"}
    kinds = {"containment": "how many of", "supports": "supports of", "largest support": "largest support of"}
    for stage, charge in zip(forecast, trace, strict=True):
        kind = stage.name.split(",")[0].removesuffix(" again")
        assert charge.question.startswith(asked.get(stage.name) or kinds.get(kind, stage.name))
        times = 2 if kind == "supports" else 1
        assert 1 / times <= charge.mechanism.epsilon / stage.mechanism.epsilon <= times


@pytest.mark.parametrize("method", ["f1m", "difffim-naive", "difffim"])
def test_difffim_spends_on_supports_and_lengths_what_was_forecast(baskets: Transactions, method: str) -> None:
    """Steps of the search and limits depend on the data; with little noise, the levels are those forecast."""
    stages = forecast_of(make_plan(SHOP, k=30, epsilon=20), method).stages
    trace = mine(baskets, k=30, epsilon=20, method=method, noise=SeededNoise(1)).trace
    forecast = [stage.mechanism.epsilon for stage in stages if stage.name != "largest size"]
    searches = "largest support"
    assert forecast == [each.mechanism.epsilon for each in trace if not each.question.startswith(searches)]


def test_a_method_that_considers_fewer_itemsets_than_k_is_left_out() -> None:
    """There are 40 items: `f1m` refuses a k of 41, and has no part in the plan."""
    assert [each.forecast.method for each in make_plan(SHOP, k=41, epsilon=1).methods] == [
        name for name in FORECASTERS if name != "f1m"
    ]


def test_a_method_that_would_have_to_list_too_many_itemsets_is_left_out() -> None:
    """The strawman refuses the pairs of 2,000 items, and has no part in the plan."""
    plan = make_plan(Facts(rows=20_000, items=2_000, length=5), k=10, epsilon=1, max_size=2)
    assert [each.forecast.method for each in plan.methods] == [
        name for name in FORECASTERS if name != "strawman"
    ]


@pytest.mark.parametrize("method", FORECASTERS)
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1])
def test_on_data_of_the_model_as_much_is_found_as_was_forecast(
    baskets: Transactions, method: str, epsilon: float
) -> None:
    """With the model true, only the simplified laws are left to be wrong: less than 0.12, over 5 runs."""
    k = 30
    forecast = forecast_of(make_plan(SHOP, k=k, epsilon=epsilon), method)
    exact = mine_exact(baskets, k=k + 10, max_size=forecast.max_size)
    kth_support = exact.supports[k - 1]
    best = {
        items for items, support in zip(exact.itemsets, exact.supports, strict=True) if support >= kth_support
    }
    runs = [mine(baskets, k=k, epsilon=epsilon, method=method, noise=SeededNoise(seed)) for seed in range(5)]
    found = np.mean([sum(each.items in best for each in run.itemsets) / k for run in runs])
    assert forecast.kth_support == pytest.approx(kth_support, rel=0.05)
    assert forecast.found == pytest.approx(found, abs=0.12)


@given(
    items=st.integers(1, 7),
    length=st.floats(0.3, 1.0),
    max_size=st.integers(1, 4),
    rows=st.integers(50, 5000),
)
def test_the_curve_is_what_listing_all_itemsets_gives(
    items: int, length: float, max_size: int, rows: int
) -> None:
    """Every rank has the support that the product of shares gives it, to within the grid."""
    shares = popularity(items=items, length=length * items)
    curve = support_curve(shares, rows=rows, max_size=max_size)
    listed = sorted(
        (
            rows * math.prod(shares[list(itemset)])
            for size in range(1, min(max_size, items) + 1)
            for itemset in combinations(range(items), size)
        ),
        reverse=True,
    )
    for rank, support in enumerate(listed, start=1):
        if support >= 1:
            assert curve.at_rank(rank) == pytest.approx(support, rel=2 * TOLERANCE)
    assert np.exp(curve.ln_numbers).sum() == pytest.approx(len(listed))
    assert curve.among_first(len(listed)).sum() == pytest.approx(len(listed))


@given(items=st.integers(1, 3000), share=st.floats(0.001, 0.99))
def test_popularity_falls_and_adds_up_to_the_length(items: int, share: float) -> None:
    """The one constant of the model is fixed by the typical length."""
    shares = popularity(items=items, length=share * items)
    assert shares.sum() == pytest.approx(share * items)
    assert np.all(np.diff(shares) < 0)
    odds = shares / (1 - shares)
    assert odds[0] / odds[-1] == pytest.approx(items)


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.2])
def test_draws_go_to_whom_the_formula_says(rate: float) -> None:
    """20 draws without replacement from 500, repeated 2,000 times: chances agree to within 0.05."""
    supports = 400 / np.arange(1, 501)
    keys = rate * supports + np.random.default_rng(3).gumbel(size=(2000, 500))
    drawn = np.argsort(-keys, axis=1)[:, :20]
    simulated = np.bincount(drawn.ravel(), minlength=500) / 2000
    assert chances_to_be_drawn(supports, np.zeros(500), draws=20, rate=rate) == pytest.approx(
        simulated, abs=0.05
    )


@pytest.mark.parametrize("noise", [1.0, 30.0, 300.0])
def test_noisy_supports_put_first_whom_the_formula_says(noise: float) -> None:
    """The 20 largest of 500 with unequal normal noise, repeated 2,000 times: within 0.05."""
    supports = 4000 / np.arange(1, 501)
    deviations = noise * np.linspace(1, 2, 500)
    noisy = supports + deviations * np.random.default_rng(4).normal(size=(2000, 500))
    first = np.argsort(-noisy, axis=1)[:, :20]
    simulated = np.bincount(first.ravel(), minlength=500) / 2000
    assert chances_to_be_among_first(supports, deviations, k=20) == pytest.approx(simulated, abs=0.05)


def test_who_is_seldom_present_takes_few_places() -> None:
    """20 places, 500 candidates of which each takes part with its own chance, 2,000 times: within 0.05."""
    supports, deviations, present = 4000 / np.arange(1, 501), np.full(500, 30.0), np.linspace(0.9, 0.1, 500)
    random = np.random.default_rng(4)
    noisy = supports + deviations * random.normal(size=(2000, 500))
    noisy[random.random((2000, 500)) >= present] = -np.inf
    first = np.argsort(-noisy, axis=1)[:, :20]
    simulated = np.bincount(first.ravel(), minlength=500) / 2000
    chances = chances_to_be_among_first(supports, deviations, k=20, present=present)
    assert present * chances == pytest.approx(simulated, abs=0.05)


def test_a_support_that_is_said_to_be_chosen_is_chosen() -> None:
    """One held itemset among a million that nobody holds: 95 % at the support given, less below it."""
    choice = Exponential(draws=30, sensitivity=1, epsilon=Fraction(1, 2))
    support = support_to_be_drawn(choice, candidates=10**6)
    ln_numbers = np.array([0.0, math.log(10**6 - 1)])
    at, below = (
        chances_to_be_drawn(np.array([each, 0.0]), ln_numbers, draws=30, rate=float(choice.rate))[0]
        for each in (support, 0.9 * support)
    )
    assert below < 0.9
    assert at == pytest.approx(0.95, abs=0.01)


def test_there_may_be_more_itemsets_than_a_float_can_count() -> None:
    """Sizes of domains stay integers and logarithms."""
    domain = Domain(items=range(10_000), max_size=200)
    choice = Exponential(draws=10, sensitivity=1, epsilon=Fraction(1))
    assert support_to_be_drawn(choice, candidates=domain.size) == pytest.approx(
        10 * math.log(domain.size), rel=0.01
    )
    plan = make_plan(Facts(rows=10_000, items=10_000, length=20), k=10, epsilon=1, max_size=200)
    assert 0 <= forecast_of(plan, "truncated-em").found <= 1


def test_a_support_that_is_said_to_be_above_zero_has_such_an_interval() -> None:
    """Laplace noise of scale 100, 200,000 times: 95 % of the intervals exclude 0."""
    half_width = round(100 * math.log(20))
    noise = np.random.default_rng(6).laplace(scale=100, size=200_000)
    assert np.mean(support_above_zero(half_width) + noise > half_width) == pytest.approx(0.95, abs=0.003)


@pytest.mark.parametrize("method", FORECASTERS)
def test_more_epsilon_finds_more_with_less_noise(method: str) -> None:
    """Every figure of a forecast moves the right way."""
    forecasts = [forecast_of(make_plan(SHOP, k=30, epsilon=epsilon), method) for epsilon in (0.05, 0.2, 1, 5)]
    for less, more in pairwise(forecasts):
        assert more.found >= less.found
        assert more.half_width < less.half_width
        assert more.chosen_from < less.chosen_from
        assert more.above_zero_from < less.above_zero_from


@pytest.mark.parametrize("place", range(len(FORECASTERS)))
def test_the_epsilon_for_an_error_is_enough_and_not_much_too_much(place: int) -> None:
    """At that epsilon the wanted half width is reached; with a fifth less it is not."""
    wanted = make_plan(SHOP, k=30, epsilon=1, error=0.2).methods[place]
    assert wanted.epsilon_for_error is not None
    assert wanted.epsilon_for_kth is not None
    reached = make_plan(SHOP, k=30, epsilon=wanted.epsilon_for_error).methods[place].forecast
    missed = make_plan(SHOP, k=30, epsilon=0.8 * wanted.epsilon_for_error).methods[place].forecast
    assert reached.error_at_kth <= 0.2 < missed.error_at_kth
    chosen = make_plan(SHOP, k=30, epsilon=wanted.epsilon_for_kth).methods[place].forecast
    swallowed = make_plan(SHOP, k=30, epsilon=0.8 * wanted.epsilon_for_kth).methods[place].forecast
    assert chosen.chosen_from <= chosen.kth_support + 1
    assert swallowed.chosen_from > swallowed.kth_support


@pytest.mark.parametrize("guess", [0.01, "300", 4000])
def test_a_guess_of_the_kth_support_is_what_the_forecast_uses(guess: float | str) -> None:
    """A share or a count, in the same way as a threshold of `mine`."""
    plan = make_plan(SHOP, k=30, epsilon=1, kth_support=guess)
    count = round(float(guess) * (SHOP.rows if float(guess) < 1 else 1))
    assert plan.kth_support == count
    assert str(count) in plan.assumption
    for each in plan.methods:
        assert each.forecast.kth_support == pytest.approx(count, rel=2 * TOLERANCE)


def test_no_epsilon_is_named_where_none_is_enough() -> None:
    """An itemset that nobody is expected to hold cannot be found."""
    plan = make_plan(Facts(rows=10, items=1000, length=1), k=50, epsilon=1)
    assert plan.methods[0].forecast.kth_support == 0
    assert plan.methods[0].epsilon_for_kth is None


def test_a_plan_is_a_json_document_that_says_what_it_rests_on() -> None:
    """Nothing spent, every stage with its noise, the assumption in words."""
    document = json.loads(json.dumps(make_plan(SHOP, k=10, epsilon="1/3").to_dict()))
    assert (document["rows"], document["k"], document["spent"]) == (20_000, 10, "0")
    assert "independently" in document["assumption"]
    assert [each["method"] for each in document["methods"]] == list(FORECASTERS)
    assert document["methods"][0]["stages"][0]["stage"] == "number of transactions"
    assert document["methods"][0]["stages"][0]["scale"] == pytest.approx(150)


BAD_PLANS: dict[str, tuple[dict[str, Any], str]] = {
    "no rows": ({"rows": 0}, "at least 1 of each"),
    "no items": ({"items": 0}, "at least 1 of each"),
    "length 0": ({"length": 0.0}, "above 0 and at most 40"),
    "length nan": ({"length": math.nan}, "above 0 and at most 40"),
    "length above the alphabet": ({"length": 41.0}, "above 0 and at most 40"),
    "k 0": ({"k": 0}, "at least 1"),
    "k above all itemsets": ({"k": 41, "max_size": 1}, "give a smaller k"),
    "epsilon 0": ({"epsilon": 0}, "above 0"),
    "size 0": ({"max_size": 0}, "at least 1"),
    "error 0": ({"error": 0.0}, "above 0"),
    "error without end": ({"error": math.inf}, "above 0"),
    "more rows than anybody has": ({"rows": 10**30}, "give at most"),
    "guess of all rows": ({"kth_support": 20_000}, "guess a smaller one"),
    "guess of nothing": ({"kth_support": 0}, "above 0"),
    "guess that the facts exclude": ({"length": 40.0, "kth_support": 5}, "leave the guess out"),
}


@pytest.mark.parametrize("name", BAD_PLANS)
def test_a_bad_call_says_in_one_line_what_is_allowed(name: str) -> None:
    """Facts, k, epsilon and guesses are checked before anything is reckoned."""
    changed, message = BAD_PLANS[name]
    call: dict[str, Any] = {"rows": 20_000, "items": 40, "length": 5.0, "k": 10, "epsilon": 1, **changed}
    with pytest.raises(BadCall, match=message) as refused:
        make_plan(Facts(**{fact: call.pop(fact) for fact in ("rows", "items", "length")}), **call)
    assert "\n" not in str(refused.value)


usefulness = st.builds(
    Usefulness,
    items=st.integers(1, 400),
    threshold=st.floats(1, 1e5),
    delta=st.floats(0.01, 0.9),
    eta=st.floats(0.01, 0.5),
)


@given(wanted=usefulness, length=st.integers(1, 400))
def test_what_is_necessary_never_exceeds_what_is_sufficient(wanted: Usefulness, length: int) -> None:
    """DiffFIM's Theorems 5 and 6 bound the same epsilon from both sides."""
    length = min(length, wanted.items)
    necessary = necessary_epsilon_when_short(wanted, length=length)
    assert necessary <= sufficient_epsilon_when_short(wanted, length=length)
    assert necessary <= necessary_epsilon(wanted) * (1 + 1e-9)


@given(wanted=usefulness)
def test_without_a_limit_on_the_length_theorem_6_is_lemma_1(wanted: Usefulness) -> None:
    """All sets of items are within one transaction then."""
    unlimited = necessary_epsilon_when_short(wanted, length=wanted.items)
    assert unlimited == pytest.approx(necessary_epsilon(wanted))


@given(wanted=usefulness, length=st.integers(1, 50))
def test_at_the_sufficient_epsilon_geometric_noise_is_useful(wanted: Usefulness, length: int) -> None:
    """Equation 14 of the proof holds with equality: n items pass with probability 1 - eta together."""
    epsilon = sufficient_epsilon_when_short(wanted, length=length)
    one_miss = math.exp(-wanted.delta * wanted.threshold * epsilon / length)
    assert (1 - one_miss) ** wanted.items == pytest.approx(1 - wanted.eta)


@given(delta=st.floats(0.001, 0.9), itemsets=st.integers(1, 1000), items=st.integers(2, 5000))
def test_the_two_forms_of_the_diffpart_bound_agree(delta: float, itemsets: int, items: int) -> None:
    """The error for a chance, put into the chance for an error, gives the chance back."""
    query: dict[str, Any] = {
        "itemsets": itemsets,
        "budget": 0.5,
        "items": items,
        "fanout": 10,
        "strictness": 1.5,
    }
    error = diffpart_error(delta=delta, **query)
    assert diffpart_failure_chance(error=error, **query) == pytest.approx(delta)


def test_bounds_refuse_what_the_theorems_do_not_cover() -> None:
    """Usefulness is between 0 and 1, and there is something to count."""
    with pytest.raises(BadCall, match="between 0 and 1"):
        Usefulness(items=10, threshold=5, delta=0.2, eta=1)
    with pytest.raises(BadCall, match="at least 1"):
        Usefulness(items=0, threshold=5, delta=0.2, eta=0.5)
    with pytest.raises(BadCall, match="at least 1"):
        necessary_epsilon_when_short(Usefulness(10, 5, 0.2, 0.5), length=0)
    with pytest.raises(BadCall, match="fan-out 2"):
        diffpart_error(delta=0.1, itemsets=1, budget=1, items=10, fanout=1, strictness=1)
