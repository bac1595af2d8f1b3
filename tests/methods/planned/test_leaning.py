"""What capped counts of chosen itemsets tell of supports: itemsets do not lose alike."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from veilset.itemsets import Itemset
from veilset.methods.planned import companions as companions_module
from veilset.methods.planned.companions import Companions
from veilset.methods.planned.histogram_laws import MOST
from veilset.methods.planned.leaning import counted_by_itemset
from veilset.methods.planned.measurements import TILTS, USUAL_TILT
from veilset.methods.planned.overlap import Overlap, weights_under
from veilset.methods.planned.posterior import grid_to
from veilset.methods.planned.settings import DEFAULT

ROWS, ITEMS = 4000, 12
MIDDLE = TILTS.index(USUAL_TILT)


def rows_in_groups(seed: int) -> np.ndarray:
    """Which of 4,000 baskets hold which of 12 items: some of them are bought together."""
    draw = np.random.default_rng(seed)
    held = draw.random((ROWS, ITEMS)) < np.geomspace(0.3, 0.05, ITEMS)
    for first in (0, 4, 8):
        held[draw.random(ROWS) < 0.08, first : first + 3] = True
    return held


def most_frequent(held: np.ndarray, number: int) -> list[Itemset]:
    """Of all itemsets of up to 3 items."""
    items = range(ITEMS)
    itemsets: list[Itemset] = [(a,) for a in items]
    itemsets += [(a, b) for a in items for b in items if a < b]
    itemsets += [(a, b, c) for a in items for b in items for c in items if a < b < c]
    return sorted(itemsets, key=lambda each: -held[:, each].all(axis=1).sum())[:number]


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_counted_of_each_itemset_is_foretold(seed: int, most: int) -> None:
    """With half of the error that is left if all itemsets are taken to lose alike, or less."""
    held = rows_in_groups(seed)
    itemsets = most_frequent(held, 60)
    contained = np.stack([held[:, each].all(axis=1) for each in itemsets])
    supports, number = contained.sum(axis=1).astype(float), contained.sum(axis=0)
    weights, grid = weights_under(most), grid_to(ROWS)
    counted = (contained * np.append(0.0, weights)[number]).sum(axis=1)
    overlap = Overlap.known(np.bincount(number, minlength=MOST + 1)[1:].astype(float), DEFAULT)
    known = dict(zip(itemsets, supports.tolist(), strict=True))
    companions = Companions.of(itemsets, supports, known, ROWS)
    tables = counted_by_itemset(overlap, grid, weights, companions)[:, MIDDLE]
    foretold = [np.interp(support, grid, table) for support, table in zip(supports, tables, strict=True)]
    alike = overlap.counted_with(supports, weights, tilt=USUAL_TILT)
    errors = [np.sqrt(np.mean(np.log(each / counted) ** 2)) for each in (foretold, alike)]
    assert errors[0] < 0.5 * errors[1]


def test_a_transaction_that_contains_an_itemset_contains_its_parts() -> None:
    """The triple is never contained alone: there are seven with it, or three where only pairs are counted with it."""
    known: dict[Itemset, float]
    known = {(1,): 50.0, (2,): 40.0, (3,): 30.0, (1, 2): 20.0, (1, 3): 20.0, (2, 3): 20.0, (1, 2, 3): 10.0}
    all_of_them = Companions.of(list(known), np.array(list(known.values())), known, 100)
    assert all_of_them.least.tolist() == [1, 1, 1, 3, 3, 3, 7]
    pairs = [itemset for itemset in known if len(itemset) == 2]
    assert Companions.of(pairs, np.full(3, 20.0), known, 100).least.tolist() == [1, 1, 1]
    assert all_of_them.expected[-1] == 7


def test_beside_an_item_others_are_as_likely_as_their_pairs_tell() -> None:
    """Of 50 transactions with the first item 20 hold the second; of the third nothing is known but its support."""
    known: dict[Itemset, float] = {(1,): 50.0, (2,): 40.0, (3,): 30.0, (1, 2): 20.0}
    items: list[Itemset] = [(1,), (2,), (3,)]
    found = Companions.of(items, np.array([50.0, 40.0, 30.0]), known, 100)
    assert found.expected == pytest.approx([1 + 20 / 50 + 0.3, 1 + 20 / 40 + 0.3, 1 + 0.5 + 0.4])


def some_hundred_pairs() -> tuple[list[Itemset], dict[Itemset, float]]:
    """Pairs of 30 items, and supports of these and of the items."""
    rng = np.random.default_rng(5)
    pairs: list[Itemset] = list(combinations(range(30), 2))
    known: dict[Itemset, float] = {(item,): 900.0 / (item + 1) for item in range(30)}
    known |= {pair: known[pair[1:]] * float(rng.uniform(0.1, 0.9)) for pair in pairs}
    return pairs, known


def test_companions_are_the_same_whether_they_are_counted_at_once_or_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many itemsets there are, memory is for a part of them."""
    pairs, known = some_hundred_pairs()
    at_once = Companions.of(pairs, np.ones(len(pairs)), known, 1000)
    monkeypatch.setattr(companions_module, "PAIRS_AT_ONCE", 9 * len(pairs))
    in_parts = Companions.of(pairs, np.ones(len(pairs)), known, 1000)
    assert in_parts.least.tolist() == at_once.least.tolist()
    assert in_parts.expected == pytest.approx(at_once.expected)


