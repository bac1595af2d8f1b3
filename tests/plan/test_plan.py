"""The plan: forecasts from public facts agree with what the methods do."""

import json
import math
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from veilset import SeededNoise, Transactions, mine, mine_exact, read
from veilset.errors import BadCall
from veilset.forecast import Forecast
from veilset.forecast.curve import TOLERANCE, popularity
from veilset.forecast.laws import support_to_be_drawn
from veilset.gate import Epsilon
from veilset.gate.mechanisms import Exponential, Mechanism
from veilset.itemsets import Domain
from veilset.methods import METHODS
from veilset.plan import Facts, Plan, make_plan
from veilset.plan.forecasting import Model

SHOP = Facts(rows=20_000, items=40, length=5)
LITTLE = 0.01
"""By how much a forecast of the found share may fall: decisions are followed without noise, so they come in steps."""
FORECAST = [name for name, method in METHODS.items() if method.forecast is not None]


def forecast_of(plan: Plan, method: str) -> Forecast:
    """The forecast for one method."""
    return next(each.forecast for each in plan.methods if each.forecast.method == method)


@cache
def forecast_at(method: str, *, k: int, epsilon: Epsilon) -> Forecast:
    """The forecast for one method in the shop, without the searches for a least epsilon: 20 forecasts each.

    Its baskets are as long as independent items make them, as those of `baskets_of_the_model` are.
    """
    with (
        patch("veilset.plan.least_epsilon", return_value=None),
        patch("veilset.plan.forecasting._unevenness", return_value=0.0),
    ):
        return forecast_of(make_plan(SHOP, k=k, epsilon=epsilon), method)


@cache
def plan_for_an_error() -> Plan:
    """What it takes in the shop to be right to within 20 %."""
    with patch("veilset.plan.forecasting._unevenness", return_value=0.0):
        return make_plan(SHOP, k=30, epsilon=1, error=0.2)


def baskets_of_the_model(facts: Facts, seed: int) -> Transactions:
    """Data as the model has it: every item held independently, with the model's share."""
    shares = popularity(items=facts.items, length=facts.length)
    held = np.random.default_rng(seed).random((facts.rows, facts.items)) < shares
    return read([np.flatnonzero(row).tolist() for row in held], alphabet=range(facts.items))


@pytest.fixture(scope="module")
def baskets() -> Transactions:
    """One dataset of the model."""
    return baskets_of_the_model(SHOP, seed=5)


def test_every_method_that_has_a_forecast_is_in_the_plan() -> None:
    """A method without one would silently be missing from the table."""
    plan = make_plan(SHOP, k=10, epsilon=1)
    assert [each.forecast.method for each in plan.methods] == FORECAST


@pytest.mark.parametrize("method", FORECAST)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(3)])
def test_the_stages_of_a_forecast_spend_exactly_epsilon(method: str, epsilon: Fraction) -> None:
    """Nothing is left over and nothing is counted twice."""
    stages = forecast_at(method, k=30, epsilon=epsilon).stages
    assert sum(stage.times * stage.mechanism.epsilon for stage in stages) == epsilon


def test_truncated_em_spends_stage_by_stage_what_was_forecast(baskets: Transactions) -> None:
    """Sensitivities, draws and shares of epsilon are those of a release's trace."""
    stages = forecast_at("truncated-em", k=12, epsilon=0.7).stages
    trace = mine(baskets, k=12, epsilon=0.7, method="truncated-em", noise=SeededNoise(1)).trace
    assert [stage.mechanism for stage in stages] == [charge.mechanism for charge in trace]


def test_privbasis_spends_on_each_kind_of_question_what_was_forecast(baskets: Transactions) -> None:
    """How many items, pairs and bases there are depends on the data; the shares of epsilon do not."""
    stages = forecast_at("privbasis", k=60, epsilon=2).stages
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


