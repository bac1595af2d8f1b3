"""A given alphabet: a list of items, or a file of them, with what a release calls each."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from veilset.arrays import BoolArray
from veilset.arrow_arrays import numpy_of
from veilset.deferred import Deferred
from veilset.errors import BadInput
from veilset.raw.read.files import open_bytes
from veilset.raw.transactions import Alphabet, Item

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = Deferred("pyarrow.compute")


AlphabetSource = Alphabet | Iterable[Item] | str | os.PathLike[str]
"""An alphabet, its items in order, or the path of a file that lists them."""

LIKE_INTEGER = "^(0|-?[1-9][0-9]{0,19})$"
LONG_INTEGER = 19  # digits and sign; fewer always fit into 64 bits


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The data calls an item `keys[i]`, a release `names[i]`.

    Keys are an Arrow array of text, so that item 7 of a list and item "7" of a file with names are the same.
    """

    keys: pa.StringArray
    names: tuple[Item, ...]


def vocabulary_of(alphabet: AlphabetSource) -> Vocabulary:
    """The vocabulary of a list of items, or of the file at a path.

    A file has one item on each line; or what the data calls it, a tab, and what a release calls it.
    """
    if isinstance(alphabet, (str, os.PathLike)):
        return _read_vocabulary(alphabet)
    items = alphabet.names if isinstance(alphabet, Alphabet) else alphabet
    names = tuple(plain_item(item) for item in items)
    return _vocabulary([str(name) for name in names], names)


def written_integers(names: pa.Array) -> BoolArray:
    """Which names read from text are integers: written like one, without leading zeros, and of up to 64 bits.

    It depends on each name alone: one more name changes nothing about the others.
    """
    is_integer: BoolArray = numpy_of(pc.match_substring_regex(names, LIKE_INTEGER))
    long = np.flatnonzero(is_integer & (numpy_of(pc.binary_length(names)) >= LONG_INTEGER))
    for place in long.tolist():
        is_integer[place] = -(2**63) <= int(names[place].as_py()) < 2**64
    return is_integer


def integers_if_all(names: pa.Array) -> pa.Array:
    """Names read from text: integers if all are written like one, without leading zeros; else strings."""
    looks_like_integer = pc.match_substring_regex(names, LIKE_INTEGER)
    if not pc.all(looks_like_integer, min_count=0).as_py():
        return names
    for integer in (pa.int64(), pa.uint64()):
        try:
            return names.cast(integer)
        except pa.ArrowInvalid:  # too wide for this one
            continue
    return names


def _read_vocabulary(path: str | os.PathLike[str]) -> Vocabulary:
    with open_bytes(path) as file:
        lines = [line.split("\t") for line in file.read_text().split("\n") if line.strip()]
    keys = [fields[0].strip() for fields in lines]
    names = [fields[min(1, len(fields) - 1)].strip() for fields in lines]
    return _vocabulary(keys, tuple(integers_if_all(pa.array(names, pa.string())).to_pylist()))


def _vocabulary(keys: list[str], names: tuple[Item, ...]) -> Vocabulary:
    if not keys:
        raise BadInput("the alphabet is empty; list at least one item")
    if len(set(keys)) != len(keys):
        raise BadInput("the alphabet lists an item twice; every item may stand in it once")
    return Vocabulary(pa.array(keys, pa.string()), names)


def plain_item(item: object, *, of: str = "the alphabet") -> Item:
    """An item of a list as a plain integer or text; BadInput for anything else."""
    if isinstance(item, str):
        return str(item)
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        return int(item)
    raise BadInput(f"{of} holds an item of type {type(item).__name__}; items are integers or text")
