"""From rows as they were read to transactions over an alphabet."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.arrays import BoolArray, Int32Array, Int64Array
from veilset.arrow_arrays import integers, numpy_of, taken
from veilset.deferred import Deferred
from veilset.raw.disk_arrays import DiskArray
from veilset.raw.kernels import parse
from veilset.raw.read.cores import on_all_cores, on_parts
from veilset.raw.read.vocabulary import LONG_INTEGER, Vocabulary
from veilset.raw.transactions import Alphabet, ArrowNames, Transactions

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = Deferred("pyarrow.compute")

LARGEST_COPY_IN_MEMORY = 1 << 30
"""Arrays of 1 GB or more are copied to the disk."""

TOKENS_TO_ENCODE = 1 << 17
"""In one part: enough that it takes longer than to hand it to a thread, and few enough that all threads have some."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TokenRows:
    """Rows as they were read: row r holds `tokens[offsets[r]:offsets[r + 1]]`, in any order, with repeats.

    A token is a small number that stands for an item: `tokens_of_names[i]` for the item called `names[i]`.
    Names are distinct, an Arrow array of integers or of strings; of strings, `are_integers` tells those that
    stand for an integer. `is_ascending` promises that no row has repeats or a token before a smaller one.
    """

    offsets: Int64Array
    tokens: Int32Array
    names: pa.Array
    tokens_of_names: Int64Array
    are_integers: BoolArray | None = None
    is_ascending: bool = False
    owners: Int64Array | None = None
    is_by_person: bool = False
    is_by_basket: bool = False


def encode(rows: TokenRows, vocabulary: Vocabulary | None) -> Transactions:
    """Give every item its code in the alphabet; without a given one, the items there are make it, sorted.

    Takes the arrays of `rows` over: they are changed in place, since they can be most of the memory there is.
    """
    return _encode_own(rows) if vocabulary is None else _encode_given(rows, vocabulary)


def over_alphabet(transactions: Transactions, vocabulary: Vocabulary) -> Transactions:
    """The same transactions over a given alphabet; items that it does not hold are dropped."""
    names = _texts_of(transactions.alphabet)
    rows = TokenRows(
        _copied(transactions.offsets),
        _copied(transactions.items),
        names,
        np.arange(len(names), dtype=np.int64),
        owners=transactions.owners,
        is_by_person=transactions.is_by_person,
        is_by_basket=transactions.is_by_basket,
    )
    return _encode_given(rows, vocabulary)


