"""Commands that are ended at random moments: `python -m benchmarks.fire kills [--kills N] [--seed S]`.

A process that has everything loaded forks a child for each command and ends it by SIGKILL, SIGTERM or SIGINT after a
random time. Then: what the command writes is whole or absent, the ledger verifies, whatever was written was paid for
and nothing is paid twice; a study is run by the same command until it ends, and has the figures of one that nobody
ended. The service has a campaign of its own: `python -m benchmarks.service_kills`.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np

import veilset as vs
from benchmarks.fire.page import Row
from veilset.gate import Ledger

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
DATASETS = {"mine": "mined", "publish": "published"}
TASKS = ("mine", "publish", "evaluate")
EPSILON = Fraction(1, 1000)
TOTAL = 1000
LONGEST, HANGS = 120, 71
"""120 seconds after a signal a process must have ended; if not, this stands for its exit code."""
LOADED = (
    *("veilset.api", "veilset.cli", "veilset.evaluate", "veilset.methods", "veilset.render.terminal"),
    *("veilset.gate.accounting.ledger_database", "opendp.measurements", "polars", "pyarrow.parquet"),
)
"""What commands import: once, for all children."""
MADE_BEFORE = 2
"""2 releases are made of each dataset before anything is ended: to compile, and to see how long one takes."""


@dataclass
class Ground:
    """A folder with data, a ledger, and what commands write."""

    folder: Path
    lasts: dict[str, float] = field(default_factory=dict)
    """How long each command takes when nobody ends it."""
    printed: dict[str, int] = field(default_factory=dict)
    """How many results could only be printed."""

    def data(self, task: str) -> Path:
        """The data of a command: of other people for each, or the ledger would ask."""
        return self.folder / f"{task}.dat"

    @property
    def ledger(self) -> str:
        """The ledger that pays."""
        return f"sqlite:///{self.folder / 'ledger.db'}"

    def out(self, task: str, number: int) -> Path:
        """Where a command writes."""
        name = {
            "mine": f"{number}.json",
            "publish": f"{number}.dat",
            "evaluate": f"study-{number // 60}.parquet",
        }
        return self.folder / "out" / name[task]

    def call(self, task: str, number: int) -> list[str]:
        """A command."""
        out = str(self.out(task, number))
        if task == "evaluate":
            what = ["--methods", "truncated-em,privbasis", "--epsilon", "1,5", "--k", "5", "--repeats", "6"]
            return ["evaluate", str(self.data(task)), *what, "--results", out, "--workers", "1", "--json"]
        asked = ["--k", "5"] if task == "mine" else []
        paid = ["--ledger", self.ledger, "--dataset", DATASETS[task], "--epsilon", str(EPSILON)]
        return [task, str(self.data(task)), *asked, *paid, "--public-items", "--out", out, "--quiet"]


def run(call: list[str], *, stdout: int | None = None, stderr: int | None = None) -> None:
    """In a child: the command, as a shell would run it; prints to nowhere, or to where it is told."""
    from veilset import cli  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.default_int_handler)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream, told in enumerate((None, stdout, stderr)):
        os.dup2(nothing if told is None else told, stream)
    # Those of before may be of another kind: a file, where these are pipes.
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.argv = ["veilset", *call]
    try:
        cli.run_and_exit()
    except SystemExit as ended:
        sys.stdout.flush()  # as Python does where it ends by itself
        os._exit(int(ended.code or 0))
    os._exit(70)


def start(call: list[str]) -> int:
    """Fork a child that runs a command."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        with suppress(
            BaseException
        ):  # an interrupt before the command has begun must not reach what stands above
            run(call)
        os._exit(130)
    return child


def _waited_for(child: int) -> int:
    """The exit code of a child; one that does not end is ended, and that is no code of a command."""
    for _ in range(LONGEST * 10):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return HANGS


