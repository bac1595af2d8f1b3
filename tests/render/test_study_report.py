"""The page of a study is one file that loads nothing, shows the right figures, and says it is not private."""

import re
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages import CHROMIUM, HOSTILE, Page, drawn, loads_nothing
from veilset.errors import BadCall
from veilset.evaluate import SCHEMA
from veilset.render.study_report import (
    CELL_COLUMNS,
    SHOWN_METRICS,
    condense,
    study_report_html,
    target_label,
    write_study_report,
)

Run = dict[str, Any]


def run_of(**values: object) -> Run:
    """One run that found half of what there is, except for what is said."""
    usual: Run = {
        "task": "mine",
        "dataset": "retail",
        "fingerprint": "",
        "method": "planned",
        "version": "0.1.0",
        "epsilon": 1.0,
        "k": 100,
        "study_seed": 7,
        **dict.fromkeys(("f_score", "precision", "recall", "false_negative_rate"), 0.5),
        "is_complete": False,
        "is_sound": True,
        "by_size": [{"size": 1, "released": 100, "right": 50, "wanted": 100}],
        "seconds": 0.25,
    }
    return {**dict.fromkeys(SCHEMA), **usual, **values}


def results_of(*runs: Run) -> pl.DataFrame:
    """Results as an evaluation returns them."""
    return pl.DataFrame(list(runs), schema=SCHEMA)


def study(
    *, datasets: list[str], methods: list[str], epsilons: list[float], ks: list[int | None]
) -> pl.DataFrame:
    """Two runs of every combination; methods later in the list are worse."""
    return results_of(
        *(
            run_of(dataset=dataset, method=method, epsilon=epsilon, k=k, f_score=score, repeat=repeat)
            for dataset in datasets
            for k in ks
            for place, method in enumerate(methods)
            for epsilon in epsilons
            for repeat, score in enumerate((0.9 / (place + 1), 0.8 / (place + 1)))
        )
    )


SMALLEST = results_of(run_of())
USUAL = study(
    datasets=["retail", "chess"],
    methods=["planned", "truncated-em"],
    epsilons=[0.1, 1.0, 2.0],
    ks=[50, 100],
)
HOSTILE_STUDY = study(datasets=[HOSTILE, "chess"], methods=[HOSTILE, "em"], epsilons=[0.1, 1.0], ks=[50])
OTHER_TASKS = results_of(
    run_of(),
    run_of(task="items", max_size=1),
    run_of(
        task="publish",
        k=None,
        by_size=None,
        fim_utility=0.75,
        query_error=[0.25, 0.75],
        **dict.fromkeys(("f_score", "precision", "recall", "false_negative_rate", "is_complete", "is_sound")),
    ),
)


@st.composite
def few_runs(draw: st.DrawFn) -> list[Run]:
    """Runs of a few cells, in any order, with missing values."""
    number = st.integers(0, 5)
    sizes = st.lists(
        st.fixed_dictionaries(
            {"size": st.integers(1, 3), "released": number, "right": number, "wanted": number}
        ),
        max_size=3,
    )
    return draw(
        st.lists(
            st.builds(
                run_of,
                dataset=st.sampled_from("ab"),
                k=st.sampled_from([None, 5]),
                method=st.sampled_from("xy"),
                f_score=st.floats(0, 1),
                relative_error=st.none() | st.just(float("nan")) | st.floats(0, 100),
                query_error=st.none() | st.lists(st.floats(0, 10), min_size=1, max_size=3),
                is_complete=st.booleans(),
                by_size=st.none() | sizes,
            ),
            min_size=1,
            max_size=12,
        )
    )


def values_of(runs: list[Run], column: str) -> list[float]:
    """The values that are known, lists by their means."""
    values = [run[column] for run in runs]
    numbers = [mean(value) if isinstance(value, list) else value for value in values if value is not None]
    return [float(number) for number in numbers if number == number]  # noqa: PLR0124 - NaN is not itself


@given(runs=few_runs())
def test_a_cell_holds_what_a_loop_over_its_runs_computes(runs: list[Run]) -> None:
    """Means, standard deviations and sums by size, of every cell and nothing else."""
    expected: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        expected.setdefault(tuple(run[column] for column in CELL_COLUMNS), []).append(run)
    cells = condense(results_of(*runs)).to_dicts()
    assert len(cells) == len(expected)
    for cell in cells:
        repeats = expected[tuple(cell[column] for column in CELL_COLUMNS)]
        assert cell["repeats"] == len(repeats)
        for metric in SHOWN_METRICS:
            values = values_of(repeats, metric.column)
            assert cell[f"{metric.column}_mean"] == (pytest.approx(mean(values)) if values else None)
            spread = pytest.approx(stdev(values), abs=1e-6) if len(values) > 1 else None
            assert cell[f"{metric.column}_sd"] == spread
        parts = [part for run in repeats for part in run["by_size"] or []]
        assert (cell["by_size"] or []) == [
            {
                "size": size,
                **{
                    key: sum(part[key] for part in parts if part["size"] == size)
                    for key in ("released", "right", "wanted")
                },
            }
            for size in sorted({part["size"] for part in parts})
        ]


