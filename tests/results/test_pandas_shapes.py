"""Results in the shapes of pandas and mlxtend, and what takes them."""

import subprocess
import sys
from fractions import Fraction
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlxtend.frequent_patterns import apriori, association_rules
from mlxtend.preprocessing import TransactionEncoder

import veilset as vs
from veilset.itemsets import Itemsets
from veilset.results import pandas_shapes
from veilset.results.promise import Promise
from veilset.results.published import Published
from veilset.results.release import NumberOfTransactions, Release, ReleasedItemset

PROMISE = Promise("one transaction", Fraction(1), (), is_kept=True)
NAMES = ("beer", "bread", "milk", "oil")


def release_of_supports(supports: dict[tuple[str, ...], int]) -> Release:
    """A release of these itemsets out of 1,000 transactions."""
    return Release(
        itemsets=tuple(ReleasedItemset(items, n, max(n - 5, 0), n + 5) for items, n in supports.items()),
        transactions=NumberOfTransactions(1000, 1000, 1000, is_public=True),
        method="planned",
        trace=(),
        promise=PROMISE,
    )


def dataset_of(copies: dict[frozenset[int], int]) -> Published:
    """Records over four items, as many copies of each as told."""
    kept = {record: number for record, number in copies.items() if number > 0}
    return Published(
        records=Itemsets.of(kept),
        multiplicities=np.array(list(kept.values()), dtype=np.int64),
        names=NAMES,
        method="planned",
        trace=(),
        promise=PROMISE,
    )


DATASETS = st.dictionaries(
    st.frozensets(st.integers(0, 3)), st.integers(0, 4), max_size=8
).map(dataset_of)  # fmt: skip
BASKETS = dataset_of({frozenset({1, 2}): 30, frozenset({0}): 10, frozenset(): 4, frozenset({1}): 6})

CLOSED = {("bread",): 500, ("milk",): 400, ("bread", "milk"): 300}


def test_mlxtend_makes_the_rules_that_a_release_makes() -> None:
    """From the frame that it would have made itself: the same rules, the same confidence."""
    release = release_of_supports(CLOSED)
    frame = release.to_mlxtend()
    assert frame.to_dict("list") == {
        "support": [0.5, 0.4, 0.3],
        "itemsets": [frozenset({"bread"}), frozenset({"milk"}), frozenset({"bread", "milk"})],
    }
    rules = association_rules(frame, metric="confidence", min_threshold=0.5)
    ours = {
        (frozenset(rule["antecedents"]), frozenset(rule["consequents"])): rule["confidence"]
        for rule in release.rules(min_confidence=0.5).iter_rows(named=True)
    }
    theirs = dict(
        zip(zip(rules["antecedents"], rules["consequents"], strict=True), rules["confidence"], strict=True)
    )
    assert theirs == pytest.approx(ours)


def test_an_itemset_whose_subsets_are_not_released_stops_mlxtend_unless_left_out() -> None:
    """The control is the frame with all of them."""
    release = release_of_supports({**CLOSED, ("oil", "milk"): 200, ("beer",): 0})
    assert len(association_rules(release.to_mlxtend(), min_threshold=0.1)) == 2
    everything = release.to_mlxtend(complete=False)
    assert frozenset({"oil", "milk"}) in set(everything["itemsets"])
    with pytest.raises(KeyError):
        association_rules(everything, min_threshold=0.1)
    assert frozenset({"beer"}) not in set(everything["itemsets"])


def test_an_empty_release_has_an_empty_frame_of_the_same_columns() -> None:
    """Of the same types, too."""
    empty, full = release_of_supports({}).to_mlxtend(), release_of_supports(CLOSED).to_mlxtend()
    assert list(empty.columns) == list(full.columns)
    assert list(empty.dtypes) == list(full.dtypes)