@pytest.mark.parametrize("in_cache", [1, 50, 1 << 15])
def test_picked_columns_tell_what_products_of_matrices_tell(
    monkeypatch: pytest.MonkeyPatch, in_cache: int
) -> None:
    """Among itemsets of one to three items, one at a time, a few at a time or as many as a byte counts."""
    pairs, known = some_hundred_pairs()
    itemsets: list[Itemset] = [*pairs, *combinations(range(9), 3), *((item,) for item in range(30))]
    products = Companions.of(itemsets, np.ones(len(itemsets)), known, 1000)
    monkeypatch.setattr(companions_module, "FEW_PAIRS", 0)
    monkeypatch.setattr(companions_module, "PAIRS_AT_ONCE", 40 * len(itemsets))
    monkeypatch.setattr(companions_module, "PAIRS_IN_CACHE", in_cache)
    picked = Companions.of(itemsets, np.ones(len(itemsets)), known, 1000)
    assert picked.least.tolist() == products.least.tolist()
    assert picked.expected == pytest.approx(products.expected, rel=1e-14)


@pytest.mark.parametrize("limit", ["MOST_PAIRS", "MOST_PRODUCTS"])
def test_among_very_many_companions_some_stand_for_all(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """A quarter of the pairs tells about as much; the control: none of them stands for nothing."""
    pairs, known = some_hundred_pairs()
    all_of_them = Companions.of(pairs, np.ones(len(pairs)), known, 1000)
    each = {"MOST_PAIRS": 1, "MOST_PRODUCTS": 30}[limit]
    monkeypatch.setattr(companions_module, limit, each * len(pairs) ** 2 // 4)
    some = Companions.of(pairs, np.ones(len(pairs)), known, 1000)
    assert not np.array_equal(some.expected, all_of_them.expected)
    assert np.corrcoef(some.expected, all_of_them.expected)[0, 1] > 0.8
    assert 0.5 < some.expected.sum() / all_of_them.expected.sum() < 2
    assert some.least.tolist() == all_of_them.least.tolist()


def test_companions_of_many_single_items_take_no_table_of_all_pairs_of_items(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """20,000 items: a table of all of their pairs would take 3 GB."""
    monkeypatch.setattr(companions_module, "MOST_PRODUCTS", 1 << 30)
    items: list[Itemset] = [(item,) for item in range(20_000)]
    known = dict.fromkeys(items, 10.0)
    tracemalloc.start()
    found = Companions.of(items, np.full(20_000, 10.0), known, 20_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 30
    assert found.least.max() == 1
    assert found.expected == pytest.approx(11, rel=0.05)


def test_itemsets_with_the_same_companions_lose_alike() -> None:
    """Items of which nothing is known together, and of equal supports: one table for all of them."""
    overlap = Overlap.known(np.full(MOST, 3.0), DEFAULT)
    items: list[Itemset] = [(1,), (2,), (3,)]
    supports = np.full(3, 50.0)
    companions = Companions.of(items, supports, dict(zip(items, [50.0] * 3, strict=True)), 4000)
    tables = counted_by_itemset(overlap, grid_to(ROWS), weights_under(2), companions)
    assert np.ptp(tables, axis=0).max() == 0


def test_more_than_a_histogram_says_may_be_contained() -> None:
    """A noisy histogram that knows of nobody with three: what is counted is then what the least of them leaves."""
    alone = np.zeros(MOST)
    alone[0] = 100.0
    companions = Companions(np.array([10.0]), np.array([3]), np.array([3.0]))
    tables = counted_by_itemset(Overlap.known(alone, DEFAULT), grid_to(100), weights_under(1), companions)
    assert tables[0] == pytest.approx(np.tile(grid_to(100) / 3, (len(TILTS), 1)))
