"""A keyed digest of transactions: the same for the same rows, in whatever order and under whatever codes.

For a ledger, to notice that data was read before. Whoever does not have the data and the key learns nothing from it;
whoever has both can tell whether it was this data, and nothing else.
"""

import hashlib

import numpy as np

from veilset.arrays import Uint64Array
from veilset.raw.kernels.row_hashes import sum_of_rows
from veilset.raw.transactions import Transactions

SUMS = 2
"""2 sums of 64 bits: that two tables agree in both by chance does not happen."""


def digest_of(transactions: Transactions, key: bytes) -> str:
    """The digest of what was read; rows count, and items by their names, whatever else is in the alphabet.

    >>> from veilset.raw.read import read
    >>> one, other = read([["milk"], ["beer", "milk"]]), read([["milk", "beer"], ["milk"]])
    >>> digest_of(one, b"key") == digest_of(other, b"key"), digest_of(one, b"key") == digest_of(one, b"other")
    (True, False)
    """
    words = _words_of(transactions)
    sums = [sum_of_rows(transactions.offsets, transactions.items, word) for word in words]
    rows = np.array([len(transactions), *sums], np.uint64).tobytes()
    return hashlib.blake2b(rows, key=key, digest_size=32).hexdigest()


def _words_of(transactions: Transactions) -> Uint64Array:
    """Words that stand for each item, by its name alone: a row for each of the sums."""
    names, occurs = transactions.alphabet.names, np.bincount(transactions.items, minlength=1) > 0
    words = np.zeros((SUMS, max(len(names), 1)), np.uint64)
    for code in np.flatnonzero(occurs).tolist():
        hashed = hashlib.blake2b(repr(names[code]).encode(), digest_size=8 * SUMS).digest()
        words[:, code] = np.frombuffer(hashed, np.uint64)
    return words
