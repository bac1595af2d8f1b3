"""Truncation by similarity: keep what a transaction shares with a likely itemset (DP-FIM, Alg. 3)."""

from dataclasses import dataclass, field

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.errors import BadCall
from veilset.integers import whole_numbers
from veilset.raw.cuts.row_keys import LongRows
from veilset.raw.cuts.rows import CompressedRows, Keys, keep_lists
from veilset.raw.cuts.truncation import checked_limit
from veilset.raw.kernels import marking, similar


@dataclass(frozen=True, slots=True, eq=False)
class KeepSimilar:
    """Keep the items of a public order, at most `limit` of them in every transaction.

    A longer transaction keeps first the items that it shares with the most similar target, then its other ones, each
    in the order.
    Target c is `items[offsets[c]:offsets[c + 1]]`. The paper takes the longest common subsequence as similarity;
    for sets written in one order that is the largest intersection. Order and targets are public or paid for, so
    the truncation looks at one transaction alone.

    >>> truncation = KeepSimilar(3, np.array([4, 3, 2, 1, 0]), np.array([0, 2, 4]), np.array([4, 9, 0, 1], np.int32))
    >>> basket = CompressedRows(np.array([0, 5]), np.array([0, 1, 3, 4, 5], np.int32))
    >>> truncation.apply(basket, keys=np.zeros(0, np.uint32)).items.tolist()
    [0, 1, 4]
    """

    limit: int
    order: Int64Array
    offsets: Int64Array
    items: Int32Array
    _rank: Int64Array = field(init=False, repr=False)
    _targets: Uint64Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", checked_limit(self.limit))
        object.__setattr__(self, "order", whole_numbers(self.order, "items of an order"))
        keep_lists(self, "targets")
        if self.order.size == 0 or self.order.min() < 0 or np.unique(self.order).size < self.order.size:
            raise BadCall("a truncation by similarity needs different items in an order, codes from 0 up")
        rank = np.full(int(self.order.max()) + 1, -1, np.int64)
        rank[self.order] = np.arange(self.order.size)
        object.__setattr__(self, "_rank", rank)
        object.__setattr__(self, "_targets", self._as_words(rank))

    def longest(self, alphabet_size: int) -> int:
        """The limit, or all items of the order."""
        if self.order.max() >= alphabet_size:
            raise BadCall(
                f"an item of the order lies outside the alphabet of {alphabet_size}; give codes of it"
            )
        return min(self.limit, self.order.size)

    def keys_needed(self, rows: CompressedRows) -> LongRows | None:  # noqa: ARG002 - part of the protocol
        """None."""
        return None

    def apply(self, rows: CompressedRows, keys: Keys) -> CompressedRows:  # noqa: ARG002
        """Restrict to the order, then truncate the long ones."""
        keep = similar.mark_similar(rows.offsets, rows.items, self._rank, self._targets, self.limit)
        return CompressedRows(*marking.keep_marked(rows.offsets, rows.items, keep))

    def _as_words(self, rank: Int64Array) -> Uint64Array:
        """One row of bits for each target; items that are not in the order cannot be shared."""
        target = np.repeat(np.arange(self.offsets.size - 1), np.diff(self.offsets))
        is_early = self.items < rank.size
        target, ranks = target[is_early], rank[self.items[is_early]]
        target, ranks = target[ranks >= 0], ranks[ranks >= 0]
        words = np.zeros((self.offsets.size - 1, (self.order.size + 63) >> 6), np.uint64)
        np.bitwise_or.at(words, (target, ranks >> 6), np.uint64(1) << (ranks & 63).astype(np.uint64))
        return words
