"""How many of some itemsets transactions hold, and their counts under a contribution cap: sensitivities, noise."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from curators import curator_over, engine_over
from laws import discrete_laplace, fits, laplace_bins
from reference import Basket, Baskets
from strategies import ALPHABET_SIZE, basket, baskets, transactions_of
from veilset.errors import BadCall
from veilset.gate import Curator, PrivacyUnit, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.gate.selection.length_scores import WEIGHT_STEPS
from veilset.itemsets import Itemset, Itemsets
from veilset.raw.engines.local import LocalEngine
from veilset.raw.kernels import containment as kernels

CLASSES = (0, 1, 2, 4)
SURE = Fraction(10**9)
"""So large an epsilon that there is no noise, even in steps."""

some_itemsets = st.lists(
    st.frozensets(st.integers(0, ALPHABET_SIZE - 1), min_size=1).map(lambda items: tuple(sorted(items))),
    min_size=1,
    max_size=12,
    unique=True,
)
"""Different itemsets of all sizes in any order, none empty."""
caps = st.integers(1, 8)


def classes_of(numbers: list[int], classes: tuple[int, ...]) -> list[int]:
    """How many numbers are in each class: one at a time."""
    counts = [0] * len(classes)
    for number in numbers:
        counts[max(place for place, least in enumerate(classes) if least <= number)] += 1
    return counts


def many_baskets(rows: int, items: int, seed: int) -> Baskets:
    """Baskets that fill several words of a bitmap and more than one chunk."""
    is_held = np.random.default_rng(seed).random((rows, items)) < 0.4
    return [frozenset(np.flatnonzero(row).tolist()) for row in is_held]


def bitmaps_of(rows: Baskets, items: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    """Bit r % 64 of word r // 64 tells whether row r holds an item."""
    bitmaps = np.zeros((items, (len(rows) + 63) // 64), np.uint64)
    for row, held in enumerate(rows):
        for item in held:
            bitmaps[item, row // 64] |= np.uint64(1) << np.uint64(row % 64)
    return bitmaps


MANY = many_baskets(200, ALPHABET_SIZE, seed=3)
SOME = [(0,), (5,), (1, 2), (0, 1, 3), (2, 3, 4, 5), (0, 1, 2, 3, 4, 5)]


def test_the_kernel_counts_what_each_row_holds() -> None:
    """Against sets, over rows of four words, of which the last is not full."""
    listed = Itemsets.of(SOME)
    found = kernels.count_contained(bitmaps_of(MANY, ALPHABET_SIZE), len(MANY), listed.offsets, listed.items)
    assert found.tolist() == reference.containment(MANY, SOME)


@pytest.mark.parametrize(
    "weights",
    [[0, 8, 8, 8, 8, 8, 8], [9, 8, 8, 5, 3, 0, 1], [0, 1, 2, 3, 2**40, 5, 6], [0] * 7],
    ids=["all alike", "fewer for more", "any", "nothing"],
)
def test_the_kernel_adds_the_weights_of_the_rows_that_hold_an_itemset(weights: list[int]) -> None:
    """To what the totals were before; a row weighs by how many of the itemsets it holds."""
    listed, held = Itemsets.of(SOME), reference.containment(MANY, SOME)
    totals = np.full(len(SOME), 1000, np.int64)
    kernels.add_weighted(
        bitmaps_of(MANY, ALPHABET_SIZE),
        np.array(held, np.int64),
        np.array(weights, np.int64),
        listed.offsets,
        listed.items,
        totals,
    )
    assert totals.tolist() == [
        1000 + sum(weights[n] for n, row in zip(held, MANY, strict=True) if row.issuperset(each))
        for each in SOME
    ]


@given(rows=baskets(), itemsets=some_itemsets, limit=st.integers(1, 13))
def test_the_engine_counts_rows_by_what_they_hold(rows: Baskets, itemsets: list[Itemset], limit: int) -> None:
    """The last number: or more."""
    listed = Itemsets.of(itemsets)
    found = engine_over(rows).containment(listed.offsets, listed.items, limit=limit).values
    assert found.tolist() == classes_of(reference.containment(rows, itemsets), tuple(range(limit + 1)))


@given(rows=baskets(), itemsets=some_itemsets, most=caps, steps=st.sampled_from([1, 7, WEIGHT_STEPS]))
def test_capped_counts_are_those_of_the_twin(
    rows: Baskets, itemsets: list[Itemset], most: int, steps: int
) -> None:
    """Under every cap, in coarse and in fine steps."""
    listed = Itemsets.of(itemsets)
    found = engine_over(rows).capped_counts(listed.offsets, listed.items, most=most, steps=steps).values
    assert found.tolist() == reference.capped_counts(rows, itemsets, most, steps)


@pytest.mark.parametrize(("threads", "rows_in_a_chunk"), [(1, 1000), (2, 70), (2, 1)])
def test_chunks_and_threads_change_nothing(threads: int, rows_in_a_chunk: int) -> None:
    """Rows are counted once each, whoever counts them."""
    engine = LocalEngine(transactions_of(MANY), threads=threads, rows_in_a_chunk=rows_in_a_chunk)
    listed = Itemsets.of(SOME)
    held = engine.containment(listed.offsets, listed.items, limit=3).values
    capped = engine.capped_counts(listed.offsets, listed.items, most=2, steps=WEIGHT_STEPS).values
    assert held.tolist() == classes_of(reference.containment(MANY, SOME), (0, 1, 2, 3))
    assert capped.tolist() == reference.capped_counts(MANY, SOME, 2, WEIGHT_STEPS)


@given(rows=baskets(), itemsets=some_itemsets)
def test_a_cap_above_what_anyone_holds_gives_the_support(rows: Baskets, itemsets: list[Itemset]) -> None:
    """In steps."""
    listed = Itemsets.of(itemsets)
    engine = engine_over(rows)
    found = engine.capped_counts(listed.offsets, listed.items, most=len(itemsets), steps=WEIGHT_STEPS).values
    assert (found / WEIGHT_STEPS).tolist() == reference.supports(rows, itemsets)


@pytest.mark.parametrize("code", [-1, ALPHABET_SIZE])
def test_an_item_that_does_not_exist_is_refused(code: int) -> None:
    """Kernels do not check."""
    offsets, items = np.array([0, 1]), np.array([code], np.int32)
    with pytest.raises(BadCall, match="outside the alphabet"):
        engine_over(MANY).containment(offsets, items, limit=1)
    with pytest.raises(BadCall, match="outside the alphabet"):
        engine_over(MANY).capped_counts(offsets, items, most=1, steps=WEIGHT_STEPS)


def containment_in(rows: Baskets, itemsets: Itemsets | None) -> list[int]:
    """The histogram without noise."""
    curator = curator_over(rows, epsilon=SURE)
    values: list[int] = curator.ask_containment(itemsets, classes=CLASSES, epsilon=SURE).values.tolist()
    return values


def capped_by(rows: Baskets, itemsets: Itemsets, most: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Capped counts without noise, in steps."""
    return curator_over(rows, epsilon=SURE).ask_capped_counts(itemsets, most=most, epsilon=SURE).values


@given(rows=baskets(), itemsets=some_itemsets)
def test_the_histogram_has_the_classes_that_were_asked_for(rows: Baskets, itemsets: list[Itemset]) -> None:
    """Of itemsets; and of the items, where none are given."""
    assert containment_in(rows, Itemsets.of(itemsets)) == classes_of(
        reference.containment(rows, itemsets), CLASSES
    )
    assert containment_in(rows, None) == classes_of([len(row) for row in rows], CLASSES)


@given(rows=baskets(), extra=basket(), itemsets=st.none() | some_itemsets)
def test_one_more_transaction_moves_one_class_by_1(
    rows: Baskets, extra: Basket, itemsets: list[Itemset] | None
) -> None:
    """Up, and no other: the sensitivity that is claimed."""
    listed = None if itemsets is None else Itemsets.of(itemsets)
    before, after = containment_in(rows, listed), containment_in([*rows, extra], listed)
    assert sorted(np.subtract(after, before).tolist()) == [0] * (len(CLASSES) - 1) + [1]


@given(rows=baskets(), extra=basket(), itemsets=some_itemsets, most=caps)
def test_one_more_transaction_counts_for_at_most_the_cap(
    rows: Baskets, extra: Basket, itemsets: list[Itemset], most: int
) -> None:
    """At most one whole on each itemset, at most `most` on all of them: the sensitivities that are claimed."""
    listed = Itemsets.of(itemsets)
    moved = capped_by([*rows, extra], listed, most) - capped_by(rows, listed, most)
    assert moved.min() >= 0
    assert moved.max() <= WEIGHT_STEPS
    assert moved.sum() <= WEIGHT_STEPS * min(most, len(itemsets))


def test_a_transaction_that_holds_everything_uses_up_its_cap() -> None:
    """The bound is reached, so the noise is not more than is needed: 6 of 6 itemsets under a cap of 3."""
    moved = capped_by([frozenset(range(ALPHABET_SIZE))], Itemsets.of(SOME), 3)
    assert moved.tolist() == [WEIGHT_STEPS // 2] * len(SOME)


@given(rows=baskets(), itemsets=some_itemsets, beyond=st.integers(0, 10**40))
def test_a_cap_beyond_the_number_of_itemsets_is_that_number(
    rows: Baskets, itemsets: list[Itemset], beyond: int
) -> None:
    """However large: the same answer under the same noise, at the same price, and the same row of the trace."""
    listed, number = Itemsets.of(itemsets), len(itemsets)
    curators = [curator_over(rows, noise=SeededNoise(7)) for _ in range(2)]
    at, above = (
        curator.ask_capped_counts(listed, most=most, epsilon=Fraction(1))
        for curator, most in zip(curators, [number, number + beyond], strict=True)
    )
    assert above.values.tolist() == at.values.tolist()
    assert above.mechanism == at.mechanism == DiscreteLaplace(number, Fraction(1), WEIGHT_STEPS)
    assert curators[0].budget.charges == curators[1].budget.charges


@pytest.mark.parametrize("transactions", [1, 3])
def test_sensitivities_grow_with_the_transactions_of_an_owner(transactions: int) -> None:
    """As stated in the trace: c for a class, c times the cap for capped counts, or times their number if less."""
    curator = curator_over(MANY, unit=PrivacyUnit("owner", transactions))
    few, part = Itemsets.of(SOME[:2]), Fraction(1, 10)
    assert curator.ask_containment(few, classes=CLASSES, epsilon=part).mechanism.sensitivity == transactions
    assert curator.ask_containment(None, classes=CLASSES, epsilon=part).mechanism.sensitivity == transactions
    for most, reckoned in [(1, 1), (2, 2), (9, 2)]:
        asked = curator.ask_capped_counts(few, most=most, epsilon=part)
        assert asked.mechanism == DiscreteLaplace(reckoned * transactions, part, WEIGHT_STEPS)


def test_capped_counts_have_the_noise_of_their_cap() -> None:
    """Laplace noise at 2 * cap / epsilon for owners of two transactions; a tenth more or less does not fit."""
    pairs = Itemsets.of((item, item + 1) for item in range(0, 20_000, 2))
    curator = curator_over(transactions_of([], alphabet_size=20_000), unit=PrivacyUnit("owner", 2))
    counts = curator.ask_capped_counts(pairs, most=3, epsilon=Fraction(1))
    drawn = Counter(np.floor(counts.values / WEIGHT_STEPS).astype(int).tolist())
    assert fits(drawn, laplace_bins(6.0))
    assert not fits(drawn, laplace_bins(6.6))
    assert not fits(drawn, laplace_bins(5.4))


def test_the_histogram_has_the_noise_of_one_count_in_every_class() -> None:
    """Discrete Laplace noise at 1 / epsilon, in empty classes, too; a tenth more or less does not fit."""
    exact = np.array(containment_in(MANY, Itemsets.of(SOME)))
    drawn: Counter[int] = Counter()
    for seed in range(2500):
        curator = curator_over(MANY, noise=SeededNoise(seed))
        noisy = curator.ask_containment(Itemsets.of(SOME), classes=CLASSES, epsilon=Fraction(1, 2)).values
        drawn.update((noisy - exact).tolist())
    assert fits(drawn, discrete_laplace(2.0))
    assert not fits(drawn, discrete_laplace(2.2))
    assert not fits(drawn, discrete_laplace(1.8))


ASKED: dict[str, Callable[[Curator], object]] = {
    "containment": lambda curator: curator.ask_containment(
        Itemsets.of(SOME), classes=CLASSES, epsilon=Fraction(1)
    ),
    "containment of items": lambda curator: curator.ask_containment(
        None, classes=CLASSES, epsilon=Fraction(1)
    ),
    "capped counts": lambda curator: curator.ask_capped_counts(
        Itemsets.of(SOME), most=2, epsilon=Fraction(1)
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_question_leaves_one_row_in_the_trace_that_tells_no_item(name: str) -> None:
    """What it cost, and only numbers of itemsets, classes and the cap in words."""
    curator = curator_over(MANY)
    ASKED[name](curator)
    (charge,) = curator.budget.charges
    assert charge.mechanism.epsilon == curator.budget.spent == 1
    assert "(" not in charge.question


@pytest.mark.parametrize("itemsets", [[], [()], [(0,), ()], [(0, 1), (1, 0)]], ids=str)
def test_itemsets_that_cannot_be_counted_are_refused_before_a_charge(itemsets: list[Itemset]) -> None:
    """None at all, an empty one, one twice."""
    curator, listed = curator_over(MANY), Itemsets.of(itemsets)
    with pytest.raises(BadCall, match="different, and none empty"):
        curator.ask_containment(listed, classes=CLASSES, epsilon=Fraction(1))
    with pytest.raises(BadCall, match="different, and none empty"):
        curator.ask_capped_counts(listed, most=1, epsilon=Fraction(1))
    assert curator.budget.spent == 0


def test_lengths_can_be_told_from_1_item_up() -> None:
    """A limit of 1 tells empty transactions from all others; a limit of 0 would tell nothing and is refused."""
    curator = curator_over([frozenset(), frozenset({0}), frozenset({1, 2})], epsilon=2 * SURE)
    assert curator.ask_lengths(limit=1, epsilon=SURE).values.tolist() == [1, 2]
    with pytest.raises(BadCall, match="a length limit of 0 leaves no histogram"):
        curator.ask_lengths(limit=0, epsilon=SURE)
    assert curator.budget.spent == SURE


@pytest.mark.parametrize("classes", [(), (0,), (1, 2), (0, 2, 2), (0, 3, 1)], ids=str)
def test_classes_must_begin_with_0_and_rise(classes: tuple[int, ...]) -> None:
    """Or transactions would be in no class, or in two."""
    curator = curator_over(MANY)
    with pytest.raises(BadCall, match="begin with 0 and rise"):
        curator.ask_containment(None, classes=classes, epsilon=Fraction(1))
    assert curator.budget.spent == 0


@pytest.mark.parametrize("most", [0, -1])
def test_a_cap_below_1_is_refused(most: int) -> None:
    """Before it costs."""
    curator = curator_over(MANY)
    with pytest.raises(BadCall, match="at least 1"):
        curator.ask_capped_counts(Itemsets.of(SOME), most=most, epsilon=Fraction(1))
    assert curator.budget.spent == 0
