"""Matrices of 0 and 1, dense or sparse: a row is a transaction, a column an item.

That a matrix is one-hot is told by its type, never by what it holds: an array of numbers with two dimensions, a SciPy
sparse matrix, a pandas frame of nothing but sparse columns. No cell becomes a Python object, and of a sparse matrix
only what is stored is looked at.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.arrays import BoolArray, Int32Array, Int64Array
from veilset.errors import BadCall, BadInput
from veilset.raw.read.encode import TokenRows, offsets_of
from veilset.raw.read.vocabulary import AlphabetSource, integers_if_all, plain_item, vocabulary_of
from veilset.raw.transactions import Item

CELLS_AT_ONCE = 1 << 24
"""16 million cells of a dense matrix are compared at a time: bounds the memory beside the matrix itself."""

NUMBER_KINDS = "biuf"

NOT_ONE_HOT = (
    "a value that is neither 1 nor 0; for a matrix of counts give matrix > 0, for rows that list item numbers give "
    "format='list', or matrix.tolist()"
)


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Which cells are 1: row r has the columns `columns[offsets[r]:offsets[r + 1]]`; and rows with other values."""

    offsets: Int64Array
    columns: Int32Array
    is_bad: BoolArray
    is_ascending: bool


def is_matrix(source: object) -> bool:
    """Whether this is a matrix of numbers by its type: NumPy or SciPy, or a pandas frame of sparse columns."""
    return _is_dense(source) or _is_scipy(source) or is_sparse_frame(source)


def is_sparse_frame(source: Any) -> bool:  # noqa: ANN401 - pandas is not imported
    """Whether this is a pandas frame with nothing but sparse columns."""
    kinds = [type(kind).__name__ for kind in source.dtypes] if _is_pandas_frame(source) else []
    return bool(kinds) and all(kind == "SparseDtype" for kind in kinds)


def matrix_rows(source: Any, names: Iterable[Item] | None, *, skips: bool) -> TokenRows:  # noqa: ANN401
    """The rows of a matrix; its columns have the names that are given, or their own, or numbers from 0 up."""
    if len(source.shape) != 2:
        raise BadInput(f"the matrix has {len(source.shape)} dimensions; give one of rows and columns")
    named = _column_names(source, names)
    marks = _marks_of(source)
    if not skips and marks.is_bad.any():
        raise BadInput(f"the matrix, row {int(np.argmax(marks.is_bad)) + 1}: {NOT_ONE_HOT}")
    marks = _without_bad(marks)
    return TokenRows(
        marks.offsets,
        marks.columns,
        *named,
        is_ascending=marks.is_ascending,
    )


def check_alphabet(source: Any, alphabet: AlphabetSource) -> None:  # noqa: ANN401
    """BadCall where columns are numbered and none of the numbers is in the alphabet: every item would be left out."""
    if not (_is_dense(source) or _is_scipy(source)) or len(source.shape) != 2 or source.shape[1] == 0:
        return
    numbers = {str(number) for number in range(source.shape[1])}
    if numbers.isdisjoint(vocabulary_of(alphabet).keys.to_pylist()):
        raise BadCall(
            f"the columns of the matrix are called 0 to {source.shape[1] - 1}, and the alphabet has none of these; "
            "name them: veilset.read(matrix, columns=[...])"
        )


def _is_dense(source: object) -> bool:
    return isinstance(source, np.ndarray) and source.ndim == 2 and source.dtype.kind in NUMBER_KINDS


def _is_scipy(source: object) -> bool:
    module = type(source).__module__
    return module.startswith("scipy.sparse") and hasattr(source, "tocsr") and hasattr(source, "shape")


def _is_pandas_frame(source: object) -> bool:
    return type(source).__module__.partition(".")[0] == "pandas" and len(getattr(source, "shape", ())) == 2


def _column_names(source: Any, names: Iterable[Item] | None) -> tuple[pa.Array, Int64Array, BoolArray | None]:  # noqa: ANN401
    """What columns are called: the names, the tokens they stand for, and which of them are integers."""
    width = int(source.shape[1])
    tokens = np.arange(width, dtype=np.int64)
    if names is None and not is_sparse_frame(source):
        return pa.array(tokens), tokens, None
    if names is None:
        texts = [str(name) for name in source.columns]
        found = integers_if_all(pa.array(texts, pa.string()))
        are_integers = None
    else:
        given = [plain_item(name, of="columns") for name in names]
        if len(given) != width:
            raise BadCall(f"columns has {len(given)} names for {width} columns; give one for each")
        texts = [str(name) for name in given]
        found = pa.array(texts, pa.string())
        are_integers = np.array([not isinstance(name, str) for name in given], dtype=np.bool_)
    if len(set(texts)) != width:
        raise BadInput("the matrix has two columns of the same name; rename one of them")
    return found, tokens, are_integers


