"""The trade: the epsilon that is named is enough and the least, and what it means for one person is a bound."""

import json
import math
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from veilset.errors import BadCall
from veilset.plan import Facts, Trade, make_plan, plan_epsilon
from veilset.plan.forecasting import Model, least_epsilon
from veilset.plan.trade import TradePoint, _never_less, belief_in_words, exact_share, most_believed

SHOP = Facts(rows=20_000, items=40, length=5)


@cache
def trade_of(*, found: str = "90%", error: str = "10%") -> Trade:
    """What it takes in the shop."""
    return plan_epsilon(SHOP, k=30, want_found=found, want_error=error)


@pytest.mark.parametrize(("found", "error"), [("90%", "10%"), ("80%", "2%"), ("98%", "50%")])
def test_the_epsilon_that_is_named_is_enough_and_a_tenth_less_is_not(found: str, error: str) -> None:
    """For both wishes at once; whichever of them asks for more."""
    trade = trade_of(found=found, error=error)
    at = Model.of(SHOP, k=30).forecasts()[0].at
    assert trade.epsilon is not None
    enough, less = at(Fraction(str(trade.epsilon))), at(Fraction(str(trade.epsilon)) * 9 / 10)
    assert enough.found >= trade.want_found
    assert enough.relative_error <= trade.want_error
    assert less.found < trade.want_found or less.relative_error > trade.want_error


def test_the_sentence_names_the_wishes_the_epsilon_and_the_method() -> None:
    """One sentence, that somebody can repeat."""
    trade = trade_of()
    assert trade.sentence() == (
        f"To have 9 of 10 itemsets right and errors under 10 %, you need epsilon {trade.epsilon:g} (by planned)."
    )
    assert "95 of 100 itemsets right" in trade_of(found="95%").sentence()
    assert f"{trade.epsilon:g}" in trade.reasons()


def test_where_no_epsilon_is_enough_the_sentence_says_so() -> None:
    """An itemset that nobody is expected to hold cannot be found; the odds are then those of epsilon 1."""
    trade = plan_epsilon(Facts(rows=10, items=1000, length=1), k=50)
    assert trade.epsilon is None
    assert trade.sentence().startswith("No epsilon up to 10,000 is enough to have 9 of 10")
    assert "At epsilon 1," in trade.odds()
    json.dumps(trade.to_dict(), allow_nan=False)


def test_the_table_has_the_usual_epsilons_and_the_needed_one_in_order() -> None:
    """Each once, and more epsilon never protects more."""
    trade = trade_of()
    epsilons = [point.epsilon for point in trade.points]
    assert trade.epsilon is not None
    assert epsilons == sorted({0.1, 0.2, 0.5, 1.0, 2.0, 5.0, trade.epsilon})
    assert all(less.belief < more.belief for less, more in pairwise(trade.points))
    assert all(less.error > more.error for less, more in pairwise(trade.points))


def test_the_figures_of_the_trade_are_those_of_the_plan() -> None:
    """Whoever asks for one of its epsilons is told the same."""
    point = next(point for point in trade_of().points if point.epsilon == 1)
    with patch("veilset.plan.least_epsilon", return_value=None):
        forecast = make_plan(SHOP, k=30, epsilon=1, most_methods=1).methods[0].forecast
    assert (point.found, point.error) == (forecast.found, forecast.relative_error)


@given(
    epsilon=st.floats(0.001, 20),
    prior=st.floats(0.0, 1.0),
    with_person=st.floats(1e-6, 1.0),
)
def test_nobody_who_was_undecided_can_believe_more(epsilon: float, prior: float, with_person: float) -> None:
    """Bayes' rule, with a result that is at most e^epsilon times as likely with the person as without."""
    without = with_person * math.exp(-epsilon * prior)
    believed = 0.5 * with_person / (0.5 * with_person + 0.5 * without)
    assert believed <= most_believed(epsilon) + 1e-12
    assert 100 * most_believed(epsilon) <= float(belief_in_words(epsilon).removesuffix("%")) + 1e-9


def test_a_result_that_is_likelier_than_allowed_would_break_the_bound() -> None:
    """The control: with a tenth more than e^epsilon, Bayes' rule passes it."""
    assert 1 / (1 + math.exp(-1.1)) > most_believed(1)
    assert math.isclose(1 / (1 + math.exp(-1.0)), most_believed(1))


