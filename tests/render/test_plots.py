"""Plots of a release: every itemset at its place, no name run as markup, nothing to draw explained."""

from dataclasses import replace
from fractions import Fraction

import pytest

import veilset as vs
from pages import HOSTILE
from veilset.gate import Item
from veilset.render.pairs import MOST_EDGES
from veilset.render.plots import MOST_INTERVALS
from veilset.results.promise import Promise
from veilset.results.release import NumberOfTransactions, Release, ReleasedItemset


def release_with(supports: dict[tuple[Item, ...], int], *, is_private: bool = True) -> Release:
    """A release of these itemsets out of 1,000 transactions, each known within 20."""
    return Release(
        itemsets=tuple(
            ReleasedItemset(items, support, support - 20, support + 30) for items, support in supports.items()
        ),
        transactions=NumberOfTransactions(1000, 1000, 1000, is_public=True),
        method="planned",
        trace=(),
        promise=Promise("one transaction", Fraction(1), (), is_kept=is_private),
    )


BREAKFAST = release_with(
    {("bread",): 500, ("butter",): 400, ("jam",): 200, ("bread", "butter"): 300, ("tea", "jam"): 100}
)


def test_intervals_are_those_of_the_release() -> None:
    """A dot at each support, and both ends of its interval."""
    (dots,) = BREAKFAST.plot().data
    assert list(dots.x) == [500, 400, 200, 300, 100]
    assert set(dots.error_x.array) == {30}
    assert set(dots.error_x.arrayminus) == {20}


def test_many_itemsets_are_cut_and_the_title_says_so() -> None:
    """The most frequent are shown, and how many there are."""
    many = release_with({(number,): 1000 - number for number in range(MOST_INTERVALS + 5)})
    figure = many.plot("intervals")
    assert len(figure.data[0].x) == MOST_INTERVALS
    assert f"The {MOST_INTERVALS} most frequent of {MOST_INTERVALS + 5} itemsets" in figure.layout.title.text
    assert "most frequent of" not in BREAKFAST.plot().layout.title.text


def test_a_network_has_a_line_for_each_pair_and_a_dot_for_each_item() -> None:
    """Two pairs of four items; wide lines are common pairs; too many pairs are cut."""
    figure = BREAKFAST.plot("network")
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert len(lines) == 2
    assert lines[0].line.width > lines[1].line.width
    assert sorted(figure.data[-1].text) == ["bread", "butter", "jam", "tea"]
    many = release_with({(0, other): 900 - other for other in range(1, MOST_EDGES + 10)})
    assert len([trace for trace in many.plot("network").data if trace.mode == "lines"]) == MOST_EDGES


def test_a_heatmap_shows_supports_or_lift() -> None:
    """Symmetric; the lift of bread and butter is 0.3 / (0.5 * 0.4); of tea, which is not released alone, unknown."""
    (cells,) = BREAKFAST.plot("heatmap").data
    names = list(BREAKFAST.plot("heatmap").layout.xaxis.ticktext)
    place = names.index("bread"), names.index("butter")
    assert cells.z[place[0]][place[1]] == cells.z[place[1]][place[0]] == 300
    (cells,) = BREAKFAST.plot("heatmap", measure="lift").data
    assert cells.z[place[0]][place[1]] == pytest.approx(1.5)
    assert cells.z[names.index("tea")][names.index("jam")] is None


@pytest.mark.parametrize("kind", ["intervals", "network", "heatmap"])
def test_a_hostile_name_is_no_markup(kind: str) -> None:
    """Plotly reads labels as HTML, so no label holds an angle bracket; nor a character that turns text round."""
    release = release_with({(HOSTILE,): 500, ("a" + chr(0x202E),): 400, (HOSTILE, "a" + chr(0x202E)): 300})
    figure = release.plot(kind)
    labels = [
        label
        for values in (
            *(trace.text for trace in figure.data),
            figure.layout.xaxis.ticktext or (),
            figure.layout.yaxis.ticktext or (),
        )
        for row in values or ()
        for label in ([row] if isinstance(row, str) else row)
    ]
    assert labels
    assert not any("<" in label or chr(0x202E) in label for label in labels)


def test_nothing_to_draw_explains_itself() -> None:
    """No itemsets, no pairs, no lift."""
    nothing, single = release_with({}), release_with({("tea",): 100})
    pair = release_with({("tea", "jam"): 100})
    texts = [
        figure.layout.annotations[0].text
        for figure in (nothing.plot(), single.plot("network"), pair.plot("heatmap", measure="lift"))
    ]
    assert [text.partition(":")[0] for text in texts] == [
        "Nothing was released",
        "No pairs were released",
        "No pair was released together with both of its items",
    ]
    assert not BREAKFAST.plot("network").layout.annotations


def test_a_plot_says_whether_it_is_private() -> None:
    """In its title, as whoever sees it may not have made it."""
    assert "(private)" in BREAKFAST.plot().layout.title.text
    seeded = release_with({("tea",): 100}, is_private=False)
    assert "(NOT private)" in seeded.plot().layout.title.text
    noise = replace(BREAKFAST, itemsets=(ReleasedItemset(("tea",), 10, 0, 40),))
    assert "(private, mostly noise)" in noise.plot().layout.title.text


@pytest.mark.parametrize(
    ("kind", "measure", "told"),
    [
        ("pie", "support", "'pie'; give one of intervals, network, heatmap"),
        ("heatmap", "size", "'size' of pairs; give one of support, lift"),
        ("network", "lift", "goes with kind='heatmap'"),
    ],
)
def test_a_plot_that_there_is_not_is_refused_with_those_there_are(kind: str, measure: str, told: str) -> None:
    """What was given, and what is allowed."""
    with pytest.raises(vs.BadCall, match=r"there is no|shows supports") as refusal:
        BREAKFAST.plot(kind, measure=measure)
    assert told in str(refusal.value)
