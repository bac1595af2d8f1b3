"""Smart truncation: a cut that keeps what is likely to be frequent (DiffFIM, Zeng et al. 2012, Sec. 5.3)."""

from dataclasses import dataclass, field

import numpy as np

from veilset.errors import BadCall
from veilset.raw.bound import KeepRandom, Keys, Rows, check_limit, kept
from veilset.raw.counts import Int32Array, Int64Array
from veilset.raw.kernels import smart


@dataclass(frozen=True, slots=True, eq=False)
class KeepSmart:
    """Keep up to `limit` items of every longer transaction: those of the best candidates that it holds.

    Candidate c is `items[offsets[c]:offsets[c + 1]]`, all of one size, from two items up; `scores[c]` tells how
    frequent it seems. Both are public or paid for, so that the cut looks at one transaction alone.

    Starting from nothing, the items of the heaviest candidate that the transaction holds are added, then those
    of the next. A weight is the score, plus score / size for each item of the candidate that was added before;
    of equal weights the candidate that is first in lexicographic order goes first. Where not all items of a
    candidate fit, some are drawn uniformly (Alg. 8; repair Z8: it ends when `limit` is reached or no candidate
    is left). So a longer transaction loses all items that stand in no candidate it holds, even if it has room.

    Example 1 of the paper: {1, 2} goes first, and then {2, 3} weighs 8 + 8 / 2, while {4, 5} still weighs 9.

    >>> pairs, scores = np.array([1, 2, 2, 3, 4, 5], np.int32), np.array([10, 8, 9])
    >>> cut = KeepSmart(3, np.array([0, 2, 4, 6]), pairs, scores)
    >>> basket = Rows(np.array([0, 5]), np.array([1, 2, 3, 4, 5], np.int32))
    >>> cut.apply(basket, keys=np.zeros(cut.keys_needed(basket), np.uint32)).items.tolist()
    [1, 2, 3]
    """

    limit: int
    offsets: Int64Array
    items: Int32Array
    scores: Int64Array
    _numbers: Int32Array = field(init=False, repr=False)
    _candidates: smart.Candidates = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_limit(self.limit)
        itemsets = _as_table(self.offsets, self.items)
        _check_scores(self.scores, itemsets)
        chosen, numbered = np.unique(itemsets, return_inverse=True)
        numbers = np.full(chosen[-1] + 2, chosen.size, np.int32)
        numbers[chosen] = np.arange(chosen.size, dtype=np.int32)
        candidates = _in_blocks(numbered.reshape(itemsets.shape).astype(np.int32), self.scores)
        object.__setattr__(self, "_numbers", numbers)
        object.__setattr__(self, "_candidates", candidates)

    def longest(self, alphabet_size: int) -> int:
        """The limit."""
        return min(self.limit, alphabet_size)

    def keys_needed(self, rows: Rows) -> int:
        """One for each item of each row that is too long, as for a random cut."""
        return KeepRandom(self.limit).keys_needed(rows)

    def apply(self, rows: Rows, keys: Keys) -> Rows:
        """Keep the items of the heaviest candidates."""
        marks = smart.mark_heaviest(
            rows.offsets, rows.items, keys, self._numbers, self._candidates, self.limit
        )
        return kept(rows, marks)


def _as_table(offsets: Int64Array, items: Int32Array) -> Int32Array:
    """One row of ascending codes for each candidate, if all are sets of one size and differ."""
    sizes = np.unique(np.diff(offsets))
    if sizes.size != 1 or sizes[0] < 2:
        raise BadCall("a smart cut needs candidates of one size; give at least one, all of two items or more")
    itemsets = np.sort(items[offsets[0] : offsets[-1]].reshape(-1, sizes[0]), axis=1)
    if itemsets.min() < 0:
        raise BadCall("a candidate holds a negative code; give codes of the alphabet, from 0 up")
    if np.any(itemsets[:, 1:] == itemsets[:, :-1]):
        raise BadCall("a candidate holds an item twice; give each item of a candidate once")
    if np.unique(itemsets, axis=0).shape != itemsets.shape:
        raise BadCall("a candidate stands twice among those to keep; give each once")
    return itemsets


def _check_scores(scores: Int64Array, itemsets: Int32Array) -> None:
    number, size = itemsets.shape
    if scores.size != number:
        raise BadCall(f"{scores.size} scores for {number} candidates; give one score for each")
    most = (2**63 - 1) // (2 * size)  # a weight is the score times up to 2 * size
    if not -most <= scores.min() <= scores.max() <= most:
        raise BadCall(f"a score is too large to compute with; give scores from {-most} to {most}")


def _in_blocks(itemsets: Int32Array, scores: Int64Array) -> smart.Candidates:
    """The candidates as the kernel wants them; items are given by number."""
    order = np.lexsort(itemsets.T[::-1])
    ordered = itemsets[order]
    last = ordered[:, -1].astype(np.int64)
    of_block = np.column_stack([ordered[:, :-1], last >> 6])
    differs = np.any(of_block[1:] != of_block[:-1], axis=1)
    firsts = np.flatnonzero(np.append(True, differs))
    number_of_blocks = np.bincount(ordered[firsts, 0], minlength=itemsets.max() + 1)
    return smart.Candidates(
        itemsets=ordered,
        scores=scores[order],
        starts=np.append(0, np.cumsum(number_of_blocks)),
        firsts=firsts,
        words=last[firsts] >> 6,
        bits=np.bitwise_or.reduceat(np.uint64(1) << (last & 63).astype(np.uint64), firsts),
    )