@pytest.mark.parametrize(
    ("threshold", "named"), [("1/3", 0.34), ("1/2", 0.5), (7, 7.0), ("1/100000", 0.0001)]
)
def test_the_least_epsilon_of_two_digits_is_found(threshold: str | int, named: float) -> None:
    """Rounded up, never down; the smallest that is searched where all are enough."""
    assert least_epsilon(lambda epsilon: epsilon >= Fraction(threshold)) == named


def test_a_forecast_that_falls_again_does_not_hide_the_epsilon_that_is_enough() -> None:
    """Where only epsilons between 1/20 and 1/2 are enough, 0.05 is named."""
    assert least_epsilon(lambda epsilon: Fraction(1, 20) <= epsilon <= Fraction(1, 2)) == 0.05


@pytest.mark.parametrize("written", ["10%", "0.1", " 10 % ", "1/10", 0.1, Fraction(1, 10)])
def test_a_share_is_read_as_people_write_it(written: Any) -> None:  # noqa: ANN401
    """Percent or part, exactly."""
    assert exact_share(written, what="error") == Fraction(1, 10)


@pytest.mark.parametrize("written", ["10", "0", "0%", "-5%", "101%", "ten", "", "%", "nan", "1/0"])
def test_what_is_no_share_is_refused_with_what_to_write(written: str) -> None:
    """Ten alone is not ten percent."""
    with pytest.raises(BadCall, match=r"10% or 0\.1") as refused:
        plan_epsilon(SHOP, k=10, want_error=written)
    assert "\n" not in str(refused.value)


def test_delta_is_named_where_items_are_found_privately() -> None:
    """And nothing of it is said where there is none."""
    with patch("veilset.plan.trade.least_epsilon", return_value=1.0):
        with_delta = plan_epsilon(SHOP, k=5, delta=1e-9, epsilons=(1,))
    assert "1e-09 (delta)" in with_delta.odds()
    assert with_delta.to_dict()["delta"] == 1e-9
    assert "delta" not in trade_of().odds()


def test_all_methods_tell_what_they_need_with_planned_first() -> None:
    """Those of single items say so."""
    trade = plan_epsilon(SHOP, k=10, max_size=2, epsilons=(1,), all_methods=True)
    assert trade.needs[0].method == "planned"
    labels = [need.label() for need in trade.needs]
    assert "f1m (single items)" in labels
    assert len(labels) > 5
    assert [need["method"] for need in trade.to_dict()["methods"]] == [need.method for need in trade.needs]


def test_three_methods_are_planned_and_the_two_that_find_most() -> None:
    """Of those that give itemsets; the others are named as left out."""
    with patch(
        "veilset.plan.least_epsilon", return_value=None
    ):  # 20 forecasts each, which nobody looks at here
        every = make_plan(SHOP, k=30, epsilon="1/10")
        few = make_plan(SHOP, k=30, epsilon="1/10", most_methods=3)
    shown = [each.forecast.method for each in few.methods]
    others = [each.forecast for each in every.methods[1:] if each.forecast.max_size > 1]
    best = sorted(others, key=lambda each: (-each.found, each.relative_error))[:2]
    assert shown == ["planned", *(each.method for each in best)]
    assert {*shown, *few.left_out} == {each.forecast.method for each in every.methods}
    assert "f1m" in few.left_out
    assert every.left_out == ()
    with pytest.raises(BadCall, match="give at least 1"):
        make_plan(SHOP, k=30, epsilon=1, most_methods=0)


def test_trades_and_plans_are_short_in_a_shell_and_tables_in_a_notebook() -> None:
    """Neither shows every stage of every method; and both are names of the package."""
    with patch("veilset.plan.least_epsilon", return_value=None):
        plan = vs.make_plan(vs.Facts(rows=20_000, items=40, length=5), k=30, epsilon=1, most_methods=2)
    for shown in (trade_of(), plan):
        assert len(repr(shown)) < 600
        assert shown._repr_html_().count("<table>") == 1
    assert "planned" in repr(plan)
    assert trade_of().sentence() in repr(trade_of())
    assert vs.plan_epsilon is plan_epsilon


def test_a_trade_shows_no_less_for_more() -> None:
    """Where a decision of the method turns, a forecast can fall; whoever has more can spend less."""
    fallen = [
        TradePoint(0.1, 0.9, 0.05, 0.5),
        TradePoint(0.2, 0.8, 0.06, 0.5),
        TradePoint(0.5, 0.95, 0.01, 0.6),
    ]
    shown = _never_less(fallen)
    assert [point.found for point in shown] == [0.9, 0.9, 0.95]
    assert [point.error for point in shown] == [0.05, 0.05, 0.01]
    assert [point.epsilon for point in shown] == [0.1, 0.2, 0.5]
