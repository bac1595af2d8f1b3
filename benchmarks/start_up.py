"""How long commands take that have little to do."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchmarks.measure import Files
from veilset.datasets import groceries, write

RUNS = 7


def start_up(files: Files) -> pl.DataFrame:
    """Commands from their start to their end, warm.

    Each in a process of its own, on all cores; the best of several. `mine` and `items` make releases of 1,000 generated
    baskets at epsilon = 1; `publish` makes a dataset of MSNBC by `diffpart`. The first row is Python with
    numpy and numba alone, the last an empty cache of compiled kernels, which every installation meets once. Modules
    are compiled before, as they are wherever a package is installed.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small.dat"
        write(groceries(1_000), small)
        release = ["--epsilon", "1", "--public-items", "--quiet", "--force", "--out"]
        mining = ["mine", str(small), "--k", "10", *release, str(folder / "itemsets.json")]
        commands = {
            "import numpy, numba": ["-c", "import numpy, numba"],
            "veilset --version": _veilset("--version"),
            "veilset mine": _veilset(*mining),
            "veilset items": _veilset("items", str(small), "--k", "10", *release, str(folder / "items.json")),
        }
        if "MSNBC" in files:
            published = ["--method", "diffpart", *release, str(folder / "published.dat")]
            commands["veilset publish"] = _veilset("publish", str(files["MSNBC"]), *published)
        modules = {"PYTHONPYCACHEPREFIX": str(folder / "modules")}
        rows = [{"command": what, **_best(command, RUNS, **modules)} for what, command in commands.items()]
        empty = {"NUMBA_CACHE_DIR": str(folder / "kernels"), **modules}
        rows.append({"command": "veilset mine, cold", **_best(_veilset(*mining), 0, **empty)})
    return pl.DataFrame(rows)


def _veilset(*arguments: str) -> list[str]:
    return ["-m", "veilset", *arguments]


def _best(command: Sequence[str], runs: int, **environment: str) -> dict[str, float]:
    """The least seconds, and seconds of the processor, of some runs after a first one; of that one, if it is all."""
    taken = [_run(command, environment) for _ in range(runs + 1)][min(runs, 1) :]
    clock, processor = zip(*taken, strict=True)
    return {"seconds": min(clock), "processor (s)": min(processor)}


def _run(command: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    around = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start, before = time.perf_counter(), os.times()
    subprocess.run(
        [sys.executable, *command],
        env={**around, **environment},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, processor
