"""Smart truncation: keep what is likely to be frequent (DiffFIM, Zeng et al. 2012, Sec. 5.3)."""

from dataclasses import dataclass, field

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.errors import BadCall
from veilset.integers import whole_numbers
from veilset.raw.cuts.row_keys import LongRows
from veilset.raw.cuts.rows import CompressedRows, Keys, keep_lists
from veilset.raw.cuts.truncation import checked_limit
from veilset.raw.kernels import smart


@dataclass(frozen=True, slots=True, eq=False)
class KeepSmart:
    """Keep up to `limit` items of every longer transaction: those of the best candidates that it holds.

    Candidate c is `items[offsets[c]:offsets[c + 1]]`, all of one size, from two items up; `scores[c]` tells
    how frequent it seems. Both are public or paid for, so the truncation looks at one transaction and its
    keys alone.

    Starting from nothing, the items of the heaviest candidate that the transaction holds are added, then those
    of the next. A weight is the score, plus score / size for each item of the candidate that is there already;
    of equal weights the candidate that is first in lexicographic order goes first. Where not all items of a
    candidate fit, some are drawn uniformly (Alg. 8; repair Z8: it ends when `limit` is reached or when no
    candidate is left). So a longer transaction loses all items that stand in no candidate that it holds, even
    if there is room for them.

    Example 1 of the paper: {1, 2} goes first, and then {2, 3} weighs 8 + 8 / 2, while {4, 5} still weighs 9.

    >>> pairs, scores = np.array([1, 2, 2, 3, 4, 5], np.int32), np.array([10, 8, 9])
    >>> truncation = KeepSmart(3, np.array([0, 2, 4, 6]), pairs, scores)
    >>> basket = CompressedRows(np.array([0, 5]), np.array([1, 2, 3, 4, 5], np.int32))
    >>> truncation.apply(basket, keys=np.zeros(5, np.uint32)).items.tolist()
    [1, 2, 3]
    """

    limit: int
    offsets: Int64Array
    items: Int32Array
    scores: Int64Array
    _candidates: smart.CandidateBlocks = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", checked_limit(self.limit))
        object.__setattr__(self, "scores", whole_numbers(self.scores, "scores"))
        keep_lists(self, "candidates")
        itemsets = _as_table(self.offsets, self.items)
        _check_scores(self.scores, itemsets)
        order = np.lexsort(itemsets.T[::-1])
        object.__setattr__(self, "_candidates", _in_blocks(itemsets[order], self.scores[order]))

    def longest(self, alphabet_size: int) -> int:
        """The limit."""
        return min(self.limit, alphabet_size)

    def keys_needed(self, rows: CompressedRows) -> LongRows | None:
        """One for each item of each row that is too long, as for a random truncation."""
        return LongRows(rows, self.limit)

    def apply(self, rows: CompressedRows, keys: Keys) -> CompressedRows:
        """Keep the items of the heaviest candidates."""
        return CompressedRows(
            *smart.keep_heaviest(rows.offsets, rows.items, keys, self._candidates, self.limit)
        )


def _as_table(offsets: Int64Array, items: Int32Array) -> Int32Array:
    """One row of ascending codes for each candidate, if all are sets of one size."""
    sizes = np.unique(np.diff(offsets))
    if sizes.size != 1 or sizes[0] < 2:
        raise BadCall(
            "a smart truncation needs candidates of one size; give at least one, all of two items or more"
        )
    itemsets = np.sort(items[offsets[0] : offsets[-1]].reshape(-1, sizes[0]), axis=1)
    if np.any(itemsets[:, 1:] == itemsets[:, :-1]):
        raise BadCall("a candidate holds an item twice; give each item of a candidate once")
    return itemsets


def _check_scores(scores: Int64Array, itemsets: Int32Array) -> None:
    number, size = itemsets.shape
    if scores.size != number:
        raise BadCall(f"{scores.size} scores for {number} candidates; give one score for each")
    most = (2**63 - 1) // (2 * size)  # a weight is the score times up to 2 * size
    if not -most <= scores.min() <= scores.max() <= most:
        raise BadCall(f"a score is too large to compute with; give scores from {-most} to {most}")


def _in_blocks(itemsets: Int32Array, scores: Int64Array) -> smart.CandidateBlocks:
    """The candidates as the kernel wants them; given in lexicographic order."""
    if np.any(np.all(itemsets[1:] == itemsets[:-1], axis=1)):
        raise BadCall("a candidate stands twice among those to keep; give each once")
    codes = np.unique(itemsets)
    numbers = np.full(codes[-1] + 2, codes.size, np.int32)
    numbers[codes] = np.arange(codes.size, dtype=np.int32)

    numbered = numbers[itemsets]
    last = numbered[:, -1].astype(np.int64)
    shared = np.column_stack([numbered[:, :-1], last >> 6])  # what candidates of one block have in common
    firsts = np.flatnonzero(np.append(True, np.any(shared[1:] != shared[:-1], axis=1)))
    blocks = np.bincount(numbered[firsts, 0], minlength=codes.size)
    return smart.CandidateBlocks(
        codes=codes,
        numbers=numbers,
        itemsets=numbered,
        scores=scores,
        starts=np.append(0, np.cumsum(blocks)),
        firsts=firsts,
        words=last[firsts] >> 6,
        bits=np.bitwise_or.reduceat(np.uint64(1) << (last & 63).astype(np.uint64), firsts),
    )
