"""The report is one page that loads nothing, runs no name as code, and says whether it is private."""

import re
from fractions import Fraction
from html import escape
from pathlib import Path

import numpy as np
import pytest

from pages import CHROMIUM, HOSTILE, Page, drawn, loads_nothing, told_by
from veilset.gate import Charge, Item
from veilset.gate.mechanisms import DiscreteLaplace, Exponential
from veilset.render.pairs import MOST_EDGES, node_places
from veilset.render.report import COLOURS, report_html, write_report
from veilset.results.promise import ItemSource, Promise
from veilset.results.release import NOTHING_RELEASED, NumberOfTransactions, Release, ReleasedItemset

TRACE = (
    Charge("which itemsets", Exponential(3, 1, Fraction(1, 3))),
    Charge("their supports", DiscreteLaplace(3, Fraction(1, 2))),
)


def release_of(
    supports: dict[tuple[Item, ...], int],
    *,
    is_private: bool = True,
    trace: tuple[Charge, ...] = TRACE,
    delta: Fraction = Fraction(0),
    items: ItemSource = "public list",
) -> Release:
    """A release of these itemsets out of about 1,000 transactions, 980 to 1,020."""
    itemsets = tuple(
        ReleasedItemset(items, support, support - 20, support + 20) for items, support in supports.items()
    )
    return Release(
        itemsets=itemsets,
        transactions=NumberOfTransactions(1000, 980, 1020, is_public=False),
        method="planned",
        trace=trace,
        promise=Promise(
            "one transaction",
            Fraction(1),
            ("the list of items is public",),
            is_kept=is_private,
            delta=delta,
            items=items,
        ),
        notes=("a note & more",),
    )


BREAKFAST = release_of({("bread",): 500, ("butter",): 400, ("jam",): 200, ("bread", "butter"): 300})
HOSTILE_RELEASE = release_of({(HOSTILE,): 500, ("jam",): 400, (HOSTILE, "jam"): 300})


def many_pairs(number: int) -> Release:
    """A release with this many pairs, all of one item with others."""
    return release_of({(0, other): 100 + other for other in range(1, number + 1)})


@pytest.mark.parametrize("release", [BREAKFAST, HOSTILE_RELEASE])
def test_the_page_loads_nothing(release: Release) -> None:
    """No address outside of plotly's own code, none in a tag, and a policy that forbids loading any."""
    assert loads_nothing(report_html(release))


def test_a_hostile_name_stays_text() -> None:
    """A name full of markup shows up letter by letter, and adds no tag to the page."""
    harmless = release_of({("bread",): 500, ("jam",): 400, ("bread", "jam"): 300})
    page = Page(report_html(HOSTILE_RELEASE))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in Page(report_html(harmless)).tags]
    assert HOSTILE in page.text
    assert page.data["itemsets"][0]["name"] == HOSTILE


def test_a_private_release_says_its_epsilon() -> None:
    """The badge and the promise state epsilon, and there is no banner."""
    page = Page(report_html(BREAKFAST))
    assert "private, epsilon = 1" in page.text
    assert "NOT PRIVATE" not in page.text
    assert str(BREAKFAST.promise) in page.text


def seen_first(html: str) -> str:
    """The text of a page, less its title."""
    return " ".join(Page(html.partition("<body>")[2]).text.split())


def test_a_conditional_promise_is_the_first_thing_seen() -> None:
    """A badge of its own and the sentence, before the title and before the badge with epsilon."""
    release = release_of({("bread",): 500}, items="declared public")
    html = report_html(release)
    seen = seen_first(html)
    assert seen.startswith(
        "conditional promise: items declared public This promise is conditional: it holds only if the items"
    )
    epsilon = seen.index("private on this condition, epsilon = 1")
    assert seen.index("give this person away.") < epsilon < seen.index("Frequent itemsets")
    badges = [attributes.get("class") for tag, attributes in Page(html).tags if tag == "span"][:2]
    assert badges == ["badge conditional", "badge conditional"]
    assert "conditional" not in seen_first(report_html(BREAKFAST))


def test_a_release_with_delta_says_what_delta_means() -> None:
    """The badge has both numbers, the sentence stands beside it, and the budget tells what delta was for."""
    release = release_of({("bread",): 500}, delta=Fraction(1, 10**9), items="found privately")
    seen = seen_first(report_html(release))
    assert seen.startswith("private, epsilon = 1, delta = 1e-09 Epsilon bounds what anybody can tell")
    assert "except with a probability of at most 1e-09 (delta), as when an item is named" in seen
    assert "was spent, and delta 1e-09 for naming the items." in seen
    assert "conditional" not in seen
    assert "delta" not in seen_first(report_html(BREAKFAST))


