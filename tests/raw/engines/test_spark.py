"""All engines give the same answers, and the same seeded releases, whatever the partitions."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frames
import veilset as vs
from reference import Baskets
from row_keys_twin import keys_of
from sail import on_sail, session
from strategies import ALPHABET_SIZE, arrays_of, baskets, transactions_of, truncations
from veilset.arrays import Int64Array
from veilset.errors import BadCall, BadInput, ClusterFailed
from veilset.raw.clustered import INSTALL, ClusteredTransactions, RowBlock, collected, told_plainly
from veilset.raw.cuts.truncation import KeepAll, KeepBest, KeepRandom, Truncation
from veilset.raw.engines import Engine, cluster_mining, cluster_rows
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.local import LocalEngine
from veilset.raw.engines.opened import digest_of_held, engine_over
from veilset.raw.engines.spark import SparkEngine
from veilset.raw.transactions import Transactions

PAIRS = arrays_of([[0], [0, 1], [1, 2], [0, 1, 2], [5]])
ANY = ItemsetFilter(max_size=3)

QUESTIONS: dict[str, Callable[[Engine, Truncation], Int64Array]] = {
    "number": lambda engine, _: engine.number().values,
    "owned": lambda engine, _: engine.transactions_by_owner(limit=3).values,
    "lengths": lambda engine, cut: engine.lengths(cut, draw, limit=3).values,
    "items": lambda engine, cut: engine.item_supports(cut, draw).values,
    "weighted items": lambda engine, cut: engine.weighted_items(np.arange(8) ** 2, cut, draw).values,
    "supports": lambda engine, cut: engine.supports(*PAIRS, cut, draw).values,
    "normalised": lambda engine, cut: engine.normalised_supports(np.array([1, 3]), cut, draw, steps=9).values,
    "containment": lambda engine, _: engine.containment(*PAIRS, limit=2).values,
    "capped": lambda engine, _: engine.capped_counts(*PAIRS, most=2, steps=60).values,
    "weighted": lambda engine, _: engine.weighted_counts(*PAIRS, np.array([9, 7, 5, 3, 2, 1])).values,
    "marginal": lambda engine, cut: engine.marginal(np.array([2, 0], np.int32), cut, draw).values,
    "best": lambda engine, _: engine.top(5, ANY).supports,
    "frequent": lambda engine, _: engine.frequent(replace(ANY, min_count=2)).supports,
    "restricted": lambda engine, _: engine.restricted(np.array([3, 1])).item_supports(KeepAll(), draw).values,
    "reshaped": lambda engine, _: (
        engine.reshaped(KeepRandom(2), draw).supports(*PAIRS, KeepAll(), draw).values
    ),
    "sample": lambda engine, cut: engine.sample(draw, below=2**31).lengths(cut, draw, limit=3).values,
    "sample of a sample": lambda engine, cut: (
        engine.sample(draw, below=2**31).sample(draw, below=2**30).supports(*PAIRS, cut, draw).values
    ),
    "one each": lambda engine, cut: engine.of_each_owner(1, draw).supports(*PAIRS, cut, draw).values,
}


def draw() -> Any:  # noqa: ANN401
    """The same keys for every engine."""
    return keys_of(4)


@pytest.fixture(autouse=True)
def _work_on_every_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few rows there are."""
    monkeypatch.setattr(cluster_rows, "LEAST_ROWS", 1)


def owned(data: Transactions, owners: list[int]) -> Transactions:
    """With owners, in their order."""
    return replace(data, owners=np.sort(np.array(owners, np.int64)))


databases = st.builds(
    lambda rows, numbers: (
        owned(transactions_of(rows), numbers[: len(rows)]) if numbers[-1] else transactions_of(rows)
    ),
    baskets(14),
    st.lists(st.integers(0, 5), min_size=15, max_size=15),
)


def assert_same(engine: Engine, expected: Engine, cut: Truncation) -> None:
    """Every question has the same answer."""
    for name, ask in QUESTIONS.items():
        assert np.array_equal(ask(engine, cut), ask(expected, cut)), name
    assert records_of(engine) == records_of(expected)
    assert tree_of(engine, cut) == tree_of(expected, cut)


