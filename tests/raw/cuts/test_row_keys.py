"""Keys of transactions: as the slow way makes them, uniform, independent, and nobody else's business."""

import struct
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import row_keys_twin as twin
from laws import fits
from reference import Baskets
from strategies import basket, baskets, neighbours, rows_of, transactions_of
from veilset.raw.cuts.owners import keep_per_owner
from veilset.raw.cuts.row_keys import LongRows, NumberedRows, OwnedRows, SipKeys
from veilset.raw.engines.local import LocalEngine
from veilset.raw.kernels import equal_rows, siphash
from veilset.raw.transactions import Transactions

KEYS = twin.keys_of(3)
persons = st.lists(st.lists(basket(), min_size=1, max_size=4), max_size=5)


def numbers(rows: Baskets) -> NumberedRows:
    """Rows with their numbers."""
    held = rows_of(rows)
    return NumberedRows(held, equal_rows.number_equal_rows(held.offsets, held.items, -1)[1])


@pytest.mark.parametrize(
    ("length", "value"),
    [(0, 0x726FDB47DD0E0E31), (8, 0x93F5F5799A932462), (15, 0xA129CA6149BE45E5), (63, 0x958A324CEB064572)],
)
def test_the_slow_way_is_siphash(length: int, value: int) -> None:
    """The vectors of its authors: key 00 to 0f, messages 00, 01, ..."""
    assert twin.siphash(bytes(range(16)), bytes(range(length))) == value


@given(words=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=7), seed=st.integers(0, 9))
def test_the_value_of_words_matches_the_slow_way(words: list[int], seed: int) -> None:
    """In numbers of words that are even and odd."""
    secret = twin.keys_of(seed).secret
    (found,) = siphash.of_table(np.array([words], np.uint32), secret).tolist()
    assert found == twin.siphash(secret.tobytes(), struct.pack(f"<{len(words)}I", *words))


@given(rows=baskets(), longer_than=st.integers(-1, 3))
def test_equal_rows_are_numbered_in_their_order(rows: Baskets, longer_than: int) -> None:
    """Rows of any length, or long ones alone; and each knows the first of its class."""
    held = rows_of(rows)
    firsts, found = equal_rows.number_equal_rows(held.offsets, held.items, longer_than)
    is_long = [len(row) > longer_than for row in rows]
    slow = [number * told for number, told in zip(twin.numbers_of(rows), is_long, strict=True)]
    assert found.tolist() == slow
    first_of = [
        rows.index(row) if told else place
        for place, (row, told) in enumerate(zip(rows, is_long, strict=True))
    ]
    assert firsts.tolist() == first_of


@given(rows=baskets())
def test_keys_match_the_slow_way(rows: Baskets) -> None:
    """Of rows, of their contents, and of items of long ones."""
    numbered = numbers(rows)
    found = KEYS.of_rows(numbered).tolist()
    slow_numbers = twin.numbers_of(rows)
    assert found == [twin.key_of(KEYS, row, n) for row, n in zip(rows, slow_numbers, strict=True)]
    assert KEYS.of_contents(numbered.rows).tolist() == [twin.value_of(KEYS, row, 0) for row in rows]
    wanted = LongRows(numbered.rows, 2)
    of_items = KEYS.of_items(numbered, wanted).tolist()
    assert len(of_items) == wanted.keys
    assert of_items == [
        key
        for row, n in zip(rows, slow_numbers, strict=True)
        if len(row) > 2
        for key in twin.keys_of_places(KEYS, twin.value_of(KEYS, row, n), len(row))
    ]


def test_keys_of_owned_rows_match_the_slow_way() -> None:
    """Seven words of 32 bits."""
    owned = OwnedRows(
        *(np.array([2**63 + 5], np.uint64), np.array([1], np.uint32)),
        *(np.array([2**40 + 1], np.uint64), np.array([3], np.uint32)),
    )
    (found,) = KEYS.of_owned(owned).tolist()
    message = struct.pack("<IIIQQ", 2, 1, 3, 2**63 + 5, 2**40 + 1)
    assert found == twin.siphash(KEYS.secret.tobytes(), message)


