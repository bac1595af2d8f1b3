"""DP-FIM (Xiong et al. 2018) as printed.

Symbols of the paper: sigma = threshold, l_max = length of transactions after truncation, epsilon_1 =
for the tree.
"""

from collections import Counter
from functools import partial

import numpy as np

from veilset.audit import geometric
from veilset.audit.lower_bound import Outcome
from veilset.audit.printed.forms import Database, PrintedForm, by_sampling, copies

_form = partial(PrintedForm, paper="DP-FIM", method="dpfim")
Path = tuple[int, ...]


# X1: Alg. 3 l. 1-3 and Alg. 4 l. 1, the order in which items stand on the paths of the published tree. It is
# said to be "irrelevant with privacy disclosure"; even with the whole epsilon to spend it leaks.
def _items_by_exact_support(rows: Database, _epsilon: float, _rng: np.random.Generator) -> Outcome:
    return first_item(Counter(item for row in rows for item in row))


def first_item(supports: Counter[int]) -> Outcome:
    """Which item stands at the root; of equally frequent ones the first in the alphabet."""
    return {"first item of the order": min(supports, key=lambda item: (-supports[item], item))}


X1 = _form(
    "X1",
    step="sorts items by their exact supports, and truncates transactions by that order, for free (Alg. 3 l. 1-3)",
    why="one transaction swaps two items of the same support, and the swap is seen for certain",
    rows=(*copies(2, 0), *copies(2, 1)),
    extra=frozenset({1}),
    measure=by_sampling(_items_by_exact_support),
)


# X2: Alg. 4 l. 4-13, with noise of scale l_max / epsilon_1 (repair X3).
LONGEST_PATH = 2
LEAST_COUNT = 2


def _tree_of_what_is_there(rows: Database, epsilon: float, rng: np.random.Generator) -> Outcome:
    return longest_path_seen(kept_paths(path_counts(rows), epsilon, rng))


def path_counts(rows: Database) -> Counter[Path]:
    """How many rows pass each node of the prefix tree, a node being the path that leads to it."""
    return Counter(
        tuple(sorted(row)[:depth]) for row in rows for depth in range(1, min(len(row), LONGEST_PATH) + 1)
    )


def kept_paths(counts: Counter[Path], epsilon: float, rng: np.random.Generator) -> set[Path]:
    """l. 8-11: nodes with a noisy count of at least `LEAST_COUNT` under a parent that was kept."""
    noise = geometric.draw(rng, epsilon / LONGEST_PATH, len(counts))
    kept: set[Path] = {()}
    for path, value in sorted(zip(counts, noise, strict=True), key=lambda one: len(one[0])):
        if path[:-1] in kept and counts[path] + value >= LEAST_COUNT:
            kept.add(path)
    return kept


def longest_path_seen(kept: set[Path]) -> Outcome:
    """Whether the node is in the tree that one row passes, or none."""
    return {"node 0-1 in the tree": int((0, 1) in kept)}


X2 = _form(
    "X2",
    step="gives the noisy tree a node only where a transaction passed (Alg. 4 l. 4-13)",
    why="a path that one transaction alone takes can come out with it and never without",
    rows=copies(5, 0),
    extra=frozenset({0, 1}),
    measure=by_sampling(_tree_of_what_is_there),
)

XIONG_FORMS = (X1, X2)
