"""How many transactions one person may contribute, where the person is the privacy unit."""

import numpy as np

from veilset.arrays import BoolArray, Int32Array, Int64Array, Uint32Array
from veilset.raw.cuts.row_keys import OwnedRows, RowKeys
from veilset.raw.cuts.rows import CompressedRows, chosen_rows
from veilset.raw.kernels import equal_rows
from veilset.raw.transactions import Transactions

_EVERY_LENGTH = -1
"""Rows of any length, empty ones too, are told apart."""


def keep_per_owner(transactions: Transactions, limit: int, keys: RowKeys) -> Transactions:
    """At most `limit` transactions of each owner, drawn uniformly: those of the smallest keys.

    Two databases that differ by one owner then differ by at most `limit` transactions. What is kept of an owner depends
    on what that owner has and, where others have the same, on a number among these: a new owner takes the next one,
    so nobody else's choice changes. Owners of up to `limit` transactions keep all of them and want no key.
    """
    owners = transactions.owners
    if owners is None:
        return transactions
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    owned = np.diff(np.append(first, owners.size))
    keep = np.ones(owners.size, np.bool_)
    crowded = np.flatnonzero(np.repeat(owned > limit, owned))
    keep[crowded] = _kept_of_crowded(transactions, crowded, owned[owned > limit], limit, keys)
    kept = chosen_rows(CompressedRows(transactions.offsets, transactions.items), keep)
    return Transactions(kept.offsets, kept.items, transactions.alphabet, owners[keep])


def _kept_of_crowded(
    transactions: Transactions, crowded: Int64Array, owned: Int64Array, limit: int, keys: RowKeys
) -> BoolArray:
    """Which transactions to keep of owners who have too many; `owned[i]` of those at `crowded` are of the i-th."""
    is_crowded = np.zeros(len(transactions), np.bool_)
    is_crowded[crowded] = True
    rows = chosen_rows(CompressedRows(transactions.offsets, transactions.items), is_crowded)
    drawn = keys.of_owned(_identified(rows, owned, keys))
    owner = np.repeat(np.arange(owned.size), owned)
    order = np.lexsort((drawn, owner))
    starts = np.cumsum(owned) - owned
    keep = np.zeros(crowded.size, np.bool_)
    keep[order] = np.arange(crowded.size) - np.repeat(starts, owned) < limit
    return keep


def _identified(rows: CompressedRows, owned: Int64Array, keys: RowKeys) -> OwnedRows:
    """What tells transactions of owners apart: contents, and numbers among equal ones."""
    contents = keys.of_contents(rows)
    owner = np.repeat(np.arange(owned.size), owned)
    classes, _ = equal_rows.number_equal_rows(rows.offsets, rows.items, _EVERY_LENGTH)
    order = np.lexsort((classes, owner))
    bounds = np.append(0, np.cumsum(owned)).astype(np.int64)
    _, owner_numbers = equal_rows.number_equal_rows(
        bounds, np.ascontiguousarray(classes[order]), _EVERY_LENGTH
    )
    numbers = np.empty(order.size, np.uint32)
    numbers[order] = _places_in_runs(owner[order], classes[order])
    with np.errstate(over="ignore"):
        of_owners = np.add.reduceat(contents, bounds[:-1]) if owned.size else contents
    return OwnedRows(contents, numbers, of_owners[owner], owner_numbers[owner])


def _places_in_runs(*columns: Int32Array | Int64Array) -> Uint32Array:
    """The place of each entry within its run: entries one after another that agree in all columns."""
    number = columns[0].size
    is_first = np.ones(number, np.bool_)
    is_first[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    starts = np.flatnonzero(is_first)
    lengths = np.diff(np.append(starts, number))
    return (np.arange(number) - np.repeat(starts, lengths)).astype(np.uint32)
