"""A dataset published by planned: within epsilon, from noisy answers alone, with the supports of the data."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import veilset as vs
from curators import curator_over
from planned_cases import DENSE, SPARSE
from reference import Baskets
from shared_data import DATA
from strategies import baskets
from veilset.datasets import groceries
from veilset.evaluate import Study, evaluate
from veilset.gate import PrivacyUnit, SeededNoise
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned import dataset
from veilset.methods.planned.capped_counts import EveryItem
from veilset.methods.planned.dataset import (
    MOST_ROWS_MADE,
    FoundSupports,
    planned_dataset,
    records_of,
    wanted_supports,
)
from veilset.methods.planned.few_items import MOST_FEW
from veilset.raw.transactions import Transactions
from veilset.request import PublishRequest
from veilset.results.estimates import Estimates
from veilset.results.published import Published

METHOD = "planned"


@pytest.mark.parametrize("most_few", [0, MOST_FEW], ids=["rows", "marginal"])
@given(
    rows=baskets(),
    times=st.sampled_from([1, 40]),
    epsilon=st.fractions(min_value=Fraction(1, 10**7), max_value=10**4),
    transactions=st.sampled_from([1, 3]),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=80, deadline=None)
def test_whatever_the_data_all_of_epsilon_is_spent_and_no_more(
    most_few: int, rows: Baskets, times: int, epsilon: Fraction, transactions: int, seed: int
) -> None:
    """No rows, empty rows, equal rows, hardly any epsilon: a dataset comes out, and its trace adds up."""
    unit = PrivacyUnit("person", transactions)
    curator = curator_over(rows * times, epsilon=epsilon, noise=SeededNoise(seed), unit=unit)
    made = planned_dataset(curator, PublishRequest(), epsilon=epsilon, most_few=most_few)
    assert sum((charge.mechanism.epsilon for charge in made.trace), Fraction(0)) == epsilon
    assert np.all(made.multiplicities > 0)
    assert all(len(record) > 0 for record in made.records)
    assert len(set(made.records)) == len(made.records)


def published(held: Transactions, *, epsilon: int = 1) -> Published:
    """A dataset from data with public items."""
    curator = curator_over(held, epsilon=Fraction(epsilon), noise=SeededNoise(5))
    return planned_dataset(curator, PublishRequest(), epsilon=Fraction(epsilon))


@pytest.mark.parametrize("held", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_the_top_itemsets_of_the_dataset_are_those_of_the_data(held: Transactions) -> None:
    """Nearly all of the top 30, with much epsilon; with hardly any, not."""
    study = Study.of(methods=[METHOD], task="publish", epsilons=["0.001", 20], ks=[30], repeats=1)
    little, much = evaluate({"data": held}, study)["f_score"].to_list()
    assert much > 0.85
    assert little < 0.7


def test_one_item_one_row_and_equal_rows() -> None:
    """The smallest data there is, and data without any variety."""
    for rows, epsilon in (([["a"]] * 50, 10), ([["a", "b", "c"]] * 400, 10), ([["a", "b"]], 10**6)):
        made = vs.publish(rows, epsilon=epsilon, public_items=True, method=METHOD, noise=SeededNoise(3))
        (row,) = made.to_frame().iter_rows()
        assert row[0] == rows[0]
        assert abs(row[1] - len(rows)) <= 8


def test_it_works_on_items_that_are_found_privately() -> None:
    """Within epsilon and delta; only named items stand in the dataset."""
    made_up = groceries(8000, seed=5)
    names = made_up.alphabet.names
    rows = [
        [f"item {names[code]}" for code in made_up.items[start:end]]
        for start, end in zip(made_up.offsets[:-1], made_up.offsets[1:], strict=True)
    ]
    made = vs.publish(rows, epsilon=2, delta="1e-9", method=METHOD, noise=SeededNoise(3))
    assert made.spent <= 2
    assert 0 < len(made.names) < len(names)
    assert len(made) > 5000


def test_a_person_with_several_transactions_is_the_unit() -> None:
    """The noise grows with the transactions of one person."""
    frame = pl.DataFrame({"who": [n // 2 for n in range(4000)], "what": [["a", "b"]] * 4000})
    held = vs.read(frame, owner="who", item="what")
    made = vs.publish(held, epsilon=1, per_owner=2, public_items=True, method=METHOD, noise=SeededNoise(1))
    assert made.promise.unit.startswith("one person")
    assert len(made) == pytest.approx(4000, abs=600)


def found_supports(supports: dict[Itemset, int], every_item: EveryItem | None = None) -> FoundSupports:
    """What a miner found, in one line."""
    numbers = np.array(list(supports.values()), np.int64)
    estimates = Estimates.within(Itemsets.of(supports), numbers, 1)
    return FoundSupports(estimates, 10.0, every_item, ())


def test_no_itemset_is_wanted_more_often_than_a_part_of_it() -> None:
    """Nor more often than there are rows; every support is divided by the copies."""
    found = found_supports({(0,): 400, (1,): 90, (0, 1): 120, (0, 1, 2): 500, (2,): 7000})
    wanted = wanted_supports(found, np.full(100, 3), alphabet_size=4, times=2)
    assert wanted.items.tolist() == [100, 45, 100, 0]
    assert wanted.larger == {(0, 1): 45, (0, 1, 2): 45}
    assert wanted.ceiling == 5


def test_an_item_that_does_not_stand_out_from_noise_is_left_out() -> None:
    """Of five items with noise of scale 10, those of 16 or more stand out; what the miner found is taken as it is."""
    every_item = EveryItem(np.array([50.0, 17.0, 16.0, -30.0, 2.0]), 10.0)
    wanted = wanted_supports(
        found_supports({(0,): 60}, every_item), np.full(100, 1), alphabet_size=5, times=1
    )
    assert wanted.items.tolist() == [60, 17, 0, 0, 0]


def test_records_are_the_different_rows_that_hold_anything() -> None:
    """With their numbers; rows that hold nothing are left out."""
    records, numbers = records_of({2: np.array([0, 1, 3]), 0: np.array([1, 3])}, 5)
    assert dict(zip(records, numbers.tolist(), strict=True)) == {(2,): 1, (0, 2): 2}
    records, numbers = records_of({}, 3)
    assert (len(records), numbers.size) == (0, 0)


def test_more_transactions_than_rows_are_made_are_published_as_copies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each row stands for several, and supports stay what they are."""
    assert MOST_ROWS_MADE >= 100_000
    whole = published(SPARSE, epsilon=100)
    monkeypatch.setattr(dataset, "MOST_ROWS_MADE", 1000)
    halved = published(SPARSE, epsilon=100)
    assert abs(len(halved) - len(whole)) < 60
    assert np.all(halved.multiplicities % 3 == 0)


def test_a_taxonomy_is_said_not_to_be_used(tmp_path: object) -> None:
    """Whoever gives one learns that it changed nothing."""
    path = tmp_path / "tree.csv"  # type: ignore[operator]
    path.write_text("a,x\nb,x\n")
    rows = [["a", "b"]] * 500
    made = vs.publish(rows, epsilon=1, public_items=True, taxonomy=path, method=METHOD, noise=SeededNoise(1))
    assert dataset.TAXONOMY_UNUSED in made.notes


@pytest.mark.skipif(not (DATA / "Groceries.dat.zst").exists(), reason="needs the shared data")
def test_groceries_are_published_better_than_by_partitions() -> None:
    """What the top 100 of the dataset have in common with those of the data, at epsilon 1."""
    study = Study.of(methods=[METHOD, "diffpart-chosen"], task="publish", epsilons=[1], ks=[100], repeats=2)
    held = vs.read(DATA / "Groceries.dat.zst")
    runs = evaluate({"Groceries": held}, study).group_by("method").agg(pl.col("f_score").mean())
    ours, partitions = (runs.filter(pl.col("method") == name)["f_score"].item() for name in study.methods)
    assert ours > partitions > 0.5
