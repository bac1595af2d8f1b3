"""Whether itemsets stand in the order of their items."""

from veilset.arrays import Int32Array, Int64Array
from veilset.public_kernels import kernel


@kernel
def are_in_order(offsets: Int64Array, items: Int32Array) -> bool:
    """Whether no itemset comes before the one in front of it; one that begins another comes first."""
    for row in range(1, offsets.size - 1):
        before, place, end = offsets[row - 1], offsets[row], offsets[row + 1]
        while before < offsets[row] and place < end and items[before] == items[place]:
            before += 1
            place += 1
        if before < offsets[row] and (place == end or items[before] > items[place]):
            return False
    return True