def apart(work: Callable[[], list[str]]) -> list[str]:
    """What a function returns in a child of its own: this process starts no thread that a fork could meet."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            found = work()
        except Exception as error:  # noqa: BLE001 - whichever it is, it is a flaw
            found = [f"{type(error).__name__}: {error}"]
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        told: list[str] = json.loads(pipe.read())
    os.waitpid(child, 0)
    return told


def end_one(ground: Ground, task: str, number: int, chance: random.Random) -> tuple[str, list[str]]:
    """Start a command and end it somewhere; how it ended, and what did not hold afterwards."""
    child = start(ground.call(task, number))
    chosen = chance.choice(SIGNALS)
    time.sleep(chance.uniform(0, 1.1 * ground.lasts[task]))
    with suppress(ProcessLookupError):
        os.kill(child, chosen)
    code = _waited_for(child)
    how = "ended by itself" if code == 0 else chosen.name
    found = (
        []
        if code in {0, -signal.SIGKILL, -signal.SIGTERM, 130}
        else [f"exit code {code} after {chosen.name}"]
    )
    return how, found + apart(lambda: flaws_of(ground, task, number))


def flaws_of(ground: Ground, task: str, number: int) -> list[str]:
    """What does not hold after a death."""
    out = ground.out(task, number)
    if task == "evaluate":
        return [] if not out.exists() or _is_results(out) else ["results that cannot be read"]
    ledger = Ledger(ground.ledger)
    found = [f"the ledger: {flaw}" for flaw in ledger.flaws()]
    balance = ledger.balances()[DATASETS[task]]
    if out.exists():
        is_whole = len(vs.Release.load(out)) > 0 if task == "mine" else len(vs.read(out)) >= 0
        found += [] if is_whole else ["an output that is not whole"]
        found += (
            []
            if task == "mine" or out.with_name(f"{out.name}.json").exists()
            else ["a dataset without promise"]
        )
    paid = sum((each.price.epsilon for each in balance.booked.values()), Fraction(0))
    if paid > len(balance.booked) * EPSILON or len(balance.booked) > number // len(TASKS) + 1 + MADE_BEFORE:
        found.append("something was paid twice")
    written = sum(path.suffixes == out.suffixes for path in out.parent.glob("[0-9]*"))
    if written > len(balance.booked):
        found.append("more is written than was paid for")
    return found


def _is_results(path: Path) -> bool:
    from veilset.evaluate.results import read_results  # noqa: PLC0415

    return len(read_results(path)) > 0


def prepare(folder: Path) -> Ground:
    """Data, a ledger, and how long each command takes."""
    ground = Ground(folder)
    (folder / "out").mkdir()
    for seed, task in enumerate(TASKS):
        drawn = np.random.default_rng(seed).zipf(1.5, (300, 4)) % 12
        rows = [" ".join(map(str, sorted(set(row)))) for row in drawn.tolist()]
        ground.data(task).write_text("\n".join(rows) + "\n", encoding="utf-8")
    for module in LOADED:
        import_module(module)
    apart(lambda: [str(Ledger(ground.ledger).dataset(name, epsilon=TOTAL)) for name in DATASETS.values()])
    for task in TASKS:
        started = time.perf_counter()
        os.waitpid(start(ground.call(task, 10**6)), 0)  # compiles what is not compiled yet
        started = time.perf_counter()
        _, status = os.waitpid(start(ground.call(task, 10**6 + 60)), 0)
        if status:
            sys.exit(f"{task} does not run at all: {status}")
        ground.lasts[task] = time.perf_counter() - started
    return ground


def studies_end_as_if_nothing_happened(ground: Ground, kills: int) -> list[str]:
    """Every study that was ended, run to its end: the figures of one that nobody ended."""
    import polars as pl  # noqa: PLC0415 - threads of Polars must not meet a fork

    timed = ["seconds", "peak_bytes"]
    in_order = pl.all().exclude("by_size", "query_error")
    reference = pl.read_parquet(ground.out("evaluate", 10**6)).drop(timed).sort(in_order)
    found = []
    for number in {place // 60 * 60 for place in range(kills) if TASKS[place % len(TASKS)] == "evaluate"}:
        call = [sys.executable, "-m", "veilset", *ground.call("evaluate", number)]
        subprocess.run(call, check=True, capture_output=True)
        figures = pl.read_parquet(ground.out("evaluate", number)).drop(timed)
        if not figures.sort(in_order).equals(reference):
            found.append(f"study {number} has other figures")
    return found


def campaign(arguments: list[str]) -> list[Row]:
    """End commands, and count."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fire kills")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    ends: Counter[str] = Counter()
    failed: dict[int, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="veilset-kills-") as name:
        ground = prepare(Path(name))
        for number in range(given.kills):
            task, chance = TASKS[number % len(TASKS)], random.Random(f"{given.seed} {number}")  # noqa: S311
            how, found = end_one(ground, task, number, chance)
            ends[f"{task}: {how}"] += 1
            if found:
                failed[number] = found
                print(f"{number} ({task}): {'; '.join(found)}", flush=True)
        parts = len(list((ground.folder / "out").glob(".*")))
        studies = studies_end_as_if_nothing_happened(ground, given.kills)
    print("\n".join(studies), dict(sorted(ends.items())), f"{parts} hidden parts of files left")
    worst = "the budget that a release had reserved, 2 seconds of a study, a hidden part of a file"
    command = f"python -m benchmarks.fire kills --kills {given.kills} --seed {given.seed}"
    fault = "SIGKILL, SIGTERM or SIGINT at a random moment of mine, publish, evaluate"
    return [Row(fault, given.kills, given.kills - len(failed) - len(studies), worst, command)]
