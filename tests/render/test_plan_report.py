"""The page of a plan is one file that loads nothing and shows the trade."""

from pathlib import Path

import pytest

from pages import CHROMIUM, Page, drawn, loads_nothing
from veilset.plan import Facts, Trade, make_plan, plan_epsilon
from veilset.render.plan_report import plan_report_html, write_plan_report

SHOP = Facts(rows=20_000, items=40, length=5)


@pytest.fixture(scope="module")
def trade() -> Trade:
    """What it takes in a shop, by all methods."""
    return plan_epsilon(SHOP, k=10, max_size=1, all_methods=True)


def test_the_page_loads_nothing_and_has_the_answer_and_every_point(trade: Trade) -> None:
    """The sentence, the odds, what each method needs; the data of the plot are those of the table."""
    html = plan_report_html(trade)
    shown = Page(html)
    assert loads_nothing(html)
    assert trade.sentence() in shown.text
    assert "What each method needs" in shown.text
    assert [point["epsilon"] for point in shown.data["points"]] == [each.epsilon for each in trade.points]
    assert shown.data["needed"] == trade.epsilon
    assert trade.epsilon not in shown.data["ticks"]
    assert html.count('class="enough"') == 1


def test_a_given_epsilon_is_marked_and_its_methods_are_listed(trade: Trade) -> None:
    """In the place of what each method needs."""
    plan = make_plan(SHOP, k=10, epsilon="1/2", max_size=1, most_methods=2)
    shown = Page(plan_report_html(trade, plan))
    assert shown.data["given"] == 0.5
    assert "What to expect at epsilon 1/2" in shown.text
    assert "What each method needs" not in shown.text


def test_where_no_epsilon_is_enough_nothing_is_marked() -> None:
    """And what is off by more than all is drawn at the top of the plot."""
    html = plan_report_html(plan_epsilon(Facts(rows=10, items=1000, length=1), k=50))
    shown = Page(html)
    assert shown.data["needed"] is None
    assert 'class="enough"' not in html
    assert max(point["error"] for point in shown.data["points"]) == 1
    assert "No epsilon up to 10,000" in shown.text


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_browser_draws_three_lines(trade: Trade, tmp_path: Path) -> None:
    """Without a complaint on its console."""
    write_plan_report(trade, tmp_path / "plan.html")
    page = drawn(tmp_path / "plan.html")
    assert page.count('class="legendtext"') == 3
    assert "enough: " in page
