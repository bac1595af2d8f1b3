"""DiffFIM (Zeng, Naughton and Cai, VLDB 2012) as printed.

Symbols of the paper: tau = rows, m or N = their number, l = the largest length, z_i = how many rows have
length i, y_i = the largest support of an itemset of i items, lambda = threshold, G(epsilon) = noise as in
`geometric`.
"""

import math
from functools import partial

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.audit import geometric
from veilset.audit.lower_bound import Outcome
from veilset.audit.neighbours import Basket
from veilset.audit.printed.forms import Database, PrintedForm, by_computing, by_sampling, copies, support

_form = partial(PrintedForm, paper="DiffFIM", method="difffim")


# Z1: Alg. 1 l. 8-12. The proof of Theorem 8 says that what this function returns is private.
LONGEST_ROW = 3
"""The alphabet has 3 items, so no row is longer."""
SUSPECTED = 101
"""The number of rows with the added one."""


def _shares_of_lengths(rows: Database, epsilon: float, rng: np.random.Generator) -> Outcome:
    return divisor_seen(noisy_lengths(rows, epsilon, rng) / len(rows))  # l. 11


def noisy_lengths(rows: Database, epsilon: float, rng: np.random.Generator) -> Int64Array:
    """Alg. 1 l. 9-10: how many rows have 1, 2, ... items, with noise."""
    lengths = np.bincount([len(row) for row in rows], minlength=LONGEST_ROW + 1)[1:]
    return lengths + geometric.draw(rng, epsilon, LONGEST_ROW)


def divisor_seen(shares: FloatArray) -> Outcome:
    """An attacker who suspects a number of rows looks whether all shares are multiples of one over it."""
    multiples = np.rint(shares * SUSPECTED) / SUSPECTED
    return {f"shares are multiples of 1/{SUSPECTED}": int(np.array_equal(multiples, shares))}


Z1 = _form(
    "Z1",
    step="divides the noisy length histogram by the exact number of transactions (Alg. 1 l. 11)",
    why="the shares are multiples of one over that number, which they so give away",
    rows=(*copies(50, 0), *copies(50, 0, 1)),
    extra=frozenset({0}),
    measure=by_sampling(_shares_of_lengths),
)


# Z1b: Alg. 1 l. 2, all that is published of the shares. A transaction of length k adds 1 to z_k and raises
# what 85 % means by about 1: sums up to z_(k-1) fall behind, those from z_k on keep pace. The same length
# comes out with noise larger by 1 on a shorter length and smaller by 1 on z_k, at a cost of epsilon each.
_SCALES_SUMMED = 80  # noise beyond 80 scales has a probability under 1e-34


