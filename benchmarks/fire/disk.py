"""Disks that fill up at any byte: `python -m benchmarks.fire disk [--tries N]`.

A child may write files of a number of bytes and no more, from none up to more than it needs; beyond, every write
fails, of outputs, of the ledger and of compiled kernels. Then: exit code 0 or 2, outputs whole or absent, the ledger
verifies, and what was paid for is in its file or on stdout.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

from benchmarks.fire.kills import DATASETS, Ground, apart, flaws_of, prepare, run
from benchmarks.fire.page import Row
from veilset.gate import Ledger

TASKS = ("mine", "publish", "evaluate")
LARGEST = 120_000
"""120,000 bytes are more than any file of these commands has."""


def run_on_small_disk(call: list[str], most: int) -> tuple[int, str, str]:
    """Run a command that can write files of at most this size; its exit code, and what stdout and stderr got."""
    (reading, writing), (hearing, saying) = os.pipe(), os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.close(hearing)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        with suppress(
            BaseException
        ):  # a traceback, which a user would see; it must not reach what stands above
            run(call, stdout=writing, stderr=saying)
        os._exit(1)
    os.close(writing)
    os.close(saying)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as pipe:
        printed = pipe.read()
    with os.fdopen(hearing, encoding="utf-8", errors="replace") as pipe:
        said = pipe.read()  # one line, which a pipe holds while the other is read
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), printed, said


def faults_of(ground: Ground, task: str, number: int, most: int) -> tuple[int, list[str]]:
    """The exit code of a command on a small disk, and what does not hold; then also what it said."""
    code, printed, said = run_on_small_disk(ground.call(task, number), most)
    found = [] if code in {0, 2} else [f"exit code {code}"]
    if _is_document(printed):
        ground.printed[task] = ground.printed.get(task, 0) + 1
    is_kept = task == "evaluate" or ground.out(task, number).exists() or _is_document(printed)
    found += apart(
        lambda: flaws_of(ground, task, number) + ([] if is_kept else _paid_in_vain(ground, task, number))
    )
    told = f"exit code {code}, {len(printed)} characters on stdout, on stderr: {said[:500]!r}"
    return code, [*found, told] if found else []


def _paid_in_vain(ground: Ground, task: str, number: int) -> list[str]:
    """Whether the ledger holds as many settled releases as there are tries: the last one was paid for, then."""
    booked = Ledger(ground.ledger).balances()[DATASETS[task]].booked.values()
    settled = sum(each.state == "settled" and each.price.epsilon > 0 for each in booked)
    kept = sum(
        path.suffixes == ground.out(task, number).suffixes
        for path in ground.out(task, 0).parent.glob("[0-9]*")
    )
    return ["what was paid for is nowhere"] if settled > kept + ground.printed.get(task, 0) else []


def _is_document(printed: str) -> bool:
    try:
        return isinstance(json.loads(printed), dict)
    except ValueError:
        return False


def campaign(arguments: list[str]) -> list[Row]:
    """Try disks of all sizes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fire disk")
    parser.add_argument("--tries", type=int, default=150)
    given = parser.parse_args(arguments)
    ends: Counter[str] = Counter()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="veilset-disk-") as name:
        ground = prepare(Path(name))
        for number in range(given.tries):
            task, most = TASKS[number % len(TASKS)], LARGEST * number // given.tries
            code, found = faults_of(ground, task, number, most)
            ends[f"{task}: {code}"] += 1
            if found:
                failed += 1
                print(f"{task} with {most} bytes: {'; '.join(found)}", flush=True)
    print(dict(sorted(ends.items())))
    worst = "the budget of the release, where not even stdout could be written"
    command = f"python -m benchmarks.fire disk --tries {given.tries}"
    return [Row("a disk that is full at any byte", given.tries, given.tries - failed, worst, command)]
