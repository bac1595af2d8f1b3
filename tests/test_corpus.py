"""Files that once ended in a traceback, a crash or a hang: each ends in one line now, and stays here.

`python -m benchmarks.fire fuzz --keep FOLDER` finds them: a mutated file, and the command that read it.
"""

import json
from pathlib import Path

import pytest

from shell import veilset

CORPUS = Path(__file__).parent / "corpus"
COMMANDS = sorted(CORPUS.glob("*.command"))


def call_of(command: Path, folder: Path) -> list[str]:
    """The command, on a copy of the file: a ledger is opened for writing."""
    (mutated,) = (path for path in CORPUS.glob(f"{command.stem}.*") if path != command)
    copy, data = folder / mutated.name, folder / "data.csv"
    copy.write_bytes(mutated.read_bytes())
    data.write_text("bread,milk\nmilk\nbeer,milk\n" * 5, encoding="utf-8")
    names = {"FILE": str(copy), "DATA": str(data)}
    words = json.loads(command.read_text(encoding="utf-8"))
    return [str(folder / word) if word.startswith("OUT") else names.get(word, word) for word in words]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda path: path.stem)
def test_a_file_that_was_found_ends_in_one_line(command: Path, tmp_path: Path) -> None:
    """Bad input, told in words; nothing is written."""
    call = call_of(command, tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    ended = veilset(*call)
    assert ended.returncode == 2
    assert ended.stderr.startswith("veilset: ")
    assert len(ended.stderr.splitlines()) == 1
    assert [
        path.name for path in sorted(tmp_path.iterdir()) if not path.name.endswith(("-wal", "-shm"))
    ] == before


def test_there_is_a_corpus() -> None:
    """Every command has its file."""
    assert len(COMMANDS) >= 3
