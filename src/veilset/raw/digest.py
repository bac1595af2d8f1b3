"""A keyed digest of transactions: the same for the same rows, in whatever order and under whatever codes.

For a ledger, to notice that data was read before. Whoever does not have the data and the key learns nothing from it;
whoever has both can tell whether it was this data, and nothing else.
"""

import hashlib

import numpy as np

from veilset.arrays import Int64Array, Uint64Array
from veilset.raw.kernels.row_hashes import sum_of_rows
from veilset.raw.transactions import Alphabet, Transactions

SUMS = 2
"""2 sums of 64 bits: that two tables agree in both by chance does not happen."""


def digest_of(transactions: Transactions, key: bytes) -> str:
    """The digest of what was read; rows count, and items by their names, whatever else is in the alphabet.

    >>> from veilset.raw.read import read
    >>> one, other = read([["milk"], ["beer", "milk"]]), read([["milk", "beer"], ["milk"]])
    >>> digest_of(one, b"key") == digest_of(other, b"key"), digest_of(one, b"key") == digest_of(one, b"other")
    (True, False)
    """
    occurs = np.bincount(transactions.items, minlength=1) > 0
    words = words_of(transactions.alphabet, np.flatnonzero(occurs))
    sums = [sum_of_rows(transactions.offsets, transactions.items, word) for word in words]
    return digest_from(len(transactions), np.array(sums, np.uint64), key)


def digest_from(number: int, sums: Uint64Array, key: bytes) -> str:
    """The digest of that many rows, which hash to these sums."""
    rows = np.append(np.uint64(number), sums).tobytes()
    return hashlib.blake2b(rows, key=key, digest_size=32).hexdigest()


def words_of(alphabet: Alphabet, occurring: Int64Array) -> Uint64Array:
    """Words that stand for each item that occurs, by its name alone: a row for each of the sums."""
    names = alphabet.names
    words = np.zeros((SUMS, max(len(names), 1)), np.uint64)
    for code in occurring.tolist():
        hashed = hashlib.blake2b(repr(names[code]).encode(), digest_size=8 * SUMS).digest()
        words[:, code] = np.frombuffer(hashed, np.uint64)
    return words
