"""Whether records are in order, against sorted tuples."""

from hypothesis import given
from hypothesis import strategies as st

from veilset.itemsets import Itemsets
from veilset.public_kernels.record_order import are_in_order

records = st.lists(st.frozensets(st.integers(0, 3)).map(lambda held: tuple(sorted(held))), max_size=4)


@given(st.one_of(records, records.map(sorted)))
def test_records_are_in_order_where_sorting_changes_nothing(rows: list[tuple[int, ...]]) -> None:
    """Empty ones and equal ones among them."""
    held = Itemsets.of(rows)
    assert are_in_order(held.offsets, held.items) == (rows == sorted(rows))
