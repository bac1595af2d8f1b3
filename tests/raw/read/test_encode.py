"""Rows become sorted sets of codes, in however many parts they are encoded."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veilset.raw.read import read

encode = import_module("veilset.raw.read.encode")  # the package has a function of that name

rows_of_numbers = st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows_of_numbers, tokens_in_a_part=st.integers(1, 9), known=st.sets(st.integers(0, 9), min_size=1))
def test_parts_together_are_the_sorted_sets_of_all_rows(
    rows: list[list[int]], tokens_in_a_part: int, known: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Repeats and what the alphabet does not hold are left out; the parts then stand without gaps."""
    monkeypatch.setattr(encode, "TOKENS_TO_ENCODE", tokens_in_a_part)
    names = sorted(map(str, known))
    held = read([list(map(str, row)) for row in rows], alphabet=names)
    offsets, items = held.offsets, held.items
    found = [[names[code] for code in items[offsets[r] : offsets[r + 1]]] for r in range(len(rows))]
    assert found == [sorted({str(item) for item in row} & set(names)) for row in rows]
    assert items.size == offsets[-1] == np.sum([len(row) for row in found])