def law_of_length(rows: Database, epsilon: float) -> dict[str, float]:
    """The probability that lengths 1 and 2 together reach 85 %, and length 1 alone does not."""
    ones, twos = (sum(len(row) == length for row in rows) for length in (1, 2))
    needed = -(-85 * len(rows) // 100)
    missing = np.arange(1, needed + math.ceil(_SCALES_SUMMED / epsilon))  # after length 1
    chances = geometric.chance(needed - missing - ones, epsilon)
    return {"length = 2": float(chances @ geometric.chance_at_least(missing - twos, epsilon))}


Z1B = _form(
    "Z1b",
    step="publishes the length up to which the noisy histogram has 85 % of the exact number (Alg. 1 l. 2)",
    why="one transaction moves the histogram and the number, and the noise is for the histogram alone",
    rows=copies(1, 0),
    extra=frozenset({0, 1}),
    measure=by_computing(law_of_length),
)


def number_of_frequent_items(
    rows: Database, for_each_item: float, rng: np.random.Generator, *, items: int, threshold: float
) -> Outcome:
    """Alg. 2 l. 4-11: how many items have a noisy support of at least the threshold."""
    noisy = item_supports(rows, items) + geometric.draw(rng, for_each_item, items)
    return {"number of frequent items": int(np.count_nonzero(noisy >= threshold))}


def item_supports(rows: Database, items: int) -> Int64Array:
    """How many rows hold each item."""
    return np.bincount([item for row in rows for item in row], minlength=items)


# Z2: Alg. 2 l. 3, also Alg. 3 l. 4 and Alg. 6.
LIMIT = 10
"""What Alg. 1 truncates transactions to; found in a noisy histogram, so that everybody may know it."""


def _noise_for_raw_length(rows: Database, epsilon: float, rng: np.random.Generator) -> Outcome:
    longest = max(len(row) for row in rows)  # l. 3
    return number_of_frequent_items(rows, epsilon / longest, rng, items=40, threshold=20)


Z2 = _form(
    "Z2",
    step="scales the noise by the largest length in the data after truncation (Alg. 2 l. 3)",
    why="one long transaction makes all noise larger, which lifts items over the threshold that nobody holds",
    rows=copies(3, 0),
    extra=frozenset(range(LIMIT)),
    measure=by_sampling(_noise_for_raw_length),
)


# Z10: Sec. 7, "multiplying the relative threshold with the number of transactions".
USUAL = 30
"""30 items are in 1/30 of the rows each, and 1/30 is the relative threshold."""


def _threshold_of_exact_number(rows: Database, epsilon: float, rng: np.random.Generator) -> Outcome:
    return number_of_frequent_items(rows, epsilon, rng, items=USUAL + 1, threshold=len(rows) / USUAL)


Z10 = _form(
    "Z10",
    step="multiplies a relative threshold by the exact number of transactions (Sec. 7)",
    why="one transaction moves the threshold for all items, and the noise is for those that it holds",
    rows=tuple(frozenset({item}) for item in range(USUAL)) * 3,
    extra=frozenset({USUAL}),
    measure=by_sampling(_threshold_of_exact_number),
)


# Z4: Alg. 9. For n that is not a power of two, ceil(log2 n) is floor(log2 n) + 1 and all is well.
SIZES_SEARCHED = 32  # n
ENOUGH = 3  # lambda


def _sizes_found(rows: Database, epsilon: float) -> dict[str, float]:
    return law_of_size(rows, epsilon / math.ceil(math.log2(SIZES_SEARCHED)))  # l. 1


def law_of_size(rows: Database, for_each_comparison: float) -> dict[str, float]:
    """The law of Alg. 9 l. 2-17, a binary search for the largest size with support of at least `ENOUGH`."""
    largest = largest_supports(rows, SIZES_SEARCHED)
    yes = geometric.chance_at_least(ENOUGH - np.array(largest), for_each_comparison)
    return {f"size = {size}": _chance_of_path(size, yes) for size in range(SIZES_SEARCHED + 1)}


def _chance_of_path(size: int, yes: FloatArray) -> float:
    """The probability that all comparisons go the way that leads to a size; yes[0] is for size 1."""
    low, high, chance = 1, yes.size, 1.0
    while low <= high:  # what to return where low > high is not printed: low - 1 (repair Z5)
        pivot = (low + high) // 2
        if size >= pivot:
            low, chance = pivot + 1, chance * yes[pivot - 1]
        else:
            high, chance = pivot - 1, chance * (1 - yes[pivot - 1])
    return float(chance)


def largest_supports(rows: Database, sizes: int) -> list[int]:
    """The largest supports of itemsets of 1, 2, ... items."""
    supports = [(len(itemset), support(rows, itemset)) for itemset in _in_common(rows)]
    return [
        max((count for held, count in supports if held >= size), default=0) for size in range(1, sizes + 1)
    ]


def _in_common(rows: Database) -> set[Basket]:
    """All that some rows have in common: no itemset is held by more rows than a superset of it in here."""
    found: set[Basket] = set()
    for row in set(rows):
        found |= {row & other for other in found} | {row}
    return found


Z4 = _form(
    "Z4",
    step="divides epsilon by ceil(log2 n) for a binary search over n sizes (Alg. 9 l. 1)",
    why="the search makes floor(log2 n) + 1 comparisons, one more where n is a power of two",
    rows=copies(ENOUGH - 1, *range(SIZES_SEARCHED)),
    extra=frozenset(range(SIZES_SEARCHED)),
    measure=by_computing(_sizes_found),
)


# Z6: Sec. 6, and one comparison of Alg. 9.
SUPPORT_THRESHOLD = 40  # lambda
APRIORI_THRESHOLD = SUPPORT_THRESHOLD // 20


def _printed_comparison(rows: Database, epsilon: float, rng: np.random.Generator) -> Outcome:
    largest = largest_supports(rows, 2)
    found = [count for count in largest if count >= APRIORI_THRESHOLD]  # y_1 to y_j
    return comparison_of_pairs([*found, found[-1]][1], epsilon, rng)  # y_2, or y_j where j = 1


def comparison_of_pairs(largest: int, epsilon: float, rng: np.random.Generator) -> Outcome:
    """Alg. 9 l. 12 for y_2."""
    return {"pairs reach the threshold": int(largest + geometric.draw(rng, epsilon)[0] >= SUPPORT_THRESHOLD)}


Z6 = _form(
    "Z6",
    step="sets the largest support of sizes that Apriori does not reach to that of the last one reached (Sec. 6)",
    why="one transaction decides whether a size is reached, and the figure falls from y_j to lambda / 20",
    rows=(*copies(60, 0), *copies(1, 0, 1)),
    extra=frozenset({0, 1}),
    measure=by_sampling(_printed_comparison),
)

ZENG_FORMS = (Z1, Z1B, Z2, Z4, Z6, Z10)
