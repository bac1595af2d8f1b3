"""`veilset ledger`, and releases that a ledger pays for: as a team would use them from a shell."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from shell import veilset
from veilset import Ledger, Release
from veilset.cli.paying import VARIABLE

ADDRESS = "sqlite:///budget.db"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with some baskets, their items, and a ledger with epsilon 2 for `stores`."""
    monkeypatch.delenv(VARIABLE, raising=False)
    (tmp_path / "baskets.dat").write_text("1 2 3\n" * 400 + "2 3\n" * 300 + "7\n" * 200)
    (tmp_path / "items.txt").write_text("1\n2\n3\n7\n8\n")
    (tmp_path / "veilset.toml").write_text(f'ledger = "{ADDRESS}"\n')
    assert veilset("ledger", "init", cwd=tmp_path).returncode == 0
    assert veilset("ledger", "create", "stores", "--epsilon", "2", cwd=tmp_path).returncode == 0
    return tmp_path


def mine(folder: Path, *options: str, epsilon: str = "1") -> tuple[int, str, str]:
    """A release that `stores` pays for, unless options say otherwise."""
    call = ["mine", "baskets.dat", "--alphabet", "items.txt", "--k", "3"]
    if "--dataset" not in options:
        call += ["--dataset", "stores"]
    if epsilon:
        call += ["--epsilon", epsilon]
    run = veilset(*call, *options, cwd=folder)
    return run.returncode, run.stdout, run.stderr


def shown(folder: Path, name: str = "stores") -> dict[str, Any]:
    """What `ledger show --json` prints."""
    document: dict[str, Any] = json.loads(veilset("ledger", "show", name, "--json", cwd=folder).stdout)
    return document


def test_a_release_is_paid_for_and_shown(folder: Path) -> None:
    """Who, when, what for, which file; the release says where it stands."""
    code, out, err = mine(folder, "--out", "release.json")
    assert (code, err) == (0, "")
    assert "paid by entry 2 of a ledger, for dataset 'stores'" in out
    table = veilset("ledger", "show", "stores", cwd=folder).stdout
    assert "epsilon 1 left of epsilon 2" in table
    assert "top 3 itemsets" in table
    assert "release.json (" in table
    document = shown(folder)
    assert document["left"] == {"epsilon": "1", "delta": "0"}
    (release,) = document["releases"]
    assert release["state"] == "settled"
    assert release["request"] == {"k": 3, "max_size": None, "min_support": None}
    saved = Release.load(folder / "release.json")
    assert saved.ledger is not None
    assert saved.ledger.entry == release["entry"]


def test_what_is_not_left_is_refused_with_what_would_be(folder: Path) -> None:
    """Exit code 3, one line, before the data is read; the forecast comes from what was released before."""
    assert mine(folder)[0] == 0
    (folder / "baskets.dat").unlink()
    code, out, err = mine(folder, epsilon="3/2")
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert "asks for epsilon 3/2, but dataset 'stores' has epsilon 1 of epsilon 2 left" in err
    assert "nothing was looked at; --epsilon 1 can still be spent, and would find about" in err
    assert "of the top 3, to within ± " in err


def test_a_dataset_without_delta_pays_for_none(folder: Path) -> None:
    """And says what to do instead."""
    call = ("mine", "baskets.dat", "--k", "3", "--dataset", "stores", "--epsilon", "1", "--delta", "1e-9")
    run = veilset(*call, cwd=folder)
    assert run.returncode == 3
    assert "--epsilon 2 can still be spent, with no delta: name the items by --alphabet" in run.stderr


def test_where_nothing_is_left_the_way_out_is_named(folder: Path) -> None:
    """A raise, which needs a reason."""
    assert mine(folder, epsilon="2")[0] == 0
    code, _, err = mine(folder, epsilon="1")
    assert code == 3
    assert "veilset ledger raise" in err
    assert veilset("ledger", "raise", "stores", "--epsilon", "3", cwd=folder).returncode == 2
    raised = veilset("ledger", "raise", "stores", "--epsilon", "3", "--reason", "2027", cwd=folder)
    assert raised.stdout == "dataset 'stores' may spend epsilon 3\n"
    assert mine(folder)[0] == 0


