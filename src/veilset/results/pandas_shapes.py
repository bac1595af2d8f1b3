"""Results in the shapes of pandas and mlxtend. pandas is optional, and imported when it is asked for."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate import Item
from veilset.itemsets import Itemsets

if TYPE_CHECKING:
    import pandas as pd

MOST_DENSE_CELLS = 100_000_000
"""100 MB of cells; a one-hot frame with more of them has sparse columns, unless the caller says otherwise."""


def import_pandas(caller: str) -> ModuleType:
    """The pandas module, or BadCall that tells how to install it."""
    try:
        import pandas as pd  # noqa: PLC0415 - optional
    except ImportError:
        raise BadCall(f"{caller} needs pandas; install it with: pip install 'veilset[pandas]'") from None
    return pd


def mlxtend_frame(itemsets: Iterable[tuple[Sequence[Item], float]]) -> "pd.DataFrame":
    """What mlxtend's `apriori` returns: `support` as a share, `itemsets` as frozensets."""
    pandas = import_pandas("to_mlxtend")
    rows = [(share, frozenset(items)) for items, share in itemsets]
    frame: pd.DataFrame = pandas.DataFrame(rows, columns=["support", "itemsets"])
    return frame.astype({"support": "float64", "itemsets": "object"})


def onehot_frame(
    records: Itemsets, copies: Int64Array, words: Sequence[Item], *, sparse: bool | None
) -> "pd.DataFrame":
    """A boolean column for each item, and a row for each copy of a record."""
    pandas = import_pandas("to_onehot")
    rows = int(copies.sum())
    if sparse is None:
        sparse = rows * len(words) > MOST_DENSE_CELLS
    firsts, by_item = np.cumsum(copies) - copies, _records_by_item(records, len(words))
    if not sparse:
        cells = np.zeros((rows, len(words)), dtype=np.bool_, order="F")
        for code, holders in enumerate(by_item):
            cells[_places(firsts[holders], copies[holders]), code] = True
        dense: pd.DataFrame = pandas.DataFrame(cells, columns=list(words))
        return dense
    columns = {}
    for code, holders in enumerate(by_item):
        column = np.zeros(rows, dtype=np.bool_)
        column[_places(firsts[holders], copies[holders])] = True
        columns[code] = pandas.arrays.SparseArray(column, fill_value=False)
    frame: pd.DataFrame = pandas.DataFrame(columns, index=pandas.RangeIndex(rows))
    return frame.set_axis(list(words), axis=1)


def _records_by_item(records: Itemsets, number: int) -> list[Int64Array]:
    """For each item code, which records hold it."""
    holders = np.repeat(np.arange(len(records)), np.diff(records.offsets))
    order = np.argsort(records.items, kind="stable")
    bounds = np.searchsorted(records.items[order], np.arange(number + 1))
    return [holders[order[start:end]] for start, end in pairwise(bounds.tolist())]


def _places(firsts: Int64Array, lengths: Int64Array) -> Int64Array:
    """All places of runs that start at these places and have these lengths."""
    ends = np.cumsum(lengths)
    places: Int64Array = np.repeat(firsts - ends + lengths, lengths) + np.arange(int(lengths.sum()))
    return places
