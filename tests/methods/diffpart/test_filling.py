"""Items filled into records, against rows in memory and what NumPy itself draws."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.itemsets import Itemsets
from veilset.methods.diffpart import filling
from veilset.methods.diffpart.filling import RowDraw, Shuffles, filled_in
from veilset.methods.diffpart.records import Records

copied = st.dictionaries(st.frozensets(st.integers(0, 3), min_size=1), st.integers(1, 90), max_size=6)


def slowly_filled(
    records: dict[frozenset[int], int], wanted: list[int], rows: int
) -> Counter[tuple[int, ...]]:
    """Item after item, a list of the rows that lack it, and `Generator.choice` among them."""
    lines = [set(held) for held, copies in records.items() for _ in range(copies)]
    lines += [set() for _ in range(rows - len(lines))]
    public = np.random.default_rng(filling.SEED)
    for item, copies in enumerate(wanted):
        lacking = [line for line in lines if item not in line]
        missing = copies - (len(lines) - len(lacking))
        if missing > 0:
            for place in public.choice(len(lacking), min(missing, len(lacking)), replace=False).tolist():
                lacking[place].add(item)
    return Counter(tuple(sorted(line)) for line in lines if line)


@given(
    records=copied,
    wanted=st.lists(st.integers(-5, 400), min_size=4, max_size=4),
    rows=st.integers(0, 300),
    words=st.sampled_from([1, 256]),
)
def test_filling_in_is_what_the_slow_way_does(
    records: dict[frozenset[int], int], wanted: list[int], rows: int, words: int
) -> None:
    """By items, whatever the parts in which rows are sorted."""
    given_records = Records(Itemsets.of(records), np.array(list(records.values()), np.int64))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(filling, "WORDS_AT_ONCE", words)
        patch.setattr(filling, "ITEMSETS_AT_ONCE", 2 * words)
        full = filled_in(given_records, np.arange(4), np.array(wanted), rows=rows)
    found = list(zip(full.itemsets, full.copies.tolist(), strict=True))
    assert found == sorted(slowly_filled(records, wanted, rows).items())


@pytest.mark.parametrize(
    ("number", "among"), [(240, 12_000), (241, 12_000), (12_000, 12_000), (7_000, 10_000)]
)
def test_rows_are_those_that_numpy_draws(number: int, among: int) -> None:
    """Whether it shuffles or not; and what is drawn next is the same."""
    ours, numpys = np.random.default_rng(3), np.random.default_rng(3)
    shuffles = Shuffles(among + 5)
    for _ in range(2):
        bits = RowDraw.of(ours, number, among=among).bitmap(shuffles)
        drawn = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
        assert drawn.tolist() == sorted(numpys.choice(among, number, replace=False).tolist())
    assert ours.integers(1 << 60) == numpys.integers(1 << 60)


def test_large_draws_are_shuffled_here() -> None:
    """Or they would be drawn on one core alone."""
    assert RowDraw.of(np.random.default_rng(3), 241, among=12_000).swaps is not None
