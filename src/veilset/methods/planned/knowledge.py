"""What every decision of `planned` is made from: what is known of supports, from answers or from a model of them."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemset


class Knowledge(Protocol):
    """Itemsets, and what is known of their supports: the method's posterior, or what its forecast expects of it.

    Decisions are functions of this alone, so that the method and its forecast share them.
    """

    @property
    def itemsets(self) -> list[Itemset]:
        """The itemsets that something is known of; single items come first."""

    @property
    def means(self) -> FloatArray:
        """The expected support of each."""

    @property
    def deviations(self) -> FloatArray:
        """The standard deviation of each support."""

    def at_least(self, support: float) -> FloatArray:
        """The probability that each reaches a support."""

    def kth_support(self, k: int) -> float:
        """The support that about k of them reach."""


def itemset_sizes(itemsets: Sequence[Itemset]) -> Int64Array:
    """The number of items in each."""
    return np.array([len(itemset) for itemset in itemsets], np.int64)