def test_a_release_that_is_not_private_says_so_in_red() -> None:
    """The banner comes first, and nothing on the page claims protection."""
    page = Page(report_html(release_of({("bread",): 500}, is_private=False)))
    assert "NOT PRIVATE" in page.text
    assert ("div", {"class": "banner", "role": "alert"}) in page.tags
    assert "private, epsilon" not in page.text
    assert "protected" not in page.text


def test_the_page_shows_all_that_was_released() -> None:
    """Every itemset with its interval and share, every rule, the notes, the noisy number of transactions."""
    text = " ".join(Page(report_html(BREAKFAST)).text.split())
    assert "4 itemsets out of about 1,000 transactions (980 to 1,020), found by the method planned." in text
    assert "a note & more" in text
    assert re.search("bread butter ?2 ?300 ?280 . 320 ?30.00%", text)
    interval = r"\d+% – \d+%"
    assert re.search(rf"butter ?bread ?75% ?{interval} ?1.50 ?\d.\d\d – \d.\d\d ?30.00%", text)


def test_a_release_of_noise_says_so_in_a_badge_before_its_epsilon() -> None:
    """With what to do about it; private or not. Rows that reach down to noise are marked, one by one."""
    noise = release_of({("bread",): 20, ("jam",): 18, ("tea",): 15})
    html = report_html(noise)
    seen = seen_first(html)
    assert seen.startswith(
        "nothing but noise These itemsets cannot be told from noise: at this epsilon the noise is"
    )
    assert (
        seen.index("nothing but noise") < seen.index("private, epsilon = 1") < seen.index("Frequent itemsets")
    )
    assert ("span", {"class": "badge noise"}) in Page(html).tags
    told = release_of({("bread",): 500, ("jam",): 400, ("tea",): 20})
    html = report_html(told)
    assert "noise" not in seen_first(html).partition("Frequent itemsets")[0]
    assert [tag for tag, attributes in Page(html).tags if attributes.get("class") == "untold"] == ["tr"]
    not_private = seen_first(report_html(release_of({("bread",): 20}, is_private=False)))
    assert not_private.startswith("NOT PRIVATE")
    assert "nothing but noise" in not_private


def test_the_budget_is_told_in_shares_and_exactly_when_pointed_at() -> None:
    """A third is 33.33 %, in the table and as a width of the bar; 1/3 stands in the tooltip and nowhere else."""
    page = Page(report_html(BREAKFAST))
    assert "83.33% of epsilon 1 was spent." in page.text
    assert "33.33%" in page.text
    assert "1/3" not in page.text
    titles = [attributes.get("title") for tag, attributes in page.tags if tag == "td"]
    assert [title for title in titles if title] == ["epsilon 1/3 (about 0.333333)", "epsilon 0.5"]
    styles = [attributes.get("style") or "" for _, attributes in page.tags]
    assert [style.split(";")[0] for style in styles if "width" in style] == ["width: 33.33%", "width: 50.00%"]


def test_every_question_has_its_row_and_equal_ones_share_it() -> None:
    """Twelve questions asked twice are twelve rows; those that are left without a colour share the last."""
    trace = tuple(
        Charge(f"question {number}", DiscreteLaplace(1, Fraction(1, 24))) for number in [*range(12)] * 2
    )
    page = Page(report_html(release_of({("bread",): 500}, trace=trace)))
    swatches = [attributes["style"] for _, attributes in page.tags if attributes.get("class") == "swatch"]
    assert [len(swatches), len(set(swatches))] == [12, len(COLOURS)]
    assert page.text.count("asked 2 times") == 12
    assert "All of epsilon 1 was spent." in page.text


def test_few_pairs_are_a_network_and_many_a_grid() -> None:
    """The network has an edge for each pair; the grid is symmetric, with None where nothing was released."""
    few = Page(report_html(many_pairs(MOST_EDGES))).data
    assert few["grid"] is None
    assert len(few["network"]["edges"]) == MOST_EDGES
    assert len(few["network"]["nodes"]) == MOST_EDGES + 1
    many = Page(report_html(many_pairs(MOST_EDGES + 1))).data
    assert many["network"] is None
    grid = many["grid"]["supports"]
    assert grid == [list(column) for column in zip(*grid, strict=True)]
    assert grid[0][:3] == [None, 100 + MOST_EDGES + 1, 100 + MOST_EDGES]
    assert grid[1][1:] == [None] * (len(grid) - 1)


