"""The command line, end to end through a real process."""

import errno
import json
import os
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from veilset import Release, cli
from veilset.cli.options import check_can_write
from veilset.errors import BadCall, BudgetExceeded

FIMI = "1 2 3\n" * 400 + "2 3\n" * 300 + "7\n" * 200 + "\n"


def veilset(
    *arguments: str | Path, stdin: str | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command as a shell would."""
    call = [sys.executable, "-m", "veilset", *map(str, arguments)]
    return subprocess.run(call, input=stdin, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small FIMI file."""
    path = tmp_path / "data.dat"
    path.write_text(FIMI)
    return path


def test_mine_prints_a_table_the_cost_and_the_promise(data: Path) -> None:
    """What a person needs, on stdout; nothing on stderr in a pipe."""
    run = veilset("mine", data, "--epsilon", "1", "--k", "4")
    assert run.returncode == 0
    assert run.stderr == ""
    assert "spent 1 of epsilon 1" in run.stdout
    assert "Protected: one transaction" in run.stdout


def test_mine_json_is_one_document_with_the_keys_of_the_contract(data: Path) -> None:
    """Scripts depend on these names; the trace adds up to what was spent."""
    run = veilset("mine", data, "--epsilon", "0.5", "--k", "4", "--json")
    document = json.loads(run.stdout)
    assert {"itemsets", "method", "epsilon", "spent", "trace", "promise", "is_private"} <= set(document)
    assert {"items", "support", "low", "high"} <= set(document["itemsets"][0])
    spent = sum(Fraction(row["epsilon"]) for row in document["trace"])
    assert spent == Fraction(document["spent"]) == Fraction(1, 2)
    assert document["is_private"] is True


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_mine_writes_a_release_that_loads(data: Path, tmp_path: Path, suffix: str) -> None:
    """What --out wrote is what --json printed."""
    out = tmp_path / f"release.{suffix}"
    run = veilset("mine", data, "--epsilon", "1", "--k", "4", "--out", out, "--json")
    assert Release.load(out).to_dict() == json.loads(run.stdout)


def test_mine_reads_standard_input_and_a_threshold(data: Path) -> None:
    """`-` for DATA; a share as threshold."""
    run = veilset("mine", "-", "--epsilon", "5", "--min-support", "0.6", "--json", stdin=data.read_text())
    found = {tuple(row["items"]) for row in json.loads(run.stdout)["itemsets"]}
    assert found == {(2,), (3,), (2, 3)}


def test_mine_writes_a_report(data: Path, tmp_path: Path) -> None:
    """One self-contained page."""
    run = veilset("mine", data, "--epsilon", "1", "--k", "4", "--report", tmp_path / "report.html")
    assert run.returncode == 0
    assert "<html" in (tmp_path / "report.html").read_text()


def test_items_prints_a_table_and_one_json_document(data: Path) -> None:
    """The same keys as mine; each itemset is one item, and there are k of them."""
    shown = veilset("items", data, "--epsilon", "1", "--k", "2")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "2 itemsets from about" in shown.stdout
    document = json.loads(
        veilset("items", data, "--epsilon", "1/2", "--k", "2", "--method", "tps-recount", "--json").stdout
    )
    assert sorted(row["items"] for row in document["itemsets"]) == [[2], [3]]
    assert (document["method"], document["spent"], document["is_private"]) == ("tps-recount", "1/2", True)


def test_items_writes_a_release_and_a_report(data: Path, tmp_path: Path) -> None:
    """With the account of PFM in it."""
    out, page = tmp_path / "release.csv", tmp_path / "report.html"
    run = veilset("items", data, "--epsilon", "1", "--k", "3", "--out", out, "--report", page, "--json")
    assert Release.load(out).to_dict() == json.loads(run.stdout)
    assert "<html" in page.read_text()


def test_items_needs_to_know_how_many(data: Path) -> None:
    """One line, exit code 2."""
    run = veilset("items", data, "--epsilon", "1")
    assert (run.returncode, run.stderr.count("\n"), run.stdout) == (2, 1, "")
    assert "--k" in run.stderr


def test_exact_says_that_it_is_not_private_and_counts_right(data: Path) -> None:
    """On stderr, so that a pipe stays clean."""
    run = veilset("exact", data, "--min-support", "300", "--json")
    assert "NOT PRIVATE" in run.stderr
    document = json.loads(run.stdout)
    assert document["is_private"] is False
    supports = {tuple(row["items"]): row["support"] for row in document["itemsets"]}
    often, less = [(2,), (3,), (2, 3)], [(1,), (1, 2), (1, 3), (1, 2, 3)]
    assert supports == {**dict.fromkeys(often, 700), **dict.fromkeys(less, 400)}


def test_exact_reports_the_limits_that_cut_its_result(data: Path) -> None:
    """k and the size limit are the user's own, and said."""
    run = veilset("exact", data, "--k", "2", "--max-size", "1")
    assert "limited to k = 2" in run.stdout
    assert "up to 1 items" in run.stdout
    maximal = json.loads(veilset("exact", data, "--min-support", "300", "--maximal", "--json").stdout)
    assert [row["items"] for row in maximal["itemsets"]] == [[1, 2, 3]]


def test_info_says_that_it_is_not_private_and_counts_right(data: Path) -> None:
    """Rows, items, lengths; an empty line is an empty transaction."""
    run = veilset("info", data, "--json")
    assert "NOT PRIVATE" in run.stderr
    facts = json.loads(run.stdout)
    assert (facts["transactions"], facts["items"], facts["longest"], facts["shortest"]) == (901, 4, 3, 0)


def test_plan_forecasts_every_method_from_public_facts_alone() -> None:
    """A table that says what it rests on, or one JSON document; a bad call is one line and exit code 2."""
    call = ["plan", "--rows", "20000", "--items", "50", "--length", "4", "--k", "20", "--epsilon", "1"]
    shown = veilset(*call)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Nothing was looked at, nothing was spent." in shown.stdout
    assert "share of the top 20 found" in shown.stdout
    document = json.loads(veilset(*call, "--max-size", "2", "--kth-support", "0.01", "--json").stdout)
    assert {each["method"]: each["max_size"] for each in document["methods"]} == {
        "planned": 2,
        "truncated-em": 2,
        "privbasis": 2,
        "f1m": 1,
        "difffim-naive": 2,
        "difffim": 2,
        "splitsample": 2,
        "dpfim": 2,
        "strawman": 2,
    }
    assert document["kth_support"] == 200
    refused = veilset(*call, "--error", "0")
    assert (refused.returncode, refused.stderr.count("\n"), refused.stdout) == (2, 1, "")


@pytest.mark.parametrize("name", ["baskets.dat", "baskets.csv", "baskets.parquet", "baskets.dat.zst"])
def test_generate_writes_what_mine_reads(tmp_path: Path, name: str) -> None:
    """Every format that is written is read back."""
    assert veilset("generate", tmp_path / name, "--rows", "500", "--seed", "3").returncode == 0
    facts = json.loads(veilset("info", tmp_path / name, "--json").stdout)
    assert facts["transactions"] == 500


def test_generate_refuses_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    """One line, exit code 2."""
    run = veilset("generate", tmp_path / "no" / "baskets.csv")
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert "cannot be written" in run.stderr


def test_demo_shows_a_private_release_and_writes_its_page(tmp_path: Path) -> None:
    """The first thing that a newcomer runs."""
    run = veilset("demo", "--k", "10", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "Protected: one transaction" in run.stdout
    assert (tmp_path / "veilset-demo.html").exists()


def test_people_with_several_baskets_are_protected_as_a_whole(tmp_path: Path) -> None:
    """With owner and basket columns the unit is a person, and a limit must be said."""
    path = tmp_path / "sales.csv"
    rows = [f"p{person},b{basket},milk" for person in range(200) for basket in range(3)]
    path.write_text("\n".join(["who,receipt,what", *rows]))
    columns = ["--owner", "who", "--basket", "receipt", "--item", "what"]
    call = ["mine", str(path), *columns, "--epsilon", "1", "--k", "1"]
    refused = veilset(*call)
    assert (refused.returncode, "--per-owner" in refused.stderr) == (2, True)
    document = json.loads(veilset(*call, "--per-owner", "2", "--json").stdout)
    assert document["promise"]["unit"] == "one owner, with at most 2 transactions"
    assert document["trace"][0]["sensitivity"] == 2


BAD_CALLS = {
    "nothing wanted": (["--epsilon", "1"], "give k"),
    "epsilon 0": (["--epsilon", "0", "--k", "5"], "above 0"),
    "epsilon missing": (["--k", "5"], "epsilon"),
    "epsilon a word": (["--epsilon", "much", "--k", "5"], "not a number"),
    "k 0": (["--epsilon", "1", "--k", "0"], "at least 1"),
    "k a word": (["--epsilon", "1", "--k", "five"], "--k"),
    "k too large": (["--epsilon", "1", "--k", "1000"], "give a smaller k"),
    "threshold 0": (["--epsilon", "1", "--min-support", "0"], "above 0"),
    "size 0": (["--epsilon", "1", "--k", "5", "--max-size", "0"], "at least 1"),
    "unknown method": (
        ["--epsilon", "1", "--k", "5", "--method", "magic"],
        "there is: planned, truncated-em",
    ),
    "method of no name": (["--epsilon", "1", "--k", "5", "--method", ""], "there is: planned"),
    "unknown option": (["--epsilon", "1", "--k", "5", "--magic"], "--magic"),
    "strange output": (["--epsilon", "1", "--k", "3", "--out", "x.doc"], ".json, .csv, .parquet"),
    "no such folder": (["--epsilon", "1", "--k", "3", "--out", "no/such/x.json"], "cannot be written"),
    "negative rows": (["--epsilon", "1", "--k", "3", "--transactions", "-4"], "not possible"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_ends_in_one_line_and_exit_code_2(data: Path, tmp_path: Path, name: str) -> None:
    """What was given, what is allowed; no traceback, nothing on stdout."""
    arguments, message = BAD_CALLS[name]
    run = veilset("mine", data, *arguments, cwd=tmp_path)
    assert run.returncode == 2
    assert message in run.stderr
    assert run.stderr.count("\n") == 1
    assert run.stdout == ""


@pytest.mark.parametrize(
    "call",
    [
        ["exact", "--k", "0"],
        ["evaluate", "--methods", "privbasis", "--epsilon", "1", "--k", "3", "--workers", "0"],
        ["evaluate", "--methods", "privbasis", "--epsilon", "1", "--k", "9999"],
        ["evaluate", "--methods", "magic", "--epsilon", "1", "--k", "3"],
    ],
)
def test_commands_that_are_not_private_answer_a_bad_call_in_one_line_too(data: Path, call: list[str]) -> None:
    """The warning belongs to a result, not to a mistake."""
    run = veilset(call[0], data, *call[1:])
    assert (run.returncode, run.stderr.count("\n"), run.stdout) == (2, 1, "")


BAD_FILES: dict[str, tuple[bytes | None, str]] = {
    "empty.dat": (b"", "empty"),
    "words.dat": (b"1 2\n3 milk\n", "line 2"),
    "cut.dat.zst": (b"\x28\xb5\x2f\xfd\x04\x00", "cut.dat.zst"),
    "latin.csv": (b"milk,k\xe4se\n", "UTF-8"),
    "no.parquet": (b"PAR1 no", "no.parquet"),
    "missing.dat": (None, "does not exist"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_ends_in_one_line_that_names_it(tmp_path: Path, name: str) -> None:
    """The file, the line where there is one, what to do; exit code 2."""
    content, message = BAD_FILES[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    run = veilset("mine", tmp_path / name, "--epsilon", "1", "--k", "3")
    assert run.returncode == 2
    assert name in run.stderr
    assert message in run.stderr
    assert run.stderr.count("\n") == 1


FAILURES = {
    "budget refused": (BudgetExceeded("only 1/2 is left"), 3, "only 1/2 is left"),
    "disk full": (
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out.json"),
        2,
        "out.json could not be read or written: No space left on device",
    ),
    "file system without words": (OSError("milk"), 2, "a file could not be read or written: OSError"),
    "out of memory": (MemoryError(), 2, "this takes more memory than there is; ask for less at once"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_fails_later_ends_in_one_line_and_an_exit_code_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path, name: str
) -> None:
    """A refused budget is told apart from the rest."""
    error, code, message = FAILURES[name]

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("veilset.api.open_curator", fail)
    monkeypatch.setattr(sys, "argv", ["veilset", "mine", str(data), "--epsilon", "1", "--k", "3"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == code
    assert capsys.readouterr().err == f"veilset: {message}\n"


def test_no_command_shows_the_help() -> None:
    """In lines, as a newcomer needs it."""
    run = veilset()
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == veilset("--help").stdout


def test_an_interrupted_command_says_nothing_and_ends_in_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    """As shells expect of it."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("veilset.api.open_curator", interrupt)
    monkeypatch.setattr(sys, "argv", ["veilset", "mine", str(data), "--epsilon", "1", "--k", "3"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 130
    assert capsys.readouterr() == ("", "")


def test_a_pipe_that_nobody_reads_is_no_error() -> None:
    """`veilset ... | head` ends in silence."""
    reader, writer = os.pipe()
    os.close(reader)
    call = [sys.executable, "-m", "veilset", "--version"]
    run = subprocess.run(call, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (run.returncode, run.stderr) == (0, b"")


def test_a_terminal_without_a_letter_shows_the_result_all_the_same(tmp_path: Path) -> None:
    """What was paid for is not lost: output is UTF-8 whatever the terminal is set to."""
    (tmp_path / "data.csv").write_text("käse\n", encoding="utf-8")
    call = [sys.executable, "-m", "veilset", "exact", str(tmp_path / "data.csv"), "--k", "1"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run(call, env=environment, capture_output=True, check=False)
    assert run.returncode == 0
    assert "käse" in run.stdout.decode()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams_end_in_no_traceback(closed: str) -> None:
    """Input that is closed is a bad call; output that is closed is not wanted."""
    call = f"exec {shlex.quote(sys.executable)} -m veilset info - {closed}"
    run = subprocess.run(["/bin/sh", "-c", call], input=b"1 2\n", capture_output=True, check=False)
    assert b"Traceback" not in run.stderr
    assert run.returncode == (2 if closed == "<&-" else 0)


def test_whether_a_file_can_be_written_is_tried_and_leaves_nothing_behind(data: Path, tmp_path: Path) -> None:
    """A new file is not there afterwards, an old one is as it was; in a file, or as a folder, there can be none."""
    before = data.read_bytes()
    check_can_write(tmp_path / "new.json", suffixes=(".json",))
    check_can_write(data)
    assert list(tmp_path.iterdir()) == [data]
    assert data.read_bytes() == before
    with pytest.raises(BadCall, match="is the data itself"):
        check_can_write(tmp_path / "." / data.name, data=data)
    for path in (data / "new.json", tmp_path / "no" / "new.json", tmp_path):
        with pytest.raises(BadCall, match="cannot be written"):
            check_can_write(path)


def test_heavy_modules_wait_until_they_are_needed() -> None:
    """`veilset --version` imports neither the compiler nor frames nor noise."""
    program = (
        "import sys; sys.argv = ['veilset', '--version']\n"
        "from veilset import cli\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numba', 'polars', 'pyarrow', 'opendp', 'plotly', 'numpy'} & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_every_public_name_exists_and_is_listed_once() -> None:
    """`__all__`, the lazy homes and what really is there agree."""
    import veilset as package  # noqa: PLC0415

    assert sorted(package.__all__) == sorted(package._HOMES)
    assert all(getattr(package, name) is not None for name in package.__all__)
