"""DiffPart (Chen et al. 2011): publish a whole dataset by taking it apart along a taxonomy of the items."""

from fractions import Fraction

from veilset.gate import Curator
from veilset.published import Published
from veilset.target import PublishTarget


def diffpart(curator: Curator, target: PublishTarget, *, epsilon: Fraction) -> Published:
    """A dataset from the noisy sizes of partitions (Alg. 1)."""
    raise NotImplementedError


def basic(curator: Curator, target: PublishTarget, *, epsilon: Fraction) -> Published:
    """A dataset from noisy counts of all itemsets of a small alphabet."""
    raise NotImplementedError
