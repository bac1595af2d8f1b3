"""Releases that are killed: a program for tests, which forks itself for each of them.

    python ledger_crashes.py ADDRESS FOLDER NUMBER SEED [late]

Each child makes a release that a ledger pays for, writes it to a file, and is killed with SIGKILL at a random moment:
at a random step (a statement or a commit of the database, a charge, the writing of the file), or after a random time.
What it is about to look at goes through a pipe first. After each death the ledger is opened anew and compared.
Prints one line of JSON: how many died in which state. With `late`, the control: releases look first and are written
down afterwards, as software without a ledger that is durable before the look would do it.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from sqlalchemy import Engine, event

import veilset as vs
from veilset.api import run_method
from veilset.gate import Amount, Ledger, SecureNoise
from veilset.gate.accounting.budget import Account
from veilset.gate.trace import Cost
from veilset.methods import find_method
from veilset.opening import Access, ItemChoice, ReleaseBudget
from veilset.request import Request

BASKETS = vs.read([["a", "b"]] * 30 + [["c"]] * 20)
EPSILON = Fraction(1, 1000)
STEPS = 90
"""About 90 steps are in a release."""


def release(address: str | None, reference: str, out: Path) -> None:
    """A release that the ledger pays for, in a file."""
    account = None
    if address is not None:
        account = Ledger(address).dataset("stores").for_release(reference=reference)
    access = Access(
        epsilon=EPSILON,
        noise=SecureNoise(),
        items=ItemChoice(public_items=True),
        threads=1,
        account=account,
    )
    found = run_method(find_method("truncated-em", task="mine"), Request.of(k=3), access, BASKETS)
    die_or_go_on()
    found.save(out)
    die_or_go_on()
    if account is not None:
        account.record_file(reference, name=out.name, sha256="0" * 64)


@contextmanager
def written_down_late(self: Access, _: object, **__: object) -> Iterator[ReleaseBudget]:
    """The control: what was spent is written down when all is over."""
    budget = self._budget()
    yield ReleaseBudget(budget, None, {})
    if self.account is not None:
        self.account.reserve(Amount(budget.spent))


class Countdown:
    """How many steps there are still to go."""

    left = 10**9


def die_or_go_on(*_: object) -> None:
    """One step; the last one is deadly."""
    Countdown.left -= 1
    if Countdown.left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)


def child(address: str, reference: str, out: Path, pipe: int, steps: int) -> None:
    """Make a release, and tell of each charge before what it pays for can be looked at."""
    enter = Account._enter

    def tells(self: Account, question: str, mechanism: object, cost: Cost) -> None:
        enter(self, question, mechanism, cost)  # type: ignore[arg-type]
        os.write(pipe, f"{cost.epsilon}\n".encode())
        die_or_go_on()

    Account._enter = tells  # type: ignore[method-assign]
    Countdown.left = steps
    for step in ("before_cursor_execute", "after_cursor_execute"):
        event.listen(Engine, step, die_or_go_on)
    event.listen(Engine, "commit", die_or_go_on)
    release(address, reference, out)
    os._exit(0)


def kill_one(address: str, reference: str, out: Path, random_: random.Random) -> str:
    """Kill one release and compare what the ledger says with what was looked at; returns in which state it died."""
    reading, writing = os.pipe()
    by_step = random_.random() < 0.7
    process = os.fork()
    if process == 0:
        os.close(reading)
        child(address, reference, out, writing, random_.randrange(1, STEPS) if by_step else 10**9)
    os.close(writing)
    if not by_step:
        time.sleep(random_.uniform(0, 0.12))
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    with os.fdopen(reading) as pipe:
        looked = sum((Fraction(line) for line in pipe), Fraction(0))
    ledger = Ledger(address)
    flaws = ledger.flaws()
    if flaws:
        raise AssertionError(flaws)
    booked = ledger.balances()["stores"].booked.get(reference)
    recorded = Fraction(0) if booked is None else booked.price.epsilon
    if not looked <= recorded <= EPSILON:
        raise AssertionError((reference, looked, recorded))
    if out.exists() and booked is None:
        raise AssertionError(f"{reference} was written, but nobody paid for it")
    return "before the reservation" if booked is None else booked.state


def main() -> None:
    """Kill as many as asked for."""
    address, folder, number, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    if "late" in sys.argv:
        Access.spending = written_down_late  # type: ignore[method-assign, assignment]
    release(None, "", folder / "warm.json")  # compiles; no thread is left behind that a fork could meet
    Ledger(address).dataset("stores", epsilon=number)
    states: Counter[str] = Counter()
    for each in range(number):
        states[kill_one(address, str(each), folder / f"{each}.json", random.Random(f"{seed} {each}"))] += 1
    sys.stdout.write(json.dumps(states))


if __name__ == "__main__":
    main()