def _copied(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers, to be changed; on the disk, where they may be mapped from a file that memory cannot hold."""
    if values.nbytes < LARGEST_COPY_IN_MEMORY:
        return values.copy()
    with DiskArray(values.dtype.type) as copy:
        copy.append(values)
        return copy.whole()


def dictionary_rows(offsets: Int64Array, items: pa.Array | pa.ChunkedArray) -> TokenRows:
    """Rows of items, nulls left out; row r holds `items[offsets[r]:offsets[r + 1]]`."""
    if items.null_count:
        kept_before = np.concatenate([[0], np.cumsum(items.is_valid().to_numpy(zero_copy_only=False))])
        offsets = kept_before[offsets]
        items = items.drop_null()
    encoded = items.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    tokens = np.array(numpy_of(encoded.indices), np.int32)  # a copy: Arrow's own memory must not be changed
    names = encoded.dictionary
    if pa.types.is_integer(names.type) and names.type != pa.uint64():
        names = names.cast(pa.int64())  # encoded files and the order of names know no shorter ones
    return TokenRows(offsets, tokens, names, np.arange(len(names), dtype=np.int64))


def offsets_of(lengths: Int64Array) -> Int64Array:
    """Where each row starts, and the last one ends, of rows that have these lengths."""
    offsets = np.zeros(lengths.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _encode_own(rows: TokenRows) -> Transactions:
    order = order_of_names(rows.names, rows.are_integers)
    codes = np.empty(order.size, dtype=np.int32)
    codes[order] = np.arange(order.size, dtype=np.int32)
    are_integers = None if rows.are_integers is None else rows.are_integers[order]
    names = ArrowNames(taken(rows.names, order), are_integers)
    return _recoded(rows, codes, Alphabet(names, is_given=False))


def order_of_names(names: pa.Array, are_integers: BoolArray | None = None) -> Int64Array:
    """The order of names: integers by their value, then text by its code points."""
    if pa.types.is_integer(names.type):
        return np.argsort(numpy_of(names)).astype(np.int64)
    if are_integers is None or not are_integers.any():
        return numpy_of(pc.sort_indices(names)).astype(np.int64)
    places, texts = np.flatnonzero(are_integers), np.flatnonzero(~are_integers)
    order_of_texts = numpy_of(pc.sort_indices(names.take(integers(texts))))
    return np.concatenate([places[_order_of_values(names.take(integers(places)))], texts[order_of_texts]])


def _order_of_values(written: pa.Array) -> Int64Array:
    """The order of integers that are written out, by their value; a longer one is larger, or if negative, smaller."""
    is_long = numpy_of(pc.binary_length(written)) >= LONG_INTEGER
    short, long = np.flatnonzero(~is_long), np.flatnonzero(is_long)
    values = numpy_of(written.take(integers(short)).cast(pa.int64()))
    sorted_long = sorted((int(written[place].as_py()), place) for place in long.tolist())
    below = [place for value, place in sorted_long if value < 0]
    above = [place for value, place in sorted_long if value > 0]
    return np.concatenate([below, short[np.argsort(values)], above]).astype(np.int64)


def _texts_of(alphabet: Alphabet) -> pa.Array:
    """What items are called, as text."""
    if isinstance(alphabet.stored, ArrowNames):
        return alphabet.stored.array
    return pa.array([str(name) for name in alphabet.stored], pa.string())


def _encode_given(rows: TokenRows, vocabulary: Vocabulary) -> Transactions:
    codes = numpy_of(pc.index_in(rows.names.cast(pa.string()), vocabulary.keys).fill_null(-1))
    return _recoded(rows, codes, Alphabet(vocabulary.names, is_given=True))


def _recoded(rows: TokenRows, codes: Int32Array, alphabet: Alphabet) -> Transactions:
    """Transactions in which the item `names[i]` has the code `codes[i]`, or is dropped if that is -1."""
    tokens_of_names = rows.tokens_of_names
    code_of = np.full(int(tokens_of_names.max(initial=-1)) + 1, -1, dtype=np.int32)
    code_of[tokens_of_names] = codes
    offsets, items = rows.offsets, rows.tokens
    if rows.is_ascending and _ascends(code_of[np.sort(tokens_of_names)]):
        on_parts(lambda part: parse.replace(part, code_of), items)
    else:
        _encode_rows(offsets, items, code_of)
        kept = items[: offsets[-1]]
        items = kept if 2 * kept.size > items.size else kept.copy()
    return Transactions(offsets, items, alphabet, rows.owners, rows.is_by_person, rows.is_by_basket)


def _encode_rows(offsets: Int64Array, items: Int32Array, code_of: Int32Array) -> None:
    """What `parse.encode_rows` does, on all cores: parts of the rows by themselves, which then move together."""
    cuts = np.searchsorted(offsets, np.arange(0, items.size, TOKENS_TO_ENCODE)).tolist()
    parts = [slice(first, end) for first, end in pairwise([*cuts, offsets.size - 1]) if first < end]

    def encoded(part: slice) -> tuple[Int64Array, Int32Array]:
        own = offsets[part.start : part.stop + 1] - offsets[part.start]
        held = items[offsets[part.start] : offsets[part.stop]]
        parse.encode_rows(own, held, code_of)
        return own, held[: own[-1]]

    done = list(on_all_cores(encoded, parts))
    written = 0
    for part, (own, held) in zip(parts, done, strict=True):
        items[written : written + held.size] = held
        np.add(own, written, out=offsets[part.start : part.stop + 1])
        written += held.size


def _ascends(codes: Int32Array) -> bool:
    """Whether tokens that ascend stay so as codes, and none is dropped."""
    return bool(np.all(codes >= 0) and np.all(np.diff(codes) > 0))
