"""Whether arrays that come from elsewhere are rows, before any other kernel trusts them."""

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import kernel


@kernel
def ascends_to(values: Int64Array, last: int) -> bool:
    """Whether values start at 0 or above, never fall, and end with `last` at most."""
    is_fine = values.size == 0 or (values[0] >= 0 and values[-1] <= last)
    for i in range(1, values.size):
        is_fine &= values[i - 1] <= values[i]
    return is_fine


@kernel
def rows_ascend(offsets: Int64Array, items: Int32Array, alphabet_size: int) -> bool:
    """Whether every row `items[offsets[r]:offsets[r + 1]]` ascends without repeats, within the alphabet.

    The offsets must have been checked.
    """
    is_fine = True
    for row in range(offsets.size - 1):
        previous = -1
        for i in range(offsets[row], offsets[row + 1]):
            is_fine &= items[i] > previous
            previous = items[i]
        is_fine &= previous < alphabet_size
    return is_fine
