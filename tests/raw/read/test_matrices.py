"""Matrices of 0 and 1: NumPy's, SciPy's, and pandas frames that store them sparsely or as floats."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from reference_reading import baskets
from veilset.errors import BadCall, BadInput
from veilset.raw.read import matrices, read

MATRIX = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1]])
BY_NUMBER = [[0, 2], [], [1, 2]]
BY_NAME = [["bread", "milk"], [], ["beer", "milk"]]
NAMES = ["bread", "beer", "milk"]

UNNAMED: dict[str, Callable[[np.ndarray[Any, Any]], Any]] = {
    "int64": lambda matrix: matrix,
    "uint8": lambda matrix: matrix.astype(np.uint8),
    "bool": lambda matrix: matrix.astype(bool),
    "float": lambda matrix: matrix.astype(float),
    "float, 0 as missing": lambda matrix: np.where(matrix == 1, 1.0, np.nan),
    "by columns": np.asfortranarray,
    "masked": lambda matrix: np.ma.masked_equal(matrix, 0),
    "csr": sp.csr_matrix,
    "csr of truth values": lambda matrix: sp.csr_array(matrix.astype(bool)),
    "csc": sp.csc_array,
    "coo": sp.coo_matrix,
    "lil of floats": lambda matrix: sp.lil_matrix(matrix.astype(float)),
    "dok": sp.dok_array,
}

FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "floats": lambda frame: frame.astype(float),
    "floats, 0 as missing": lambda frame: frame.astype(float).replace(0, np.nan),
    "nullable floats": lambda frame: frame.astype("Float32"),
    "nullable truth values": lambda frame: frame.astype(bool).astype("boolean"),
    "sparse integers": lambda frame: frame.astype(pd.SparseDtype(int, 0)),
    "sparse floats": lambda frame: frame.astype(pd.SparseDtype(float, 0)),
    "sparse floats, 0 as missing": lambda frame: (
        frame.astype(float).replace(0, np.nan).astype(pd.SparseDtype(float, np.nan))
    ),
    "sparse truth values": lambda frame: frame.astype(bool).astype(pd.SparseDtype(bool, fill_value=False)),
    "sparse zeros": lambda frame: frame.astype(bool).astype(pd.SparseDtype(bool, fill_value=True)),
    "from SciPy": lambda frame: pd.DataFrame.sparse.from_spmatrix(  # type: ignore[attr-defined]
        sp.csr_matrix(frame.to_numpy()), columns=frame.columns
    ),
    "Polars floats": lambda frame: pl.DataFrame(frame.astype(float).to_dict("list")),
}


@pytest.mark.parametrize("make", UNNAMED.values(), ids=UNNAMED)
def test_a_matrix_is_one_hot_and_its_items_are_the_numbers_of_columns(
    make: Callable[[np.ndarray[Any, Any]], Any],
) -> None:
    """Not the items 0 and 1; with names, the names."""
    assert baskets(read(make(MATRIX))) == BY_NUMBER
    assert [sorted(map(str, row)) for row in baskets(read(make(MATRIX), columns=NAMES))] == BY_NAME


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_float_and_sparse_frames_are_one_hot_without_a_word(make: Callable[[pd.DataFrame], Any]) -> None:
    """Their types tell; items are what columns are called."""
    held = read(make(pd.DataFrame(MATRIX, columns=NAMES)))
    assert [sorted(map(str, row)) for row in baskets(held)] == BY_NAME
    assert len(held.alphabet) == 3


def test_a_partly_sparse_frame_is_read_with_its_owners() -> None:
    """Sparse columns beside a dense one of persons."""
    frame = pd.DataFrame(MATRIX, columns=NAMES).astype(pd.SparseDtype(int, 0)).assign(who=["a", "b", "a"])
    held = read(frame, owner="who", format="onehot")
    assert sorted(map(sorted, baskets(held))) == sorted(map(sorted, BY_NAME))
    assert held.owners is not None


@given(
    st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), max_size=6),
    st.sampled_from(sorted(set(UNNAMED) - {"masked"})),
)
def test_every_kind_of_matrix_is_read_as_the_obvious_loop_reads_it(rows: list[list[int]], kind: str) -> None:
    """Column numbers of the ones, row by row."""
    matrix = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    expected = [[column for column, value in enumerate(row) if value == 1] for row in rows]
    if len(rows) or not kind.startswith(("csr", "csc", "coo", "lil", "dok")):
        assert baskets(read(UNNAMED[kind](matrix))) == expected


@given(st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=1, max_size=6))
def test_one_more_row_does_not_change_how_the_others_are_read(rows: list[list[int]]) -> None:
    """Whatever it holds: a row of zeros, of ones, or with a value that is skipped."""
    alone = baskets(read(np.array(rows)))
    for more in ([0, 0, 0], [1, 1, 1], [0, 7, 1]):
        assert baskets(read(np.array([*rows, more]), skip_bad_rows=True))[: len(rows)] == alone


def test_blocks_of_a_large_matrix_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many cells are compared at a time."""
    rng = np.random.default_rng(7)
    matrix = rng.integers(0, 2, size=(50, 7))
    whole = baskets(read(matrix))
    monkeypatch.setattr(matrices, "CELLS_AT_ONCE", 20)
    assert baskets(read(matrix)) == whole


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, lambda matrix: sp.coo_matrix(matrix / 2)])
def test_other_values_are_refused_with_their_row_or_skipped(make: Callable[..., Any]) -> None:
    """A matrix of counts is none of zeros and ones; the message tells what to give, and no value."""
    counts = make(np.array([[2, 0], [6, 2]]))
    with pytest.raises(BadInput, match=r"row [12]: .*give matrix > 0") as refused:
        read(counts)
    assert "6" not in str(refused.value)
    assert len(read(counts, skip_bad_rows=True)) == 2


