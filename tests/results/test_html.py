"""What a notebook shows of a result: a table, a badge, the cost; no scripts, no name run as markup, nothing loaded."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pages import HOSTILE, Page
from veilset.itemsets import Itemsets
from veilset.results.html import MOST_SHOWN, names_html
from veilset.results.promise import ItemSource, Promise
from veilset.results.published import NO_RECORDS, Published
from veilset.results.release import NOTHING_RELEASED, NumberOfTransactions, Release, ReleasedItemset

TURNED = "milk" + chr(0x202E) + chr(0) + "daerb"


def promise_of(
    *, is_kept: bool = True, items: ItemSource = "public list", delta: Fraction = Fraction(0)
) -> Promise:
    """Epsilon 1 for one transaction."""
    return Promise("one transaction", Fraction(1), (), is_kept=is_kept, items=items, delta=delta)


def release_of_items(*names: str, promise: Promise | None = None) -> Release:
    """Items of supports 500, 499, and on; each known within 20."""
    return Release(
        itemsets=tuple(
            ReleasedItemset((name,), 500 - place, 480 - place, 520 - place)
            for place, name in enumerate(names)
        ),
        transactions=NumberOfTransactions(1000, 980, 1020, is_public=False),
        method="planned",
        trace=(),
        promise=promise or promise_of(),
    )


def published_records(copies: dict[tuple[int, ...], int], names: tuple[str, ...]) -> Published:
    """A dataset of these records."""
    return Published(
        records=Itemsets.of(copies),
        multiplicities=np.array(list(copies.values()), dtype=np.int64),
        names=names,
        method="planned",
        trace=(),
        promise=promise_of(),
    )


def badges_in(html: str) -> list[str]:
    """The texts of the badges."""
    return re.findall('<span class="badge [a-z]+">(.*?)</span>', html)


def test_a_release_shows_its_itemsets_with_intervals_and_its_cost() -> None:
    """Support, interval and share of each, and one line on the price."""
    text = Page(release_of_items("bread", "milk")._repr_html_()).text
    assert "2 itemsets out of about 1,000 transactions" in text
    assert re.search("bread500480 – 52050.0%", text)
    assert "Cost: epsilon 1 (smaller protects more). Protected: one transaction. Method: planned." in text


def test_a_long_release_is_cut_and_says_so() -> None:
    """The first rows, and how many more there are."""
    text = Page(release_of_items(*(f"item {n}" for n in range(MOST_SHOWN + 7)))._repr_html_()).text
    assert f"item {MOST_SHOWN - 1}" in text
    assert f"item {MOST_SHOWN}" not in text
    assert "… and 7 more" in text
    assert "more: to_frame" not in Page(release_of_items("bread")._repr_html_()).text


@pytest.mark.parametrize(
    ("promise", "badge"),
    [
        (promise_of(), "private"),
        (promise_of(items="declared public"), "private on a condition"),
        (promise_of(is_kept=False), "NOT private"),
        (promise_of(is_kept=False, items="declared public"), "NOT private"),
    ],
)
def test_the_badge_tells_the_standing(promise: Promise, badge: str) -> None:
    """As does the short line; what is not private claims no protection, and a condition is spelt out."""
    release = release_of_items("bread", promise=promise)
    text = Page(release._repr_html_()).text
    assert badges_in(release._repr_html_()) == [badge]
    assert repr(release) == f"Release(1 itemset, epsilon 1, planned, {badge})"
    assert ("Protected:" in text) == promise.is_kept
    assert ("do not publish" in text) != promise.is_kept
    assert ("promise is conditional" in text) == (promise.warning is not None)


def test_noise_is_called_noise() -> None:
    """In a badge of its own, in the short line, and with what to do."""
    noise = replace(release_of_items("bread"), itemsets=(ReleasedItemset(("bread",), 10, 0, 40),))
    assert badges_in(noise._repr_html_()) == ["private", "mostly noise"]
    assert repr(noise) == "Release(1 itemset, epsilon 1, planned, private, mostly noise)"
    assert "cannot be told from noise" in noise._repr_html_()


def test_delta_stands_beside_epsilon() -> None:
    """Where there is one."""
    release = release_of_items("bread", promise=promise_of(delta=Fraction(1, 10**9)))
    assert "epsilon 1, delta 1e-09" in repr(release)
    assert "epsilon 1, delta 1e-09" in Page(release._repr_html_()).text


def test_an_empty_result_explains_itself() -> None:
    """With the notes of the method, and without a table."""
    empty = replace(release_of_items(), notes=("there are no items",))
    for html, told in (
        (empty._repr_html_(), NOTHING_RELEASED),
        (published_records({}, ())._repr_html_(), NO_RECORDS),
    ):
        assert told in Page(html).text
        assert "<table" not in html
    assert "There are no items." in empty._repr_html_()


def test_a_hostile_name_adds_no_tag_and_hidden_characters_are_written_out() -> None:
    """Neither in a cell nor in a tooltip; the control has the same tags."""
    for hostile, harmless in (
        (release_of_items(HOSTILE, TURNED), release_of_items("x" * len(HOSTILE), "milk")),
        (
            published_records({(0, 1): 5}, (HOSTILE, TURNED)),
            published_records({(0, 1): 5}, ("x" * len(HOSTILE), "milk")),
        ),
    ):
        page, control = Page(hostile._repr_html_()), Page(harmless._repr_html_())
        assert [tag for tag, _ in page.tags] == [tag for tag, _ in control.tags]
        assert HOSTILE in {(attributes.get("title") or "").split(", ")[0] for _, attributes in page.tags}
        assert chr(0x202E) not in hostile._repr_html_()
        assert "milk\\u202e\\x00daerb" in page.text


def test_what_a_notebook_shows_runs_nothing_and_loads_nothing() -> None:
    """No script, no address, no link."""
    html = release_of_items("bread")._repr_html_()
    assert not re.search("<script|https?:|url\\(|src=|href=|@import|on[a-z]+=", html)


def test_long_names_and_long_records_are_cut_with_all_of_it_on_pointing() -> None:
    """Twelve items are named, the others counted; a short one has no tooltip."""
    shown = names_html([f"item {n}" for n in range(15)])
    assert "item 11</bdi> and 3 items more" in shown
    assert "item 14" in shown.partition(">")[0]
    assert "title" not in names_html(["bread"])
    assert names_html(["x" * 100]).count("x") == 100 + 39


def test_a_published_dataset_shows_the_records_with_most_copies() -> None:
    """Those first, and how many records there are in all."""
    published = published_records({(0,): 3, (1,): 900, (0, 1): 40}, ("bread", "milk"))
    text = Page(published._repr_html_()).text
    assert text.index("900") < text.index("40") < text.index("Cost:")
    assert repr(published) == "Published(943 records over 2 items, epsilon 1, planned, private)"
