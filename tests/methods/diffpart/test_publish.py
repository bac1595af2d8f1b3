"""Publishing a dataset, from a file to a file: the verb, the command, and what is done with the result."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import veilset as vs
from strategies import transactions_of
from veilset.cli.commands import app
from veilset.errors import BadCall, BadInput
from veilset.evaluate import Study, documents, evaluate
from veilset.evaluate.published import Queries, Reference, score_published
from veilset.evaluate.published import transactions_of as copies_of

BASKETS = [["bread", "milk"]] * 900 + [["beer"]] * 600 + [["bread", "oil", "pie"]] * 300
COMMON = {("bread", "milk"): 900, ("beer",): 600, ("bread", "oil", "pie"): 300}


class Shell:
    """Runs the command in this process and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> tuple[str, str]:
        """What goes to stdout, and what to stderr."""
        app([*map(str, arguments)], standalone_mode=False)
        return self._capsys.readouterr()


@pytest.fixture
def veilset(capsys: pytest.CaptureFixture[str]) -> Shell:
    """The command; errors come as exceptions."""
    return Shell(capsys)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small file of baskets, and a list of its items."""
    path = tmp_path / "data.csv"
    path.write_text("".join(",".join(names) + "\n" for names in BASKETS))
    listed_beside(path).write_text("beer\nbread\nmilk\noil\npie\n")
    return path


def listed_beside(data: Path) -> Path:
    """The public list of its items."""
    return data.with_name("items.txt")


@pytest.mark.parametrize("method", [None, "basic"])
def test_common_records_are_published_in_about_their_numbers(method: str | None) -> None:
    """All of epsilon is spent; repeatable noise repeats, and is never called private."""
    made = vs.publish(BASKETS, epsilon=2, method=method, public_items=True, noise=vs.SeededNoise(5))
    rows = {tuple(items): number for items, number in made.to_frame().iter_rows()}
    for record, number in COMMON.items():
        assert abs(rows[record] - number) < 50
    assert made.spent == made.epsilon == 2
    assert not made.is_private
    again = vs.publish(BASKETS, epsilon=2, method=method, public_items=True, noise=vs.SeededNoise(5))
    assert again.to_frame().equals(made.to_frame())


def test_an_alphabet_larger_than_the_data_is_no_error() -> None:
    """Items that nobody has are public, too: the promise says so, and records that hold them are possible."""
    alphabet = [*"abcdefgh", "bread", "milk", "beer", "oil", "pie"]
    made = vs.publish(vs.read(BASKETS, alphabet=alphabet), epsilon=2, noise=vs.SeededNoise(5))
    assert made.names == tuple(alphabet)
    assert "given by the publisher" in made.promise.assumptions[0]


def test_a_hierarchy_is_followed(tmp_path: Path) -> None:
    """Whatever the public tree, common records come out."""
    tree = tmp_path / "tree.csv"
    tree.write_text("bread,food\nmilk,drinks\nbeer,drinks\noil,food\npie,food\n")
    made = vs.publish(BASKETS, epsilon=4, taxonomy=tree, public_items=True, noise=vs.SeededNoise(5))
    assert set(COMMON) <= {tuple(items) for items in made.to_frame()["items"].to_list()}


@pytest.mark.parametrize("name", ["out.dat", "out.parquet"])
def test_the_command_writes_a_dataset_that_every_command_reads(
    veilset: Shell, data: Path, tmp_path: Path, name: str
) -> None:
    """Mining what was published is private, and every command says so or keeps still."""
    out = tmp_path / name
    stdout, stderr = veilset(
        "publish", data, "--alphabet", listed_beside(data), "--epsilon", "2", "--out", out, "--json"
    )
    assert stderr == ""
    about = json.loads(stdout)
    spent = sum(Fraction(row["epsilon"]) for row in about["trace"])
    assert (spent, about["is_private"]) == (2, True)
    assert json.loads((tmp_path / f"{name}.json").read_text())["promise"] == about["promise"]

    vocabulary = ["--alphabet", str(tmp_path / "out.vocab.tsv")] if name == "out.dat" else []
    stdout, stderr = veilset("exact", out, *vocabulary, "--k", "1", "--json")
    assert stderr == ""
    assert json.loads(stdout)["is_private"] is True
    assert json.loads(stdout)["itemsets"][0]["items"] == ["bread"]
    facts = json.loads(veilset("info", out, "--json")[0])
    assert (facts["transactions"], facts["is_private"]) == (about["transactions"], True)
    listed = vocabulary or ["--alphabet", str(listed_beside(data))]
    assert "private already" in veilset("mine", out, *listed, "--epsilon", "1", "--k", "1")[1]
    call: list[str | Path] = [
        "evaluate",
        out,
        "--methods",
        "privbasis",
        "--epsilon",
        "1",
        "--k",
        "2",
        "--repeats",
        "1",
    ]
    assert "F-score" in veilset(*call)[0]


def test_the_command_shows_records_cost_and_promise(veilset: Shell, data: Path, tmp_path: Path) -> None:
    """What a person needs, on stdout."""
    out = tmp_path / "out.dat.zst"
    stdout, stderr = veilset(
        "publish", data, "--alphabet", listed_beside(data), "--epsilon", "2", "--out", out, "--fanout", "2"
    )
    assert stderr == ""
    for text in ("bread, milk", "copies", "out.dat.zst.json", "spent 2 of epsilon 2", "Protected: one"):
        assert text in stdout


BAD_CALLS = {
    "no suffix that tells": (["--out", "out.txt"], r"end it with \.dat"),
    "no such folder": (["--out", "no/out.dat"], "cannot be written"),
    "a fan-out of 1": (["--out", "out.dat", "--fanout", "1"], "fan-out of 1"),
    "a fan-out out of reach": (["--out", "out.dat", "--fanout", "40"], "fan-out of 40"),
    "no such method": (["--out", "out.dat", "--method", "privbasis"], "there is: .*diffpart"),
    "no such taxonomy": (["--out", "out.dat", "--taxonomy", "none.csv"], r"none\.csv"),
    "a taxonomy that misses items": (["--out", "out.dat", "--taxonomy", "some.csv"], "misses 3 of the"),
    "no epsilon at all": (["--out", "out.dat", "--epsilon", "0"], "above 0"),
    "nobody's baskets limited": (["--out", "out.dat", "--per-owner", "2"], "names no owner"),
}


@pytest.mark.parametrize(("options", "message"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_a_bad_call_is_one_line_and_writes_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    """What was given, what is allowed; nothing was spent."""
    (tmp_path / "some.csv").write_text("bread,food\nmilk,drinks\n")
    before = set(tmp_path.iterdir())
    call = ["publish", str(data), "--alphabet", str(listed_beside(data)), "--epsilon", "1", *options]
    monkeypatch.chdir(tmp_path)
    with pytest.raises((BadCall, BadInput), match=message) as refused:
        app(call, standalone_mode=False)
    assert "\n" not in str(refused.value)
    assert set(tmp_path.iterdir()) == before


def test_basic_is_refused_where_records_cannot_be_counted() -> None:
    """Its 2^n counts are out of reach, and the message says for how many items they are not."""
    wide = vs.read([["a"]], alphabet=[f"item {number}" for number in range(40)])
    with pytest.raises(BadCall, match=r"2\^n .*not for 40; take diffpart"):
        vs.publish(wide, epsilon=1, method="basic")


def test_persons_with_several_baskets_must_be_limited(tmp_path: Path) -> None:
    """The unit is then the person, for a dataset as for itemsets."""
    frame = pl.DataFrame({"who": [n // 2 for n in range(2000)], "what": [["a", "b"]] * 2000})
    frame.write_parquet(tmp_path / "sales.parquet")
    held = vs.read(tmp_path / "sales.parquet", owner="who", item="what")
    with pytest.raises(BadCall, match="--per-owner"):
        vs.publish(held, epsilon=1, public_items=True)
    made = vs.publish(held, epsilon=1, per_owner=1, public_items=True, noise=vs.SeededNoise(1))
    assert made.promise.unit.endswith("transactions, 1 at most counts, drawn at random")
    assert len(made) == pytest.approx(1000, abs=100)


def test_much_epsilon_publishes_the_data_itself() -> None:
    """The instrument reads no error and full utility where noise is 0."""
    study = Study.of(methods=["diffpart", "basic"], task="publish", epsilons=[10**6], ks=[3], repeats=1)
    runs = evaluate({"small": transactions_of([frozenset({0, 1}), frozenset({2})] * 500)}, study)
    assert runs["fim_utility"].to_list() == runs["f_score"].to_list() == [1, 1]
    assert runs["query_error"].to_list() == [[0] * 5] * 2


def test_a_study_of_published_data_has_its_measures(veilset: Shell, data: Path) -> None:
    """Query errors in five classes, their mean as relative error, and the utility."""
    study = Study.of(methods=["diffpart"], task="publish", epsilons=["0.5", 2], ks=[3], repeats=2)
    held = {"baskets": vs.read(data)}
    runs = evaluate(held, study)
    cells = documents(runs)
    assert [cell["epsilon"] for cell in cells] == [0.5, 2]
    for cell in cells:
        assert len(cell["query_error"]) == 5
        assert cell["relative_error"]["mean"] == pytest.approx(sum(cell["query_error"]) / 5)
        assert 0 < cell["fim_utility"]["mean"] <= 1
    call: list[str | Path] = [
        "evaluate",
        data,
        "--task",
        "publish",
        "--methods",
        "diffpart",
        "--epsilon",
        "2",
        "--k",
        "3",
    ]
    stdout, _ = veilset(*call, "--workers", "1")
    assert "utility" in stdout
    assert "query error" in stdout


def test_a_threshold_measures_no_dataset() -> None:
    """The utility of the paper is that of the top k."""
    with pytest.raises(BadCall, match="give k"):
        Study.of(methods=["diffpart"], task="publish", epsilons=[1], min_supports=["0.1"])


def test_a_published_dataset_is_scored_by_hand() -> None:
    """Half of the copies of one record are lost: supports of its itemsets change by a half."""
    held = transactions_of([frozenset({0})] * 100 + [frozenset({1, 2})] * 100)
    made = vs.publish(held, epsilon=10**6, noise=vs.SeededNoise(1))
    halved = replace(made, multiplicities=made.multiplicities // np.array([1, 2]))
    assert len(copies_of(halved)) == 150
    exact = Reference({(0,): 100, (1,): 100, (2,): 100, (1, 2): 100}, Queries.on(held, seed=1))
    scored = score_published(halved, exact, max_size=None)
    assert scored.fim_utility == pytest.approx(1 - (0 + 3 * 0.5) / 4)
    # The shortest class asks for single items of six: of three that occur, two have lost a half.
    assert scored.query_error[0] == pytest.approx((0.5 + 0.5) / 6, abs=0.02)
