"""Files of commands: nothing is overwritten unasked, the input never, and nothing that was paid for is lost."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from shell import veilset

CALLS = {
    "mine": ["--epsilon", "1", "--k", "3"],
    "items": ["--epsilon", "1", "--k", "2"],
    "publish": ["--epsilon", "1"],
}
NAMED = {
    "mine": ["out.json", "out.csv", "out.parquet"],
    "items": ["out.json"],
    "publish": ["out.dat", "out.parquet"],
}
OUTPUTS = [(command, name) for command, names in NAMED.items() for name in names]
BESIDE = [
    ("mine", "out.csv", "out.csv.json"),
    ("publish", "out.dat", "out.dat.json"),
    ("publish", "out.dat", "out.vocab.tsv"),
    ("publish", "out.parquet", "out.parquet.json"),
]

needs_full_device = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="there is no device that is always full"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with baskets and the list of their items."""
    (tmp_path / "data.csv").write_text("milk,tea\n" * 300 + "tea\n" * 100)
    (tmp_path / "items.txt").write_text("milk\ntea\n")
    return tmp_path


def call(command: str, *more: str) -> list[str]:
    """A command on the baskets."""
    return [command, "data.csv", "--alphabet", "items.txt", *CALLS[command], *more]


@pytest.mark.parametrize(("command", "name"), OUTPUTS)
def test_a_file_that_is_there_is_replaced_only_by_force(folder: Path, command: str, name: str) -> None:
    """One line that says so, exit code 2, and nothing is spent; with --force it is replaced."""
    assert veilset(*call(command, "--out", name), cwd=folder).returncode == 0
    before = {path: path.read_bytes() for path in folder.iterdir()}
    refused = veilset(*call(command, "--out", name), cwd=folder)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert (
        refused.stderr
        == f"veilset: {name} is there already; name another file, or give --force to replace it\n"
    )
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert veilset(*call(command, "--out", name, "--force"), cwd=folder).returncode == 0


@pytest.mark.parametrize(("command", "name", "beside"), BESIDE)
def test_what_stands_beside_a_file_is_not_overwritten_either(
    folder: Path, command: str, name: str, beside: str
) -> None:
    """The promise, the other half of a CSV file, the vocabulary: nobody named them, but they would be lost."""
    (folder / beside).write_text("mine")
    refused = veilset(*call(command, "--out", name), cwd=folder)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert f"{beside} is there already" in refused.stderr
    assert (folder / beside).read_text() == "mine"
    assert not (folder / name).exists()


def test_reports_rules_and_baskets_are_not_overwritten_either(folder: Path) -> None:
    """Every command that writes asks for --force; without a ledger or with one."""
    assert veilset(*call("mine", "--out", "r.json", "--report", "r.html"), cwd=folder).returncode == 0
    commands = [
        call("mine", "--report", "r.html"),
        ["rules", "r.json", "--out", "rules.csv"],
        ["generate", "made.csv", "--rows", "20"],
        ["ledger", "export", "--ledger", "sqlite:///budget.db", "--out", "copy.json"],
    ]
    veilset("ledger", "init", "--ledger", "sqlite:///budget.db", cwd=folder)
    for number, command in enumerate(commands):
        first = veilset(*command, cwd=folder)
        assert first.returncode == (2 if number == 0 else 0), first.stderr
        again = veilset(*command, cwd=folder)
        assert (again.returncode, "give --force to replace it" in again.stderr) == (2, True)
        assert veilset(*command, "--force", cwd=folder).returncode == 0


