"""DP-FIM (Xiong et al., IEEE Access 2018): itemsets of large data by sampling, truncation and a noisy FP-tree.

Task: the k most frequent itemsets, or those above a threshold. Symbols of the paper: eta = the share of
transactions that the cut leaves whole; l_max = the length limit; L = maximal frequent itemsets of the sample, the
targets of the cut; epsilon_1 = for the tree, epsilon_2 = for the final supports; delta, Z_alpha = tolerance and
confidence of the sample.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the opening (`methods.opening`): number of transactions, and for a threshold how many itemsets it means;
2. on one Bernoulli sample, whose questions together cost ln(1 + q'(e^E - 1)) here (`gate.sampling`; repair X1), and
   that is at most `MOST_FOR_SAMPLE` of what is left: how many items (one draw, sensitivity c, not monotone); the
   lengths of transactions (sensitivity c); which items (draws on supports, monotone with sensitivity c, or supports
   of all items under a cut to l of them, L1 sensitivity c l); the lengths over those items (c); and the targets,
   draws on supports of itemsets of those items (monotone, c). The rate of the sample comes from the noisy number;
3. of the rest, `SHARE_FOR_TREE` for the mining phase: where items are many, their supports under the cut, L1
   sensitivity c l_max, in the place of one more level; and the tree, one question of L1 sensitivity c l_max,
   because a cut transaction is one path of at most l_max nodes (`gate.prefix_tree`; repairs X2, X3);
4. what is left then: the supports of the final itemsets, at most k, L1 sensitivity c k (repair X4).

The cut looks at one transaction, at the order and at the targets, which were paid for. Thresholds for nodes come
from the scale of the noise and the number of items. FP-growth, maximal itemsets, factors and averages see noisy
values alone: post-processing.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from statistics import NormalDist

import numpy as np

from veilset.errors import BadCall
from veilset.gate import Curator, KeepAll, KeepRandom, KeepSimilar, NoisyCounts, NoisyTree, OnlyItems
from veilset.gate.accounting.amplification import chance_of_a_unit, price_of
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.methods.difffim import length_up_to
from veilset.methods.dpfim.tree_supports import combined, in_tree
from veilset.methods.shared.preliminaries import SHARE_FOR_NUMBER, Preliminaries, ask_preliminaries
from veilset.request import Request
from veilset.results.estimates import Estimates, by_support, count_of
from veilset.results.release import Release

LARGEST_SIZE = 16
"""The largest itemset that is looked for, unless the caller says."""
ETA = Fraction(85, 100)
TOLERANCE, CONFIDENCE = 0.005, 0.95
"""Of shares in the sample; the paper takes 0.01, half of what the 50th itemset of sparse data has."""
WANTED_ON_SAMPLE = Fraction(2)
"""More than this on the sample is not asked for: its noise is then far below the luck of the draw."""
MOST_FOR_SAMPLE = Fraction(2, 5)
FOR_NUMBER, FOR_LENGTHS, FOR_ITEMS, FOR_DEPTH = (Fraction(i, 20) for i in (2, 1, 12, 2))
"""Shares of what is spent on the sample; the targets get the rest."""
SHARE_OF_TRANSACTIONS = Fraction(1, 2)
"""Half of the transactions are whole when items are ranked: a harder cut keeps the order, and less noise is needed."""
LONGEST = 64
"""Transactions of this length and longer are one class of a histogram."""
MOST_TARGETS = 30
WIDE = 2
"""Items are many where they are more than so many times the depth: each then stands in many nodes of the tree."""
SHARE_FOR_TREE = Fraction(2, 3)
EMPTY_CHILDREN = 0.4
"""A node has at most so many children that are there by noise alone, on average."""
NOT_ALL = (
    "supports are averages of the noisy tree and of noisy counts; "
    "the intervals allow for what the cut took only as far as the counts tell"
)

MOST_LISTED = 100_000
STRAWMAN_SIZE = 2


@dataclass(frozen=True, slots=True)
class Shape:
    """What the sample says about how to cut: items, most frequent first, the length limit, and the targets."""

    order: tuple[int, ...]
    depth: int
    targets: tuple[Itemset, ...]

    def truncation(self, order: tuple[int, ...]) -> KeepSimilar:
        """The cut by similarity to the targets, with these items in order (Alg. 3)."""
        targets = Itemsets.of(self.targets)
        return KeepSimilar(self.depth, np.array(order, np.int64), targets.offsets, targets.items)


def dpfim(
    curator: Curator,
    request: Request,
    *,
    epsilon: Fraction,
    eta: Fraction = ETA,
    tolerance: float = TOLERANCE,
) -> Release:
    """The most frequent itemsets from a noisy FP-tree of truncated transactions (Alg. 1)."""
    may_spend = curator.budget.spent + epsilon
    domain = curator.domain(max_size=min(request.max_size or LARGEST_SIZE, curator.alphabet_size))
    first = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    if first.k == 0:
        return first.release(curator, Estimates.none(), method="dpfim")
    sample = open_sample(curator, first, tolerance=tolerance)  # l. 1
    shape = ask_shape(sample, first.k, domain=domain, eta=eta)  # l. 2, Alg. 2
    left = may_spend - curator.budget.spent  # with what the sample did not need
    tree, singles = ask_tree(curator, shape, epsilon=left * SHARE_FOR_TREE)  # l. 3 and 4, Alg. 3 and 4
    consistent = tree.consistent(first.number.value)
    known = in_tree(consistent, singles, k=first.k, max_size=domain.max_size).best(first.k)
    if request.min_support is not None:
        known = known.at_least(first.min_count)
    if len(known.itemsets) == 0:
        return first.release(curator, Estimates.none(), method="dpfim")
    asked = curator.ask_supports(known.itemsets, epsilon=left * (1 - SHARE_FOR_TREE))  # l. 5, X4
    return first.release(curator, combined(known, asked), method="dpfim", notes=(NOT_ALL,))


def sample_size(tolerance: float, confidence: float = CONFIDENCE) -> int:
    """How many transactions show any share to within the tolerance, with that confidence (Eq. 7).

    The paper's numbers, for 1 %, come from Z_alpha rounded to two digits, as here.

    >>> sample_size(0.01, 0.95), sample_size(0.01, 0.99)
    (9604, 16641)
    """
    deviations = Fraction(round(100 * NormalDist().inv_cdf((1 + confidence) / 2)), 100)
    return math.ceil(deviations**2 / (4 * Fraction(str(tolerance)) ** 2))


def open_sample(curator: Curator, first: Preliminaries, *, tolerance: float) -> Curator:
    """A sample of the size that the tolerance needs, of the data's noisy number, and what may be spent on it."""
    rate = min(Fraction(1), Fraction(sample_size(tolerance), max(first.number.value, 1)))
    return curator.on_sample(rate, epsilon=price_of_sample(rate, curator.unit.transactions, left=first.left))


