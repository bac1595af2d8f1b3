"""What is remembered of a search answers as a new one would."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mining_rows import WIDE, Lists, as_filter, compressed, listed, lists_of_items
from veilset.errors import BadCall
from veilset.raw.counts import ExactItemsets
from veilset.raw.engines import mining
from veilset.raw.engines.remembered_search import RememberedSearch, first_without_ties
from veilset.raw.kernels.scans import add_items

questions = st.lists(
    st.tuples(st.integers(1, 40), st.sampled_from([(1, None), (1, 2), (2, 3)]), st.integers(1, 2)), max_size=8
)


def searching(lists: Lists) -> RememberedSearch:
    """Searches of some rows."""
    rows, supports = compressed(lists), np.zeros(WIDE, np.int64)
    add_items(rows.offsets, rows.items, supports)
    return RememberedSearch(rows, supports, threads=1)


@given(lists=lists_of_items(), asked=questions)
def test_answers_do_not_depend_on_questions_before(
    lists: Lists, asked: list[tuple[int, tuple[int, int | None], int]]
) -> None:
    """The same itemsets in the same order, also of those that tie for the last places."""
    search = searching(lists)
    for k, (least, most), count in asked:
        which = as_filter(min_size=least, max_size=most, min_count=count)
        anew = mining.top(compressed(lists), k, which, alphabet_size=WIDE)
        assert listed(search.top(k, which)) == listed(anew)


def test_a_second_question_needs_no_second_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of as many, or of a few more; with another filter it does."""
    made: list[int] = []
    top = mining.top

    def counting(*arguments: object, **options: object) -> ExactItemsets:
        made.append(1)
        return top(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(mining, "top", counting)
    search = searching([[item] for item in range(6) for _ in range(item + 1)])
    search.top(3, as_filter())
    search.top(4, as_filter())
    assert len(made) == 1
    search.top(3, as_filter(max_size=1))
    assert len(made) == 2


@pytest.mark.parametrize("k", [0, -3])
def test_no_itemsets_are_refused(k: int) -> None:
    """As by a search that remembers nothing, also where something is remembered."""
    search = searching([[0, 1], [1]])
    search.top(2, as_filter())
    with pytest.raises(BadCall, match=f"k is {k}; give at least 1"):
        search.top(k, as_filter())


def test_a_beginning_that_ties_with_what_follows_is_none() -> None:
    """Supports 9, 7, 7, 5: the first two cannot be told from the third."""
    found = ExactItemsets(np.arange(5), np.arange(4, dtype=np.int32), np.array([9, 7, 7, 5]))
    assert first_without_ties(found, 2) is None
    assert [first_without_ties(found, k).supports.size for k in (1, 3, 4, 9)] == [1, 3, 4, 4]  # type: ignore[union-attr]