def records_of(engine: Engine) -> dict[tuple[int, ...], int]:
    """Records with their numbers."""
    found = engine.records(np.array([2, -1, 0, 1, 1, -1], np.int32))
    rows = [tuple(found.items[a:b].tolist()) for a, b in pairwise(found.offsets.tolist())]
    assert len(set(rows)) == len(rows)
    return dict(zip(rows, found.copies.tolist(), strict=True))


def tree_of(engine: Engine, cut: Truncation) -> dict[tuple[int, ...], int]:
    """Paths with their numbers."""
    found = engine.prefix_tree(np.array([4, 0, 2, 1], np.int32), cut, draw, depth=3)
    paths: list[tuple[int, ...]] = [()]
    for parent, rank in zip(found.parents.tolist()[1:], found.ranks.tolist()[1:], strict=True):
        paths.append((*paths[parent], rank))
    assert len(set(paths)) == len(paths)
    return dict(zip(paths, found.counts.tolist(), strict=True))


@given(data=databases, cut=truncations(), partitions=st.sampled_from([1, 2, 7]))
@settings(max_examples=25)
def test_every_question_is_answered_as_by_one_machine(
    data: Transactions, cut: Truncation, partitions: int
) -> None:
    """Under every truncation, with owners and without, in blocks of which some are empty."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_rows, "LEAST_ROWS", 1)
        patch.setattr(cluster_rows, "FAN_IN", 2)
        engine = engine_over(frames.clustered(data, partitions))
        assert_same(engine, LocalEngine(data, threads=1), cut)


MANY = [frozenset({0, 1, 2}), frozenset({0, 1}), frozenset({1, 3, 4, 5}), frozenset(), frozenset({5})] * 9


@pytest.mark.parametrize("partitions", [1, 3])
def test_sail_answers_as_one_machine(partitions: int) -> None:
    """Blocks travel as Spark makes them travel."""
    data = owned(transactions_of(MANY), [place // 3 for place in range(len(MANY))])
    engine, expected = engine_over(on_sail(data, partitions)), LocalEngine(data, threads=1)
    for name in ("number", "supports", "best", "sample", "one each"):
        assert np.array_equal(
            QUESTIONS[name](engine, KeepRandom(2)), QUESTIONS[name](expected, KeepRandom(2))
        ), name
    assert records_of(engine) == records_of(expected)
    assert tree_of(engine, KeepRandom(2)) == tree_of(expected, KeepRandom(2))


@cache
def shop() -> Transactions:
    """600 baskets over 12 items."""
    rng = np.random.default_rng(5)
    rows = [frozenset((rng.zipf(1.7, rng.integers(0, 8)) - 1).tolist()) for _ in range(600)]
    return transactions_of([frozenset(item for item in row if item < 12) for row in rows], alphabet_size=12)


RELEASES: dict[str, Callable[[Any], Any]] = {
    "planned": lambda data: vs.mine(data, epsilon=1, k=9, noise=vs.SeededNoise(3), method="planned"),
    "difffim": lambda data: vs.mine(data, epsilon=1, k=9, noise=vs.SeededNoise(3), method="difffim"),
    "dpfim": lambda data: vs.mine(data, epsilon=1, k=9, noise=vs.SeededNoise(3), method="dpfim"),
    "splitsample": lambda data: vs.mine(data, epsilon=1, k=9, noise=vs.SeededNoise(3), method="splitsample"),
    "tps-recount": lambda data: vs.items(data, epsilon=1, k=4, noise=vs.SeededNoise(3), method="tps-recount"),
    "diffpart-chosen": lambda data: vs.publish(
        data, epsilon=1, noise=vs.SeededNoise(3), method="diffpart-chosen"
    ),
}


@cache
def local_release(name: str) -> Any:  # noqa: ANN401
    """What one machine publishes."""
    return RELEASES[name](shop()).to_dict()


@pytest.mark.parametrize("partitions", [1, 2, 7, 64])
@pytest.mark.parametrize("name", RELEASES)
def test_a_seeded_release_is_the_same_whatever_the_partitions(name: str, partitions: int) -> None:
    """Every partition is worked on by itself."""
    assert RELEASES[name](frames.clustered(shop(), partitions)).to_dict() == local_release(name)


@pytest.mark.parametrize("name", RELEASES)
def test_a_seeded_release_on_sail_is_that_of_one_machine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On two partitions; small ones are worked on together, as they are by default."""
    monkeypatch.undo()
    assert RELEASES[name](on_sail(shop(), 2)).to_dict() == local_release(name)


