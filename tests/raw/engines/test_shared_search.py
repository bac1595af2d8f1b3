"""A search that threads share finds what one thread finds."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reference_mining as reference
from mining_rows import WIDE, Lists, as_filter, compressed, filters, listed, lists_of_items
from veilset.raw import threads
from veilset.raw.engines import mining, shared_search


@pytest.fixture
def always_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads for the smallest of data."""
    monkeypatch.setattr(shared_search, "_useful_threads", lambda *_: 5)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1)


@pytest.mark.usefixtures("always_shared")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lists=lists_of_items(), which=filters(most=4), number=st.integers(2, 5))
def test_threads_find_what_counting_every_subset_finds(
    lists: Lists, which: dict[str, Any], number: int
) -> None:
    """All itemsets of the wanted sizes and items, each once, in the promised order."""
    found = mining.frequent(compressed(lists), as_filter(**which), alphabet_size=WIDE, threads=number)
    assert listed(found) == reference.frequent(lists, **which)


@pytest.mark.usefixtures("always_shared")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lists=lists_of_items(), k=st.integers(1, 60))
def test_the_best_k_are_the_same_whatever_the_threads(lists: Lists, k: int) -> None:
    """Also which of the tied ones are chosen."""
    rows = compressed(lists)
    alone = mining.top(rows, k, as_filter(), alphabet_size=WIDE)
    assert listed(mining.top(rows, k, as_filter(), alphabet_size=WIDE, threads=3)) == listed(alone)


@pytest.mark.usefixtures("always_shared")
def test_an_item_that_no_thread_extends_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one thread leaves out, no other one finds: the property above can fail."""
    rows = compressed([[0, 1, 2, 3]] * 3)
    monkeypatch.setattr(shared_search, "range", lambda _: [0], raising=False)
    found = mining.frequent(rows, as_filter(), alphabet_size=WIDE, threads=2)
    assert len(listed(found)) < 15


@pytest.mark.parametrize(("rows", "min_count"), [([[0, 1, 2]] * 40, 39), ([[0, 1], [2, 3]] * 40, 39)])
def test_a_search_for_hardly_any_itemsets_starts_no_thread(
    monkeypatch: pytest.MonkeyPatch, rows: Lists, min_count: int
) -> None:
    """Where few itemsets can be frequent, in dense rows or in others; the control: with a lower bound it would."""
    monkeypatch.setattr(threads, "ThreadPoolExecutor", None)
    mining.frequent(compressed(rows), as_filter(min_count=min_count), alphabet_size=WIDE, threads=2)
    monkeypatch.setattr(shared_search, "ITEMSETS_FOR_A_THREAD", 1)
    with pytest.raises(TypeError):
        mining.frequent(compressed(rows), as_filter(min_count=min_count), alphabet_size=WIDE, threads=2)


@pytest.mark.parametrize("number", [1, 2, 3, 7])
def test_parts_are_all_there_is(number: int) -> None:
    """Every thing is in one part."""
    things = list(range(20))
    assert [thing for part in threads.equal_parts(20, number) for thing in things[part]] == things
