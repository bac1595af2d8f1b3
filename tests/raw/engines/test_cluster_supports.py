"""The driver keeps what a cluster has counted: the same answers, in fewer jobs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frames
from reference import Baskets
from row_keys_twin import keys_of
from strategies import ALPHABET_SIZE, baskets, transactions_of
from veilset.arrays import Int32Array, Int64Array
from veilset.raw.cuts.truncation import KeepAll
from veilset.raw.engines import cluster_supports, levelwise
from veilset.raw.engines.cluster_supports import ClusterSupports
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.local import LocalEngine
from veilset.raw.engines.opened import engine_over


def draw() -> Any:  # noqa: ANN401
    """No keys are wanted."""
    return keys_of(4)


class Counted:
    """Who counts, and how often it was asked."""

    def __init__(self, rows: Baskets) -> None:
        self.engine = LocalEngine(transactions_of(rows), threads=1)
        self.number = int(self.engine.number().values[0])
        self.jobs: list[int] = []
        self.held = ClusterSupports(self.engine.item_supports(KeepAll(), draw).values, self.count)

    def count(self, offsets: Int64Array, items: Int32Array) -> Int64Array:
        """One job."""
        self.jobs.append(offsets.size - 1)
        return self.engine.supports(offsets, items, KeepAll(), draw).values


def itemsets(found: Any) -> list[tuple[int, ...]]:  # noqa: ANN401
    """As tuples."""
    return [tuple(part.tolist()) for part in np.split(found.items, found.offsets[1:-1])]


@given(
    rows=baskets(20),
    asked=st.lists(
        st.tuples(st.integers(1, 30), st.integers(1, 2), st.integers(1, 3)), min_size=1, max_size=4
    ),
)
def test_the_best_itemsets_are_those_of_one_machine_whatever_was_asked_before(
    rows: Baskets, asked: list[tuple[int, int, int]]
) -> None:
    """Supports are; of what ties for the last place, subsets come first."""
    data = Counted(rows)
    for k, min_size, min_count in asked:
        which = ItemsetFilter(max_size=3, min_size=min_size, min_count=min_count)
        found, expected = data.held.top(k, which), data.engine.top(k, which)
        assert found is not None
        assert found.supports.tolist() == expected.supports.tolist()
        named = set(itemsets(found)) if found.supports.size else set()
        for itemset in named:
            smaller = {tuple(code for code in itemset if code != left_out) for left_out in itemset}
            assert len(itemset) == min_size or smaller <= named


@given(
    rows=baskets(20),
    groups=st.lists(st.permutations(range(ALPHABET_SIZE)), min_size=1, max_size=3),
    size=st.integers(1, ALPHABET_SIZE),
)
def test_marginals_are_those_of_one_machine_whatever_was_asked_before(
    rows: Baskets, groups: list[list[int]], size: int
) -> None:
    """Also of items that nobody holds, which have no number."""
    data = Counted(rows)
    for group in groups:
        items = np.array(group[:size], np.int32)
        found = data.held.marginal(items, data.number)
        expected = data.engine.marginal(items, KeepAll(), draw).values
        assert (found is None) == (not data.held.hold(items))
        if found is not None:
            assert found.tolist() == expected.tolist()


MANY = [frozenset(range(place % 6 + 1)) for place in range(60)]


def test_what_one_question_counted_is_not_counted_for_the_next() -> None:
    """Fewer of the best, and marginals of pairs, need no job; triples are counted together."""
    data = Counted(MANY)
    data.held.top(40, ItemsetFilter(max_size=2))
    before = len(data.jobs)
    data.held.top(30, ItemsetFilter(max_size=2))
    data.held.marginal(np.array([0, 3], np.int32), data.number)
    assert len(data.jobs) == before
    for group in ([0, 1, 5], [0, 2, 4], [1, 2, 3]):
        data.held.marginal(np.array(group, np.int32), data.number)
    assert len(data.jobs) == before + 1


@pytest.mark.parametrize(
    ("where", "name"), [(levelwise, "MOST_KEPT"), (cluster_supports, "MOST_TRIPLES_AHEAD")]
)
def test_what_is_not_kept_is_counted_again(where: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    """The control: forgetting changes no answer, and takes more jobs."""
    monkeypatch.setattr(where, name, 0)
    data = Counted(MANY)
    for group in ([0, 1, 5], [0, 2, 4], [0, 1, 5]):
        items = np.array(group, np.int32)
        found = data.held.marginal(items, data.number)
        assert found is not None
        assert found.tolist() == data.engine.marginal(items, KeepAll(), draw).values.tolist()
    assert len(data.jobs) > 1


def test_many_candidates_are_left_to_groups_of_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is the same."""
    monkeypatch.setattr(levelwise, "MOST_COUNTED", 0)
    data, which = transactions_of(MANY), ItemsetFilter(max_size=3)
    assert Counted(MANY).held.top(9, which) is None
    found = engine_over(frames.clustered(data, 3)).top(9, which)
    assert found.supports.tolist() == LocalEngine(data).top(9, which).supports.tolist()
