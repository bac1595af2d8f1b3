"""Public facts come from a small file, from an earlier release, or from both with what was said beside them."""

import json
from pathlib import Path
from typing import Any

import pytest

from veilset import SeededNoise, mine
from veilset.errors import BadCall, BadInput
from veilset.plan import Facts, KnownFacts, read_facts

ROWS = [["milk", "bread"]] * 900 + [["milk"]] * 600 + [["jam"]] * 500
WRITTEN = {"rows": 20_000, "items": 200, "length": 8.5, "k": 40, "kth_support": 0.02}


def written(path: Path, facts: dict[str, Any]) -> Path:
    """A file of facts."""
    as_toml = "\n".join(f"{name} = {json.dumps(value)}" for name, value in facts.items())
    path.write_text(json.dumps(facts) if path.suffix == ".json" else as_toml, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["facts.toml", "facts.json"])
def test_a_file_of_facts_says_what_the_options_would(tmp_path: Path, name: str) -> None:
    """In either format; all five of them."""
    known = read_facts(written(tmp_path / name, WRITTEN))
    assert known == KnownFacts(20_000, 200, 8.5, 40, 0.02)
    assert known.complete() == (Facts(20_000, 200, 8.5), 40)


def test_what_was_given_stands_above_what_the_file_says(tmp_path: Path) -> None:
    """And fills in what it does not say."""
    known = read_facts(written(tmp_path / "facts.toml", {"rows": 20_000, "items": 200}))
    assert known.with_given(KnownFacts(rows=30_000, length=3, k=5)).complete() == (Facts(30_000, 200, 3), 5)


def test_a_guess_for_another_k_is_not_taken_over(tmp_path: Path) -> None:
    """The file's k-th support is that of its own k; the same k again, or another guess, is fine."""
    known = read_facts(written(tmp_path / "facts.toml", WRITTEN))
    with pytest.raises(BadCall, match="is for k = 40; give --kth-support for k = 20"):
        known.with_given(KnownFacts(k=20))
    assert known.with_given(KnownFacts(k=40)).kth_support == 0.02
    assert known.with_given(KnownFacts(k=20, kth_support="100")).kth_support == "100"


def test_what_is_missing_is_listed_with_its_options() -> None:
    """One line; all of it at once."""
    with pytest.raises(
        BadCall, match=r"release.json does not tell .*--items N\) and .*--length L\); add them$"
    ):
        KnownFacts(rows=10, k=3).complete("release.json")
    with pytest.raises(BadCall, match=r"a plan needs to know how many itemsets you want \(--k K\); add it$"):
        KnownFacts(rows=10, items=3, length=1).complete()


@pytest.mark.parametrize("name", ["release.json", "release.csv", "release.parquet"])
def test_a_release_tells_its_rows_and_the_support_of_the_kth_itemset(tmp_path: Path, name: str) -> None:
    """Of its own k, or of a smaller one; nothing of a larger one, or of other sizes."""
    release = mine(ROWS, epsilon=10, k=3, alphabet=["milk", "bread", "jam"])
    release.save(tmp_path / name)
    known = read_facts(tmp_path / name)
    supports = [found.support for found in release.itemsets]
    assert known == KnownFacts(rows=release.transactions.value, k=3, kth_support=supports[2])
    assert read_facts(tmp_path / name, k=1).kth_support == supports[0]
    assert read_facts(tmp_path / name, k=4).kth_support is None
    assert read_facts(tmp_path / name, k=-1).kth_support is None
    assert read_facts(tmp_path / name, max_size=1).kth_support is None
    with pytest.raises(BadCall, match="--items N"):
        known.complete(name)


def test_a_release_of_noise_tells_no_support(tmp_path: Path) -> None:
    """Its smallest support is that of the noise."""
    items = [f"item {number}" for number in range(40)]
    release = mine(ROWS, epsilon="0.001", k=9, alphabet=["milk", "bread", *items])
    assert release.is_mostly_noise
    release.save(tmp_path / "release.json")
    assert read_facts(tmp_path / "release.json").kth_support is None


def test_a_release_that_is_not_private_tells_nothing_public(tmp_path: Path) -> None:
    """Repeatable noise can be taken off again."""
    mine(ROWS, epsilon=1, k=2, alphabet=["milk", "jam"], noise=SeededNoise(1)).save(tmp_path / "release.json")
    with pytest.raises(BadInput, match="not public"):
        read_facts(tmp_path / "release.json")


BAD_FILES: dict[str, tuple[str, str, str]] = {
    "another fact": ("facts.toml", "rows = 3\ncolour = 4", "says colour, which is no fact"),
    "a word for a number": ("facts.toml", 'rows = "many"', "rows = 'many'; give a whole number"),
    "part of a row": ("facts.toml", "rows = 2.5", "give a whole number"),
    "true": ("facts.json", '{"rows": true}', "give a whole number"),
    "a length in words": ("facts.json", '{"length": "long"}', "give a number"),
    "a length without end": ("facts.json", '{"length": 1e999}', "give a number"),
    "a length of 400 digits": ("facts.json", '{"length": 1' + "0" * 400 + "}", "give a number"),
    "no TOML": ("facts.toml", "rows: 3", "cannot be read"),
    "no JSON": ("facts.json", "{", "cannot be read"),
    "a list": ("facts.json", "[1]", "cannot be read"),
    "another format": ("facts.yaml", "rows: 3", "name it .toml or .json"),
    "a table that is no release": ("facts.csv", "a,b", "not a release"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    """With what was found and what to write."""
    file, text, message = BAD_FILES[name]
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=message) as refused:
        read_facts(tmp_path / file)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """With what to give."""
    with pytest.raises(BadInput, match="there is no file"):
        read_facts(tmp_path / "facts.toml")