@pytest.mark.parametrize("results", [SMALLEST, USUAL, HOSTILE_STUDY], ids=["smallest", "usual", "hostile"])
def test_the_page_loads_nothing(results: pl.DataFrame) -> None:
    """No address outside of plotly's own code, none in a tag, and a policy that forbids loading any."""
    assert loads_nothing(study_report_html(results))


def test_the_page_says_in_red_that_it_is_not_private() -> None:
    """The banner stands on every page: figures of a study come from looking at the data."""
    page = Page(study_report_html(SMALLEST))
    assert ("div", {"class": "banner", "role": "alert"}) in page.tags
    assert "Measured on public data with repeatable noise; these figures are not private." in page.text


def test_a_hostile_name_stays_text() -> None:
    """A dataset and a method whose names are markup show up letter by letter, and add no tag."""
    harmless = study(datasets=["retail", "chess"], methods=["planned", "em"], epsilons=[0.1, 1.0], ks=[50])
    page = Page(study_report_html(HOSTILE_STUDY))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in Page(study_report_html(harmless)).tags]
    assert HOSTILE in page.text
    assert HOSTILE in page.data["methods"]


def test_the_page_holds_every_cell_under_its_setting() -> None:
    """Two datasets, two targets: four settings, each with all methods at all epsilons."""
    data = Page(study_report_html(USUAL)).data
    assert [(setting["dataset"], setting["target"]) for setting in data["settings"]] == [
        ("chess", "k = 50"),
        ("chess", "k = 100"),
        ("retail", "k = 50"),
        ("retail", "k = 100"),
    ]
    for setting in data["settings"]:
        cells = [(cell["method"], cell["epsilon"]) for cell in setting["cells"]]
        assert cells == [(method, epsilon) for method in data["methods"] for epsilon in data["epsilons"]]
    best = data["settings"][0]["cells"][0]
    assert best["mean"]["f_score"] == 0.85
    assert best["sd"]["f_score"] == pytest.approx(0.0707107)
    assert best["sizes"] == [{"size": 1, "released": 200, "right": 100, "wanted": 200}]


def test_the_page_says_how_it_was_measured() -> None:
    """Numbers of methods, datasets, budgets and runs; versions; the seed."""
    text = " ".join(Page(study_report_html(USUAL)).text.split())
    assert "2 methods, 2 datasets, 3 privacy budgets: 48 runs, compared with the exact answer." in text
    assert "planned (0.1.0), truncated-em (0.1.0)" in text
    assert "epsilons 0.1, 1, 2" in re.sub(" +", " ", text.replace("epsilons0", "epsilons 0"))
    assert "1 method, 1 dataset, 1 privacy budget: 1 run," in Page(study_report_html(SMALLEST)).text


@pytest.mark.parametrize(
    ("target", "label"),
    [
        ((100, None, None), "k = 100"),
        ((None, "1/100", 3), "support ≥ 1/100, at most 3 items"),
        ((5, None, 1), "k = 5, at most 1 item"),
        ((None, None, None), "all of it"),
    ],
)
def test_a_target_is_told_in_words(target: tuple[int | None, str | None, int | None], label: str) -> None:
    """Number, threshold and size, as far as they were given."""
    assert target_label(*target) == label


def test_results_with_delta_and_owners_are_settings_of_their_own() -> None:
    """Beside the same without; and results of version 0.1, which lack both columns, have a page."""
    both = results_of(run_of(), run_of(per_owner=3, delta=1e-9))
    settings = Page(study_report_html(both)).data["settings"]
    assert {setting["target"] for setting in settings} == {
        "k = 100",
        "k = 100, at most 3 transactions of one person, delta = 1e-09",
    }
    old = results_of(run_of()).drop("per_owner", "delta")
    assert Page(study_report_html(old)).data == Page(study_report_html(results_of(run_of()))).data


def test_no_results_are_refused() -> None:
    """An empty page would look like a study."""
    with pytest.raises(BadCall, match="hold no run"):
        study_report_html(SMALLEST.clear())


