"""Studies: the same figures on any number of workers, resuming, what makes no sense is refused."""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shell import veilset
from strategies import arrays_of
from veilset.datasets import groceries, quest
from veilset.errors import BadCall
from veilset.evaluate import CELL, METRICS, SCHEMA, SeededRun, Study, documents, evaluate, summary
from veilset.evaluate.results import CHOSEN_PRIVATELY, write_results
from veilset.raw.transactions import Alphabet, Transactions

DATA = {"small": groceries(3000), "other": quest(2000, items=100)}


STUDY = Study.of(methods=["truncated-em", "privbasis"], epsilons=[0.5, 5], ks=[10, 20], repeats=3)


TIMED = ["seconds", "peak_bytes"]


def rows_over(rows: list[list[int]], names: str) -> Transactions:
    """Transactions of a few codes."""
    return Transactions(*arrays_of(rows), Alphabet(list(names), is_given=True))


TINY = rows_over([[0, 1, 2]], "abc")


@pytest.fixture(scope="module")
def results() -> pl.DataFrame:
    """A small study."""
    return evaluate(DATA, STUDY)


def test_a_study_has_one_row_for_each_run(results: pl.DataFrame) -> None:
    """Datasets x methods x epsilons x targets x repeats, in the documented columns."""
    assert results.height == 2 * 2 * 2 * 2 * 3
    assert dict(results.schema) == SCHEMA
    assert results.select(CELL).n_unique() == 16
    assert results["seed"].n_unique() == results.height


def test_figures_do_not_depend_on_the_number_of_workers(results: pl.DataFrame) -> None:
    """The same seed gives the same numbers on one process and on two."""
    assert evaluate(DATA, STUDY, workers=2).drop(TIMED).equals(results.drop(TIMED))


def test_another_seed_gives_other_figures(results: pl.DataFrame) -> None:
    """So seeds do reach the noise."""
    other = Study.of(methods=["privbasis"], epsilons=[0.5], ks=[10], repeats=3, seed=8)
    again = Study.of(methods=["privbasis"], epsilons=[0.5], ks=[10], repeats=3, seed=7)
    cell = results.filter(method="privbasis", epsilon=0.5, k=10, dataset="small")
    one = {"small": DATA["small"]}
    assert evaluate(one, again).drop(TIMED).equals(cell.drop(TIMED))
    assert not evaluate(one, other)["relative_error"].equals(cell["relative_error"])


def test_a_study_goes_on_where_it_was_stopped(results: pl.DataFrame, tmp_path: Path) -> None:
    """What the file holds is not run again; what is missing is appended."""
    path = tmp_path / "results.parquet"
    part = Study.of(methods=["truncated-em"], epsilons=[0.5, 5], ks=[10], repeats=3)
    evaluate({"small": DATA["small"]}, part, results=path)
    before = pl.read_parquet(path)
    told: list[tuple[int, int]] = []
    whole = evaluate(DATA, STUDY, results=path, progress=lambda done, total: told.append((done, total)))
    assert whole.drop(TIMED).equals(results.drop(TIMED))
    assert told[0] == (before.height + 1, whole.height)
    after = pl.read_parquet(path)
    assert after.height == whole.height
    assert after.head(before.height).equals(before)
    told.clear()
    evaluate(DATA, STUDY, results=path, progress=lambda done, total: told.append((done, total)))
    assert told == []