def price_of_sample(rate: Fraction, transactions: int, *, left: Fraction) -> Fraction:
    """What the sample may cost: next to nothing of large data, a stated share of what is left of small."""
    chance = chance_of_a_unit(rate, transactions=transactions)
    return min(price_of(WANTED_ON_SAMPLE, chance=chance), left * MOST_FOR_SAMPLE)


def ask_shape(sample: Curator, k: int, *, domain: Domain, eta: Fraction) -> Shape:
    """Frequent items, the length limit over them, and maximal frequent itemsets (Alg. 2; repairs X1, X5)."""
    total = sample.budget.total
    number = sample.ask_matching_rank(
        k, domain=domain, most=min(k, sample.alphabet_size), epsilon=total * FOR_NUMBER
    )
    order = ask_items(sample, number, epsilon=total)
    only = OnlyItems(np.array(order, np.int64), KeepAll())
    lengths = sample.ask_lengths(limit=min(LONGEST, number), truncation=only, epsilon=total * FOR_DEPTH)
    depth = length_up_to(lengths, eta)
    if not 1 < depth < number or domain.max_size == 1:  # no transaction is cut, or not to more than one item
        return Shape(order, depth, ())
    likely = Domain(items=tuple(sorted(order)), min_size=2, max_size=min(depth, domain.max_size))
    draws = min(k, MOST_TARGETS, likely.size)
    chosen = sample.ask_best(draws, domain=likely, epsilon=sample.budget.left).itemsets
    return Shape(order, depth, maximal(chosen))


