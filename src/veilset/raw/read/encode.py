"""From rows as they were read to transactions over an alphabet."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from veilset.arrays import Int32Array, Int64Array
from veilset.errors import BadInput
from veilset.raw.kernels import parse
from veilset.raw.read.vocabulary import Vocabulary
from veilset.raw.transactions import Alphabet, Transactions


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TokenRows:
    """Rows as they were read: row r holds `tokens[offsets[r]:offsets[r + 1]]`, in any order, with repeats.

    A token is a small number that stands for an item: `tokens_of_names[i]` for the item called `names[i]`.
    Names are distinct, an Arrow array of integers or of strings. `is_ascending` promises that no row has
    repeats or a token before a smaller one.
    """

    offsets: Int64Array
    tokens: Int32Array
    names: pa.Array
    tokens_of_names: Int64Array
    is_ascending: bool = False
    owners: Int64Array | None = None


def encode(rows: TokenRows, vocabulary: Vocabulary | None, *, name: str) -> Transactions:
    """Give every item its code in the alphabet; without a given one, the items there are make it, sorted.

    Takes the arrays of `rows` over: they are changed in place, since they can be most of the memory there is.
    """
    if vocabulary is not None:
        return _encode_given(rows, vocabulary)
    if len(rows.names) == 0:
        raise BadInput(f"{name} holds no item at all; check the format, or give an alphabet")
    return _encode_own(rows)


def dictionary_rows(offsets: Int64Array, items: pa.Array | pa.ChunkedArray) -> TokenRows:
    """Rows of items, nulls left out; row r holds `items[offsets[r]:offsets[r + 1]]`."""
    if items.null_count:
        kept_before = np.concatenate([[0], np.cumsum(items.is_valid().to_numpy(zero_copy_only=False))])
        offsets = kept_before[offsets]
        items = items.drop_null()
    encoded = items.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    tokens = np.array(encoded.indices, dtype=np.int32)  # a copy: Arrow's own memory must not be changed
    names = encoded.dictionary
    return TokenRows(offsets, tokens, names, np.arange(len(names), dtype=np.int64))


def _encode_own(rows: TokenRows) -> Transactions:
    order = pc.sort_indices(rows.names).to_numpy()
    codes = np.empty(order.size, dtype=np.int32)
    codes[order] = np.arange(order.size, dtype=np.int32)
    alphabet = Alphabet(rows.names.take(pa.array(order)).to_pylist(), is_given=False)
    return _recoded(rows, codes, alphabet)


def _encode_given(rows: TokenRows, vocabulary: Vocabulary) -> Transactions:
    codes = pc.index_in(rows.names.cast(pa.string()), vocabulary.keys).fill_null(-1).to_numpy()
    return _recoded(rows, codes, Alphabet(vocabulary.names, is_given=True))


def _recoded(rows: TokenRows, codes: Int32Array, alphabet: Alphabet) -> Transactions:
    """Transactions in which the item `names[i]` has the code `codes[i]`, or is dropped if that is -1."""
    tokens_of_names = rows.tokens_of_names
    code_of = np.full(int(tokens_of_names.max(initial=-1)) + 1, -1, dtype=np.int32)
    code_of[tokens_of_names] = codes
    offsets, items = rows.offsets, rows.tokens
    if rows.is_ascending and _ascends(code_of[np.sort(tokens_of_names)]):
        parse.replace(items, code_of)
    else:
        parse.encode_rows(offsets, items, code_of)
        kept = items[: offsets[-1]]
        items = kept if 2 * kept.size > items.size else kept.copy()
    return Transactions(offsets, items, alphabet, rows.owners)


def _ascends(codes: Int32Array) -> bool:
    """Whether tokens that ascend stay so as codes, and none is dropped."""
    return bool(np.all(codes >= 0) and np.all(np.diff(codes) > 0))
