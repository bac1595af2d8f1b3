"""Memory that grows."""

from typing import Any

import numpy as np
import numpy.typing as npt


def grown(array: npt.NDArray[Any], *, used: int, size: int) -> npt.NDArray[Any]:
    """A larger array that starts with what is used of this one; what is behind that is not touched yet."""
    larger = np.empty(size, dtype=array.dtype)
    larger[:used] = array[:used]
    return larger
