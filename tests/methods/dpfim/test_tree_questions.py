"""The noisy tree of DP-FIM: which nodes pass."""

import math
from fractions import Fraction

import pytest

from veilset.gate.questions.prefix_tree import check_ends
from veilset.methods.dpfim.tree_questions import EMPTY_CHILDREN, node_threshold


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1), Fraction(250)])
@pytest.mark.parametrize("items", [1, 2, 30, 1000])
def test_thresholds_for_nodes_end_every_tree(items: int, scale: Fraction) -> None:
    """The gate takes them, and they are no larger than that asks for."""
    threshold = node_threshold(items, scale=scale)
    check_ends(threshold, width=items, scale=scale)
    assert threshold <= math.log(items / EMPTY_CHILDREN) * scale + 1
