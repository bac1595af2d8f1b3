"""The commands, end to end: each through a process of its own once, and what else it does within this one."""

import json
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

from shell import veilset, veilset_process
from veilset import Release
from veilset.opening import WHICH_ITEMS


def test_mine_prints_a_table_the_cost_and_the_promise(fimi_file: Path, item_list: Path) -> None:
    """What a person needs, on stdout; nothing on stderr in a pipe."""
    run = veilset_process("mine", fimi_file, "--alphabet", item_list, "--epsilon", "1", "--k", "4")
    assert run.returncode == 0
    assert run.stderr == ""
    assert "spent 1 of epsilon 1" in run.stdout
    assert "Protected: one transaction" in run.stdout


def test_mine_json_is_one_document_with_the_keys_of_the_contract(fimi_file: Path) -> None:
    """Scripts depend on these names; the trace adds up to what was spent."""
    run = veilset("mine", fimi_file, "--public-items", "--epsilon", "0.5", "--k", "4", "--json")
    document = json.loads(run.stdout)
    assert {"itemsets", "method", "epsilon", "spent", "trace", "promise", "is_private"} <= set(document)
    assert {"delta", "is_conditional"} <= set(document)
    assert {"items", "support", "low", "high"} <= set(document["itemsets"][0])
    spent = sum(Fraction(row["epsilon"]) for row in document["trace"])
    assert spent == Fraction(document["spent"]) == Fraction(1, 2)
    assert document["is_private"] is True


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_mine_writes_a_release_that_loads(fimi_file: Path, tmp_path: Path, suffix: str) -> None:
    """What --out wrote is what --json printed."""
    out = tmp_path / f"release.{suffix}"
    call = ["--public-items", "--epsilon", "1", "--k", "4"]
    run = veilset("mine", fimi_file, *call, "--out", out, "--json")
    assert Release.load(out).to_dict() == json.loads(run.stdout)


