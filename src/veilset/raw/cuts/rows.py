"""Some transactions on their way through a truncation, and the random keys that one may need."""

from dataclasses import dataclass

from veilset.arrays import Int32Array, Int64Array, Uint32Array

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
