"""Large arrays begin with a large page, and hold what is asked for."""

import numpy as np
import pytest

from veilset.raw.engines.large_arrays import LARGE_PAGE, WORTH_A_LARGE_PAGE, empty_array


@pytest.mark.parametrize("n_bytes", [0, 8, WORTH_A_LARGE_PAGE - 8, WORTH_A_LARGE_PAGE, LARGE_PAGE + 8])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_arrays_hold_what_is_asked_for(n_bytes: int, kind: type[np.generic]) -> None:
    """And large ones begin where a large page begins, small ones have no room that they do not need."""
    array = empty_array(n_bytes // np.dtype(kind).itemsize, kind)
    array[:] = kind(7)
    assert (array.nbytes, array.dtype, array.flags.c_contiguous) == (n_bytes, np.dtype(kind), True)
    is_large = n_bytes >= WORTH_A_LARGE_PAGE
    assert (array.base is not None) == is_large
    assert not is_large or array.ctypes.data % LARGE_PAGE == 0