def _marks_of(source: Any) -> Marks:  # noqa: ANN401
    if isinstance(source, np.ndarray):
        return _dense_marks(source)
    return _frame_marks(source) if is_sparse_frame(source) else _scipy_marks(source)


def _dense_marks(matrix: npt.NDArray[Any]) -> Marks:
    """A masked or missing cell is 0."""
    rows, width = matrix.shape
    step = max(1, CELLS_AT_ONCE // max(1, width))
    lengths, is_bad = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.bool_)
    columns = [np.empty(0, dtype=np.int32)]
    for start in range(0, rows, step):
        block = np.ma.filled(matrix[start : start + step], 0)
        is_one = block == 1
        is_bad[start : start + step] = ~np.all(is_one | _is_nothing(block), axis=1)
        lengths[start : start + step] = np.count_nonzero(is_one, axis=1)
        columns.append(np.nonzero(is_one)[1].astype(np.int32))
    return Marks(offsets_of(lengths), np.concatenate(columns), is_bad, is_ascending=True)


def _scipy_marks(matrix: Any) -> Marks:  # noqa: ANN401
    """The entries that are stored; the same cell stored twice means the sum."""
    rows = matrix.tocsr()
    if rows.dtype.kind not in NUMBER_KINDS:
        raise BadInput(f"the matrix has values of the type {rows.dtype}; give numbers or truth values")
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    row_of = np.repeat(np.arange(rows.shape[0], dtype=np.int64), np.diff(rows.indptr))
    return _stored_marks(rows.data, row_of, rows.indices, rows.shape[0])


def _frame_marks(frame: Any) -> Marks:  # noqa: ANN401
    """Of each sparse column what is stored; a column that stores its zeros is read whole."""
    found = [_stored_in_column(column.array) for _, column in frame.items()]
    rows = np.concatenate([np.empty(0, np.int64), *(rows for rows, _ in found)])
    values = np.concatenate([np.empty(0), *(values for _, values in found)])
    columns = np.repeat(np.arange(len(found), dtype=np.int32), [rows.size for rows, _ in found])
    order = np.argsort(rows, kind="stable")
    return _stored_marks(values[order], rows[order], columns[order], len(frame))


def _stored_in_column(column: Any) -> tuple[Int64Array, npt.NDArray[np.float64]]:  # noqa: ANN401
    """Where a sparse column is not 0, and what it says there."""
    fill = column.fill_value
    try:
        if fill == 0 or fill != fill:  # noqa: PLR0124 - missing, as a number that is none
            index, values = column.sp_index, column.sp_values
            return np.asarray(index.indices, np.int64), np.asarray(values, np.float64)
        dense = np.asarray(column, np.float64)
    except (TypeError, ValueError):
        raise BadInput(
            f"the table has a sparse column of the type {column.dtype}; give numbers or truth values"
        ) from None
    return np.arange(dense.size, dtype=np.int64), dense


def _stored_marks(
    values: npt.NDArray[Any], row_of: Int64Array, columns: npt.NDArray[Any], rows: int
) -> Marks:
    """Marks of entries that are stored, rows in order."""
    is_one = values == 1
    is_bad = np.zeros(rows, dtype=np.bool_)
    is_bad[row_of[~(is_one | _is_nothing(values))]] = True
    lengths = np.bincount(row_of[is_one], minlength=rows).astype(np.int64)
    return Marks(offsets_of(lengths), columns[is_one].astype(np.int32), is_bad, is_ascending=False)


def _without_bad(marks: Marks) -> Marks:
    """Rows with other values than 0 and 1 are empty."""
    if not marks.is_bad.any():
        return marks
    lengths = np.diff(marks.offsets)
    kept = marks.columns[np.repeat(~marks.is_bad, lengths)]
    return Marks(offsets_of(np.where(marks.is_bad, 0, lengths)), kept, marks.is_bad, marks.is_ascending)


def _is_nothing(values: npt.NDArray[Any]) -> BoolArray:
    """Which values say that there is no item: 0, or missing."""
    is_zero: BoolArray = values == 0
    return is_zero | np.isnan(values) if values.dtype.kind == "f" else is_zero
