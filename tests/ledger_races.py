"""Processes that all want to spend at the same moment: a program for tests, which forks itself.

    python ledger_races.py ADDRESS PROCESSES REPETITIONS

In each repetition every process asks for 1/20 of a budget of 1 when it is told to. Prints one line of JSON: how
many got it, in each repetition.
"""

import json
import os
import sys
from fractions import Fraction

from veilset.errors import BudgetExceeded
from veilset.gate import Amount, Ledger

SHARE = Amount(Fraction(1, 20))


def asks(address: str, dataset: str, start: int) -> None:
    """Wait for the word, then try to reserve; the exit code tells whether it was possible."""
    account = Ledger(address).dataset(dataset)
    os.read(start, 1)
    try:
        account.reserve(SHARE).settle(SHARE)
    except BudgetExceeded:
        os._exit(3)
    os._exit(0)


def race(address: str, dataset: str, processes: int) -> list[int]:
    """Start all of them, give the word, and collect their exit codes."""
    reading, writing = os.pipe()
    children = []
    for _ in range(processes):
        process = os.fork()
        if process == 0:
            try:
                asks(address, dataset, reading)
            finally:
                os._exit(9)
        children.append(process)
    os.write(writing, b"." * processes)
    codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in children]
    os.close(reading)
    os.close(writing)
    return codes


def main() -> None:
    """As many races as asked for."""
    address, processes, repetitions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    ledger, outcomes = Ledger(address), []
    for each in range(repetitions):
        account = ledger.dataset(f"race {each}", epsilon=1)
        codes = race(address, account.name, processes)
        outcomes.append({"got": codes.count(0), "refused": codes.count(3), "left": str(account.left.epsilon)})
    sys.stdout.write(json.dumps({"races": outcomes, "flaws": ledger.flaws()}))


if __name__ == "__main__":
    main()
