"""Pairs of neighbours: they differ by one unit, and each has its suspicion."""

import numpy as np
import pytest

from row_keys_twin import keys_of
from veilset.audit.neighbours import PAIRS, PERSON_LIMIT, PERSON_PAIRS, Pair
from veilset.raw.cuts.owners import keep_per_owner


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_transactions_differ_by_one(pair: Pair) -> None:
    """And nobody owns several."""
    with_unit, without_unit = pair.both()
    assert len(with_unit) == len(without_unit) + 1
    assert with_unit.owners is None
    assert without_unit.owners is None


@pytest.mark.parametrize("pair", PERSON_PAIRS, ids=lambda pair: pair.name)
def test_persons_differ_by_one_of_whom_as_many_transactions_count_as_may(pair: Pair) -> None:
    """One has just as many as may count, another more."""
    with_unit, without_unit = pair.both()
    assert with_unit.owners is not None
    assert without_unit.owners is not None
    assert set(np.unique(with_unit.owners)) - set(np.unique(without_unit.owners)) == {len(pair.rows)}
    kept = keep_per_owner(with_unit, PERSON_LIMIT, keys_of(1))
    assert len(kept) == len(without_unit) + PERSON_LIMIT
    assert len(with_unit) - len(kept) in {0, 2}


def test_pairs_have_names_of_their_own() -> None:
    """A case is known by them."""
    names = [pair.name for pair in (*PAIRS, *PERSON_PAIRS)]
    assert len(set(names)) == len(names)
    assert all(pair.suspicion for pair in PAIRS)
