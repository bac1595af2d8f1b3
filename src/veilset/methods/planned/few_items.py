"""A dataset of few items: one marginal tells how often each combination of them occurs.

Privacy argument. Neighbours differ by one privacy unit of c transactions. The support of the k-th itemset decides
whether this is done: sensitivity c. Where there are more items than a marginal can have, the supports of all items,
under a cap of 3 on what one transaction counts, tell which are the rarest: L1 sensitivity 3 c. Then what remains buys
the marginal of the others, in which a transaction counts in one cell: sensitivity c. All else is post-processing: cells
that do not stand out from noise share the transactions that are left, and rarer items go into records at random.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import LARGEST_MARGINAL, Curator, NoisyCount, NoisyHistogram
from veilset.itemsets import Itemsets
from veilset.methods.planned.capped_counts import error_of_average_cap
from veilset.methods.planned.settings import DEFAULT
from veilset.methods.shared.cells import flipped, large_or_noise, least_seen, supersets_added_up
from veilset.methods.shared.marginals import supports_in_marginal
from veilset.methods.shared.preliminaries import Preliminaries

MOST_FEW = LARGEST_MARGINAL + 4
"""4 items more than a marginal can have are still few."""
SHARE_FOR_RAREST = Fraction(1, 20)
"""1/20 of epsilon for the supports of all items, where they are too many for a marginal."""
CAP_FOR_RAREST = 3
"""3 items of a transaction count where the rarest are sought: noise grows with this faster than what is kept."""
SMALL_ERROR = 0.02
"""0.02 of a support is an error that lets a marginal win: it also tells of all larger itemsets."""
TIMES_THE_ERROR = 2.0
"""2 times the error of capped counts lets it win as well."""
LARGEST_FITTED = 3
"""3 items at most are in the itemsets whose supports are made to fit: sums for larger ones err as much as cells."""
CYCLES = 10
"""10 times shares are scaled to the supports of all these itemsets."""
MOST_SCALED_AT_ONCE = 4.0
"""4 times, or a fourth, is how far shares are scaled at once."""
SEED_OF_RECORDS = 0
"""0: the randomness of records is public."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The marginal of some items, and about how many transactions hold each of the other items."""

    items: tuple[int, ...]
    marginal: NoisyHistogram
    rarer: dict[int, int]


def marginal_is_best(
    alphabet_size: int, support: int, first: Preliminaries, *, noise: float, part: float
) -> bool:
    """Whether a marginal of all items errs little, or not much more than capped counts of k itemsets.

    `support` is that of the k-th itemset, `noise` the scale of a count that gets all of epsilon; capped counts of one
    size get a part of that.
    """
    of_marginal = noise * DEFAULT.noise_of_marginal(min(alphabet_size, LARGEST_MARGINAL), 2)
    contained = DEFAULT.cap_over_average * first.k * max(support, 0) / max(first.number.value, 1)
    of_counts = error_of_average_cap(contained, noise / part)
    return of_marginal <= max(SMALL_ERROR * support, TIMES_THE_ERROR * of_counts)


