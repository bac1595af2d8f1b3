"""Splitting: a long transaction becomes several short ones (SplitSample, Liang et al. 2020)."""

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.errors import BadCall
from veilset.integers import whole, whole_numbers
from veilset.raw.cuts.row_keys import LongRows
from veilset.raw.cuts.rows import CompressedRows, Keys, keep_lists
from veilset.raw.kernels import splitting


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Place every item of a transaction in one piece of up to `limit` items, frequent patterns together.

    Pattern p is `items[offsets[p]:offsets[p + 1]]`; `weights[p]`, from 0 up, tells how frequent it seems. Both
    are public or paid for, so a split looks at one transaction alone. Every item that stands in a pattern must be
    a pattern by itself, too. Items in no pattern are forgotten: no itemset that is asked for holds them.

    A piece is filled greedily: the heaviest pattern among those whose items are all still there or in the piece,
    that fits and adds something; again and again until the piece is full (Problem 1). The weight of a pattern
    grows by weight / size for each of its items in the piece (4). Of equal weights the one that was heavier
    before goes first, then the smaller, then the first in lexicographic order. Single items always fit, so
    every piece but the last is full.

    This is no truncation. Pieces have no item in common, so a transaction moves the support of each single itemset
    by at most 1. But all its items are still there: together it moves as many supports as it would unsplit, up to all
    single items and all that fits in pieces, whatever the limit (S7). So there is no `longest` here, and
    no question that scales its noise to the longest transaction takes a split.

    >>> patterns = np.array([0, 1, 2, 3, 0, 3], np.int32)
    >>> split = Split(2, np.array([0, 1, 2, 3, 4, 6]), patterns, weights=np.array([9, 8, 7, 6, 6]))
    >>> pieces = split.apply(CompressedRows(np.array([0, 4]), np.array([0, 1, 2, 3], np.int32)), np.empty(0, np.uint32))
    >>> pieces.items.tolist(), pieces.offsets.tolist()  # after 0, {0, 3} weighs 6 + 6/2, more than 1
    ([0, 3, 1, 2], [0, 2, 4])
    """

    limit: int
    offsets: Int64Array
    items: Int32Array
    weights: Int64Array
    _patterns: splitting.WeightedPatterns = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", whole(self.limit, "the limit of pieces"))
        object.__setattr__(self, "weights", whole_numbers(self.weights, "weights"))
        keep_lists(self, "patterns")
        if self.limit < 1:
            raise BadCall(f"pieces of {self.limit} items hold nothing; give a limit of at least 1")
        sizes = np.diff(self.offsets)
        _check_patterns(sizes, self.weights)
        object.__setattr__(self, "_patterns", _heaviest_first(self.offsets, self.items, sizes, self.weights))

    def keys_needed(self, rows: CompressedRows) -> LongRows | None:  # noqa: ARG002 - part of the protocol
        """None: nothing is left to chance."""
        return None

    def apply(self, rows: CompressedRows, keys: Keys) -> CompressedRows:  # noqa: ARG002
        """The pieces of all rows, in order; a row that holds no item of a pattern has none."""
        return CompressedRows(*splitting.split_rows(rows.offsets, rows.items, self._patterns, self.limit))


def _check_patterns(sizes: Int64Array, weights: Int64Array) -> None:
    if sizes.size == 0 or sizes.min() < 1:
        raise BadCall("a split needs patterns of one item or more; give at least one, and none that is empty")
    if weights.size != sizes.size:
        raise BadCall(f"{weights.size} weights for {sizes.size} patterns; give one weight for each")
    most = (2**63 - 1) // (2 * _common_factor(sizes))
    if not 0 <= weights.min() <= weights.max() <= most:
        raise BadCall(f"a weight is too large or below 0; give weights from 0 to {most}")


def _common_factor(sizes: Int64Array) -> int:
    """What makes a weight divided by any of the sizes a whole number."""
    return math.lcm(*np.unique(sizes).tolist())


def _heaviest_first(
    offsets: Int64Array, items: Int32Array, sizes: Int64Array, weights: Int64Array
) -> splitting.WeightedPatterns:
    """The patterns as the kernel wants them."""
    itemsets = [tuple(sorted(items[start:end].tolist())) for start, end in pairwise(offsets)]
    if len(set(itemsets)) < len(itemsets) or any(len(set(each)) < len(each) for each in itemsets):
        raise BadCall("a pattern stands twice, or an item twice in a pattern; give each once")
    weight_of = dict(zip(itemsets, weights.tolist(), strict=True))
    order = sorted(weight_of, key=lambda each: (-weight_of[each], len(each), each))
    codes = np.array([each[0] for each in order if len(each) == 1], np.int32)
    if codes.size < np.unique(items).size:
        raise BadCall("an item stands in a pattern but is none by itself; give every such item a weight, too")
    numbers = np.full(items.max() + 1, splitting.NONE, np.int32)
    numbers[codes] = np.arange(codes.size, dtype=np.int32)

    larger = [numbers[list(each)].astype(np.int64) for each in order if len(each) > 1]
    larger_weights = [weight_of[each] for each in order if len(each) > 1]
    rarest = np.array([each.max() for each in larger], np.int64)  # the item that the fewest rows look up
    factor = _common_factor(sizes)
    return splitting.WeightedPatterns(
        codes=codes,
        numbers=numbers,
        weights=np.array([factor * weight_of[code,] for code in codes.tolist()], np.int64),
        bounds=np.cumsum([0, *map(len, larger)]),
        items=np.concatenate([np.empty(0, np.int64), *larger]),
        shares=np.array(
            [factor * weight // len(each) for weight, each in zip(larger_weights, larger, strict=True)],
            np.int64,
        ),
        starts=np.append(0, np.cumsum(np.bincount(rarest, minlength=codes.size))),
        filed=np.argsort(rarest, kind="stable"),
    )