def test_an_allowance_makes_epsilon_optional(folder: Path) -> None:
    """Only there."""
    code, _, err = mine(folder, epsilon="")
    assert code == 2
    assert "no allowance" in err
    veilset("ledger", "create", "weekly", "--epsilon", "2", "--per-release", "1/2", cwd=folder)
    code, out, err = mine(folder, "--dataset", "weekly", "--different-people", epsilon="")
    assert (code, err) == (0, "")
    assert "of epsilon 1/2" in out
    run = veilset("mine", "baskets.dat", "--k", "3", "--public-items", cwd=folder)
    assert run.returncode == 2
    assert "Give --epsilon" in run.stderr


def test_another_name_for_the_same_data_is_stopped(folder: Path) -> None:
    """Until its owner says whose it is; the declaration stands in the promise."""
    assert mine(folder)[0] == 0
    veilset("ledger", "create", "renamed", "--epsilon", "9", cwd=folder)
    code, _, err = mine(folder, "--dataset", "renamed")
    assert code == 2
    assert "this data was read before, as dataset 'stores'" in err
    code, out, _ = mine(folder, "--dataset", "renamed", "--different-people")
    assert code == 0
    assert "as the publisher declared" in out.replace("\n", "")
    code, _, err = mine(folder, "--dataset", "renamed", "--same-people-as", "stores", epsilon="2")
    assert code == 3
    assert "dataset 'stores' has epsilon 0 of epsilon 2 left" in err or "dataset 'stores' has" in err


def test_other_data_under_the_same_name_is_a_warning_on_stderr(folder: Path) -> None:
    """The release says nothing of it."""
    assert mine(folder, epsilon="1/2")[2] == ""
    with (folder / "baskets.dat").open("a") as file:
        file.write("1 2\n")
    code, out, err = mine(folder, epsilon="1/2")
    assert code == 0
    assert "dataset 'stores' had other data on" in err
    assert "other data" not in out


def test_partitions_pay_once(folder: Path) -> None:
    """Different data each; the dearest counts."""
    for number, region in enumerate(("north", "south")):
        (folder / "baskets.dat").write_text("1 2 3\n" * (400 + number))
        assert mine(folder, "--partition", region)[0] == 0
    assert shown(folder)["left"] == {"epsilon": "1", "delta": "0"}


def test_a_reference_is_charged_once(folder: Path) -> None:
    """A script that is run again does not pay again, and looks at nothing."""
    assert mine(folder, "--reference", "week 46")[0] == 0
    code, out, err = mine(folder, "--reference", "week 46")
    assert (code, out) == (2, "")
    assert "the reference 'week 46' was charged already" in err
    assert shown(folder)["left"] == {"epsilon": "1", "delta": "0"}


def test_items_and_publish_pay_too(folder: Path) -> None:
    """With their files."""
    common = ("baskets.dat", "--alphabet", "items.txt", "--dataset", "stores", "--epsilon", "1/2")
    assert veilset("items", *common, "--k", "2", "--out", "items.csv", cwd=folder).returncode == 0
    run = veilset("publish", *common, "--out", "public.dat", "--same-people-as", "stores", cwd=folder)
    assert (run.returncode, run.stderr) == (0, "")
    document = shown(folder)
    assert document["left"] == {"epsilon": "1", "delta": "0"}
    files = [release["files"][0]["name"] for release in document["releases"]]
    assert files == ["items.csv", "public.dat"]
    sidecar = json.loads((folder / "public.dat.json").read_text())
    assert sidecar["ledger"]["dataset"] == "stores"


