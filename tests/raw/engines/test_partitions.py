"""Records in partitions, and how they are made, in parts: the same counts as in one."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import Baskets
from strategies import ALPHABET_SIZE, baskets, transactions_of
from veilset.raw import threads
from veilset.raw.counts import ExactRecords
from veilset.raw.engines import different_records
from veilset.raw.engines.local import LocalEngine
from veilset.raw.engines.partitions import ExactPartitions
from veilset.raw.kernels.cells import InnerNodes
from veilset.taxonomy import Taxonomy

TAXONOMY = Taxonomy.of([0, [1, 2], [3, [4, 5]]])
AS_THEY_ARE = np.argsort(TAXONOMY.items).astype(np.int32)


def counted(found: ExactRecords) -> Counter[tuple[int, ...]]:
    """Records with their copies, those of all rows that are the same together."""
    numbers: Counter[tuple[int, ...]] = Counter()
    for (start, end), copies in zip(pairwise(found.offsets.tolist()), found.copies.tolist(), strict=True):
        numbers[tuple(found.items[start:end].tolist())] += copies
    return numbers


@given(rows=baskets(max_rows=30), rows_in_a_chunk=st.integers(1, 9), merges=st.booleans())
def test_records_of_chunks_are_those_of_all_rows(rows: Baskets, rows_in_a_chunk: int, merges: bool) -> None:
    """Merged, or with some that stand more than once."""
    engine = LocalEngine(transactions_of(rows), threads=2, rows_in_a_chunk=rows_in_a_chunk)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(different_records, "WORTH_MERGING", 0 if merges else 1000)
        found = engine.records(np.arange(ALPHABET_SIZE, dtype=np.int32))
    assert counted(found) == Counter(tuple(sorted(row)) for row in rows if row)
    if merges:
        assert found.copies.size == len({row for row in rows if row})


@given(rows=baskets(max_rows=30), nodes=st.lists(st.integers(0, TAXONOMY.nodes - 1), min_size=1, max_size=4))
def test_partitions_are_counted_alike_by_any_number_of_threads(rows: Baskets, nodes: list[int]) -> None:
    """Level after level, though slices go across partitions."""
    tree = InnerNodes(TAXONOMY.ends, TAXONOMY.first_child, TAXONOMY.child_starts)
    records = LocalEngine(transactions_of(rows)).records(AS_THEY_ARE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "WORTH_A_THREAD", 1)
        each = [ExactPartitions(records, tree, threads=number) for number in (1, 2, 5)]
        number = 1
        for node in nodes:
            one, *others = [exact.split(np.full(number, node)) for exact in each]
            for other in others:
                for name in ("partitions", "masks", "sizes"):
                    assert getattr(one, name).tolist() == getattr(other, name).tolist()
            kept = np.arange(one.sizes.size - 1, -1, -1)
            number = one.sizes.size
            for exact in each:
                exact.become(kept, number)