def test_the_network_puts_joined_items_close_and_none_on_top_of_another() -> None:
    """Two triangles: every side is shorter than every distance between them, and all lie in the frame."""
    edges = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]])
    places = node_places(6, edges)
    distance = np.linalg.norm(places[:, None] - places[None, :], axis=2)
    assert np.abs(places).max() <= 1
    assert distance[edges[:, 0], edges[:, 1]].max() < distance[:3, 3:].min()
    assert distance[~np.eye(6, dtype=bool)].min() > 0.1


def test_an_empty_release_has_a_page() -> None:
    """Nothing was found: it says why that can be, the charts are hidden, the promise still stands."""
    page = Page(report_html(release_of({})))
    assert NOTHING_RELEASED in page.text
    assert NOTHING_RELEASED not in Page(report_html(BREAKFAST)).text
    assert page.data["has"] == {"itemsets": False, "pairs": False, "rules": False}
    assert "0 itemsets" in page.text
    assert "What is promised" in page.text


def test_a_long_name_shows_in_full_when_pointed_at_and_hidden_characters_are_written_out() -> None:
    """Short ones need no tooltip; an override of the direction of text turns nothing round."""
    long, turned = "organic eggs " * 10, "milk" + chr(0x202E) + "daerb"
    html = report_html(release_of({(long,): 500, (turned,): 400, ("jam",): 300}))
    chips = [attributes for tag, attributes in Page(html).tags if attributes.get("class") == "item"]
    assert [attributes.get("title") for attributes in chips] == [long, None, None]
    assert chr(0x202E) not in html
    assert "milk\\u202edaerb" in Page(html).text


MANY = release_of({(f"item {number}",): 1000 - number for number in range(60)})
LONG = release_of({("x" * 300,): 500, ("organic eggs " * 30,): 400, ("x" * 300, "organic eggs " * 30): 300})

CUT_OFF_TABLES = """<script>document.title = "told " + [...document.querySelectorAll(".scroll")]
  .filter(table => table.clientHeight < table.scrollHeight).length;</script>"""


def test_a_release_writes_its_own_page(tmp_path: Path) -> None:
    """The one that `write_report` writes."""
    BREAKFAST.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report_html(BREAKFAST)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to draw the page")
def test_paper_shows_every_itemset(tmp_path: Path) -> None:
    """With the rules for print in force no table is cut off; on the screen, the control, one of 60 rows scrolls."""
    html = report_html(MANY).replace("</body>", f"{CUT_OFF_TABLES}</body>")
    assert told_by(html, tmp_path) == "1"
    assert "@media print {" in html
    assert told_by(html.replace("@media print {", "@media all {"), tmp_path) == "0"


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to draw the page")
@pytest.mark.parametrize("release", [BREAKFAST, MANY, LONG], ids=["breakfast", "many", "long names"])
def test_a_phone_need_not_scroll_sideways(tmp_path: Path, release: Release) -> None:
    """At a width of 380 pixels nothing is wider than the page; a control with a wide box is."""
    html = report_html(release)
    assert told_by(_framed(html), tmp_path) == "false"
    wide = html.replace("</body>", '<div style="width: 700px">wide</div></body>')
    assert told_by(_framed(wide), tmp_path) == "true"


def _framed(html: str) -> str:
    """A page that shows another one at a width of 380 pixels, and tells whether that one scrolls sideways."""
    return (
        f'<body><iframe id="phone" width="380" height="800" style="border: 0" srcdoc="{escape(html)}"></iframe>'
        "<script>phone.onload = () => { const page = phone.contentDocument.documentElement;"
        'document.title = "told " + (page.scrollWidth > page.clientWidth); }</script></body>'
    )


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to draw the page")
@pytest.mark.parametrize(
    ("release", "charts"),
    [(BREAKFAST, 2), (HOSTILE_RELEASE, 2), (many_pairs(MOST_EDGES + 1), 2), (release_of({}), 0)],
    ids=["network", "hostile", "grid", "empty"],
)
def test_a_browser_draws_the_page_without_complaint(tmp_path: Path, release: Release, charts: int) -> None:
    """Headless chromium draws the charts, adds no tag made of a name, and logs nothing to the console."""
    write_report(release, tmp_path / "report.html")
    body = drawn(tmp_path / "report.html")
    assert len(re.findall('class="chart js-plotly-plot"', body)) == charts
    assert "onerror" not in {name for _, attributes in Page(body).tags for name in attributes}
