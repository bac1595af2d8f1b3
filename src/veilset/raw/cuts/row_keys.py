"""Random keys of transactions: by them samples, truncations and owners' choices are drawn.

Whoever asks draws one secret of 128 bits at the gate, and every key is a value of SipHash-2-4 under it: of what a
transaction holds, and of its number among those that hold the same. So a key does not depend on where a transaction
stands, in which chunk or partition it is counted, or how often: one that was lost is counted again by the same keys,
and all engines answer alike. Which of several equal transactions has which number is of no account: they are the same.

Privacy argument. One more transaction t takes the next number among those equal to it and changes no other number, so
neighbours that differ by t have the same keys for all others, whatever the secret is.

* A truncation, or the choice among what one person owns, is therefore the same for everybody else, and two databases
  that differ by one unit still differ by one afterwards. That holds for every secret, known or not.
* A sample is worth its price because t is in it with a probability that nobody knows better. That takes keys that are
  independent and uniform for whoever does not have the secret. Given a random secret, those of different
  transactions are different inputs of one SipHash; that its values cannot be told from random ones is what it was
  made for, and an assumption, as it is of the generator from which every operating system draws: the promise for
  questions on samples holds against whoever cannot break either. A generator made for simulation alone, such as Philox,
  would carry no such claim.

The secret is drawn anew for each question, or once for a sample, stays in the memory of the process, and is in no
answer, trace, log or file. On a cluster it travels to those who count, who hold the data itself.
"""

from typing import NamedTuple, Protocol

import numpy as np

from veilset.arrays import Uint32Array, Uint64Array
from veilset.raw.counts import mute
from veilset.raw.cuts.rows import CompressedRows, Keys
from veilset.raw.kernels import siphash

_OF_ROWS, _OF_ITEMS, _OF_OWNED = range(3)
"""What a value is for: the first word of every message."""


class NumberedRows(NamedTuple):
    """Some transactions, each with its number among those of the whole data that are equal to it."""

    rows: CompressedRows
    numbers: Uint32Array


class LongRows(NamedTuple):
    """What is left to chance: every item of every row that has more than `limit` wants a key, one row after another."""

    rows: CompressedRows
    limit: int

    @property
    def keys(self) -> int:
        """How many keys are wanted."""
        lengths = np.diff(self.rows.offsets)
        return int(lengths[lengths > self.limit].sum())


class OwnedRows(NamedTuple):
    """Transactions of owners: what each holds, and what its owner has, as values of `of_contents`, with numbers.

    `numbers` is that of a transaction among the equal ones of its owner, `owner_numbers` that of the owner among those
    who have the same.
    """

    contents: Uint64Array
    numbers: Uint32Array
    owners: Uint64Array
    owner_numbers: Uint32Array


class RowKeys(Protocol):
    """Uniform random keys of transactions, by what they hold."""

    def of_rows(self, numbered: NumberedRows) -> Keys:
        """A key of 32 bits for each transaction."""

    def of_items(self, numbered: NumberedRows, wanted: LongRows) -> Keys:
        """Keys of 32 bits for the items that want one; row r of what is wanted was made of transaction r."""

    def of_contents(self, rows: CompressedRows) -> Uint64Array:
        """64 bits for each transaction, the same for equal ones."""

    def of_owned(self, owned: OwnedRows) -> Uint64Array:
        """A key of 64 bits for each transaction of an owner."""


@mute
class SipKeys:
    """Keys under a secret of two words of 64 bits.

    >>> rows = CompressedRows(np.array([0, 2, 4]), np.array([3, 5, 3, 5], np.int32))
    >>> keys = SipKeys(np.array([1, 2], np.uint64))
    >>> first, second = keys.of_rows(NumberedRows(rows, np.array([0, 1], np.uint32))).tolist()
    >>> swapped = keys.of_rows(NumberedRows(rows, np.array([1, 0], np.uint32))).tolist()
    >>> swapped == [second, first], keys
    (True, SipKeys(private))
    """

    secret: Uint64Array

    def of_rows(self, numbered: NumberedRows) -> Keys:
        """The upper half of the value of each transaction."""
        return (self._values(numbered) >> np.uint64(32)).astype(np.uint32)

    def of_items(self, numbered: NumberedRows, wanted: LongRows) -> Keys:
        """The value of each long transaction, stretched to as many keys as it has items."""
        values = self._values(numbered)
        return siphash.of_places(_OF_ITEMS, values, wanted.rows.offsets, wanted.limit, self.secret)

    def of_contents(self, rows: CompressedRows) -> Uint64Array:
        """The value of each transaction, whatever its number."""
        return self._values(NumberedRows(rows, np.zeros(rows.offsets.size - 1, np.uint32)))

    def of_owned(self, owned: OwnedRows) -> Uint64Array:
        """The value of all four, in words of 32 bits."""
        tags = np.full(owned.numbers.size, _OF_OWNED, np.uint32)
        columns = [
            *(tags, owned.numbers, owned.owner_numbers),
            *(half for value in (owned.contents, owned.owners) for half in _halves(value)),
        ]
        return siphash.of_table(np.ascontiguousarray(np.column_stack(columns)), self.secret)

    def _values(self, numbered: NumberedRows) -> Uint64Array:
        rows, numbers = numbered
        return siphash.of_lists(_OF_ROWS, numbers, rows.offsets, rows.items, self.secret)


def _halves(values: Uint64Array) -> tuple[Uint32Array, Uint32Array]:
    """The lower and the upper 32 bits."""
    return (values & np.uint64(0xFFFFFFFF)).astype(np.uint32), (values >> np.uint64(32)).astype(np.uint32)