def test_a_study_that_is_interrupted_has_kept_what_was_done(results: pl.DataFrame, tmp_path: Path) -> None:
    """Also the runs since the file was last written; the same call does the rest."""
    path = tmp_path / "results.parquet"

    def interrupt(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(DATA, STUDY, results=path, progress=interrupt)
    assert pl.read_parquet(path).height == 3
    told: list[int] = []
    whole = evaluate(DATA, STUDY, results=path, progress=lambda done, _: told.append(done))
    assert told[0] == 4
    assert whole.drop(TIMED).equals(results.drop(TIMED))


def test_a_changed_dataset_of_the_same_name_is_run_again(tmp_path: Path) -> None:
    """Results belong to data, not to a name."""
    path = tmp_path / "results.parquet"
    study = Study.of(methods=["truncated-em"], epsilons=[1], ks=[5], repeats=1)
    evaluate({"d": DATA["small"]}, study, results=path)
    evaluate({"d": DATA["other"]}, study, results=path)
    assert pl.read_parquet(path)["fingerprint"].n_unique() == 2


def test_results_of_version_0_1_still_load_and_keep_their_keys(results: pl.DataFrame, tmp_path: Path) -> None:
    """They lack two columns; their runs are not done again, and runs with delta stand beside them."""
    path = tmp_path / "results.parquet"
    results.drop("per_owner", "delta").write_parquet(path)
    told: list[tuple[int, int]] = []
    again = evaluate(DATA, STUDY, results=path, progress=lambda done, total: told.append((done, total)))
    assert told == []
    assert again.equals(results)
    found = replace(STUDY, methods=("truncated-em",), delta=Fraction(1, 10**9), repeats=1)
    evaluate(DATA, found, results=path)
    stored = pl.read_parquet(path)
    assert dict(stored.schema) == SCHEMA
    assert stored["delta"].value_counts(sort=True).rows() == [(None, results.height), (1e-9, 8)]


def test_seeds_are_those_of_version_0_1_where_nothing_new_is_asked() -> None:
    """So that old figures can be had again; delta and a limit per owner make other runs of their own."""
    plain = SeededRun("mine", "d", "f", "planned", "0.1.0", 1.0, 5, None, None, 0, 7)
    assert plain.seed == 2488870576949218367
    others = [replace(plain, delta=1e-9), replace(plain, per_owner=2), replace(plain, per_owner=3)]
    assert len({run.seed for run in (plain, *others)}) == 4


def test_a_run_with_delta_finds_its_items() -> None:
    """None at an epsilon at which none can be named, all that matter where there is no noise to speak of."""
    study = Study.of(
        methods=["truncated-em"], epsilons=[0.01, 10**4], ks=[10], max_size=2, repeats=2, delta="1e-9"
    )
    found = evaluate({"small": DATA["small"]}, study)
    assert found["delta"].unique().to_list() == [1e-9]
    assert found.filter(epsilon=0.01)["f_score"].to_list() == [0, 0]
    assert found.filter(epsilon=10**4)["f_score"].to_list() == [1, 1]


def test_a_published_dataset_of_found_items_is_scored_by_the_codes_of_the_data() -> None:
    """Much epsilon leaves nothing out but rare items, so the top of the data is the top of what is published."""
    study = Study.of(methods=["basic"], epsilons=[10**4], ks=[5], task="publish", repeats=1, delta="1e-9")
    rows = [[1, 3]] * 400 + [[3, 5]] * 300 + [[0], [2], [4]]
    scored = evaluate({"d": rows_over(rows, "abcdef")}, study)
    assert scored["f_score"].to_list() == [1]
    assert scored["fim_utility"].item() > 0.99


OWNED = replace(DATA["small"], owners=np.arange(3000) // 10)


def test_persons_are_protected_where_the_data_has_owners() -> None:
    """A limit must be said; the noise grows with it, and the truth stays that of all transactions."""
    cell = {"methods": ["truncated-em"], "epsilons": [5], "ks": [10], "repeats": 3}
    with pytest.raises(BadCall, match="--per-owner"):
        evaluate({"small": OWNED}, Study.of(**cell))  # type: ignore[arg-type]
    with pytest.raises(BadCall, match="names no owner"):
        evaluate({"small": DATA["small"]}, Study.of(**cell, per_owner=2))  # type: ignore[arg-type]
    by_person = evaluate({"small": OWNED}, Study.of(**cell, per_owner=10))  # type: ignore[arg-type]
    by_row = evaluate({"small": DATA["small"]}, Study.of(**cell))  # type: ignore[arg-type]
    assert by_person["per_owner"].unique().to_list() == [10]
    assert by_person["f_score"].mean() < by_row["f_score"].mean()  # type: ignore[operator]
    few = Study.of(**{**cell, "epsilons": [10**6]}, per_owner=1, max_size=2)  # type: ignore[arg-type]
    # One transaction in ten counts, so supports are a tenth of the true ones.
    assert 0.8 < evaluate({"small": OWNED}, few)["relative_error"].mean() < 1  # type: ignore[operator]


def test_several_limits_for_a_person_are_studied_beside_each_other(tmp_path: Path) -> None:
    """Also one that every run chooses privately, 0 in the column and auto in words; the file keeps its columns."""
    path = tmp_path / "results.parquet"
    cell = {"methods": ["truncated-em"], "epsilons": [5], "ks": [10], "repeats": 2}
    both = evaluate({"small": OWNED}, Study.of(**cell, per_owner=[1, "auto", 1]), results=path)  # type: ignore[arg-type]
    assert both["per_owner"].to_list() == [1, 1, CHOSEN_PRIVATELY, CHOSEN_PRIVATELY]
    assert [document["per_owner"] for document in documents(both)] == [1, "auto"]
    assert pl.read_parquet(path).schema == pl.Schema(SCHEMA)
    one = evaluate({"small": OWNED}, Study.of(**cell, per_owner="auto"), results=path)  # type: ignore[arg-type]
    assert one.equals(both.filter(per_owner=CHOSEN_PRIVATELY))


def test_what_a_limit_drops_counts_as_an_error() -> None:
    """Ten transactions of each person, all alike: without noise, supports are off by just the share that is dropped."""
    alike = replace(rows_over([[0, 1]] * 400, "ab"), owners=np.arange(400) // 10)
    study = Study.of(methods=["truncated-em"], epsilons=[10**6], ks=[3], repeats=1, per_owner=[1, 3, 10])
    assert evaluate({"alike": alike}, study)["relative_error"].to_list() == pytest.approx(
        [0.9, 0.7, 0], abs=0.01
    )


@pytest.mark.parametrize("limits", [[], [0], [1, -2], ["many"], [True], "all"])
def test_a_limit_that_is_none_is_refused(limits: Any) -> None:  # noqa: ANN401 - whatever somebody gives
    """Before anything is run."""
    with pytest.raises(BadCall, match="give numbers from 1 up, or auto"):
        Study.of(methods=["truncated-em"], epsilons=[1], ks=[5], per_owner=limits)


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_results_cannot_hold_is_refused(seed: int) -> None:
    """Before anything is run."""
    with pytest.raises(BadCall, match=f"the seed of a study is {seed}"):
        Study.of(methods=["truncated-em"], epsilons=[1], ks=[5], seed=seed)


def test_a_file_that_holds_no_results_is_refused(tmp_path: Path) -> None:
    """Rather than overwritten."""
    study = Study.of(methods=["truncated-em"], epsilons=[1], ks=[5], repeats=1)
    (tmp_path / "text.parquet").write_text("no")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "other.parquet")
    for name, message in (("text", "is no Parquet file"), ("other", "does not hold results")):
        with pytest.raises(BadCall, match=message):
            evaluate(DATA, study, results=tmp_path / f"{name}.parquet")


def test_much_epsilon_finds_everything() -> None:
    """The instrument reads 1 where a method that cuts nothing cannot fail; for thresholds, too."""
    study = Study.of(
        methods=["truncated-em", "privbasis"],
        epsilons=[10**6],
        ks=[15],
        min_supports=["0.1"],
        max_size=2,
        repeats=2,
    )
    results = evaluate({"small": DATA["small"]}, study)
    by_k, by_threshold = results.filter(pl.col("k") == 15), results.filter(pl.col("k").is_null())
    assert by_k["f_score"].min() == 1
    assert by_k["is_complete"].all()
    assert by_k["is_sound"].all()
    assert by_k["relative_error"].max() == pytest.approx(0, abs=1e-3)
    assert by_threshold["f_score"].min() == 1


def test_the_summary_and_the_document_agree_with_the_runs(results: pl.DataFrame) -> None:
    """Means over repeats, in a frame and in the JSON of the contract."""
    cells = summary(results)
    assert cells.height == 16
    first, runs = cells.row(0, named=True), results.head(3)
    assert first["f_score_mean"] == pytest.approx(runs["f_score"].mean())
    document = documents(results)[0]
    assert document["f_score"]["mean"] == pytest.approx(first["f_score_mean"])
    assert {"method", "task", "dataset", "epsilon", "k", "repeats", "relative_error", "seconds"} <= set(
        document
    )
    assert set(document["seconds"]) == {"median"}
    for metric in ("coverage", "bias", "half_width", "mean_error"):
        assert set(document[metric]) == {"mean", "sd", "standard_error"}
        assert document[metric]["mean"] == pytest.approx(first[f"{metric}_mean"])
    assert document["coverage"]["standard_error"] == pytest.approx(first["coverage_sd"] / 3**0.5)
    assert {cell["is_private"] for cell in documents(results)} == {False}
    json.dumps(documents(results), allow_nan=False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Study.of(methods=["magic"], epsilons=[1], ks=[5]), "no method 'magic'"),
        (lambda: Study.of(methods=["privbasis"], epsilons=[0], ks=[5]), "above 0"),
        (lambda: Study.of(methods=["privbasis"], epsilons=[1]), "at least one"),
        (lambda: Study.of(methods=["privbasis"], epsilons=[1], ks=[5], repeats=0), "at least 1"),
        (lambda: Study.of(methods=["privbasis"], epsilons=[1], ks=[5], task="cook"), "mine, items, publish"),
        (
            lambda: Study.of(methods=["privbasis"], epsilons=[1], ks=[5], task="publish"),
            "no method 'privbasis'",
        ),
        (
            lambda: evaluate({"d": TINY}, Study.of(methods=["privbasis"], epsilons=[1], ks=[9])),
            "fewer than k",
        ),
        (lambda: evaluate(DATA, STUDY, workers=0), "at least 1"),
        (lambda: evaluate({"none": rows_over([], "ab")}, STUDY), "holds no transaction"),
    ],
)
def test_a_study_that_makes_no_sense_is_refused_in_one_line(call: object, message: str) -> None:
    """What was given, what is allowed."""
    with pytest.raises(BadCall, match=message) as refused:
        call()  # type: ignore[operator]
    assert "\n" not in str(refused.value)


