"""Items first, then larger and larger itemsets: what may be in the answer, and about how frequent it is.

Privacy argument. With c the transactions of one privacy unit, three kinds of questions are asked: a histogram of how
many of some itemsets transactions hold, and the largest support of a size, of sensitivity c each; and supports under
a cap m, of L1 sensitivity c m (`ask_normalised_supports` for all items, `methods.shared` for a list). Each takes a
share of what is left. Lists, caps and shares follow from earlier answers; beliefs are post-processing.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import Curator
from veilset.itemsets import Itemset, Itemsets, joined
from veilset.methods.planned.capped_counts import ask_capped, told_by, unit_of
from veilset.methods.planned.overlap import Overlap, ask_overlap
from veilset.methods.planned.posterior import USUAL_LIFT, USUAL_WIDTH, Posterior, Prior, grid_to, prior_of
from veilset.methods.planned.scouting import Aim

SHARE_FOR_OVERLAP, SHARE_FOR_LARGEST = Fraction(3, 200), Fraction(1, 200)
"""Small questions: parts of all of epsilon. The rest go to counts, as parts of what is left."""
SHARE_FOR_ITEMS = Fraction(2, 5)
LEAST_SHARE, MOST_SHARE = Fraction(1, 10), Fraction(1, 2)
"""Of what is left, for the candidates of one size."""
GOOD_ENOUGH, LEAST_PART = 0.25, Fraction(3, 10)
"""No more is paid than makes the error this part of the support, but this part of the share at least: what is far from
the answer need not be known better, and what is near it is measured again."""
WITHIN_NOISE, SURELY = 2.0, 4.0
"""An item may matter that is so many scales of noise below the k-th support; and so many below, none of a size can."""
ITEMS_FOR_EACH, MOST_ITEMS = 2, 400
"""So many items are looked at: this many times k, or k where that is more than MOST_ITEMS; so many are combined."""
CANDIDATES_FOR_EACH, NEGLIGIBLE = (16, 8, 4, 2), 0.1
"""So many itemsets of a size are measured: this many times k, those that are likeliest by what is known of their parts.
More than twice k only where the error will be this part of the support: else noise grows faster than what they add."""
LEAST_LIKELY, WORTH_EXTENDING, OUT_OF_QUESTION = 0.02, 0.1, 1e-4
"""The chance to be in the answer: of a candidate, of an itemset that candidates are made of, of what is forgotten."""
VALUES_MATTER = 4.0
"""Candidates are counted under the cap that is best for this many times the support in question: what is well above
it is not measured again, so its value should be right."""
ALWAYS_UNSURE = 0.05
"""The part of the answer that is taken to be unsure even where beliefs are not: no belief is better than its model."""
TOTAL_WITHIN = 1.0
"""The supports of candidates add up to what their parts make likely, give or take: a deviation of the logarithm."""
TOO_LITTLE = 10
"""With less left than this many times what a histogram costs, candidates are not measured by themselves."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is believed, what is left of epsilon, and in words what was done; whether larger itemsets may matter."""

    posterior: Posterior
    left: Fraction
    story: tuple[str, ...]
    may_grow: bool = True

    def then(self, posterior: Posterior, *, left: Fraction, story: str) -> "Known":
        """After one more answer."""
        return Known(posterior, left, (*self.story, story))

    def stopped(self, story: str, *, left: Fraction) -> "Known":
        """With no larger itemsets to look for."""
        return Known(self.posterior, left, (*self.story, story), may_grow=False)


