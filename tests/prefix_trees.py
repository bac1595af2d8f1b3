"""Prefix trees as paths, for tests."""

import numpy as np

ORDER = (3, 0, 5, 1)
Path = tuple[int, ...]


def paths_in(parents: np.ndarray, ranks: np.ndarray) -> list[Path]:
    """The path to every node, the root first."""
    paths: list[Path] = [()]
    for parent, rank in zip(parents[1:].tolist(), ranks[1:].tolist(), strict=True):
        assert parent < len(paths)
        paths.append((*paths[parent], rank))
    return paths