@given(databases=neighbours(), order=st.randoms())
def test_one_more_basket_changes_nobody_elses_key(databases: tuple[Baskets, Baskets], order: object) -> None:
    """In whatever order the rows stand: the multiset of (row, key) grows by one pair."""
    fewer, more = databases
    order.shuffle(more)  # type: ignore[attr-defined]
    before, after = (
        Counter(zip(rows, KEYS.of_rows(numbers(rows)).tolist(), strict=True)) for rows in (fewer, more)
    )
    assert before <= after
    assert after.total() == before.total() + 1


@given(databases=neighbours(), order=st.randoms(), rate=st.integers(0, 2**32))
def test_one_more_basket_is_in_a_sample_or_not_and_the_others_stay(
    databases: tuple[Baskets, Baskets], order: object, rate: int
) -> None:
    """The sample grows by that basket, or does not change."""
    fewer, more = databases
    order.shuffle(more)  # type: ignore[attr-defined]
    before, after = (Counter(sampled(rows, rate)) for rows in (fewer, more))
    assert before <= after
    assert after.total() - before.total() in {0, 1}


def sampled(rows: Baskets, below: int) -> Baskets:
    """The rows of a sample."""
    held = LocalEngine(transactions_of(rows), threads=1).sample(lambda: KEYS, below=below)._rows
    return [frozenset(held.items[a:b].tolist()) for a, b in pairwise(held.offsets.tolist())]


def owned_by(people: list[Baskets]) -> Transactions:
    """Their transactions, with owners."""
    held = transactions_of([row for person in people for row in person])
    owners = np.array([place for place, person in enumerate(people) for _ in person], np.int64)
    return Transactions(held.offsets, held.items, held.alphabet, owners)


def kept_of(people: list[Baskets], limit: int, keys: SipKeys = KEYS) -> Counter[tuple[object, object]]:
    """What each person had and what is kept of it; who it is, is left out."""
    kept = keep_per_owner(owned_by(people), limit, keys)
    rows = [frozenset(kept.items[a:b].tolist()) for a, b in pairwise(kept.offsets.tolist())]
    assert kept.owners is not None
    found: Counter[tuple[object, object]] = Counter()
    for place, person in enumerate(people):
        own = [row for row, owner in zip(rows, kept.owners.tolist(), strict=True) if owner == place]
        assert len(own) == min(limit, len(person))
        assert not Counter(own) - Counter(person)
        found[multiset(person), multiset(own)] += 1
    return found


def multiset(rows: Baskets) -> object:
    """Rows, in no order."""
    return frozenset(Counter(rows).items())


@given(
    people=persons,
    extra=st.lists(basket(), min_size=1, max_size=5),
    limit=st.integers(1, 3),
    order=st.randoms(),
)
def test_one_more_person_changes_nobody_elses_choice(
    people: list[Baskets], extra: Baskets, limit: int, order: object
) -> None:
    """Wherever it stands, and in whatever order its baskets are: what was kept of all others is kept."""
    more = [list(person) for person in [*people, extra]]
    for rows in [*more, more]:
        order.shuffle(rows)  # type: ignore[attr-defined]
    before, after = kept_of(people, limit), kept_of(more, limit)
    assert before <= after
    assert after.total() == before.total() + 1


def test_persons_with_the_same_baskets_choose_by_themselves() -> None:
    """Of a thousand with two baskets each, half keep the one, half the other; equal baskets count apart."""
    person = [frozenset({0}), frozenset({1})]
    kept = kept_of([person] * 1_000, 1)
    assert min(kept.values()) > 400
    assert len(kept) == 2
    thrice = kept_of([[*person, frozenset({1})]] * 3_000, 1)
    assert 850 < min(thrice.values()) < 1_150


@pytest.mark.parametrize(("factor", "is_right"), [(0.9, False), (1.0, True), (1.1, False)])
def test_keys_of_equal_and_of_different_rows_are_independent_and_uniform(
    factor: float, is_right: bool
) -> None:
    """Three equal rows and one other: all 16 samples are as likely as coins say, ten percent off is told."""
    rows = [frozenset({0}), frozenset({1}), frozenset({1}), frozenset({1})]
    numbered = numbers(rows)
    drawn: Counter[int] = Counter()
    for seed in range(8_000):
        is_in = twin.keys_of(seed).of_rows(numbered) < np.uint64(3 * 2**32 // 10)
        drawn[int(is_in @ (1 << np.arange(4)))] += 1
    rate = 0.3 * factor
    law = {n: rate ** n.bit_count() * (1 - rate) ** (4 - n.bit_count()) for n in range(16)}
    assert fits(drawn, law) == is_right