def ask_cells(curator: Curator, *, remaining: Fraction) -> Cells:
    """The marginal of all items, or of the most frequent, where they are too many."""
    items, rarer = tuple(range(curator.alphabet_size)), {}
    if len(items) > LARGEST_MARGINAL:
        price = remaining * SHARE_FOR_RAREST
        counts = curator.ask_normalised_supports(CAP_FOR_RAREST, epsilon=price)
        supports = np.maximum(counts.values // counts.mechanism.steps, 0)
        order = np.argsort(-supports, kind="stable")
        items = tuple(sorted(order[:LARGEST_MARGINAL].tolist()))
        rarer = {item: int(supports[item]) for item in order[LARGEST_MARGINAL:].tolist()}
        remaining -= price
    return Cells(items, curator.ask_marginal(items, epsilon=remaining), rarer)


def records_in_cells(cells: Cells, *, number: NoisyCount) -> tuple[Itemsets, Int64Array]:
    """The records that the cells stand for, with copies that add up to the number of transactions."""
    expected = denoised(cells.marginal, number=number)
    sums = np.floor(np.cumsum(expected) + 0.5)
    copies = np.diff(sums, prepend=0.0).astype(np.int64)
    places = np.flatnonzero(copies)
    is_held = (places[:, None] >> np.arange(len(cells.items))) & 1 == 1
    codes, copies = np.array(cells.items, np.int64), copies[places]
    public = np.random.default_rng(SEED_OF_RECORDS)
    for item, support in cells.rarer.items():
        drawn = _copies_at_random(copies, support, public)
        is_held = np.hstack(
            [np.vstack([is_held, is_held]), np.repeat([[False], [True]], copies.size, axis=0)]
        )
        codes, copies = np.append(codes, item), np.concatenate([copies - drawn, drawn])
        is_held, copies = is_held[copies > 0], copies[copies > 0]
    order = np.argsort(codes)
    is_held = is_held[:, order] & (copies > 0)[:, None]
    is_any = is_held.any(axis=1)
    is_held, copies = is_held[is_any], copies[is_any]
    offsets = np.append(0, np.cumsum(is_held.sum(axis=1)))
    return Itemsets(offsets, codes[order][np.nonzero(is_held)[1]].astype(np.int32)), copies


def denoised(marginal: NoisyHistogram, *, number: NoisyCount) -> FloatArray:
    """What is in each cell: what stands out from noise about as it is; the others share the transactions left.

    A transaction of a rare cell is like one of a frequent cell but for an item or two: that is where sharing starts.
    Sums of many cells err less than each of them, so shares are scaled to what is left of the supports of small
    itemsets (iterative proportional fitting).
    """
    cells, scale = marginal.values, float(marginal.mechanism.scale)
    is_seen = cells > max(least_seen(cells.size, scale), scale)
    seen, _ = large_or_noise(cells, is_seen, scale=scale, flip=DEFAULT.marginal_flip)
    left = max(number.value - float(seen.sum()), 0.0)
    shares = np.where(is_seen, 0.0, flipped(np.maximum(seen, 1e-9), DEFAULT.marginal_flip))
    if left == 0 or shares.sum() == 0:
        return seen
    told = supports_in_marginal(cells, number=number, scale=scale, flip=DEFAULT.marginal_flip)
    wanted = told.means - supersets_added_up(seen)
    return seen + _scaled_shares(shares * (left / shares.sum()), wanted, left)


def _scaled_shares(shares: FloatArray, wanted: FloatArray, left: float) -> FloatArray:
    """Shares scaled until the small itemsets have what is wanted of them, and all have what is left.

    What is wanted of itemsets contradicts itself a little, as noise does; single items come last, and win.
    """
    number_of_bits = int(shares.size).bit_length() - 1
    groups = [
        some for size in range(LARGEST_FITTED, 0, -1) for some in combinations(range(number_of_bits), size)
    ]
    shares = shares.copy()
    for _ in range(CYCLES):
        for bits in groups:
            with_bits = _view_with_bits(shares, bits)
            inside = with_bits.flatten()
            total = float(inside.sum())
            aim = min(max(float(wanted[sum(1 << bit for bit in bits)]), 0.0), left)
            factors = aim / max(total, 1e-9), (left - aim) / max(left - total, 1e-9)
            scale_inside, scale_outside = np.clip(factors, 1 / MOST_SCALED_AT_ONCE, MOST_SCALED_AT_ONCE)
            shares *= scale_outside
            with_bits[...] = (inside * scale_inside).reshape(with_bits.shape)
        shares *= left / max(float(shares.sum()), 1e-9)
    return shares


def _view_with_bits(cells: FloatArray, bits: Sequence[int]) -> FloatArray:
    """The cells whose number has all of these ascending bits, in their order; writing to the view writes to them."""
    edges = [0, *(bit + part for bit in bits for part in (0, 1)), int(cells.size).bit_length() - 1]
    shape = [1 << (above - below) for below, above in pairwise(edges)][::-1]
    return cells.reshape(shape)[(slice(None), 1) * len(bits)]


def _copies_at_random(copies: Int64Array, number: int, public: np.random.Generator) -> Int64Array:
    """How many copies of each record are taken, where a number of all copies is: of each about the same share."""
    share = min(number / max(int(copies.sum()), 1), 1.0)
    order = public.permutation(copies.size)
    taken = np.empty_like(copies)
    taken[order] = np.diff(np.floor(np.cumsum(copies[order]) * share + 0.5), prepend=0.0).astype(np.int64)
    return np.minimum(taken, copies)