class Groups:
    """Transactions in groups, in memory."""

    def __init__(self, parts: list[Baskets]) -> None:
        self.parts = [LocalEngine(transactions_of(part), threads=1) for part in parts if part]
        self.whole = LocalEngine(transactions_of([row for part in parts for row in part]), threads=1)
        self.partitions, self.alphabet_size = len(parts), ALPHABET_SIZE
        self.asked: list[int] = []

    def rows(self) -> int:
        """All."""
        return int(self.whole.number().values[0])

    def of_groups(self, groups: int, name: Any, merge: Any) -> Any:  # noqa: ANN401
        """Merged from the first to the last."""
        self.asked.append(groups)
        named = [name(part) for part in (self.parts if groups > 1 else [self.whole])] or [name(self.whole)]
        merged = named[0]
        for each in named[1:]:
            merged = merge(merged, each)
        return merged

    def supports_of(self, offsets: Any, items: Any) -> Any:  # noqa: ANN401
        """Over the whole."""
        return self.whole.supports(offsets, items, KeepAll(), draw)


@given(
    parts=st.lists(baskets(6), min_size=2, max_size=4),
    k=st.integers(1, 12),
    min_count=st.integers(1, 3),
    min_size=st.integers(1, 2),
)
def test_no_itemset_is_missed_by_groups(parts: list[Baskets], k: int, min_count: int, min_size: int) -> None:
    """The k best, and all frequent ones, however transactions are dealt out to groups."""
    which = ItemsetFilter(max_size=3, min_count=min_count, min_size=min_size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_mining, "ROWS_OF_A_GROUP", 1)
        patch.setattr(cluster_mining, "LEAST_LOCAL_SUPPORT", 1)
        data = Groups(parts)
        best, every = (
            cluster_mining.top_of_groups(data, k, which),
            cluster_mining.top_of_groups(data, 2**62, which),
        )
    expected, all_expected = data.whole.top(k, which), data.whole.frequent(which)
    assert best.supports.tolist() == expected.supports.tolist()
    assert every.items.tolist() == all_expected.items.tolist()
    assert every.supports.tolist() == all_expected.supports.tolist()
    named = [tuple(best.items[a:b].tolist()) for a, b in pairwise(best.offsets.tolist())]
    counted = data.whole.supports(best.offsets, best.items, KeepAll(), draw).values
    assert len(set(named)) == len(named)
    assert counted.tolist() == best.supports.tolist()