def test_the_command_prints_the_document_and_says_that_it_is_not_private(tmp_path: Path) -> None:
    """End to end, with a report and a file of results."""
    (tmp_path / "data.dat").write_text("1 2 3\n1 2\n" * 200 + "4\n" * 50)
    call = ["evaluate", "data.dat", "--methods", "truncated-em,privbasis", "--epsilon", "1,2", "--k", "3,4"]
    more = ["--repeats", "2", "--json", "--results", "r.parquet", "--report", "r.html", "--workers", "1"]
    run = subprocess.run(
        [sys.executable, "-m", "veilset", *call, *more],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    document = json.loads(run.stdout)
    assert [cell["repeats"] for cell in document] == [2] * 8
    assert document[0]["dataset"] == "data"
    assert {cell["is_private"] for cell in document} == {False}
    assert all(metric in document[0] for metric in METRICS)
    assert "NOT PRIVATE" in run.stderr
    assert (tmp_path / "r.html").exists()
    assert pl.read_parquet(tmp_path / "r.parquet").height == 16


def test_the_command_keeps_owners_and_takes_delta(tmp_path: Path) -> None:
    """People are protected as a whole, or the study is refused."""
    path = tmp_path / "sales.csv"
    rows = [f"p{person},b{basket},milk" for person in range(300) for basket in range(3)]
    path.write_text("\n".join(["who,receipt,what", *rows]))
    columns = ["--owner", "who", "--basket", "receipt", "--item", "what"]
    study = ["--methods", "truncated-em", "--epsilon", "5", "--k", "1", "--repeats", "1", "--workers", "1"]
    refused = veilset("evaluate", path, *columns, *study)
    assert (refused.returncode, "--per-owner" in refused.stderr) == (2, True)
    run = veilset("evaluate", path, *columns, *study, "--per-owner", "2", "--delta", "1e-9", "--json")
    (cell,) = json.loads(run.stdout)
    assert (cell["per_owner"], cell["delta"], cell["is_private"]) == (2, 1e-9, False)
    assert cell["f_score"]["mean"] == 1
    several = veilset("evaluate", path, *columns, *study, "--per-owner", "1,3,auto", "--json")
    assert [cell["per_owner"] for cell in json.loads(several.stdout)] == [1, 3, "auto"]
    shown = veilset("evaluate", path, *columns, *study, "--per-owner", "3,auto").stdout
    assert "3 per owner" in shown
    assert "auto per" in shown


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_told_as_one_where_results_are_kept() -> None:
    """Polars has an error of its own for that, which ended in a traceback."""
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_results([], Path("/dev/full"))