def ask_items(sample: Curator, number: int, *, epsilon: Fraction) -> tuple[int, ...]:
    """So many frequent items, most frequent first, by the question that needs less noise.

    Each draw of an item takes a part of the budget, so noise grows with their number. Supports of all items at once
    have noise that grows with the length of what a cut leaves of a transaction.
    """
    lengths = sample.ask_lengths(limit=LONGEST, epsilon=epsilon * FOR_LENGTHS)
    limit = length_up_to(lengths, SHARE_OF_TRANSACTIONS)
    if number <= limit:
        every_item = sample.domain(max_size=1)
        chosen = sample.ask_best(number, domain=every_item, epsilon=epsilon * FOR_ITEMS)
        return tuple(item for (item,) in chosen.itemsets)
    counts = sample.ask_item_supports(truncation=KeepRandom(limit), epsilon=epsilon * FOR_ITEMS)
    return tuple(np.argsort(-counts.values, kind="stable")[:number].tolist())


def maximal(itemsets: tuple[Itemset, ...]) -> tuple[Itemset, ...]:
    """Those that no other one contains (X5).

    >>> maximal(((1, 2), (1, 2, 3), (2, 4)))
    ((1, 2, 3), (2, 4))
    """
    sets = [frozenset(itemset) for itemset in itemsets]
    return tuple(
        itemset
        for itemset, items in zip(itemsets, sets, strict=True)
        if not any(items < other for other in sets)
    )


def ask_tree(curator: Curator, shape: Shape, *, epsilon: Fraction) -> tuple[NoisyTree, NoisyCounts | None]:
    """The noisy FP-tree of cut transactions (Alg. 4); before it, where items are many, their supports and order."""
    order, singles = shape.order, None
    for_level = epsilon / shape.depth
    if is_wide(len(order), shape.depth):
        for_level = epsilon / (shape.depth + 1)
        unordered = curator.ask_supports(
            Itemsets.of((item,) for item in order), truncation=shape.truncation(order), epsilon=for_level
        )
        singles, order = ordered(unordered)
    tree = curator.ask_prefix_tree(
        order,
        depth=shape.depth,
        threshold=node_threshold(len(order), scale=curator.unit.transactions / for_level),
        epsilon=for_level * shape.depth,
        truncation=shape.truncation(order),
    )
    return tree, singles


def is_wide(items: int, depth: int) -> bool:
    """Whether items are so many that their supports are better asked for than added up over the tree."""
    return items > WIDE * depth


def ordered(counts: NoisyCounts) -> tuple[NoisyCounts, tuple[int, ...]]:
    """Supports of single items, largest first, and the items in that order."""
    places = np.argsort(-counts.values, kind="stable")
    items = tuple(counts.itemsets.items[places].tolist())
    return NoisyCounts(Itemsets.of((item,) for item in items), counts.values[places], counts.mechanism), items


def node_threshold(items: int, *, scale: Fraction) -> int:
    """The least count that lets a node pass, from the noise alone: few children are there for no transaction.

    >>> node_threshold(20, scale=Fraction(10))
    40
    """
    return max(1, math.ceil(float(scale) * math.log(items / EMPTY_CHILDREN)))


def strawman(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """Noise on the supports of all itemsets, C(n, i) for those of i items (Sec. IV-A).

    The number of transactions takes its share unless it is public; the sizes share the rest equally. A transaction
    may hold all C(n, i) itemsets of a size, which is their L1 sensitivity, times c for a unit of c transactions.
    """
    domain = curator.domain(max_size=min(request.max_size or STRAWMAN_SIZE, curator.alphabet_size))
    domain.check_holds(request.k or 1)
    if domain.size > MOST_LISTED:
        raise BadCall(
            f"strawman lists all {domain.size} itemsets of up to {domain.max_size} of {curator.alphabet_size} items, "
            f"and takes up to {MOST_LISTED}; allow smaller itemsets, or use dpfim"
        )
    for_number = epsilon * SHARE_FOR_NUMBER if curator.public_number is None else Fraction(0)
    number = curator.ask_number(epsilon=for_number)
    for_size = (epsilon - for_number) / domain.max_size
    answers = [
        Estimates.of(curator.ask_supports(Itemsets.of(combinations(domain.items, size)), epsilon=for_size))
        for size in range(1, domain.max_size + 1)
    ]
    min_count = count_of(request.min_support or Fraction(0), transactions=number.value)
    opening = Preliminaries(number, request.k or domain.size, min_count, Fraction(0), ())
    return opening.release(curator, best_of(answers, opening), method="strawman")


def best_of(answers: list[Estimates], opening: Preliminaries) -> Estimates:
    """The k largest of all, as far as they reach the threshold."""
    every = Estimates.joined(answers)
    best = by_support(every.itemsets, every.supports)[: opening.k]
    return every.take(np.array([i for i in best if every.supports[i] >= opening.min_count], np.int64))
