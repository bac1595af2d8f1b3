"""The number of each transaction among those equal to it, on all cores."""

import numpy as np

from veilset.arrays import Uint32Array
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.kernels import equal_rows
from veilset.raw.threads import equal_parts, work_on

MANY_ROWS = 1 << 17
"""Up to 2^17 rows are numbered by one table; of more rows, buckets are, so that a table fits in the cache of a core."""
BITS_OF_BUCKETS = 8


def numbers_among_equal(rows: CompressedRows, *, longer_than: int, threads: int) -> Uint32Array:
    """How many transactions before each one are equal to it; 0 for those of up to `longer_than` items."""
    number = rows.offsets.size - 1
    if number <= MANY_ROWS:
        return equal_rows.number_equal_rows(rows.offsets, rows.items, longer_than)[1]
    mixed, numbers = np.empty(number, np.uint64), np.zeros(number, np.uint32)

    def mix(part: slice) -> None:
        equal_rows.mix_rows(rows.offsets[part.start : part.stop + 1], rows.items, mixed[part])

    work_on(equal_parts(number, threads), mix, threads=threads)
    bounds, members, mixed = equal_rows.rows_in_buckets(rows.offsets, mixed, longer_than, BITS_OF_BUCKETS)

    def number_part(part: slice) -> None:
        for bucket in range(part.start, part.stop):
            held = slice(bounds[bucket], bounds[bucket + 1])
            equal_rows.number_bucket(rows.offsets, rows.items, mixed[held], members[held], numbers)

    work_on(equal_parts(1 << BITS_OF_BUCKETS, 4 * threads), number_part, threads=threads)
    return numbers
