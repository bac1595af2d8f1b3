"""SplitSample (Liang et al. 2020) as printed.

Symbols of the paper: C = support in the split database, R_m = the share of it that splitting leaves on
average, C_r = C / R_m, lambda = threshold, l_opt = length after splitting. The draw of k itemsets gets
epsilon and gives each the weight e^(epsilon C_r / 2k): (6) with the budget divided once (repair S4), and keys
in log space (repair S5).
"""

import math
from collections.abc import Mapping
from functools import partial
from itertools import chain, combinations

import numpy as np

from veilset.audit.lower_bound import Outcome
from veilset.audit.neighbours import Basket
from veilset.audit.printed.forms import Database, PrintedForm, by_sampling, copies, support

_form = partial(PrintedForm, paper="SplitSample", method="splitsample")
Scores = Mapping[Basket, float]


def draw_by_reservoir(scores: Scores, epsilon: float, rng: np.random.Generator) -> Basket:
    """Weighted reservoir sampling, (6) and (7), for k = 1; r^(1/weight) grows with ln(weight) - ln(-ln r)."""
    keys = rng.gumbel(size=len(scores)) + epsilon / 2 * np.array([*scores.values()])
    return [*scores][int(keys.argmax())]


# S1: "selected by traversing the frequent patterns set only once".
LEAST_SUPPORT = 2


def _drawn_from_what_was_mined(rows: Database, epsilon: float, rng: np.random.Generator) -> Outcome:
    held = {frozenset(itemset) for row in rows for itemset in _itemsets_in(row)}
    supports = {itemset: support(rows, itemset) for itemset in sorted(held, key=sorted)}
    frequent = {itemset: count for itemset, count in supports.items() if count >= LEAST_SUPPORT}
    return rare_item_drawn(draw_by_reservoir(frequent, epsilon, rng))


def rare_item_drawn(drawn: Basket) -> Outcome:
    """Whether the item came out that two rows hold, or one."""
    return {"item 1 drawn": int(drawn == {1})}


def _itemsets_in(row: Basket) -> chain[tuple[int, ...]]:
    return chain.from_iterable(combinations(sorted(row), size) for size in range(1, len(row) + 1))


S1 = _form(
    "S1",
    step="draws from the itemsets that were mined from the data",
    why="an itemset that one transaction lifts over the threshold can come out with it and never without",
    rows=(*copies(3, 0), *copies(1, 1)),
    extra=frozenset({1}),
    measure=by_sampling(_drawn_from_what_was_mined),
)


# S2: "C_r(e) is the updated support of e after offsetting the information loss".
LENGTH, PIECE = 20, 2
"""All rows have 20 items and are split into pairs."""
SHARE_OF_PAIRS_LEFT = (LENGTH // PIECE) / math.comb(LENGTH, PIECE)
"""(5) for a pair: the probability that it is one of the 10 pieces."""
PAIR, OTHER_PAIR = frozenset({0, 1}), frozenset({2, 3})
REST = frozenset(range(4, LENGTH + 2))


def _drawn_by_rescaled_supports(rows: Database, epsilon: float, rng: np.random.Generator) -> Outcome:
    supports = supports_after_splitting(rows)
    rescaled = {pair: count / SHARE_OF_PAIRS_LEFT for pair, count in supports.items()}
    return pair_drawn(draw_by_reservoir(rescaled, epsilon, rng))


def supports_after_splitting(rows: Database) -> Scores:
    """C of two public candidates."""
    pieces = [piece for row in rows for piece in _split(row)]
    return {pair: support(pieces, pair) for pair in (PAIR, OTHER_PAIR)}


def _split(row: Basket) -> list[Basket]:
    """Disjoint pieces, here in the order of the items; noisy weights could say the same."""
    items = sorted(row)
    return [frozenset(items[start : start + PIECE]) for start in range(0, len(items), PIECE)]


def pair_drawn(drawn: Basket) -> Outcome:
    """Whether the pair came out that the added row holds."""
    return {"pair 0-1 drawn": int(drawn == PAIR)}


S2 = _form(
    "S2",
    step="scores itemsets by C / R_m as if one transaction moved that by 1",
    why="it moves by 1 / R_m, which is 19 for pairs where 20 items are split into pairs",
    rows=(PAIR | REST, OTHER_PAIR | REST, OTHER_PAIR | REST),
    extra=PAIR | REST,
    measure=by_sampling(_drawn_by_rescaled_supports),
)

LIANG_FORMS = (S1, S2)
