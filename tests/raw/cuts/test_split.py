"""Splitting: the greedy algorithm of SplitSample, and what one transaction can move over its pieces."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over, engine_over
from reference import Basket, Baskets, support
from strategies import ALPHABET_SIZE, arrays_of, basket, baskets, baskets_of, rows_of, transactions_of
from veilset.errors import BadCall
from veilset.gate import KeepBest, KeepRandom, PrivacyUnit, SeededNoise
from veilset.gate.selection import floored_supports as scored
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.raw.cuts.split import Split
from veilset.raw.engines.local import LocalEngine

NO_KEYS = np.empty(0, np.uint32)
EVERY = [each for size in (1, 2, 3) for each in combinations(range(ALPHABET_SIZE), size)]

Weights = dict[Itemset, int]


def split_by(limit: int, weight_of: Weights) -> Split:
    """A split by patterns with these weights."""
    return Split(limit, *arrays_of(map(list, weight_of)), np.array(list(weight_of.values()), np.int64))


def pieces_of(given: Baskets, split: Split) -> Baskets:
    """What baskets become."""
    return baskets_of(split.apply(rows_of(given), NO_KEYS))


def pieces_by_the_book(given: Basket, limit: int, weight_of: Weights) -> Baskets:
    """Problem 1 and (4), pattern by pattern, in fractions."""
    left = {item for item in given if (item,) in weight_of}
    if len(left) <= limit:
        return [frozenset(left)] if left else []
    pieces = []
    while left:
        piece: set[int] = set()
        while left and len(piece) < limit:
            fitting = [
                each
                for each in weight_of
                if left | piece >= {*each} and {*each} - piece and len({*each} | piece) <= limit
            ]
            grown = {
                each: weight_of[each] + Fraction(weight_of[each], len(each)) * len(piece & {*each})
                for each in fitting
            }
            best = min(fitting, key=lambda each: (-grown[each], -weight_of[each], len(each), each))
            piece |= {*best}
            left -= {*best}
        pieces.append(frozenset(piece))
    return pieces


@st.composite
def weights(draw: st.DrawFn) -> Weights:
    """Every item or some, and some larger patterns of them, with weights of which many are equal."""
    items = sorted(draw(st.sets(st.integers(0, ALPHABET_SIZE - 1), min_size=1)))
    larger = [each for each in EVERY if len(each) > 1 and {*each} <= {*items}]
    chosen = draw(st.lists(st.sampled_from(larger), unique=True)) if larger else []
    return {each: draw(st.integers(0, 6)) for each in [*((item,) for item in items), *chosen]}


limits = st.integers(1, ALPHABET_SIZE)


@given(rows=baskets(), limit=limits, weight_of=weights())
def test_every_item_with_a_weight_goes_to_exactly_one_piece(
    rows: Baskets, limit: int, weight_of: Weights
) -> None:
    """In pieces within the limit, all full but the last; what is short stays whole."""
    split = split_by(limit, weight_of)
    known = {item for each in weight_of for item in each}
    for row in rows:
        pieces = pieces_of([row], split)
        assert sorted(item for piece in pieces for item in piece) == sorted(row & known)
        assert all(len(piece) == limit for piece in pieces[:-1])
        assert all(0 < len(piece) <= limit for piece in pieces)
    assert pieces_of(rows, split) == [piece for row in rows for piece in pieces_of([row], split)]


@given(rows=baskets(), limit=limits, weight_of=weights())
def test_pieces_are_those_of_the_printed_algorithm(rows: Baskets, limit: int, weight_of: Weights) -> None:
    """Against pattern-by-pattern search with fractions for weights."""
    twin = [piece for row in rows for piece in pieces_by_the_book(row, limit, weight_of)]
    assert pieces_of(rows, split_by(limit, weight_of)) == twin


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), items=st.sampled_from([20, 70, 140]), limit=st.integers(1, 12))
def test_long_rows_are_split_as_by_the_book(seed: int, items: int, limit: int) -> None:
    """Where places fill several words, patterns overlap and weights are equal."""
    rng = np.random.default_rng(seed)
    weight_of: Weights = {(item,): int(rng.integers(20)) for item in range(items)}
    for size in (2, 3, 4):
        for _ in range(int(rng.integers(60))):
            pattern = tuple(sorted(rng.choice(items, size, replace=False).tolist()))
            weight_of[pattern] = int(rng.integers(25))
    rows = [
        frozenset(rng.choice(items + 3, int(rng.integers(items)), replace=False).tolist()) for _ in range(3)
    ]
    twin = [piece for row in rows for piece in pieces_by_the_book(row, limit, weight_of)]
    assert pieces_of(rows, split_by(limit, weight_of)) == twin


def test_patterns_that_meet_the_piece_grow_heavier() -> None:
    """After 0, the pair {0, 3} weighs 6 + 6/2 and passes 1; at a weight of 5 it does not."""
    singles: Weights = {(0,): 9, (1,): 8, (2,): 7, (3,): 6}
    row = frozenset(range(4))
    assert pieces_of([row], split_by(2, {**singles, (0, 3): 6})) == [{0, 3}, {1, 2}]
    assert pieces_of([row], split_by(2, {**singles, (0, 3): 5})) == [{0, 1}, {2, 3}]


@given(rows=baskets(), extra=basket(), limit=limits, weight_of=weights())
def test_one_more_transaction_raises_every_support_over_pieces_by_0_or_1(
    rows: Baskets, extra: Basket, limit: int, weight_of: Weights
) -> None:
    """For all itemsets: what the draws and the noise over split transactions rest on."""
    split = split_by(limit, weight_of)
    before, after = pieces_of(rows, split), pieces_of([*rows, extra], split)
    assert all(support(after, each) - support(before, each) in (0, 1) for each in EVERY)


def test_all_supports_together_move_by_more_than_the_limit() -> None:
    """S7: one transaction of six items in pieces of two moves six supports of items and three of pairs."""
    split = split_by(2, {(item,): 1 for item in range(ALPHABET_SIZE)})
    pieces = pieces_of([frozenset(range(ALPHABET_SIZE))], split)
    assert sum(support(pieces, each) for each in EVERY) == 6 + 3
    assert not hasattr(split, "longest")


@given(
    rows=baskets(),
    extra=basket(),
    limit=limits,
    weight_of=weights(),
    k=st.integers(1, 10),
    rate=st.sampled_from([Fraction(1, 10), Fraction(2), Fraction(50)]),
)
@settings(max_examples=60)
def test_floored_scores_over_pieces_rise_by_0_or_1(
    rows: Baskets, extra: Basket, limit: int, weight_of: Weights, k: int, rate: Fraction
) -> None:
    """The scores of `ask_best` stay monotone with sensitivity 1 where transactions are split."""
    domain = Domain(items=range(ALPHABET_SIZE), max_size=2)
    split, draw = split_by(limit, weight_of), SeededNoise(1).keys
    before, after = (
        scored.floored_supports(engine_over(database).reshaped(split, draw), domain, k, rate=rate)
        for database in (rows, [*rows, extra])
    )
    for each in EVERY[:21]:
        assert after.listed.get(each, after.floor) - before.listed.get(each, before.floor) in (0, 1)


@given(rows=baskets(), limit=limits, weight_of=weights(), rows_in_a_chunk=st.integers(1, 4))
def test_an_engine_over_pieces_counts_them(
    rows: Baskets, limit: int, weight_of: Weights, rows_in_a_chunk: int
) -> None:
    """Whatever the chunks."""
    split = split_by(limit, weight_of)
    engine = LocalEngine(transactions_of(rows), threads=1, rows_in_a_chunk=rows_in_a_chunk)
    found = engine.reshaped(split, SeededNoise(1).keys)
    pieces = pieces_of(rows, split)
    assert found.number().values.tolist() == [len(pieces)]
    counted = found.supports(*arrays_of(map(list, EVERY)), KeepRandom(6), SeededNoise(1).keys)
    assert counted.values.tolist() == [support(pieces, each) for each in EVERY]


def test_questions_over_pieces_charge_for_the_unit_and_refuse_what_pieces_share() -> None:
    """The empty itemset is held by every piece, so a transaction would move it by more than 1."""
    split = split_by(1, {(0,): 1, (1,): 1})
    unit = PrivacyUnit("owner", 3)
    curator = curator_over([frozenset({0, 1})] * 5, epsilon=Fraction(9), unit=unit)
    listed = Itemsets.of([(0,), (1,), (0, 1)])
    curator.ask_reshaped_supports(listed, reshape=split, epsilon=Fraction(1))
    curator.ask_best_of(2, listed, reshape=split, epsilon=Fraction(1))
    curator.ask_best(2, domain=curator.domain(max_size=2), reshape=split, epsilon=Fraction(1))
    asked = [charge.mechanism.to_dict()["sensitivity"] for charge in curator.budget.charges]
    assert asked == [9, 3, 3]
    assert all(
        "split into pieces of at most 1 item (Split)" in charge.question for charge in curator.budget.charges
    )
    for refused in (Itemsets.of([()]), Itemsets.of([]), Itemsets.of([(0,), (0,)])):
        with pytest.raises(BadCall, match="different, and none empty"):
            curator.ask_reshaped_supports(refused, reshape=split, epsilon=Fraction(1))
        with pytest.raises(BadCall, match="different, and none empty"):
            curator.ask_best_of(1, refused, reshape=split, epsilon=Fraction(1))
    with pytest.raises(BadCall, match="give a k from 1 to 3"):
        curator.ask_best_of(4, listed, epsilon=Fraction(1))
    assert curator.budget.spent == 3


def test_a_cut_that_does_not_fit_the_alphabet_is_refused_as_a_reshape_too() -> None:
    """Kernels do not check: a rank for too few items would be read beyond its end."""
    truncation = KeepBest(1, np.arange(2))
    with pytest.raises(BadCall, match="2 ranks for 6 items"):
        engine_over([frozenset({5})]).reshaped(truncation, SeededNoise(1).keys)


@pytest.mark.parametrize(
    ("limit", "patterns", "given_weights", "message"),
    [
        (0, [[0]], [1], "pieces of 0 items hold nothing"),
        (2, [], [], "needs patterns of one item or more"),
        (2, [[0], []], [1, 1], "none that is empty"),
        (2, [[0]], [1, 1], "2 weights for 1 patterns"),
        (2, [[-1]], [1], "patterns hold a negative code"),
        (2, [[0]], [-1], "a weight is too large or below 0"),
        (2, [[0]], [2**62], "a weight is too large or below 0"),
        (2, [[0], [0, 1]], [1, 1], "an item stands in a pattern but is none by itself"),
        (2, [[0], [0]], [1, 1], "a pattern stands twice"),
        (2, [[0], [0, 0]], [1, 1], "an item twice in a pattern"),
        (2, [[0], [1], [0, 1], [1, 0]], [1, 1, 1, 1], "a pattern stands twice"),
        (2, [[0]], [1.5], "weights"),
    ],
)
def test_patterns_that_make_no_sense_are_refused(
    limit: int, patterns: list[list[int]], given_weights: list[float], message: str
) -> None:
    """A split that the kernel could not compute is never made."""
    with pytest.raises(BadCall, match=message):
        Split(limit, *arrays_of(patterns), np.array(given_weights))