def test_a_cell_stored_twice_means_the_sum() -> None:
    """As SciPy has it: 1 + 1 is no 1, and 1 - 1 is nothing."""
    row, column = np.zeros(3, np.int64), np.array([1, 1, 0])
    twice = sp.coo_matrix((np.array([1, 1]), (row[:2], column[:2])), shape=(1, 2))
    with pytest.raises(BadInput, match="neither 1 nor 0"):
        read(twice)
    assert baskets(read(sp.coo_matrix((np.array([1, -1, 1]), (row, column)), shape=(1, 2)))) == [[0]]


def test_reading_changes_nobody_elses_matrix() -> None:
    """Codes are written into a copy."""
    matrix = sp.csr_matrix(MATRIX)
    read(matrix, columns=["z", "b", "a"])
    assert (matrix.toarray() == MATRIX).all()


def test_rows_that_list_item_numbers_are_read_where_the_format_says_so() -> None:
    """As lists, then; text in two dimensions is a list of lists anyway."""
    assert baskets(read(np.array([[3, 9], [4, 3]]), format="list")) == [[3, 9], [3, 4]]
    assert baskets(read(np.array([["a", "b"], ["c", "a"]]))) == [["a", "b"], ["a", "c"]]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"columns": ["a", "b"]}, "2 names for 3 columns"),
    ({"columns": ["a", "b", "a"]}, "two columns of the same name"),
    ({"columns": ["a", "b", 1.5]}, "an item of type float"),
    ({"columns": "abc"}, "columns is 'abc'; give a list"),
    ({"owner": "who"}, "owner means nothing for a list of lists"),
    ({"alphabet": ["bread"]}, "the columns of the matrix are called 0 to 2.*columns="),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_makes_no_sense_for_a_matrix_is_refused(options: dict[str, Any], message: str) -> None:
    """In words that tell what to give."""
    with pytest.raises((BadCall, BadInput), match=message):
        read(MATRIX, **options)


def test_a_release_over_an_alphabet_that_has_no_column_is_refused_before_it_costs() -> None:
    """Every item would be left out, and the budget spent on nothing."""
    with pytest.raises(BadCall, match="the alphabet has none of these"):
        vs.mine(MATRIX, epsilon=1, k=1, alphabet=["bread", "milk"])


def test_a_million_stored_cells_are_read_without_an_object_for_each() -> None:
    """In a matrix whose dense form would have ten billion cells."""
    rng = np.random.default_rng(7)
    rows, columns = rng.integers(0, 100_000, 10**6), rng.integers(0, 100_000, 10**6)
    matrix = sp.coo_matrix((np.ones(10**6, np.bool_), (rows, columns)), shape=(100_000, 100_000)).tocsr()
    held = read(matrix)
    assert (len(held), len(held.alphabet)) == (100_000, 100_000)
    assert held.items.size == matrix.nnz
