"""What a ledger costs a release."""

import tempfile
import time
from fractions import Fraction

import polars as pl

import veilset as vs
from benchmarks.measure import Files
from veilset.datasets import groceries
from veilset.gate import Amount
from veilset.raw.digest import digest_of

RELEASES = 200
"""200 releases on a ledger that grows with each."""


def ledger(_: Files) -> pl.DataFrame:
    """What a ledger on SQLite adds to a release: reserve before the look, settle after it, and the digest of the data.

    Medians of milliseconds, over 200 releases on one ledger; 100,000 generated baskets for the digest. The first
    release of a process also loads the database library.
    """
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        account = vs.Ledger(f"sqlite:///{folder}/budget.db").dataset("stores", epsilon=RELEASES)
        opened = time.perf_counter() - started
        reserving, settling = [], []
        for _each in range(RELEASES):
            before = time.perf_counter()
            reservation = account.reserve(Amount(Fraction(1)), unit="person", data="digest")
            between = time.perf_counter()
            reservation.settle(Amount(Fraction(1, 2)))
            reserving.append(between - before)
            settling.append(time.perf_counter() - between)
        baskets, hashing = groceries(100_000), []
        for _each in range(5):
            before = time.perf_counter()
            digest_of(baskets, account.ledger.digest_key)
            hashing.append(time.perf_counter() - before)
    seconds = {
        "open, with its library": [opened],
        "reserve": reserving,
        "settle": settling,
        "digest": hashing,
    }
    return pl.DataFrame(
        [
            {
                "step": step,
                "ms": round(1000 * float(pl.Series(each).median() or 0), 2),  # type: ignore[arg-type]
                "slowest ms": round(1000 * max(each), 2),
            }
            for step, each in seconds.items()
        ]
    )
