"""Transactions on a Spark cluster: blocks of compressed rows in a binary column, and how their frames are collected.

The driver holds a reference to the frame and the alphabet, never a row. What fails on the cluster is told in one line
that names what to do and nothing that the data holds.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn
from uuid import uuid4

import numpy as np
import pyarrow as pa

from veilset.arrays import Int32Array, Int64Array, Uint32Array
from veilset.errors import BadCall, BadInput, ClusterFailed
from veilset.raw.block_files import folder_of_blocks, write_block
from veilset.raw.counts import mute
from veilset.raw.transactions import Alphabet

Frame = Any
"""A DataFrame of PySpark, classic or Connect; the two have no common type, and nobody needs either to use the other."""

Batches = Iterator[Any]
"""The batches of a partition, as Spark hands them to `mapInArrow`."""

BLOCK_SCHEMA = "block binary, name string, rows long"
"""A frame of blocks has the bytes of each, a name that was drawn for it, and the number of its rows."""

MADE_SCHEMA = "block binary"
"""A frame of what is made of blocks has one column."""

_ALIGNED = 64
"""A block's size is a multiple of 64 bytes: where one stands behind another, its numbers stay aligned."""

INSTALL = (
    "the executors cannot import veilset or what it needs; install the same version there as here (pip install "
    "'veilset[spark]') and set PYSPARK_PYTHON to the interpreter that holds it, or ship an environment with "
    "spark.archives"
)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ClusteredTransactions:
    """Transactions that were read on a cluster; `blocks` is the frame of their blocks.

    Where they have owners, all transactions of one owner are in one block.
    """

    blocks: Frame
    alphabet: Alphabet
    has_owners: bool = False
    is_by_person: bool = False
    is_by_basket: bool = False

    def __len__(self) -> int:
        return self.__getattr__("the number of rows")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):  # what Python and notebooks look for in everything
            raise AttributeError(name)
        raise BadCall(
            f"{name} is not to be had of transactions on a cluster, which mine, items and publish work with; "
            "read them without engine spark for anything else"
        )

    def __repr__(self) -> str:
        about = f"over {len(self.alphabet)} items" if self.alphabet.is_given else "over items of its own"
        return f"ClusteredTransactions(private, {about})"


@mute
class RowBlock:
    """Some transactions: compressed rows, with numbers among equal ones and with owners where these are known."""

    offsets: Int64Array
    items: Int32Array
    numbers: Uint32Array | None = None
    owners: Int64Array | None = None

    @property
    def rows(self) -> int:
        """How many transactions there are."""
        return self.offsets.size - 1

    def to_bytes(self) -> bytes:
        """The block as bytes."""
        return b"".join(self.parts())

    def parts(self) -> list[Any]:
        """Its bytes in parts: four numbers that tell what follows, then the arrays, each from an aligned place on."""
        first, last = self.offsets[0], self.offsets[-1]
        arrays = [self.offsets - first, self.items[first:last]]
        arrays += [array for array in (self.numbers, self.owners) if array is not None]
        about = [self.rows, int(last - first), self.numbers is not None, self.owners is not None]
        return [part for array in (np.array(about, np.int64), *arrays) for part in _padded(array)]

    @classmethod
    def from_buffer(cls, buffer: Any) -> "RowBlock":  # noqa: ANN401 - Arrow has no types
        """The block that such bytes stand for; its arrays lie where the bytes do."""
        rows, items, has_numbers, has_owners = np.frombuffer(buffer, np.int64, 4).tolist()
        kinds = [(np.int64, rows + 1), (np.int32, items)]
        kinds += [(np.uint32, rows)] * has_numbers + [(np.int64, rows)] * has_owners
        place, arrays = _ALIGNED, []
        for kind, number in kinds:
            array: Any = np.frombuffer(buffer, kind, number, place)
            arrays.append(array if array.flags.aligned else array.copy())
            place += _room(array.nbytes)
        numbers = arrays[2] if has_numbers else None
        return cls(arrays[0], arrays[1], numbers, arrays[-1] if has_owners else None)


def _room(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _padded(array: Any) -> list[Any]:  # noqa: ANN401 - of any type
    """The bytes of an array, and as many as fill up what it takes."""
    data: Any = np.ascontiguousarray(array)
    return [data.view(np.uint8).data, bytes(_room(data.nbytes) - data.nbytes)]


def joined_blocks(blocks: Iterable[RowBlock]) -> RowBlock:
    """One block with the transactions of all; owners are numbered apart, block by block, numbers are forgotten."""
    held = list(blocks)
    lengths = [np.diff(block.offsets) for block in held]
    offsets = np.append(0, np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths]))).astype(np.int64)
    items = np.concatenate(
        [np.empty(0, np.int32), *(each.items[each.offsets[0] : each.offsets[-1]] for each in held)]
    )
    owners, first = [np.empty(0, np.int64)], 0
    for block in held:
        if block.owners is not None and block.rows:
            owners.append(block.owners - block.owners[0] + first)
            first = int(owners[-1][-1]) + 1
    has_owners = any(block.owners is not None for block in held)
    return RowBlock(offsets, items, None, np.concatenate(owners) if has_owners else None)


def blocks_in(batches: Iterable[Any]) -> Iterator[RowBlock]:
    """The blocks of a partition."""
    for buffer in buffers_in(batches):
        yield RowBlock.from_buffer(buffer)


def buffers_in(batches: Iterable[Any]) -> Iterator[Any]:
    """The bytes of a partition's values."""
    for batch in batches:
        for value in batch.column(0):
            yield value.as_buffer()


def batch_of_block(block: RowBlock) -> Any:  # noqa: ANN401 - Arrow has no types
    """A block as a batch of one row, under a name of its own; in a file, too, where Spark has a folder for it."""
    name, folder = uuid4().hex, folder_of_blocks()
    if folder is not None:
        write_block(folder, name, block.parts())
    columns = [pa.array([name], pa.string()), pa.array([block.rows], pa.int64())]
    return pa.RecordBatch.from_arrays(
        [pa.array([block.to_bytes()], pa.binary()), *columns], ["block", "name", "rows"]
    )


def batch_of(data: bytes) -> Any:  # noqa: ANN401 - Arrow has no types
    """Bytes as a batch of one value."""
    return pa.RecordBatch.from_arrays([pa.array([data], pa.binary())], ["block"])


def collected(frame: Frame) -> list[Any]:
    """The rows of a small frame; ClusterFailed, or what was refused on the cluster, where that fails."""
    try:
        return list(frame.collect())
    except Exception as error:  # noqa: BLE001 - each of the several Sparks has errors of its own
        raise told_plainly(error) from None


def told_plainly(error: Exception) -> Exception:
    """What went wrong on a cluster, in one line; its own words may quote rows, and are left out."""
    text = str(error)
    refused = re.findall(r"(?:veilset\.errors\.|External error: )(?:BadInput|BadCall): (.*)", text)
    if refused:
        return BadInput(refused[-1].strip())
    if "No module named" in text:
        return ClusterFailed(INSTALL)
    kinds = re.findall(r"^\s*(?:[\w.]+: )*?([A-Za-z_]+(?:Error|Exception))\b", text, re.MULTILINE)
    kind = kinds[-1] if kinds else type(error).__name__
    return ClusterFailed(
        f"a partition failed on the cluster each time it was tried ({kind}); look at the executor's log, give "
        "executors more memory or the data more partitions, and ask again: what was paid stays paid"
    )
