"""Memory that grows."""

import numpy as np

from veilset.raw.read.buffers import grown


def test_what_grows_keeps_what_is_used() -> None:
    """And nothing else."""
    assert grown(np.array([1, 2, 3]), used=2, size=5)[:2].tolist() == [1, 2]