def test_groups_that_would_name_too_much_are_mined_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: with a limit of 2 named itemsets, the answer is still whole."""
    for name, value in (("ROWS_OF_A_GROUP", 1), ("LEAST_LOCAL_SUPPORT", 1), ("MOST_NAMED", 2)):
        monkeypatch.setattr(cluster_mining, name, value)
    data = Groups([MANY[:20], MANY[20:]])
    assert (
        cluster_mining.top_of_groups(data, 6, ANY).supports.tolist()
        == data.whole.top(6, ANY).supports.tolist()
    )
    assert data.asked[-1] == 1


def test_a_low_threshold_is_searched_for_in_one_place() -> None:
    """Where groups are small they would name all that they hold."""
    data = Groups([MANY[:20], MANY[20:]])
    assert (
        cluster_mining.top_of_groups(data, 6, ANY).supports.tolist()
        == data.whole.top(6, ANY).supports.tolist()
    )
    assert data.asked == [1]


@given(rows=baskets(), has_owners=st.booleans())
def test_a_block_comes_back_from_its_bytes(rows: Baskets, has_owners: bool) -> None:
    """With numbers and owners, and without; also from the middle of a buffer."""
    held = transactions_of(rows)
    extra = (np.arange(len(rows), dtype=np.uint32), np.arange(len(rows))) if has_owners else (None, None)
    data = RowBlock(held.offsets, held.items, *extra).to_bytes()
    for buffer in (data, memoryview(b"x" * 3 + data)[3:]):
        found = RowBlock.from_buffer(pa.py_buffer(buffer))
        assert found.offsets.tolist() == held.offsets.tolist()
        assert found.items.tolist() == held.items.tolist()
        assert (found.numbers is None, found.owners is None) == (not has_owners, not has_owners)
        assert found.items.flags.aligned


def test_a_lost_block_is_counted_again_by_the_same_keys() -> None:
    """The same work on the same block gives the same bytes."""
    data = frames.clustered(shop(), 3)
    first, again = (SparkEngine.over(data).sample(draw, below=2**30) for _ in range(2))
    blocks = [each._cluster.frame.select("block").collect() for each in (first, again)]
    assert blocks[0] == blocks[1]


def test_the_digest_of_data_is_the_same_on_a_cluster() -> None:
    """In whatever partitions."""
    data = shop()
    assert digest_of_held(frames.clustered(data, 5), b"key") == digest_of_held(data, b"key")


def test_a_bad_question_is_refused_before_anything_is_sent() -> None:
    """The message is that of the local engine."""
    engine = SparkEngine.over(ClusteredTransactions(None, transactions_of([]).alphabet))
    with pytest.raises(BadCall, match="2 ranks for 6 items"):
        engine.lengths(KeepBest(1, np.arange(2)), draw, limit=1)
    with pytest.raises(BadCall, match="outside the alphabet"):
        engine.supports(*arrays_of([[6]]), KeepAll(), draw)


def test_transactions_on_a_cluster_show_nothing_and_lend_nothing() -> None:
    """Whoever wants rows on this machine is told where to get them."""
    data = frames.clustered(shop(), 2)
    assert repr(data) == "ClusteredTransactions(private, over 12 items)"
    assert repr(SparkEngine.over(data)) == "SparkEngine(private)"
    with pytest.raises(BadCall, match="without engine spark"):
        vs.mine_exact(data, k=3)
    with pytest.raises(BadCall, match="without engine spark"):
        vs.describe(data)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("ModuleNotFoundError: No module named 'veilset'", ClusterFailed, INSTALL[:40]),
        (
            "x\nveilset.errors.BadInput: the table, row 2 of the table: no item\n at",
            BadInput,
            "row 2 of the table",
        ),
        ("Traceback\nMemoryError: milk and beer", ClusterFailed, "MemoryError"),
        ("UNAVAILABLE", ClusterFailed, "a partition failed"),
    ],
)
def test_what_fails_on_a_cluster_is_told_in_one_line_without_data(
    text: str, kind: type[Exception], message: str
) -> None:
    """And tells what to do."""
    told = told_plainly(RuntimeError(text))
    assert type(told) is kind
    assert message in str(told)
    assert "milk" not in str(told)
    assert "\n" not in str(told)


def test_a_partition_that_fails_ends_the_question() -> None:
    """On a real engine, whose own words are left out."""

    def fail(_: Any) -> Any:  # noqa: ANN401
        raise ZeroDivisionError("milk")
        yield

    frame = session().createDataFrame(pa.table({"block": pa.array([b"x"], pa.binary())}))
    with pytest.raises(
        ClusterFailed, match="a partition failed on the cluster each time it was tried"
    ) as caught:
        collected(frame.mapInArrow(fail, "block binary"))
    assert "milk" not in str(caught.value)


def test_epsilon_is_all_that_a_release_on_a_cluster_spends() -> None:
    """The budget is the gate's, wherever data is."""
    release = vs.mine(frames.clustered(shop(), 3), epsilon=1, k=4)
    assert release.spent <= Fraction(1)
    assert release.is_private
