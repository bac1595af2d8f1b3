"""`veilset plan`: the epsilon you need, or the error to expect, from options, a file of facts or a release."""

import json
from pathlib import Path

import pytest

from shell import veilset
from veilset import mine

SHOP = ["--rows", "20000", "--items", "50", "--length", "4", "--k", "20"]


def test_without_epsilon_the_needed_one_is_the_first_line() -> None:
    """Then the trade with bars, what it rests on, and that nothing was spent."""
    run = veilset("plan", *SHOP)
    assert (run.returncode, run.stderr) == (0, "")
    first, *rest = run.stdout.splitlines()
    assert first.startswith("To have 9 of 10 itemsets right and errors under 10 %, you need epsilon 0.")
    assert first.endswith("(by planned).")
    assert sum("█" in line for line in rest) in {6, 7}  # the one that is needed may be one of six anyway
    assert sum(line.rstrip().endswith("<- enough") for line in rest) == 1
    assert rest[-1] == "Nothing was looked at, nothing was spent."


def test_more_is_wanted_more_is_needed() -> None:
    """The wishes reach the search, in percent or as a part; JSON has the sentence and every figure."""
    usual = json.loads(veilset("plan", *SHOP, "--json").stdout)
    strict = json.loads(
        veilset("plan", *SHOP, "--want-found", "97%", "--want-error", "0.02", "--json").stdout
    )
    assert (usual["want_found"], usual["want_error"]) == (0.9, 0.1)
    assert (strict["want_found"], strict["want_error"]) == (0.97, 0.02)
    assert strict["epsilon"] > usual["epsilon"]
    assert f"epsilon {usual['epsilon']:g}" in usual["sentence"]
    assert {"epsilon", "found", "error", "belief"} == usual["trade"][0].keys()
    assert usual["spent"] == "0"


def test_three_methods_are_shown_and_all_on_demand() -> None:
    """`planned` first; what is left out is said, with how to see it."""
    few = veilset("plan", *SHOP, "--max-size", "1", "--epsilon", "1").stdout
    head = few.splitlines()[0].split()
    assert (head[0], len(head)) == ("planned", 3)
    assert "--all shows every method" in few
    every = veilset("plan", *SHOP, "--max-size", "1", "--epsilon", "1", "--all").stdout
    assert "Left out" not in every
    assert "truncated-em" in every


def test_facts_come_from_a_file_and_from_a_release(tmp_path: Path) -> None:
    """A release knows rows and k; what it cannot know is asked for in one line."""
    facts = {"rows": 20_000, "items": 50, "length": 4, "k": 20}
    (tmp_path / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    from_file = veilset("plan", "facts.json", "--json", cwd=tmp_path).stdout
    assert from_file == veilset("plan", *SHOP, "--json").stdout
    release = mine([["a", "b"], ["a"]] * 2000, epsilon=10, k=3, alphabet=["a", "b"])
    release.save(tmp_path / "release.json")
    refused = veilset("plan", "release.json", cwd=tmp_path)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert "release.json does not tell how many items there are (--items N)" in refused.stderr
    call = ["plan", "release.json", "--items", "10", "--length", "1.5", "--json"]
    document = json.loads(veilset(*call, cwd=tmp_path).stdout)
    assert (document["rows"], document["k"]) == (release.transactions.value, 3)
    assert f"the k-th support is {release.itemsets[2].support}" in document["assumption"]


BAD_CALLS = {
    "both questions": (["--epsilon", "1", "--want-found", "90%"], "leave --epsilon out"),
    "half width without epsilon": (["--error", "0.1"], "--want-error"),
    "ten for ten percent": (["--want-error", "10"], "10% or 0.1"),
    "more than all": (["--want-found", "101%"], "up to 1"),
    "a page of another name": (["--report", "page.txt"], ".html"),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_is_one_line(name: str) -> None:
    """Exit code 2, nothing on stdout, and what to do."""
    options, message = BAD_CALLS[name]
    run = veilset("plan", *SHOP, *options)
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert message in run.stderr


def test_without_any_facts_all_are_asked_for() -> None:
    """In one line."""
    run = veilset("plan")
    assert run.returncode == 2
    assert all(option in run.stderr for option in ("--rows N", "--items N", "--length L", "--k K"))


def test_a_page_is_written_with_and_without_epsilon(tmp_path: Path) -> None:
    """With one, it also has what to expect of methods."""
    for options, text in (([], "What epsilon buys"), (["--epsilon", "1"], "What to expect at epsilon 1")):
        run = veilset(
            "plan", *SHOP, "--max-size", "1", *options, "--report", "page.html", "--force", cwd=tmp_path
        )
        assert run.returncode == 0
        assert text in (tmp_path / "page.html").read_text(encoding="utf-8")
