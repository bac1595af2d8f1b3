"""Some transactions on their way through a truncation, and the random keys that one may need."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from veilset.arrays import BoolArray, Int32Array, Int64Array, Uint32Array
from veilset.errors import BadCall
from veilset.integers import item_codes, whole_numbers

Keys = Uint32Array
"""One random key for each item that a random truncation has to choose among."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CompressedRows:
    """Some transactions: row r is `items[offsets[r]:offsets[r + 1]]`, codes ascending.

    The first offset need not be 0: some rows of a table are a slice of its offsets with all of its items.
    The arrays become read-only, so nobody changes the data by accident and kernels meet one type of array.
    """

    offsets: Int64Array
    items: Int32Array

    def __post_init__(self) -> None:
        self.offsets.setflags(write=False)
        self.items.setflags(write=False)


def chosen_rows(rows: CompressedRows, is_chosen: BoolArray) -> CompressedRows:
    """Some of the rows, in their order; their offsets start at 0."""
    lengths = np.diff(rows.offsets)
    offsets = np.append(0, np.cumsum(lengths[is_chosen])).astype(np.int64)
    items = rows.items[rows.offsets[0] : rows.offsets[-1]]
    return CompressedRows(offsets, items[np.repeat(is_chosen, lengths)])


class _Lists(Protocol):
    @property
    def offsets(self) -> Int64Array: ...
    @property
    def items(self) -> Int32Array: ...


def keep_lists(holder: _Lists, what: str) -> None:
    """Give the holder copies of its own, which nobody can change; list i is `items[offsets[i]:offsets[i + 1]]`.

    BadCall where they are not whole numbers, or no such lists.
    """
    offsets = whole_numbers(holder.offsets, f"offsets of {what}")
    items = item_codes(holder.items, what)
    if offsets.size == 0 or offsets[0] < 0 or np.any(np.diff(offsets) < 0) or offsets[-1] > items.size:
        raise BadCall(
            f"offsets of {what} must rise, from 0 to the number of their items; give one more than lists"
        )
    object.__setattr__(holder, "offsets", offsets)
    object.__setattr__(holder, "items", items)