@pytest.mark.parametrize("command", ["mine", "items", "publish"])
def test_quiet_prints_nothing_and_verbose_lists_what_was_paid(
    fimi_file: Path, item_list: Path, tmp_path: Path, command: str
) -> None:
    """Warnings stay, and so does what --json asks for; both at once is refused."""
    call = [command, str(fimi_file), "--alphabet", str(item_list), *asking(command, tmp_path)]
    force = ["--force"] if command == "publish" else []
    assert "  paid  " not in veilset(*call).stdout
    assert "  paid  " in veilset(*call, *force, "--verbose").stdout
    kept = [] if command == "publish" else ["--out", str(tmp_path / "kept.json")]
    quiet = veilset(*call, *force, *kept, "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    if kept:
        lost = veilset(*call, "--quiet")
        assert (lost.returncode, "would be lost; give --out" in lost.stderr) == (2, True)
    assert json.loads(veilset(*call, *force, "--quiet", "--json").stdout)["is_private"] is True
    both = veilset(*call, *force, "--quiet", "--verbose")
    assert (both.returncode, both.stdout, both.stderr.count("\n")) == (2, "", 1)


def test_names_in_the_data_give_no_orders_to_the_terminal(tmp_path: Path) -> None:
    """Neither in a table nor in JSON, which says the same as before; nor where a message quotes a path."""
    (tmp_path / "data.csv").write_text("milk\x1b[2J,tea\u202e\n" * 300, encoding="utf-8")
    call = ["exact", str(tmp_path / "data.csv"), "--k", "2"]
    shown, document = veilset(*call).stdout, veilset(*call, "--json").stdout
    assert "milk\\x1b[2J" in shown
    assert {letter for letter in shown + document if letter in "\x1b\u202e"} == set()
    assert {tuple(row["items"]) for row in json.loads(document)["itemsets"]} <= {
        ("milk\x1b[2J",),
        ("tea\u202e",),
        ("milk\x1b[2J", "tea\u202e"),
    }
    assert "\x1b" not in veilset("exact", "no\x1b[2J.dat", "--k", "2").stderr


def test_mine_reads_standard_input_and_a_threshold(fimi_file: Path) -> None:
    """`-` for DATA; a share as threshold."""
    call = ["mine", "-", "--format", "fimi", "--public-items", "--epsilon", "5", "--min-support", "0.6"]
    run = veilset_process(*call, "--json", stdin=fimi_file.read_text())
    found = {tuple(row["items"]) for row in json.loads(run.stdout)["itemsets"]}
    assert found == {(2,), (3,), (2, 3)}


def test_mine_writes_a_report(fimi_file: Path, tmp_path: Path) -> None:
    """One self-contained page."""
    call = ["--public-items", "--epsilon", "1", "--k", "4"]
    run = veilset("mine", fimi_file, *call, "--report", tmp_path / "report.html")
    assert run.returncode == 0
    assert "<html" in (tmp_path / "report.html").read_text()


def test_items_prints_a_table_and_one_json_document(fimi_file: Path, item_list: Path) -> None:
    """The same keys as mine; each itemset is one item, and there are k of them."""
    data = [str(fimi_file), "--alphabet", str(item_list)]
    shown = veilset_process("items", *data, "--epsilon", "1", "--k", "2")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "2 itemsets from about" in shown.stdout
    document = json.loads(
        veilset("items", *data, "--epsilon", "1/2", "--k", "2", "--method", "tps-recount", "--json").stdout
    )
    assert sorted(row["items"] for row in document["itemsets"]) == [[2], [3]]
    assert (document["method"], document["spent"], document["is_private"]) == ("tps-recount", "1/2", True)


def test_items_writes_a_release_and_a_report(fimi_file: Path, tmp_path: Path) -> None:
    """With the account of PFM in it."""
    out, page = tmp_path / "release.csv", tmp_path / "report.html"
    call = ["--public-items", "--epsilon", "1", "--k", "3"]
    run = veilset("items", fimi_file, *call, "--out", out, "--report", page, "--json")
    assert Release.load(out).to_dict() == json.loads(run.stdout)
    assert "<html" in page.read_text()


def test_items_needs_to_know_how_many(fimi_file: Path) -> None:
    """One line, exit code 2."""
    run = veilset_process("items", fimi_file, "--public-items", "--epsilon", "1")
    assert (run.returncode, run.stderr.count("\n"), run.stdout) == (2, 1, "")
    assert "--k" in run.stderr


def test_exact_says_that_it_is_not_private_and_counts_right(fimi_file: Path) -> None:
    """On stderr, so that a pipe stays clean."""
    run = veilset_process("exact", fimi_file, "--min-support", "300", "--json")
    assert "NOT PRIVATE" in run.stderr
    document = json.loads(run.stdout)
    assert document["is_private"] is False
    supports = {tuple(row["items"]): row["support"] for row in document["itemsets"]}
    often, less = [(2,), (3,), (2, 3)], [(1,), (1, 2), (1, 3), (1, 2, 3)]
    assert supports == {**dict.fromkeys(often, 700), **dict.fromkeys(less, 400)}


def test_exact_reports_the_limits_that_cut_its_result(fimi_file: Path) -> None:
    """k and the size limit are the user's own, and said."""
    run = veilset("exact", fimi_file, "--k", "2", "--max-size", "1")
    assert "limited to k = 2" in run.stdout
    assert "up to 1 item\n" in run.stdout
    maximal = json.loads(veilset("exact", fimi_file, "--min-support", "300", "--maximal", "--json").stdout)
    assert [row["items"] for row in maximal["itemsets"]] == [[1, 2, 3]]


def test_info_says_that_it_is_not_private_and_counts_right(fimi_file: Path) -> None:
    """Rows, items, lengths; an empty line is an empty transaction."""
    run = veilset_process("info", fimi_file, "--json")
    assert "NOT PRIVATE" in run.stderr
    facts = json.loads(run.stdout)
    assert (facts["transactions"], facts["items"], facts["longest"], facts["shortest"]) == (901, 4, 3, 0)


def test_plan_forecasts_every_method_from_public_facts_alone() -> None:
    """A table that says what it rests on, or one JSON document; a bad call is one line and exit code 2."""
    call = ["plan", "--rows", "20000", "--items", "50", "--length", "4", "--k", "20", "--epsilon", "1"]
    shown = veilset_process(*call)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Nothing was looked at, nothing was spent." in shown.stdout
    assert "share of the top 20 found" in shown.stdout
    document = json.loads(veilset(*call, "--max-size", "2", "--kth-support", "0.01", "--json").stdout)
    assert {each["method"]: each["max_size"] for each in document["methods"]} == {
        "planned": 2,
        "truncated-em": 2,
        "privbasis": 2,
        "privsuper": 2,
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
    """Every format that is written is read back, over the list of items that is written beside it."""
    made = veilset("generate", name, "--rows", "500", "--seed", "3", cwd=tmp_path)
    assert made.returncode == 0
    assert (
        made.stdout == f"500 baskets in {name}; the items there are, for --alphabet, in baskets.items.txt\n"
    )
    facts = json.loads(veilset("info", tmp_path / name, "--json").stdout)
    assert facts["transactions"] == 500
    call = ["mine", name, "--alphabet", "baskets.items.txt", "--epsilon", "100", "--k", "5", "--json"]
    document = json.loads(veilset(*call, cwd=tmp_path).stdout)
    assert (document["is_conditional"], document["delta"]) == (False, 0)
    assert ["milk"] in [row["items"] for row in document["itemsets"]]


def test_generate_overwrites_no_list_of_other_items(tmp_path: Path) -> None:
    """The data is named by the user, the list beside it is not: where it stands already, nothing is written."""
    mine = tmp_path / "baskets.items.txt"
    mine.write_text("my own\n")
    refused = veilset("generate", "baskets.csv", "--rows", "10", cwd=tmp_path)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "baskets.items.txt is there and lists other items" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == [mine.name]
    mine.unlink()
    for force in ([], ["--force"]):
        assert veilset("generate", "baskets.csv", "--rows", "10", *force, cwd=tmp_path).returncode == 0


def test_generate_refuses_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    """One line, exit code 2."""
    run = veilset_process("generate", tmp_path / "no" / "baskets.csv")
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert "cannot be written" in run.stderr


def test_demo_shows_a_private_release_and_writes_its_page(tmp_path: Path) -> None:
    """The first thing that a newcomer runs."""
    run = veilset_process("demo", "--k", "10", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "\nProtected: one transaction" in run.stdout
    assert "(1-differential privacy)" in run.stdout
    assert (tmp_path / "veilset-demo.html").exists()


def test_people_with_several_baskets_are_protected_as_a_whole(tmp_path: Path) -> None:
    """With owner and basket columns the unit is a person, and a limit must be said."""
    path = tmp_path / "sales.csv"
    rows = [f"p{person},b{basket},milk" for person in range(200) for basket in range(3)]
    path.write_text("\n".join(["who,receipt,what", *rows]))
    columns = ["--owner", "who", "--basket", "receipt", "--item", "what"]
    call = ["mine", str(path), *columns, "--public-items", "--epsilon", "1", "--k", "1"]
    refused = veilset(*call)
    assert (refused.returncode, "--per-owner" in refused.stderr) == (2, True)
    document = json.loads(veilset(*call, "--per-owner", "2", "--json").stdout)
    assert document["promise"]["unit"] == (
        "one person, whole, whoever it is: of anybody's transactions, 2 at most count, drawn at random"
    )
    assert document["trace"][0]["sensitivity"] == 2
    chosen = json.loads(veilset(*call, "--per-owner", "auto", "--json").stdout)
    assert "a number that was chosen privately" in chosen["promise"]["unit"]
    assert [row["sensitivity"] for row in chosen["trace"][:2]] == [1, 1]
    wrong = veilset(*call, "--per-owner", "some")
    assert (wrong.returncode, "give one from 1 up, or auto" in wrong.stderr) == (2, True)


def test_a_limit_chosen_privately_needs_owners_of_several_baskets(tmp_path: Path) -> None:
    """What to do is said, and nothing is spent."""
    (tmp_path / "data.dat").write_text("1 2\n" * 300)
    (tmp_path / "who.csv").write_text("who,what\n" + "\n".join(f"p{n},milk" for n in range(300)))
    one_each = [tmp_path / "who.csv", "--owner", "who", "--item", "what"]
    for data, why in (([tmp_path / "data.dat"], "names no owner of several"), (one_each, "has one here")):
        run = veilset("mine", *data, "--public-items", "--epsilon", "1", "--k", "1", "--per-owner", "auto")
        assert (run.returncode, why in run.stderr, "--basket" in run.stderr) == (2, True, True)


ASKING = {
    "mine": ["--epsilon", "1", "--k", "3"],
    "items": ["--epsilon", "1", "--k", "3"],
    "publish": ["--epsilon", "1"],
}


def asking(command: str, folder: Path) -> list[str]:
    """What each command needs to be told; where a dataset is written, it is to this folder."""
    out = ["--out", str(folder / "out.dat")] if command == "publish" else []
    return [*ASKING[command], *out]


@pytest.mark.parametrize("command", ASKING)
def test_which_items_may_be_named_must_be_said(tmp_path: Path, command: str) -> None:
    """Before the data is read; three lines explain the three choices, in a sentence each."""
    run = veilset(command, "no-such-file.dat", *asking(command, tmp_path))
    assert (run.returncode, run.stdout, run.stderr) == (2, "", f"veilset: {WHICH_ITEMS}\n")
    choices = run.stderr.splitlines()[1:]
    assert [line.split()[0] for line in choices] == ["--alphabet", "--public-items", "--delta"]
    assert [line.count(".") for line in choices] == [1, 1, 1]
    twice = veilset(
        command, "no-such-file.dat", *asking(command, tmp_path), "--public-items", "--delta", "1e-9"
    )
    assert (twice.returncode, twice.stderr.count("\n")) == (2, 1)
    assert "more than once" in twice.stderr


@pytest.mark.parametrize("command", ASKING)
def test_with_public_items_the_condition_is_the_first_thing_seen(
    fimi_file: Path, tmp_path: Path, command: str
) -> None:
    """One line on stderr, also beside JSON, which has a field of its own."""
    run = veilset(command, fimi_file, *asking(command, tmp_path), "--public-items", "--json")
    assert run.returncode == 0
    assert run.stderr.startswith(
        "veilset: this promise is conditional: it holds only if the items that occur"
    )
    assert run.stderr.count("\n") == 1
    document = json.loads(run.stdout)
    assert (document["is_conditional"], document["is_private"], document["delta"]) == (True, True, 0)


@pytest.mark.parametrize(("delta", "exact"), [("1e-9", "1/1000000000"), ("1/3000000", "1/3000000")])
@pytest.mark.parametrize("command", ASKING)
def test_with_delta_items_are_found_and_delta_is_told(
    fimi_file: Path, tmp_path: Path, command: str, delta: str, exact: str
) -> None:
    """Exactly, in the promise; nothing is conditional, and nothing stands on stderr."""
    run = veilset(command, fimi_file, *asking(command, tmp_path), "--delta", delta, "--json")
    assert (run.returncode, run.stderr) == (0, "")
    document = json.loads(run.stdout)
    assert (document["is_conditional"], document["promise"]["delta"]) == (False, exact)
    assert document["delta"] == float(Fraction(exact))
    force = ["--force"] if command == "publish" else []
    shown = veilset(command, fimi_file, *asking(command, tmp_path), "--delta", delta, *force)
    assert f"and delta {document['delta']:g}" in shown.stdout


@pytest.mark.parametrize("choice", ["--public-items", "--delta"])
def test_the_sidecar_of_a_published_file_says_on_what_its_promise_rests(
    fimi_file: Path, tmp_path: Path, choice: str
) -> None:
    """As its JSON does."""
    out = tmp_path / "out.parquet"
    value = ["1e-9"] if choice == "--delta" else []
    run = veilset("publish", fimi_file, choice, *value, "--epsilon", "1", "--out", out, "--json")
    about, printed = json.loads(Path(f"{out}.json").read_text()), json.loads(run.stdout)
    assert {key: about[key] for key in printed} == printed
    assert (about["is_conditional"], about["delta"]) == ((True, 0) if not value else (False, 1e-9))


def test_no_choice_of_items_is_asked_where_nothing_is_private(fimi_file: Path) -> None:
    """`exact`, `info` and `evaluate` look at public data."""
    study = ["--methods", "truncated-em", "--epsilon", "1", "--k", "3", "--repeats", "1", "--workers", "1"]
    for command, options in (("exact", ["--k", "3"]), ("info", []), ("evaluate", study)):
        run = veilset(command, fimi_file, *options)
        assert run.returncode == 0, run.stderr
        assert "NOT PRIVATE" in run.stderr


def test_rows_that_stand_for_several_transactions_are_one_owners(tmp_path: Path) -> None:
    """Only where a column is named; then its copies are bounded like those of a person."""
    pl.DataFrame({"items": [[1, 2], [2]], "copies": [300, 200]}).write_parquet(tmp_path / "data.parquet")
    call = [str(tmp_path / "data.parquet"), "--item", "items", "--multiplicity", "copies"]
    assert json.loads(veilset("info", *call, "--json").stdout)["transactions"] == 500
    asking = ["--public-items", "--epsilon", "1", "--k", "2", "--json"]
    refused = veilset("mine", *call, *asking)
    assert (refused.returncode, "--per-owner" in refused.stderr) == (2, True)
    document = json.loads(veilset("mine", *call, *asking, "--per-owner", "3").stdout)
    assert "3 at most count" in document["promise"]["unit"]


def test_rows_that_cannot_be_read_are_refused_or_count_as_empty(tmp_path: Path) -> None:
    """Their number shows nowhere."""
    (tmp_path / "data.dat").write_text("1 2\n" * 300 + "milk\n")
    refused = veilset("info", tmp_path / "data.dat")
    assert (refused.returncode, "line 301" in refused.stderr) == (2, True)
    run = veilset("info", tmp_path / "data.dat", "--skip-bad-rows", "--json")
    facts = json.loads(run.stdout)
    assert (facts["transactions"], facts["shortest"]) == (301, 0)
    assert run.stderr == "veilset: NOT PRIVATE: these are exact figures of the data\n"


def test_a_separator_can_be_called_tab(tmp_path: Path) -> None:
    """A shell makes it hard to type one."""
    (tmp_path / "data.csv").write_text("bread\tmilk\n" * 20 + "milk\n" * 20)
    facts = json.loads(veilset("info", tmp_path / "data.csv", "--separator", "tab", "--json").stdout)
    assert (facts["items"], facts["longest"]) == (2, 2)


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
    "delta beside public items": (["--epsilon", "1", "--k", "3", "--delta", "1e-9"], "more than once"),
    "separator of two letters": (["--epsilon", "1", "--k", "3", "--separator", "ab"], "one ASCII character"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_ends_in_one_line_and_exit_code_2(fimi_file: Path, tmp_path: Path, name: str) -> None:
    """What was given, what is allowed; no traceback, nothing on stdout."""
    arguments, message = BAD_CALLS[name]
    run = veilset("mine", fimi_file, "--public-items", *arguments, cwd=tmp_path)
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
def test_commands_that_are_not_private_answer_a_bad_call_in_one_line_too(
    fimi_file: Path, call: list[str]
) -> None:
    """The warning belongs to a result, not to a mistake."""
    run = veilset(call[0], fimi_file, *call[1:])
    assert (run.returncode, run.stderr.count("\n"), run.stdout) == (2, 1, "")


BAD_FILES: dict[str, tuple[bytes | None, str]] = {
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
    run = veilset("mine", tmp_path / name, "--public-items", "--epsilon", "1", "--k", "3")
    assert run.returncode == 2
    assert name in run.stderr
    assert message in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(("choice", "code"), [(["--delta", "1e-9"], 0), (["--public-items"], 2)])
def test_a_name_that_nobody_may_know_does_not_decide_whether_there_is_a_dataset(
    tmp_path: Path, choice: list[str], code: int
) -> None:
    """One person's item with a tab in it, which a vocabulary cannot hold: refused only where it would be listed."""
    data = tmp_path / "baskets.csv"
    data.write_text("bread,milk\n" * 400 + '"one\tperson",milk\n', encoding="utf-8")
    read = ["--format", "basket", "--separator", ","]
    run = veilset("publish", data, *read, *choice, "--epsilon", "1", "--out", tmp_path / "out.dat")
    assert run.returncode == code


def test_encoded_data_gives_the_same_answers(fimi_file: Path, tmp_path: Path) -> None:
    """Written once, then read like any file; the command says that it is the data themselves."""
    encoded = tmp_path / "data.arrow"
    run = veilset("encode", fimi_file, "--out", encoded)
    assert run.returncode == 0
    assert "NOT PRIVATE" in run.stderr
    call = ["--k", "5", "--json"]
    assert veilset("exact", encoded, *call).stdout == veilset("exact", fimi_file, *call).stdout
    assert veilset("info", encoded, "--json").stdout == veilset("info", fimi_file, "--json").stdout


def test_an_encoded_alphabet_is_the_choice_of_items(fimi_file: Path, item_list: Path, tmp_path: Path) -> None:
    """With one, nothing more is asked for, and a second choice is refused; without one, a choice is demanded."""
    given, own = tmp_path / "given.arrow", tmp_path / "own.arrow"
    veilset("encode", fimi_file, "--alphabet", item_list, "--out", given)
    veilset("encode", fimi_file, "--out", own)
    call = ["--epsilon", "1", "--k", "4", "--json"]
    assert json.loads(veilset("mine", given, *call).stdout)["is_conditional"] is False
    assert "chosen more than once" in veilset("mine", given, "--public-items", *call).stderr
    run = veilset("mine", own, *call)
    assert (run.returncode, WHICH_ITEMS.splitlines()[0] in run.stderr) == (2, True)
    assert json.loads(veilset("mine", own, "--public-items", *call).stdout)["is_conditional"] is True


def test_encode_writes_to_arrow_files_that_are_not_the_data(fimi_file: Path, tmp_path: Path) -> None:
    """Anything else is refused in one line."""
    assert veilset("encode", fimi_file, "--out", tmp_path / "data.parquet").returncode == 2
    veilset("encode", fimi_file, "--out", tmp_path / "data.arrow")
    run = veilset("encode", tmp_path / "data.arrow", "--out", tmp_path / "data.arrow", "--force")
    assert (run.returncode, "is read by this command" in run.stderr) == (2, True)
