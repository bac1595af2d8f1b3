"""What an observer of the machine learns: `python -m benchmarks.fire side-channels [--runs N]`.

Neighbouring data, with and without one transaction, released again and again with the noise that ships, in turns. For
each of processor time, peak memory and the size of the output: by a rank test, whether the two can be told apart, and
how often a guess from one observation would be right (1/2 is blind).
"""

import argparse
import gc
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import veilset as vs
from benchmarks.fire.page import Row

ROWS, ITEMS, LENGTH = 400, 30, 5
FALSE_ALARM = 0.001
"""One test in a thousand may call equal things different."""

Release = Callable[[vs.Transactions], int]
"""Makes a release of data; returns the bytes of what is published."""


def baskets() -> list[list[int]]:
    """Public data: the same each time."""
    rng = np.random.default_rng(5)
    return [sorted(set(row)) for row in (rng.zipf(1.3, (ROWS, LENGTH)) % ITEMS).tolist()]


UNITS = {
    "a usual transaction": [1, 2, 3],
    "a transaction of all items": list(range(ITEMS)),
    "an empty one": [],
}
"""What one more privacy unit may hold."""


def releases() -> dict[str, Release]:
    """The three tasks, over a public alphabet."""
    return {
        "mine": lambda data: len(vs.mine(data, k=20, epsilon=1).to_json()),
        "items": lambda data: len(vs.items(data, k=20, epsilon=1).to_json()),
        "publish": lambda data: len(str(vs.publish(data, epsilon=1).with_records())),
    }


def observed(release: Release, data: vs.Transactions) -> tuple[float, float, float]:
    """Seconds of processor time, peak memory and bytes of one release."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    started = time.process_time()
    size = release(data)
    used = time.process_time() - started
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    return used, float(peak), float(size)


def rank_test(first: list[float], second: list[float]) -> tuple[float, float]:
    """Mann and Whitney: the share of pairs in which the second is larger (ties half), and its p-value."""
    one, two = np.array(first)[:, None], np.array(second)[None, :]
    share = float(np.mean((two > one) + 0.5 * (two == one)))
    _, ties = np.unique(np.append(first, second), return_counts=True)
    number = len(first) + len(second)
    spread = (number + 1 - float(np.sum(ties**3 - ties)) / (number * (number - 1))) / (
        12 * len(first) * len(second)
    )
    if spread <= 0:
        return share, 1.0
    return share, math.erfc(abs(share - 0.5) / math.sqrt(spread) / math.sqrt(2))


def compared(release: Release, unit: list[int], runs: int) -> list[tuple[str, float, float]]:
    """For time, memory and size: how often a guess is right, and the p-value."""
    without = vs.read(baskets(), alphabet=range(ITEMS))
    with_unit = vs.read([*baskets(), unit], alphabet=range(ITEMS))
    for data in (without, with_unit):
        observed(release, data)
    seen: tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]] = ([], [])
    gc.disable()
    for place in range(2 * runs):
        side = (place // 2 + place) % 2  # in turns, and in both orders
        seen[side].append(observed(release, (without, with_unit)[side]))
        gc.collect(0)
    gc.enable()
    columns = [list(zip(*side, strict=True)) for side in seen]
    return [
        (name, *rank_test(list(columns[0][place]), list(columns[1][place])))
        for place, name in enumerate(("time", "memory", "size"))
    ]


def campaign(arguments: list[str]) -> list[Row]:
    """All tasks and units."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fire side-channels")
    parser.add_argument("--runs", type=int, default=100)
    given = parser.parse_args(arguments)
    tests, told = 0, []
    for task, release in releases().items():
        for unit, items in UNITS.items():
            for name, share, p_value in compared(release, items, given.runs):
                tests += 1
                guess = max(share, 1 - share)
                print(f"{task}, {unit}: {name} guessed right {guess:.2f}, p = {p_value:.4f}", flush=True)
                if p_value < FALSE_ALARM:
                    told.append(f"{name} of {task} ({guess:.2f})")
    worst = "nothing seen" if not told else f"a guess better than blind: {', '.join(dict.fromkeys(told))}"
    command = f"python -m benchmarks.fire side-channels --runs {given.runs}"
    return [Row("one transaction, seen in time, memory or size", tests, tests - len(told), worst, command)]
