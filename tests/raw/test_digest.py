"""The digest of transactions: the same rows, in whatever order and under whatever codes, and no others."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from veilset import read
from veilset.raw.digest import digest_of
from veilset.raw.read import over

ROWS = st.lists(st.lists(st.sampled_from(["a", "b", "c", 1, 2, "1"]), max_size=4), max_size=6)
KEY = b"key"


def as_multiset(rows: list[list[str | int]]) -> Counter[frozenset[str | int]]:
    """The slow twin: which rows there are, and how often."""
    return Counter(frozenset(row) for row in rows)


@given(ROWS, ROWS)
def test_two_tables_have_one_digest_if_they_hold_the_same_rows(
    one: list[list[str | int]], other: list[list[str | int]]
) -> None:
    """Order, repeats within a row and what else is in the alphabet do not matter; a row more does."""
    first, second = read(one), read(other)
    assert (digest_of(first, KEY) == digest_of(second, KEY)) == (as_multiset(one) == as_multiset(other))


@given(ROWS, st.randoms())
def test_a_shuffled_table_is_the_same(rows: list[list[str | int]], random: object) -> None:
    """Nobody gets a second budget by sorting."""
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert digest_of(read(rows), KEY) == digest_of(read(shuffled), KEY)


def test_items_that_nobody_holds_do_not_matter() -> None:
    """A longer list of possible items is not other data."""
    rows = read([["a"], ["b"]])
    assert digest_of(rows, KEY) == digest_of(over(rows, ["a", "b", "z"]), KEY)


def test_a_digest_belongs_to_its_ledger() -> None:
    """Another key, another digest: two ledgers cannot be compared."""
    rows = read([["a"], ["b"]])
    assert digest_of(rows, KEY) != digest_of(rows, b"other")