def ask_items(curator: Curator, aim: Aim) -> Known:
    """Supports of all items, under a cap on what one transaction counts; those that may matter are kept."""
    for_spread = 2 * aim.epsilon * SHARE_FOR_OVERLAP
    overlap = ask_overlap(curator, None, number=aim.number, epsilon=for_spread)
    left = aim.left - for_spread
    epsilon = enough(
        overlap, left * SHARE_FOR_ITEMS, aim.about, unit=unit_of(curator, left * SHARE_FOR_ITEMS)
    )
    cap = overlap.best_cap(support=aim.about, unit=unit_of(curator, epsilon))
    counts = curator.ask_normalised_supports(cap.most, epsilon=epsilon)
    values = counts.values / counts.mechanism.steps
    order, scale = np.argsort(-values, kind="stable"), cap.most * unit_of(curator, epsilon)
    kth = float(values[order[min(aim.k, order.size) - 1]])
    least = max(kth, aim.floor * cap.kept) - WITHIN_NOISE * scale
    most = min(ITEMS_FOR_EACH * aim.k, max(MOST_ITEMS, aim.k))
    items = [item for item in order[:most].tolist() if values[item] >= least] or order[:2].tolist()
    grid = grid_to(aim.number)
    answers, sums = told_by(counts, overlap.counted(grid, cap.most), kept=cap.kept, grid=grid)
    story = f"items: a transaction counts for at most {cap.most}; {len(items)} of them may matter"
    posterior = Posterior.of([(item,) for item in items], answers[items], grid, sums[items])
    return Known(posterior, left - epsilon, (story,))