@pytest.mark.parametrize(("k", "epsilon"), [(12, 1), (30, 1), (40, 2), (200, 2)])
def test_planned_asks_question_by_question_what_was_forecast(
    baskets: Transactions, k: int, epsilon: int
) -> None:
    """Small questions cost what was said; what counts get depends on the data: half as much to twice.

    So does how many itemsets marginals leave uncovered, and in how many groups: from there on, what all marginals get.
    """
    stages = forecast_at("planned", k=k, epsilon=epsilon).stages
    trace = mine(baskets, k=k, epsilon=epsilon, method="planned", noise=SeededNoise(1)).trace
    forecast = [stage for stage in stages for _ in range(stage.times)]
    asked = {
        "support of the k-th itemset": "support of the",
        "lengths": "number of items held",
        "how many items": "number of items as frequent",
        "long and short transactions": "how unlike long and short transactions",
    }
    kinds = {
        "marginals": "marginal of",
        "containment": "number of itemsets held",
        "supports": "supports of",
        "largest support": "largest support of",
    }
    names = [stage.name for stage in forecast]
    shared = names.index("containment, not covered") if "containment, not covered" in names else len(forecast)
    assert shared < len(forecast) or len(forecast) == len(trace)
    for stage, charge in zip(forecast[:shared], trace[:shared], strict=True):
        kind = stage.name.split(",")[0]
        assert charge.question.startswith(asked.get(stage.name) or kinds.get(kind, stage.name))
        times = 2 if kind in {"supports", "marginals"} else 1
        assert 1 / times <= charge.mechanism.epsilon / stage.mechanism.epsilon <= times
    of_marginals = [stage.mechanism.epsilon for stage in forecast[shared:] if stage.name == "marginals"]
    paid = [each.mechanism.epsilon for each in trace[shared:] if each.question.startswith("marginal of")]
    assert sum(of_marginals) / 2 <= sum(paid) <= 2 * sum(of_marginals)


@pytest.mark.parametrize("method", ["f1m", "difffim-naive", "difffim"])
def test_difffim_spends_on_supports_and_lengths_what_was_forecast(baskets: Transactions, method: str) -> None:
    """Steps of the search and limits depend on the data; with little noise, the levels are those forecast."""
    stages = forecast_at(method, k=30, epsilon=20).stages
    trace = mine(baskets, k=30, epsilon=20, method=method, noise=SeededNoise(1)).trace
    forecast = [stage.mechanism.epsilon for stage in stages if stage.name != "largest size"]
    searches = "largest support"
    assert forecast == [each.mechanism.epsilon for each in trace if not each.question.startswith(searches)]


def test_a_method_that_considers_fewer_itemsets_than_k_is_left_out() -> None:
    """There are 40 items: `f1m` refuses a k of 41, and has no part in the plan."""
    assert [each.forecast.method for each in make_plan(SHOP, k=41, epsilon=1).methods] == [
        name for name in FORECAST if name != "f1m"
    ]


def test_a_method_that_would_have_to_list_too_many_itemsets_is_left_out() -> None:
    """The strawman refuses the pairs of 2,000 items, and has no part in the plan."""
    plan = make_plan(Facts(rows=20_000, items=2_000, length=5), k=10, epsilon=1, max_size=2)
    assert [each.forecast.method for each in plan.methods] == [
        name for name in FORECAST if name != "strawman"
    ]


@pytest.mark.parametrize("method", FORECAST)
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1])
def test_on_data_of_the_model_as_much_is_found_as_was_forecast(
    baskets: Transactions, method: str, epsilon: float
) -> None:
    """With the model true, only the simplified laws are left to be wrong: less than 0.12, over 5 runs."""
    k = 30
    forecast = forecast_at(method, k=k, epsilon=epsilon)
    exact = mine_exact(baskets, k=k + 10)
    kth_support = exact.supports[k - 1]
    best = {
        items for items, support in zip(exact.itemsets, exact.supports, strict=True) if support >= kth_support
    }
    runs = [mine(baskets, k=k, epsilon=epsilon, method=method, noise=SeededNoise(seed)) for seed in range(5)]
    found = np.mean([sum(each.items in best for each in run.itemsets) / k for run in runs])
    assert forecast.kth_support == pytest.approx(kth_support, rel=0.05)
    assert forecast.found == pytest.approx(found, abs=0.12)


