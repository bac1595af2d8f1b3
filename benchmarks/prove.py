"""Every question on every small database: `make prove` computes the largest privacy loss there is, exactly.

    python -m benchmarks.prove [--rows N] [--items N] [--only TEXT]

All databases of up to N rows over a few items, all neighbours with one more unit of 1, 2 or 3 transactions, every
question of the gate, every outcome. Questions that make lists are asked again with lists that are too short, so that
the floor of the exponential mechanism is at work. The law of an outcome is computed from the exact values and the
mechanism that the question really handed to its noise. Ends with 1 where anything costs more than it claims.
"""

import argparse
import datetime as dt
import math
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from string import Template
from unittest.mock import patch

from veilset.audit.lower_bound import Outcome
from veilset.audit.subjects import Audited, of_questions
from veilset.audit.transcripts.exhaustive import SmallModel, largest_of_all
from veilset.gate import Noise
from veilset.raw.transactions import Transactions

PAGE = Path(__file__).resolve().parents[1] / "docs" / "prove.md"
EPSILON = Fraction(1)
UNIT = 3
LISTED = "veilset.gate.selection.floored_supports.MOST_SCORED"
AT_ONCE = "veilset.gate.selection.sparse_vector.AT_ONCE"
FEW, MANY = 2, 100_000
"""How many itemsets may be listed, and compared at once: so few that it shows, and so many that it does not."""
LISTS = ("best", "above")
"""Which questions make lists."""
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Proved:
    """One question under one limit: how many pairs of neighbours, and the largest loss over all of them."""

    question: str
    limit: int
    pairs: int
    largest: float
    event: str
    delta: float
    seconds: float

    @property
    def is_broken(self) -> bool:
        """Whether it costs more than it claims."""
        return self.largest > float(EPSILON) * (1 + TOLERANCE)


def prove(number: int, *, model: SmallModel, limit: int) -> Proved:
    """One question, by its number: subjects do not travel between processes."""
    subject, start = of_questions()[number], time.perf_counter()
    if subject.draws_sample:
        model = replace(model, rows=model.rows - 1)
    with ExitStack() as patched:
        for name in (LISTED, AT_ONCE):
            patched.enter_context(patch(name, limit))
        run = partial(_run, subject)
        losses = [
            largest_of_all(run, pair, delta=subject.delta, seed=place)
            for place, pair in enumerate(model.pairs())
        ]
    worst = max(losses, key=lambda loss: loss.epsilon)
    seconds = time.perf_counter() - start
    return Proved(subject.case, limit, len(losses), worst.epsilon, worst.event, float(subject.delta), seconds)


def _run(subject: Audited, data: Transactions, noise: Noise) -> Outcome:
    return subject.outcome(data, epsilon=EPSILON, noise=noise)


def main() -> None:
    """Prove everything, in as many processes as there are cores, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prove")
    parser.add_argument("--rows", type=int, default=4, help="rows of the largest database")
    parser.add_argument("--items", type=int, default=3, help="items of the alphabet")
    parser.add_argument("--only", default="", help="only questions whose name holds this; writes no page")
    asked = parser.parse_args()
    model, start = SmallModel(asked.rows, asked.items, UNIT), time.perf_counter()
    chosen = [n for n, subject in enumerate(of_questions()) if asked.only in subject.case]
    found: list[Proved] = []
    listing = [n for n in chosen if any(word in of_questions()[n].case for word in LISTS)]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for limit, numbers in ((MANY, chosen), (FEW, listing)):
            for proved in pool.map(partial(prove, model=model, limit=limit), numbers):
                found.append(proved)
                print(
                    f"{proved.question}, at most {limit}: {proved.largest:.6f} in {proved.seconds:.0f} s",
                    flush=True,
                )
    broken = [proved for proved in found if proved.is_broken]
    if not asked.only:
        PAGE.write_text(_page(model, found, time.perf_counter() - start), encoding="utf-8")
    pairs = sum(proved.pairs for proved in found)
    print(
        f"{len(chosen)} questions, {pairs:,} pairs of neighbours in all; {len(broken)} cost more than they claim"
    )
    sys.exit(1 if broken else 0)


def _page(model: SmallModel, found: Sequence[Proved], seconds: float) -> str:
    baskets = 2**model.items
    return Template(PAGE_TEXT).substitute(
        date=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        minutes=f"{seconds / 60:.0f}",
        rows=model.rows,
        items=model.items,
        unit=model.transactions,
        databases=f"{math.comb(baskets + model.rows, model.rows):,}",
        pairs=f"{sum(1 for _ in model.pairs()):,}",
        questions=len({proved.question for proved in found}),
        few=FEW,
        broken=sum(proved.is_broken for proved in found),
        table=_table(found),
    )


def _table(found: Sequence[Proved]) -> str:
    rows: dict[str, list[Proved]] = {}
    for proved in found:
        rows.setdefault(proved.question, []).append(proved)
    lines = []
    for question, each in rows.items():
        losses = {proved.limit: f"{proved.largest:.6f}" for proved in each}
        delta = f"{each[0].delta:g}" if each[0].delta else "0"
        seconds = f"{sum(proved.seconds for proved in each):.0f}"
        lines.append(f"| {question} | {delta} | {losses[MANY]} | {losses.get(FEW, '')} | {seconds} |")
    return "\n".join(lines)


PAGE_TEXT = """# Proof by trying everything
Written by `make prove` on $date, in $minutes minutes on two cores.

All $databases databases of up to $rows rows over $items items, and all $pairs pairs of neighbours among them: one more
unit of 1, 2 or $unit transactions (a person, of whose transactions $unit may count). Each of $questions questions was
asked of both databases of every pair, at epsilon 1, and answered in every way that its decisions allow. The table shows
the largest privacy loss over all pairs and all answers: not a bound and not an estimate, but the log of a ratio of two
probabilities, computed from the exact values and the mechanism that the question really handed to its noise
(`veilset.audit.transcripts`). $broken of them exceed their claim.

Where there are more itemsets or comparisons than fit in a list, the gate works in another way; so questions that make
lists were asked twice, with lists of at most $few and with those that ship. Questions with a delta are measured in what
rho and delta add up to at that delta; where a loss is far below 1, the proof's bound is not reached on so few rows.
A question on a sample is run for every sample there is: on databases of one row less.

| question | delta | loss | with lists of $few | seconds |
|---|--:|--:|--:|--:|
$table
"""


if __name__ == "__main__":
    main()