@pytest.mark.parametrize("option", ["--out", "--report"])
@pytest.mark.parametrize("read", ["data", "alphabet"])
def test_what_is_read_is_never_written(folder: Path, option: str, read: str) -> None:
    """Not even by force, nor under another name."""
    name = "in.csv" if option == "--out" else "in.html"
    (folder / name).write_bytes((folder / ("data.csv" if read == "data" else "items.txt")).read_bytes())
    before = (folder / name).read_bytes()
    data, alphabet = (name, "items.txt") if read == "data" else ("data.csv", name)
    asked = ["mine", data, "--format", "basket", "--alphabet", alphabet, *CALLS["mine"]]
    refused = veilset(*asked, option, f"./{name}", "--force", cwd=folder)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "is read by this command" in refused.stderr
    assert (folder / name).read_bytes() == before


def test_the_demo_can_be_run_twice(folder: Path) -> None:
    """Its page has a name of its own, unless one is given."""
    for name in ("veilset-demo.html", "veilset-demo-2.html"):
        run = veilset("demo", "--k", "3", cwd=folder)
        assert (run.returncode, run.stdout.splitlines()[-1].endswith(f": {name}")) == (0, True)
        assert (folder / name).exists()
    assert veilset("demo", "--k", "3", "--report", "veilset-demo.html", cwd=folder).returncode == 2


@needs_full_device
@pytest.mark.parametrize("option", ["--out", "--report"])
@pytest.mark.parametrize("command", ["mine", "items"])
def test_a_full_disk_loses_no_release(folder: Path, command: str, option: str) -> None:
    """It stands on stdout as JSON, a line on stderr says so, and it can be loaded from there."""
    name = "full.json" if option == "--out" else "full.html"
    (folder / name).symlink_to("/dev/full")
    run = veilset(*call(command, option, name), cwd=folder)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert (
        "No space left on device; epsilon 1 was spent; what was paid for stands on stdout, as JSON"
        in run.stderr
    )
    assert json.loads(run.stdout)["spent"] == "1"
    (folder / "kept.json").write_text(run.stdout)
    assert veilset("show", "kept.json", cwd=folder).returncode == 0


@needs_full_device
def test_a_page_that_cannot_be_written_repeats_no_release_that_was(folder: Path) -> None:
    """The release is in its file."""
    (folder / "full.html").symlink_to("/dev/full")
    run = veilset(*call("mine", "--out", "kept.json", "--report", "full.html"), cwd=folder)
    assert (run.returncode, run.stdout) == (2, "")
    assert "epsilon 1 was spent" in run.stderr
    assert veilset("show", "kept.json", cwd=folder).returncode == 0


def limited(
    limit: int, *arguments: str, cwd: Path, stdout: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command whose files may have that many bytes; stdout goes to a file or a device, if one is named."""

    def limit_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-m", "veilset", *arguments]
    if stdout is None:
        return subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, check=False, preexec_fn=limit_files
        )
    with Path(stdout).open("w") as stream:
        return subprocess.run(command, cwd=cwd, stdout=stream, stderr=subprocess.PIPE, text=True, check=False)


def test_a_dataset_that_outgrows_the_disk_is_printed_with_its_records(folder: Path) -> None:
    """All of them, and nothing half-written stays."""
    before = set(folder.iterdir())
    run = limited(64, *call("publish", "--out", "out.dat"), cwd=folder)
    assert run.returncode == 2
    assert "what was paid for stands on stdout, as JSON" in run.stderr
    document = json.loads(run.stdout)
    assert document["transactions"] == sum(record["multiplicity"] for record in document["records"])
    assert set(folder.iterdir()) == before


@needs_full_device
def test_a_full_stdout_loses_no_release_either(folder: Path) -> None:
    """Without a file, it stands on stderr; with one, it is not repeated."""
    run = limited(0, *call("mine", "--json"), cwd=folder, stdout="/dev/full")
    assert run.returncode == 2
    document, _, told = run.stderr.rpartition("veilset: ")
    assert json.loads(document)["spent"] == "1"
    assert "what was paid for stands on stderr" in told
    kept = limited(0, *call("mine", "--out", "kept.json"), cwd=folder, stdout="/dev/full")
    assert (kept.returncode, kept.stderr.count("\n")) == (2, 1)
