"""How many transactions one person may contribute, where the person is the privacy unit."""

import numpy as np

from veilset.raw.cuts.rows import Keys
from veilset.raw.kernels import marking
from veilset.raw.transactions import Transactions


def keep_per_owner(transactions: Transactions, limit: int, keys: Keys) -> Transactions:
    """At most `limit` transactions of each owner, drawn uniformly; `keys` holds one random key a transaction.

    Two databases that differ by one owner then differ by at most `limit` transactions.
    """
    owners = transactions.owners
    if owners is None:
        return transactions
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    by_owner = np.append(first, owners.size).astype(np.int64)
    too_many = np.repeat(np.diff(by_owner) > limit, np.diff(by_owner))
    keep = marking.mark_smallest_keys(by_owner, keys[too_many], limit)
    lengths = transactions.lengths
    offsets = np.append(0, np.cumsum(lengths[keep])).astype(np.int64)
    items = transactions.items[np.repeat(keep, lengths)]
    return Transactions(offsets, items, transactions.alphabet, owners[keep])