def test_there_may_be_more_itemsets_than_a_float_can_count() -> None:
    """Sizes of domains stay integers and logarithms."""
    domain = Domain(items=range(10_000), max_size=200)
    choice = Exponential(draws=10, sensitivity=1, epsilon=Fraction(1))
    assert support_to_be_drawn(choice, candidates=domain.size) == pytest.approx(
        10 * math.log(domain.size), rel=0.01
    )
    plan = make_plan(Facts(rows=10_000, items=10_000, length=20), k=10, epsilon=1, max_size=200)
    assert 0 <= forecast_of(plan, "truncated-em").found <= 1


@pytest.mark.parametrize("method", FORECAST)
def test_more_epsilon_finds_more_with_less_noise(method: str) -> None:
    """Every figure of a forecast moves the right way; the found share by next to nothing the wrong way."""
    forecasts = [forecast_at(method, k=30, epsilon=epsilon) for epsilon in (0.05, 0.2, 1, 5)]
    for less, more in pairwise(forecasts):
        assert more.found >= less.found - LITTLE
        assert more.half_width < less.half_width
        assert more.chosen_from < less.chosen_from
        assert more.above_zero_from < less.above_zero_from


@pytest.mark.parametrize("method", FORECAST)
def test_the_epsilon_for_an_error_is_enough_and_not_much_too_much(method: str) -> None:
    """At that epsilon the wanted half width is reached; with a fifth less it is not.

    Where truncation alone makes supports less certain than is wanted, no epsilon is enough.
    """
    wanted = next(each for each in plan_for_an_error().methods if each.forecast.method == method)
    assert wanted.epsilon_for_kth is not None
    if wanted.epsilon_for_error is None:
        assert forecast_at(method, k=30, epsilon=100).error_at_kth > 0.2
        return
    reached = forecast_at(method, k=30, epsilon=wanted.epsilon_for_error)
    missed = forecast_at(method, k=30, epsilon=0.8 * wanted.epsilon_for_error)
    assert reached.error_at_kth <= 0.2 < missed.error_at_kth
    chosen = forecast_at(method, k=30, epsilon=wanted.epsilon_for_kth)
    swallowed = forecast_at(method, k=30, epsilon=0.8 * wanted.epsilon_for_kth)
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
    assert [each["method"] for each in document["methods"]] == FORECAST
    assert document["methods"][0]["stages"][0]["stage"] == "number of transactions"
    assert document["methods"][0]["stages"][0]["scale"] == pytest.approx(150)


BAD_PLANS: dict[str, tuple[dict[str, Any], str]] = {
    "no rows": ({"rows": 0}, "at least 1 of each"),
    "no items": ({"items": 0}, "at least 1 of each"),
    "length 0": ({"length": 0.0}, "above 0 and at most 40"),
    "length nan": ({"length": math.nan}, "give a number"),
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


GRID_OF_FACTS = [
    (17, 1.72, 13_098 / 989_818),
    (40, 5.0, None),
    (169, 4.4, None),
    (100, 30.0, None),
    (2000, 8.0, None),
]
"""Items, length, and a guess of the k-th support: from few items to many, short rows to long; the first is MSNBC."""


@pytest.mark.parametrize(("items", "length", "guess"), GRID_OF_FACTS)
def test_planned_is_never_forecast_to_get_less_for_more(
    items: int, length: float, guess: float | None
) -> None:
    """Over a grid of epsilon and rows: the found share does not fall by more than LITTLE, no error rises by 5 %."""
    epsilons = [Fraction(1, 100), Fraction(1, 20), Fraction(1, 5), Fraction(1), Fraction(5)]
    of_rows = []
    for rows in (5_000, 50_000, 500_000):
        at = Model.of(Facts(rows, items, length), k=50, kth_support=guess).forecasts()[0].at
        of_rows.append([at(epsilon) for epsilon in epsilons])
    by_epsilon = [pair for row in of_rows for pair in pairwise(row)]
    by_rows = [pair for column in zip(*of_rows, strict=True) for pair in pairwise(column)]
    for less, more in by_epsilon + by_rows:
        assert more.found >= less.found - LITTLE
        assert more.relative_error <= 1.05 * less.relative_error


def test_on_few_items_more_epsilon_finds_nearly_all() -> None:
    """MSNBC, of which the study found 98 % at epsilon 1: levels stop only where k itemsets are known."""
    at = Model.of(Facts(989_818, 17, 1.72), k=50, kth_support=13_098).forecasts()[0].at
    assert at(Fraction(1)).found > 0.95
