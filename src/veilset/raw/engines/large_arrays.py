"""Arrays that come fast: the system hands out memory by pages, and large pages take a tenth of the time.

A page of 4 KB takes almost 2 microseconds to appear, a third of the time in which 100,000 itemsets are found and
sorted. NumPy asks for pages of 2 MB where an array has 4 MB or more; what is not written to takes no memory.
"""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

LARGE_PAGE = 1 << 21
"""2 MB; a page begins at a multiple of its size."""

WORTH_A_LARGE_PAGE = 1 << 19
"""An array of 512 KB takes as long to appear in small pages as in one of 2 MB."""

Element = TypeVar("Element", bound=np.generic)


def empty_array(number: int, kind: type[Element]) -> npt.NDArray[Element]:
    """An array of that many numbers, which hold anything.

    >>> empty_array(3, np.int32).shape
    (3,)
    """
    n_bytes = number * np.dtype(kind).itemsize
    if n_bytes < WORTH_A_LARGE_PAGE:
        return np.empty(number, kind)
    block = np.empty(max(n_bytes, LARGE_PAGE) + LARGE_PAGE, np.uint8)
    start = -block.ctypes.data % LARGE_PAGE
    return block[start : start + n_bytes].view(kind)