def test_results_without_the_columns_are_refused() -> None:
    """The message names what is missing."""
    with pytest.raises(BadCall, match="lack the columns by_size, f_score; hand in what evaluate returns"):
        study_report_html(SMALLEST.drop("f_score", "by_size"))


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to draw the page")
@pytest.mark.parametrize(
    ("results", "panels", "winners"),
    [(USUAL, 4, 12), (HOSTILE_STUDY, 2, 4), (OTHER_TASKS, 1, 1)],
    ids=["usual", "hostile", "tasks"],
)
def test_a_browser_draws_the_page_without_complaint(
    tmp_path: Path, results: pl.DataFrame, panels: int, winners: int
) -> None:
    """Headless chromium draws both charts, a panel for each setting, a winner for each of its epsilons."""
    write_study_report(results, tmp_path / "study.html")
    body = drawn(tmp_path / "study.html")
    assert len(re.findall('class="chart js-plotly-plot"', body)) == 2
    assert len(re.findall('<button class="panel"', body)) == panels
    assert len(re.findall('<td class="winner', body)) == winners
    assert "onerror" not in {name for _, attributes in Page(body).tags for name in attributes}


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to draw the page")
def test_a_winner_is_the_method_with_the_best_mean(tmp_path: Path) -> None:
    """The better of two wins with its lead; a lead within two standard errors is pale; equals tie."""
    results = results_of(
        *(run_of(method="close", f_score=score, epsilon=1.0) for score in (0.80, 0.90)),
        *(run_of(method="good", f_score=score, epsilon=1.0) for score in (0.82, 0.92)),
        *(run_of(method="close", f_score=score, epsilon=2.0) for score in (0.40, 0.41)),
        *(run_of(method="good", f_score=score, epsilon=2.0) for score in (0.96, 0.97)),
        *(run_of(method=method, f_score=1.0, epsilon=4.0) for method in ("close", "good")),
    )
    write_study_report(results, tmp_path / "study.html")
    body = drawn(tmp_path / "study.html")
    cells = re.findall('<td class="(winner[^"]*)".*?<small>(.*?)</small><br>(.*?)</button>', body)
    assert cells == [
        ("winner chosen", "good", "0.87 (+0.020)"),
        ("winner clear", "good", "0.96 (+0.56)"),
        ("winner", "tie", "1.00"),
    ]


def chosen_metric(page: Path, metric: str) -> str:
    """The page as a browser draws it when this measure is chosen."""
    text = page.read_text(encoding="utf-8")
    start = "drawAgainOnChange(draw);\ndraw();"
    assert text.count(start) == 1
    choose = f'{start}\nat("metric").value = "{metric}";\ndraw();'
    page.write_text(text.replace(start, choose), encoding="utf-8")
    return drawn(page)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to draw the page")
@pytest.mark.parametrize(
    ("metric", "values", "figures"),
    [
        (
            "coverage",
            {"wide": (0.99, 1.0), "right": (0.95, 0.96), "narrow": (0.7, 0.72)},
            "0.95 (\u22120.040)",
        ),
        ("bias", {"high": (0.2, 0.21), "right": (-0.01, -0.02), "low": (-0.3, -0.31)}, "-0.015 (\u22120.19)"),
        ("half_width", {"right": (0.1, 0.11), "wide": (0.2, 0.21)}, "0.10 (\u22120.10)"),
    ],
)
def test_what_is_closest_to_its_best_value_wins(
    tmp_path: Path, metric: str, values: dict[str, tuple[float, float]], figures: str
) -> None:
    """A coverage near 0.95 and a bias near 0, from above or below; the lead is how much closer it is."""
    runs = [
        run_of(method=method, epsilon=epsilon, dataset=dataset, **{metric: value})
        for method, both in values.items()
        for value in both
        for epsilon in (1.0, 2.0)
        for dataset in ("retail", "chess")
    ]
    write_study_report(results_of(*runs), tmp_path / "study.html")
    body = chosen_metric(tmp_path / "study.html", metric)
    cells = re.findall('<td class="(winner[^"]*)".*?<small>(.*?)</small><br>(.*?)</button>', body)
    assert {(name, shown) for _, name, shown in cells} == {("right", figures)}
    assert all("clear" in kind for kind, _, _ in cells)
    order = re.findall('<td class="name">.*?</span>(.*?)</td>', body)
    assert order[0] == "right"
    caption = re.findall('id="curve-caption">(.*?)</p>', body)[0]
    assert ("The dashed line is where it should be" in caption) == (metric != "half_width")
    heights = [float(number) for number in re.findall(r'points="[\d.]+,([\d.]+)', body)]
    assert heights
    assert all(4 <= height <= 76 for height in heights)
