"""Canaries in files: the command line on a file with somebody and on the same without, with the noise that ships.

The look is from outside. Reading, naming items, noise, printing and writing all stand between the file and what is
seen, and whatever any of them lets out is part of it: the exit code, all that is printed on either stream, all files
that are written. The canary alone has an item, and stands first in its file.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from veilset.audit.lower_bound import Outcome
from veilset.audit.neighbours import PERSON_LIMIT
from veilset.audit.outcomes import checksum, of_document
from veilset.audit.question_examples import AUDITED_DELTA
from veilset.audit.verdicts import CONTROL


@dataclass(frozen=True, slots=True)
class Finished:
    """What a command leaves behind, but for files."""

    code: int
    stdout: str
    stderr: str


Shell = Callable[[Sequence[str]], Finished]
"""Runs `veilset` with these arguments."""

ITEMS = ("1", "2", "3", "44")
OTHERS = [("1", "2")] * 40 + [("2", "3")] * 20
CANARY = ("1", "44")
"""An item that many hold, and one that nobody else does."""
CANARY_BASKETS = 5
"""A person has more baskets than may count."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command on a file; the unit is a basket, or a person with several."""

    command: str
    options: tuple[str, ...]
    choice: str
    is_by_person: bool

    @property
    def name(self) -> str:
        """What it is a case of."""
        return CONTROL if self.choice == "" else "commands"

    @property
    def delta(self) -> Fraction:
        """The delta that is claimed beside epsilon."""
        return AUDITED_DELTA if self.choice == "delta" else Fraction(0)

    @property
    def case(self) -> str:
        """The command in short, and whose data the canary is."""
        unit = f"person with {CANARY_BASKETS} baskets" if self.is_by_person else "basket"
        if self.name == CONTROL:
            return f"veilset {self.command} (must be refuted); a {unit} in a file"
        return f"veilset {self.command} --{self.choice}; a {unit} in a file"

    @contextmanager
    def files(self) -> Iterator[tuple[Path, Path]]:
        """Two folders with the file: in the first with the canary, in the second without; gone afterwards."""
        with TemporaryDirectory(prefix="veilset-audit-") as top:
            folders = Path(top) / "with", Path(top) / "none"
            for folder, baskets in zip(folders, (CANARY_BASKETS if self.is_by_person else 1, 0), strict=True):
                (folder / "written").mkdir(parents=True)
                (folder / self._file).write_text(self._text(baskets), encoding="utf-8")
                (folder / "items.txt").write_text("\n".join(ITEMS) + "\n", encoding="utf-8")
            yield folders

    def outcome(self, shell: Shell, folder: Path, epsilon: Fraction) -> Outcome:
        """One run, and all that it lets anybody see."""
        finished = shell(self._arguments(folder, epsilon))
        seen = {"exit code": finished.code}
        seen |= _of_text(finished.stdout.replace(str(folder), ""), "stdout")
        seen |= _of_text(finished.stderr.replace(str(folder), ""), "stderr")
        for path in sorted((folder / "written").iterdir()):
            text = path.read_text(encoding="utf-8")
            seen |= _of_records(text) if path.suffix == ".dat" else _of_text(text, path.name)
            path.unlink()
        return seen

    def _arguments(self, folder: Path, epsilon: Fraction) -> list[str]:
        written = [option.replace("WRITTEN", str(folder / "written")) for option in self.options]
        person = ["--owner", "who", "--basket", "receipt", "--item", "what"] if self.is_by_person else []
        limit = ["--per-owner", str(PERSON_LIMIT)] if self.is_by_person else []
        call = [self.command, str(folder / self._file), *person, *written]
        match self.choice:
            case "alphabet":
                may_name = ["--alphabet", str(folder / "items.txt")]
            case "delta":
                may_name = ["--delta", str(float(AUDITED_DELTA))]
            case _:
                return call
        return [*call, *may_name, *limit, "--epsilon", str(epsilon)]

    @property
    def _file(self) -> str:
        return "data.csv" if self.is_by_person else "data.dat"

    def _text(self, baskets: int) -> str:
        """The file, with the canary's baskets in front."""
        if not self.is_by_person:
            return "".join(" ".join(row) + "\n" for row in [*[CANARY] * baskets, *OTHERS])
        whose = [("canary", CANARY)] * baskets + [(f"p{place}", row) for place, row in enumerate(OTHERS)]
        rows = [f"{who},r{place},{item}" for place, (who, row) in enumerate(whose) for item in row]
        return "\n".join(["who,receipt,what", *rows]) + "\n"


MINE = "mine", ("--k", "3", "--max-size", "2", "--out", "WRITTEN/release.json")
TOP_ITEMS = "items", ("--k", "2", "--json")
PUBLISH = "publish", ("--json", "--out", "WRITTEN/published.dat")
EXACT = "exact", ("--k", "3", "--json")


def command_lines() -> list[CommandLine]:
    """A command that is not private, as a control; those that are, under either choice of items and either unit."""
    return [
        CommandLine(*EXACT, choice="", is_by_person=False),
        CommandLine(*MINE, choice="alphabet", is_by_person=True),
        CommandLine(*MINE, choice="delta", is_by_person=False),
        CommandLine(*TOP_ITEMS, choice="alphabet", is_by_person=False),
        CommandLine(*TOP_ITEMS, choice="delta", is_by_person=True),
        CommandLine(*PUBLISH, choice="alphabet", is_by_person=True),
        CommandLine(*PUBLISH, choice="delta", is_by_person=False),
    ]


def _of_text(text: str, name: str) -> Outcome:
    """What was printed or written: a document value by value, anything else line by line."""
    try:
        return of_document(json.loads(text))
    except ValueError:
        lines = text.splitlines()
        told = {f"text of {name} line {place}": checksum(line) for place, line in enumerate(lines)}
        return {f"lines on {name}": len(lines), **told}


def _of_records(text: str) -> Outcome:
    """A dataset: how often each record stands in it, and the order of its lines."""
    copies = Counter(text.splitlines())
    counts = {f"copies of {{{record}}}": number for record, number in copies.items()}
    return {"number of records": copies.total(), "text of the order of records": checksum(text), **counts}
