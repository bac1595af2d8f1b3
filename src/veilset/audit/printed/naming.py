"""Which items there are, as it is often told: the names that occur in the data, or those with a noisy count above 0.

No paper prints this as a step of its own; programs do it where they take the alphabet from the file. Both forms are
given a delta of one in a thousand beside epsilon, as the repaired form is, and exceed both together.
"""

from functools import partial

import numpy as np

from veilset.audit import geometric
from veilset.audit.lower_bound import Outcome
from veilset.audit.printed.forms import Database, PrintedForm, by_sampling, copies

_form = partial(PrintedForm, paper="items of the data", method="discovery")

CLAIMED_DELTA = 1e-3


def _names_that_occur(
    rows: Database,
    epsilon: float,  # noqa: ARG001 - nothing is paid
    rng: np.random.Generator,  # noqa: ARG001 - nothing is drawn
) -> Outcome:
    return {f"item {item} named": 1 for row in rows for item in row}


def named_from(rows: Database, epsilon: float, rng: np.random.Generator, *, threshold: int) -> Outcome:
    """The items that occur and whose noisy count reaches a threshold; rows hold one item each."""
    held = sorted({item for row in rows for item in row})
    noisy = [sum(item in row for row in rows) + int(geometric.draw(rng, epsilon)[0]) for item in held]
    return {f"item {item} named": 1 for item, count in zip(held, noisy, strict=True) if count >= threshold}


N1 = _form(
    "N1",
    step="takes the items that occur in the data for the alphabet",
    why="an item that one transaction alone holds is named with it and never without",
    rows=copies(5, 0),
    extra=frozenset({1}),
    measure=by_sampling(_names_that_occur, delta=CLAIMED_DELTA),
)

N2 = _form(
    "N2",
    step="names the items whose noisy count is 1 or more",
    why="an item of a single transaction is named with it more often than not, and never without",
    rows=copies(5, 0),
    extra=frozenset({1}),
    measure=by_sampling(partial(named_from, threshold=1), delta=CLAIMED_DELTA),
)

NAMING_FORMS = (N1, N2)