def test_verify_finds_an_edited_row(folder: Path) -> None:
    """Exit code 1; a release and an export are witnesses, too."""
    mine(folder, "--out", "release.json")
    for suffix in ("csv", "parquet"):
        Release.load(folder / "release.json").save(folder / f"again.{suffix}")
        assert veilset("ledger", "verify", f"again.{suffix}", cwd=folder).returncode == 0
    assert veilset("ledger", "export", "--out", "all.json", cwd=folder).returncode == 0
    sound = veilset("ledger", "verify", "release.json", "all.json", cwd=folder)
    assert (sound.returncode, sound.stdout) == (0, "4 entries, each as it was written\n")
    with sqlite3.connect(folder / "budget.db") as database:
        database.execute("DROP TRIGGER veilset_no_update")
        database.execute("UPDATE veilset_entries SET epsilon = '1/100' WHERE kind = 'settle'")
    database.close()
    broken = veilset("ledger", "verify", cwd=folder)
    assert (broken.returncode, broken.stdout) == (1, "entry 3 was changed after it was written\n")
    document = json.loads(veilset("ledger", "verify", "--json", cwd=folder).stdout)
    assert document == {
        "entries": 4,
        "flaws": ["entry 3 was changed after it was written"],
        "is_sound": False,
    }
    assert veilset("ledger", "verify", "items.txt", cwd=folder).returncode == 2


def test_lists_and_closes(folder: Path) -> None:
    """All datasets in a table, and as one document."""
    veilset("ledger", "create", "other", "--epsilon", "1", "--unit", "person", cwd=folder)
    assert veilset("ledger", "close", "stores", "--reason", "moved", cwd=folder).returncode == 0
    table = veilset("ledger", "list", cwd=folder).stdout
    assert "stores (closed)" in table
    assert "one person" in table
    names = [row["dataset"] for row in json.loads(veilset("ledger", "list", "--json", cwd=folder).stdout)]
    assert names == ["stores", "other"]
    assert mine(folder)[0] == 3
    assert veilset("ledger", "create", "stores", "--epsilon", "2", cwd=folder).returncode == 2
    assert veilset("ledger", "show", "nobody", cwd=folder).returncode == 2


def test_the_ledger_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the option, else by the environment, else by a file here or above; a path starts at that file."""
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    assert "stores" in veilset("ledger", "list", cwd=below).stdout
    (below / "pyproject.toml").write_text('[tool.veilset]\nledger = "other.db"\n')
    assert "no ledger at" in veilset("ledger", "list", cwd=below).stderr
    monkeypatch.setenv(VARIABLE, f"sqlite:///{folder / 'budget.db'}")
    assert "stores" in veilset("ledger", "list", cwd=below).stdout
    missing = veilset("ledger", "list", "--ledger", "sqlite:///missing.db", cwd=below)
    assert missing.returncode == 2
    assert not (below / "missing.db").exists()
    monkeypatch.delenv(VARIABLE)
    (below / "veilset.toml").write_text("ledger = ")
    assert "is not a TOML file" in veilset("ledger", "list", cwd=below).stderr


def test_where_there_is_none_it_is_said_how_to_name_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every way."""
    monkeypatch.delenv(VARIABLE, raising=False)
    told = veilset("ledger", "list", cwd=tmp_path).stderr
    assert "--ledger sqlite:///budget.db" in told
    assert VARIABLE in told
    assert "veilset.toml" in told


def test_options_of_a_ledger_need_a_dataset(folder: Path) -> None:
    """Else they would silently not count."""
    run = veilset(
        "mine", "baskets.dat", "--public-items", "--k", "3", "--epsilon", "1", "--partition", "a", cwd=folder
    )
    assert run.returncode == 2
    assert "Name it with --dataset" in run.stderr


def test_an_interrupted_release_is_shown_as_spent(folder: Path) -> None:
    """Nobody knows how far it had looked."""
    from fractions import Fraction  # noqa: PLC0415

    from veilset.gate import Amount  # noqa: PLC0415

    stores = Ledger(f"sqlite:///{folder / 'budget.db'}").dataset("stores")
    entry = stores.reserve(Amount(Fraction(1))).entry
    assert "running" in veilset("ledger", "show", "stores", cwd=folder).stdout
    with sqlite3.connect(folder / "budget.db") as database:
        database.execute("DROP TRIGGER veilset_no_update")
        database.execute(
            "UPDATE veilset_entries SET details = replace(details, ?, ?) WHERE number = ?",
            (f'"process": {entry.told["process"]}', '"process": 4194303', entry.number),
        )
    database.close()
    assert "interrupted" in veilset("ledger", "show", "stores", cwd=folder).stdout
    assert shown(folder)["left"] == {"epsilon": "1", "delta": "0"}