def ask_larger(curator: Curator, aim: Aim, known: Known, size: int) -> Known:
    """Supports of the itemsets of one more item that may be in the answer."""
    posterior, support = known.posterior, aim.support(known.posterior)
    candidates, prior = candidates_of(
        posterior, size, support, aim, unit=unit_of(curator, known.left * MOST_SHARE)
    )
    if not candidates:
        return known.stopped(f"itemsets of {size}: none can be in the answer", left=known.left)
    for_largest, for_spread = aim.epsilon * SHARE_FOR_LARGEST, aim.epsilon * SHARE_FOR_OVERLAP
    left = known.left - for_largest
    if left < TOO_LITTLE * for_spread:
        unmeasured = prior.log_chances(USUAL_LIFT, USUAL_WIDTH, posterior.grid)
        story = f"itemsets of {size}: {len(candidates)}, by what is known of their parts"
        found = Posterior.of(candidates, unmeasured, posterior.grid)
        return known.then(posterior + found, left=known.left, story=story)
    floor = max(1, aim.number // 1000, math.floor(support / 2))
    largest = curator.ask_largest_support(size, floor=floor, epsilon=for_largest)
    if largest.value < support - SURELY * unit_of(curator, for_largest):
        return known.stopped(f"itemsets of {size}: the most frequent one is too rare", left=left)
    itemsets = Itemsets.of(candidates)
    total = float(prior.expected.sum()) * math.exp(USUAL_LIFT)
    overlap = ask_overlap(
        curator, itemsets, number=aim.number, total=total, within=TOTAL_WITHIN, epsilon=for_spread
    )
    left -= for_spread
    chances = prior.chances(size, support)
    share = share_for(chances, posterior.at_least(support), aim.k)
    of_answer = float(chances.sum()) / aim.k
    epsilon = part_of(overlap, left, share, support, of_answer=of_answer, unit=unit_of(curator, left * share))
    cap = overlap.best_cap(support=VALUES_MATTER * support, unit=unit_of(curator, epsilon))
    answers, sums = ask_capped(curator, itemsets, overlap, cap, epsilon=epsilon, grid=posterior.grid)
    found = Posterior.of(candidates, prior.fitted(answers, posterior.grid) + answers, posterior.grid, sums)
    found = found.take(np.flatnonzero(found.at_least(support / 2) > OUT_OF_QUESTION))
    story = f"itemsets of {size}: {len(candidates)}, of which a transaction counts for at most {cap.most}"
    return known.then(posterior + found, left=left - epsilon, story=story)


def candidates_of(
    posterior: Posterior, size: int, support: float, aim: Aim, *, unit: float
) -> tuple[list[Itemset], Prior]:
    """The likeliest of the itemsets whose parts may all be in the answer, and what is believed of them.

    `unit` is the noise of a count that a transaction moves by 1.
    """
    chances = posterior.at_least(support)
    parts = [
        itemset
        for itemset, chance in zip(posterior.itemsets, chances.tolist(), strict=True)
        if len(itemset) == size - 1 and (size == 2 or chance > WORTH_EXTENDING)
    ]
    larger = joined(parts[:MOST_ITEMS] if size == 2 else parts)
    if not larger:
        return [], Prior(np.empty(0), np.empty(0))
    means = dict(zip(posterior.itemsets, np.maximum(posterior.means(), 1.0).tolist(), strict=True))
    prior = prior_of(larger, means, aim.number, slack=error_of_items(posterior) if size == 2 else 0.0)
    new = prior.chances(size, support)
    order = np.argsort(-new, kind="stable")
    order = order[new[order] > LEAST_LIKELY]
    held = np.cumsum(prior.expected[order]) / aim.number
    best = np.sort(order[: how_many(held, aim.k, unit=unit / support)])
    return [larger[place] for place in best.tolist()], prior.take(best)


def how_many(held: FloatArray, k: int, *, unit: float) -> int:
    """How many candidates are measured, where a transaction holds `held` of the first 1, 2, ... on average.

    It fits under a cap of twice as many and one; `unit` is the noise under a cap of 1, as a part of the support.

    >>> held = np.arange(1, 1001) / 100
    >>> how_many(held, 10, unit=0.1), how_many(held, 10, unit=0.03), how_many(held, 10, unit=0.001)
    (20, 40, 160)
    """
    for times in CANDIDATES_FOR_EACH[:-1]:
        last = min(times * k, held.size) - 1
        if last >= 0 and math.sqrt(2) * (1 + 2 * held[last]) * unit < NEGLIGIBLE:
            return times * k
    return CANDIDATES_FOR_EACH[-1] * k


def error_of_items(posterior: Posterior) -> float:
    """The median error of single items, twice: what a bound by them is uncertain by."""
    is_item = [len(itemset) == 1 for itemset in posterior.itemsets]
    return float(2 * np.median(posterior.deviations()[is_item]))


def share_for(new: FloatArray, old: FloatArray, k: int) -> Fraction:
    """The share of what is left for new candidates; the rest is for measuring again what stays unsure.

    The error of n unsure itemsets under noise in proportion to 1 / epsilon, added up, is n / epsilon^2: least where
    each part has a share in proportion to the cube root of its n. Half as much again for what comes last, which has
    to make up for the candidates of larger sizes as well.
    """
    unsure = float((new * (1 - new)).sum()) ** (1 / 3)
    rest = 1.5 * (float((old * (1 - old)).sum()) + ALWAYS_UNSURE * k) ** (1 / 3)
    return min(max(Fraction(round(100 * unsure / (unsure + rest)), 100), LEAST_SHARE), MOST_SHARE)


def part_of(
    overlap: Overlap, left: Fraction, share: Fraction, support: float, *, of_answer: float, unit: float
) -> Fraction:
    """What candidates get of what is left: up to a share, under which the noise of a count is `unit`.

    Where the error would be x times what is good enough, 1 / x of the share will do, or as large a part of it as they
    are expected to make up of the answer, `of_answer`: the rest is better kept for what can be told apart. Where it
    would be more than the support, a little says how frequent they are on average.
    """
    error = overlap.best_cap(support=support, unit=unit).error / support
    if error > 1:
        return left * LEAST_SHARE
    if error > GOOD_ENOUGH:
        part = min(1.0, max(GOOD_ENOUGH / error, of_answer))
        return left * max(LEAST_SHARE, share * Fraction(round(100 * part), 100))
    return enough(overlap, left * share, support, unit=unit)


def enough(overlap: Overlap, epsilon: Fraction, support: float, *, unit: float) -> Fraction:
    """No more of epsilon, under which the noise is `unit`, than is good enough."""
    error = overlap.best_cap(support=support, unit=unit).error
    part = Fraction(min(100, round(100 * error / (GOOD_ENOUGH * support))), 100)
    return epsilon * max(part, LEAST_PART)
