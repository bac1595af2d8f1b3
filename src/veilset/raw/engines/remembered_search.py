"""Depth-first searches for the best itemsets, of which the last one is remembered.

Questions about the same itemsets follow each other and want about as many: a search looks for somewhat more than is
wanted, and its beginning answers the next question. Where itemsets tie across the end, which of them a search names
depends on what else it looked for; then it is made anew, so that answers never depend on questions before.
"""

import numpy as np

from veilset.arrays import Int64Array
from veilset.raw.counts import ExactItemsets
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.engines import mining
from veilset.raw.engines.itemset_filter import ItemsetFilter

LARGEST_K_REMEMBERED = 1 << 14
"""At most 16,384 itemsets are remembered; who wants more, searches anew."""

_Key = tuple[int, int | None, int, bytes | None]


class RememberedSearch:
    """Finds what `mining.top` finds."""

    def __init__(self, rows: CompressedRows, supports: Int64Array, *, threads: int) -> None:
        self._rows, self._supports, self._threads = rows, supports, threads
        self._last: tuple[_Key, int, ExactItemsets] | None = None

    def __repr__(self) -> str:
        return "RememberedSearch(private)"

    def top(self, k: int, which: ItemsetFilter) -> ExactItemsets:
        """The k itemsets of largest support that the filter lets through; of those that tie for the last, some."""
        mining.check_rank(k)
        if k > LARGEST_K_REMEMBERED:
            return self._searched(k, which)
        key = _key_of(which)
        if self._last is None or self._last[0] != key or self._last[1] < k:
            more = 1 << (k - 1).bit_length()
            self._last = key, more, self._searched(more, which)
        beginning = first_without_ties(self._last[2], k)
        return self._searched(k, which) if beginning is None else beginning

    def _searched(self, k: int, which: ItemsetFilter) -> ExactItemsets:
        return mining.top(
            self._rows,
            k,
            which,
            alphabet_size=self._supports.size,
            supports=self._supports,
            threads=self._threads,
        )


def first_without_ties(found: ExactItemsets, k: int) -> ExactItemsets | None:
    """The first k of itemsets by support, or all if there are no more; None where the k-th ties with the next one."""
    if k >= found.supports.size:
        return found
    if found.supports[k - 1] == found.supports[k]:
        return None
    return ExactItemsets(
        found.offsets[: k + 1].copy(), found.items[: found.offsets[k]].copy(), found.supports[:k].copy()
    )


def _key_of(which: ItemsetFilter) -> _Key:
    items = None if which.items is None else np.asarray(which.items, np.int64).tobytes()
    return which.min_size, which.max_size, which.min_count, items