@given(DATASETS)
def test_lists_frames_and_transactions_hold_the_same_records(published: Published) -> None:
    """A list for each copy; a row with the same items; a transaction over the same alphabet, that nobody owns."""
    lists = published.to_lists()
    assert len(lists) == len(published)
    onehot = published.to_onehot()
    assert list(onehot.columns) == list(NAMES)
    assert [[name for name, held in row.items() if held] for row in onehot.to_dict("records")] == lists
    assert published.to_onehot(sparse=True).to_dict("list") == onehot.to_dict("list")
    held = published.to_transactions()
    assert isinstance(held, vs.Transactions)
    assert held.owners is None
    assert [
        [NAMES[code] for code in held.items[start:end]]
        for start, end in zip(held.offsets[:-1], held.offsets[1:], strict=True)
    ] == lists
    frame = published.to_pandas()
    assert [set(items) for items in chain.from_iterable(
        [items] * copies for items, copies in zip(frame["items"], frame["multiplicity"], strict=True)
    )] == [set(record) for record in lists]  # fmt: skip


def test_mlxtend_and_the_exact_miner_agree_on_a_published_dataset() -> None:
    """In every shape: one-hot, lists, transactions, sparse."""
    encoder = TransactionEncoder()
    from_lists = encoder.fit(BASKETS.to_lists()).transform(BASKETS.to_lists())
    import pandas as pd  # noqa: PLC0415 - typed stubs

    frames = [
        BASKETS.to_onehot(),
        BASKETS.to_onehot(sparse=True),
        pd.DataFrame(from_lists, columns=encoder.columns_),
    ]
    exact = vs.mine_exact(BASKETS.to_transactions(), min_support=0.1)
    expected = {
        frozenset(items): n / len(BASKETS)
        for items, n in zip(exact.itemsets, exact.supports, strict=True)
    }  # fmt: skip
    for frame in frames:
        found = apriori(frame, min_support=0.1, use_colnames=True)
        assert dict(zip(found["itemsets"], found["support"], strict=True)) == pytest.approx(expected)
    assert set(expected) == {frozenset(s) for s in ({"bread"}, {"milk"}, {"bread", "milk"}, {"beer"})}


def test_a_published_dataset_can_be_read_and_mined_again() -> None:
    """As lists, as a one-hot frame and as transactions, by the verbs of the library."""
    for shape in (BASKETS.to_lists(), vs.read(BASKETS.to_onehot()), BASKETS.to_transactions()):
        assert vs.mine_exact(shape, k=1).supports == (36,)


def test_a_wide_frame_is_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above a number of cells, unless the caller says otherwise."""
    assert BASKETS.to_onehot().dtypes.unique().tolist() == [np.dtype(bool)]
    monkeypatch.setattr(pandas_shapes, "MOST_DENSE_CELLS", 100)
    assert {str(dtype) for dtype in BASKETS.to_onehot().dtypes} == {"Sparse[bool, False]"}
    assert BASKETS.to_onehot(sparse=False).dtypes.unique().tolist() == [np.dtype(bool)]


@pytest.mark.parametrize("call", ["release.to_mlxtend", "published.to_onehot", "published.to_pandas"])
def test_without_pandas_the_error_tells_what_to_install_for_each_shape(call: str, tmp_path: Path) -> None:
    """In one line; lists and transactions need no pandas."""
    (tmp_path / "pandas.py").write_text("raise ImportError", encoding="utf-8")
    program = (
        "import veilset as vs\n"
        "release = vs.mine([['a', 'b']] * 99, epsilon=1, k=1, public_items=True)\n"
        "published = vs.publish([['a', 'b']] * 99, epsilon=1, public_items=True)\n"
        "published.to_lists(), published.to_transactions()\n"
        f"try: {call}()\nexcept vs.BadCall as error: print(error)\n"
    )
    path = [str(tmp_path), *sys.path]
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}\n{program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    name = call.partition(".")[2]
    assert run.stdout == f"{name} needs pandas; install it with: pip install 'veilset[pandas]'\n"
