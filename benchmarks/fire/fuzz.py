"""Mutated files of every format, read by the commands: `python -m benchmarks.fire fuzz [--tries N] [--seed S]`.

Each file goes through a command as a shell would run it. What must hold: the exit code is 0, 2 or 3; no traceback, no
crash; an answer within 10 seconds; at most 10 times the file's size of memory and 64 MB beside it; nothing of the data
in what is said on stderr; outputs whole or absent, and nothing left beside them. What does not hold is kept: the file
and the command, for tests/corpus.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from benchmarks.fire.formats import CANARY, CANARY_NUMBER, DATA, FORMATS, FileFormat, is_whole
from benchmarks.fire.mutations import mutated, mutated_words
from benchmarks.fire.page import Row

if TYPE_CHECKING:
    from veilset.audit.command_lines import Finished

LONGEST = 10.0
"""10 seconds without an end are a hang."""
ROOM = 64 << 20
"""64 MB beside ten times the file: what libraries take when they are first used."""
ENDS = (0, 2, 3)


class Bench:
    """A folder with a whole file of every format, and room for mutated ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wholes = {
            each.name: folder / f"whole-{place}{each.suffix}" for place, each in enumerate(FORMATS)
        }
        self.data = folder / "data.csv"
        self.data.write_text("bread,milk\nmilk\nbeer,milk\n" * 5, encoding="utf-8")

    def prepare(self) -> None:
        """Make all whole files."""
        for each in FORMATS:
            each.make(self.wholes[each.name])

    def case(self, seed: int, number: int, kind: str) -> tuple[FileFormat, bytes, list[str]]:
        """The format, the mutated bytes and the command of one try; the same for the same numbers.

        Of the kind "files" the file is mutated, of the kind "calls" the command.
        """
        chance = random.Random(f"{seed} {number}")  # noqa: S311 - repeatable on purpose
        if kind == "calls":
            chosen = FORMATS[chance.randrange(len(FORMATS))]
            words = mutated_words(chance.choice(chosen.commands), chance)
            return chosen, chosen.shell(self.wholes[chosen.name].read_bytes()), words
        chosen = FORMATS[number % len(FORMATS)]
        command = chosen.commands[(number // len(FORMATS)) % len(chosen.commands)]
        content = chosen.shell(mutated(self.wholes[chosen.name].read_bytes(), chance))
        return chosen, content, list(command)

    def call(self, chosen: FileFormat, command: list[str], folder: Path) -> list[str]:
        """The command with the names of files in this folder."""
        names = {"FILE": folder / f"x{chosen.suffix}", "WHOLE": self.wholes[chosen.name], DATA: self.data}
        return [
            str(names[word]) if word in names else str(folder / word) if word.startswith("OUT") else word
            for word in command
        ]


def memory() -> int:
    """The most memory that this process had since it was last asked."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return peak << 10


def run_apart(arguments: list[str]) -> "Finished":
    """The command in a process of its own, as a shell runs it."""
    from veilset.audit.command_lines import Finished  # noqa: PLC0415

    call = [sys.executable, "-m", "veilset", *arguments]
    ended = subprocess.run(
        call, capture_output=True, check=False, timeout=60 * LONGEST, stdin=subprocess.DEVNULL
    )
    said = (stream.decode("utf-8", "backslashreplace") for stream in (ended.stdout, ended.stderr))
    return Finished(ended.returncode, *said)


def faults_of(
    bench: Bench,
    chosen: FileFormat,
    content: bytes,
    command: list[str],
    run: "Callable[[list[str]], Finished] | None" = None,
) -> list[str]:
    """Run a command on a mutated file, here or as told; whatever did not hold, in words."""
    from veilset.cli import run_here  # noqa: PLC0415

    with tempfile.TemporaryDirectory(dir=bench.folder) as name:
        folder = Path(name)
        (folder / f"x{chosen.suffix}").write_bytes(content)
        before, given = memory(), {path.name for path in folder.iterdir()}
        try:
            ended = (run or run_here)(bench.call(chosen, command, folder))
        except BaseException as error:  # noqa: BLE001 - whichever it is, a user would see it
            return [f"{type(error).__name__} came through"]
        is_verdict = ended.code == 1 and command[:2] == ["ledger", "verify"]  # on stdout, line by line
        found = [] if ended.code in ENDS or is_verdict else [f"exit code {ended.code}"]
        if ended.code > 1 and not 1 <= len(ended.stderr.splitlines()) <= (
            4 if "which items" in ended.stderr else 1
        ):
            found.append(f"{len(ended.stderr.splitlines())} lines on stderr")
        told = "" if "name one of its columns" in ended.stderr else ended.stderr  # a first line is a header
        if CANARY in told or str(CANARY_NUMBER) in told:
            found.append("the data is told on stderr")
        if memory() - before > 10 * len(content) + ROOM:
            found.append("too much memory")
        return found + list(_left_over(folder, given, ended.code))


def _left_over(folder: Path, given: set[str], code: int) -> Iterator[str]:
    """Files that are not whole, or that nobody asked for."""
    for path in folder.iterdir():
        if path.name in given or path.name.endswith((".db-wal", ".db-shm", ".db-journal")):
            continue
        if not path.name.startswith("OUT") or code:
            yield f"{path.suffix} left behind with exit code {code}"
        elif path.suffix in {".json", ".dat"} and not is_whole(path):
            yield "an output that is not whole"


def work(folder: str, seed: str, start: str, end: str, kind: str = "files") -> None:
    """The tries from one number to another, in this process; a line before each and after each."""
    bench, told = Bench(Path(folder)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for chosen in FORMATS:  # what libraries take when they are first used is not the file's
        for words in chosen.commands:
            faults_of(bench, chosen, chosen.shell(bench.wholes[chosen.name].read_bytes()), list(words))
    for number in range(int(start), int(end)):
        chosen, content, command = bench.case(int(seed), number, kind)
        told.write(f"{json.dumps({'starts': number})}\n")
        told.flush()
        found = faults_of(bench, chosen, content, command)
        told.write(f"{json.dumps({'ended': number, 'faults': found})}\n")
        told.flush()


class Watched:
    """A process that tries files, and what it says; ends it where it says nothing for too long."""

    def __init__(self, bench: Bench, seed: int, start: int, end: int, kind: str) -> None:
        numbers = [str(seed), str(start), str(end), kind]
        call = [sys.executable, "-m", "benchmarks.fire.fuzz", "work", str(bench.folder), *numbers]
        self.process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.is_hung = False
        self._beat = time.process_time(), time.monotonic()
        threading.Thread(target=self._watch, daemon=True).start()

    def lines(self) -> Iterator[dict[str, Any]]:
        """What it says."""
        stream: IO[str] | None = self.process.stdout
        for line in stream or ():
            self._beat = self._used(), time.monotonic()
            yield json.loads(line)

    def _used(self) -> float:
        """The processor time of the process: on a busy machine a clock would call work a hang."""
        try:
            fields = (
                Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
            )
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _watch(self) -> None:
        while self.process.poll() is None:
            time.sleep(0.5)
            used, since = self._beat
            is_busy = self._used() - used > 4 * LONGEST
            if time.monotonic() - since > 60 * LONGEST or is_busy:
                self.is_hung = True
                self.process.kill()


def fuzz(
    tries: int, seed: int, kind: str, *, keep: Path | None = None
) -> tuple[Counter[str], list[tuple[int, list[str]]]]:
    """Try files, or calls; how many of each format, and the numbers of those of which something did not hold."""
    tried: Counter[str] = Counter()
    failed: list[tuple[int, list[str]]] = []
    with tempfile.TemporaryDirectory(prefix="veilset-fuzz-") as name:
        bench = Bench(Path(name))
        bench.prepare()
        number = 0
        while number < tries:
            watched, current = Watched(bench, seed, number, tries, kind), number
            for told in watched.lines():
                current = told.get("starts", current)
                if "ended" in told:
                    tried[bench.case(seed, current, kind)[0].name] += 1
                    if told["faults"]:
                        failed.append((current, told["faults"]))
                        _keep(bench, (seed, current, kind), told["faults"], keep)
                    current += 1
            code = watched.process.wait()
            if current < tries:
                what = ["a hang"] if watched.is_hung else [f"a crash with code {code}"]
                failed.append((current, what))
                _keep(bench, (seed, current, kind), what, keep)
                current += 1
            number = current
    return tried, failed


def _keep(bench: Bench, case: tuple[int, int, str], faults: list[str], folder: Path | None) -> None:
    """Keep a file, and its command, of which something did not hold."""
    seed, number, _ = case
    chosen, content, command = bench.case(*case)
    print(f"{number} ({chosen.name}): veilset {' '.join(command)}: {'; '.join(faults)}", flush=True)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{seed}-{number}{chosen.suffix}").write_bytes(content)
        (folder / f"{seed}-{number}.command").write_text(json.dumps(command), encoding="utf-8")


def campaign(arguments: list[str]) -> list[Row]:
    """Mutated files."""
    return _campaign(arguments, "files", f"a mutated file, of {len(FORMATS)} formats")


def calls_campaign(arguments: list[str]) -> list[Row]:
    """Mutated command lines, on whole files; with `--apart N`, N others, each in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fire calls", add_help=False)
    parser.add_argument("--apart", type=int, default=0)
    given, rest = parser.parse_known_args(arguments)
    return apart(given.apart) if given.apart else _campaign(rest, "calls", "a mutated command line")


def apart(tries: int) -> list[Row]:
    """Mutated command lines, each in a process of its own."""
    failed = 0
    with tempfile.TemporaryDirectory(prefix="veilset-fuzz-") as name:
        bench = Bench(Path(name))
        bench.prepare()
        for number in range(tries):
            case = bench.case(0, number, "calls")
            found = faults_of(bench, *case, run=run_apart)
            failed += bool(found)
            if found:
                print(f"{number}: veilset {' '.join(case[2])}: {'; '.join(found)}", flush=True)
    fault = "a mutated command line, in a process of its own"
    command = f"python -m benchmarks.fire calls --apart {tries}"
    return [Row(fault, tries, tries - failed, "nothing: one line, exit code 2", command)]


def _campaign(arguments: list[str], kind: str, fault: str) -> list[Row]:
    name = {"files": "fuzz", "calls": "calls"}[kind]
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.fire {name}")
    parser.add_argument("--tries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args(arguments)
    tried, failed = fuzz(given.tries, given.seed, kind, keep=given.keep)
    print(", ".join(f"{name} {number}" for name, number in tried.items()))
    command = f"python -m benchmarks.fire {name} --tries {given.tries} --seed {given.seed}"
    return [Row(fault, given.tries, given.tries - len(failed), "nothing: one line, exit code 2", command)]


if __name__ == "__main__":
    if sys.argv[1] == "work":
        work(*sys.argv[2:])
