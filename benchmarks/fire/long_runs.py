"""Long runs: `python -m benchmarks.fire long [--releases N] [--weeks N]`.

Many releases in one process: memory and open files stay as they are. Weeks of a team on one ledger: what the ledger
says was spent is, as an exact fraction, what the releases say they spent, dataset by dataset.
"""

import argparse
import os
import random
import tempfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import veilset as vs
from benchmarks.fire.page import Row
from veilset.gate import Ledger

PEOPLE = ("ada", "ben", "cleo", "dan", "eve")
DATASETS = ("stores", "web", "loyalty")
ROTATION = (
    *[("mine", "planned"), ("items", "em"), ("mine", "truncated-em"), ("publish", "diffpart")] * 4,
    *[("mine", "privbasis"), ("mine", "splitsample"), ("items", "planned"), ("items", "svt")],
)
"""20 releases, a fifth of them by the default method; those that take a tenth of a second are made once."""
GROWTH = 16 << 20
"""16 MB more after thousands of releases are what an allocator keeps; a leak of 10 kB for each would be 100 MB."""


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    """How many files and sockets this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def many_releases(number: int) -> tuple[int, int]:
    """By how much memory and open files grow from the tenth part of the releases to the last."""
    baskets = vs.read([["bread", "milk"]] * 500 + [["beer"]] * 300 + [["milk", "beer", "oil"]] * 200)
    first = resident(), open_files()
    for place in range(number):
        if place == number // 10:
            first = resident(), open_files()
        task, method = ROTATION[place % len(ROTATION)]
        if task == "publish":
            vs.publish(baskets, epsilon=1, public_items=True, method=method)
        else:
            make = vs.mine if task == "mine" else vs.items
            make(baskets, k=2, epsilon=1, public_items=True, method=method)
    return resident() - first[0], open_files() - first[1]


def weeks_of_a_team(weeks: int, folder: Path) -> tuple[int, list[str]]:
    """How many releases a team makes, each person by a ledger opened anew; and where sums differ."""
    address, chance = f"sqlite:///{folder / 'team.db'}", random.Random(1)  # noqa: S311 - repeatable
    told: defaultdict[str, Fraction] = defaultdict(Fraction)
    held = {
        name: vs.read([[f"{name} {each % (place + 3)}"] for each in range(300)])
        for place, name in enumerate(DATASETS)
    }
    for name in DATASETS:
        Ledger(address).dataset(name, epsilon=Fraction(1, 7))
    made = 0
    for week in range(weeks):
        for name in DATASETS:
            Ledger(address).raise_total(name, epsilon=Fraction(week + 2, 7), reason=f"week {week + 2}")
        for _ in PEOPLE:
            name, ledger = chance.choice(DATASETS), Ledger(address)
            price = Fraction(1, chance.choice([30, 77, 101, 300]))
            try:
                found = vs.items(
                    held[name], k=2, epsilon=price, public_items=True, account=ledger.dataset(name)
                )
            except vs.BudgetExceeded:
                continue
            told[name] += found.spent
            made += 1
    ledger = Ledger(address)
    wrong = [f"{name}: {ledger.balances()[name].spent.epsilon} and {told[name]}" for name in DATASETS]
    is_right = all(ledger.balances()[name].spent.epsilon == told[name] for name in DATASETS)
    return made, [*([] if is_right else wrong), *ledger.flaws()]


def campaign(arguments: list[str]) -> list[Row]:
    """Both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fire long")
    parser.add_argument("--releases", type=int, default=10_000)
    parser.add_argument("--weeks", type=int, default=24)
    given = parser.parse_args(arguments)
    memory, files = many_releases(given.releases)
    print(
        f"memory {memory / 2**20:+.1f} MB, open files {files:+d} from release {given.releases // 10:,} to the last"
    )
    with tempfile.TemporaryDirectory(prefix="veilset-weeks-") as folder:
        made, wrong = weeks_of_a_team(given.weeks, Path(folder))
    print(f"{made} releases of a team", *wrong)
    command = f"python -m benchmarks.fire long --releases {given.releases} --weeks {given.weeks}"
    is_flat = memory < GROWTH and files <= 0
    grown = f"nothing: memory {memory / 2**20:+.1f} MB, open files {files:+d} over the last nine tenths"
    return [
        Row("releases in one process", given.releases, given.releases if is_flat else 0, grown, command),
        Row(
            f"releases of {given.weeks} weeks of a team on one ledger",
            made,
            0 if wrong else made,
            "nothing: sums are exact fractions",
            command,
        ),
    ]
