"""planned: the default miner. It asks a little, predicts which way of asking the rest errs least, and takes that.

Task: the k most frequent itemsets, or those above a threshold. Ours; more in docs/methods/planned.md.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the opening (`methods.opening`): number of transactions; for a threshold, how many itemsets it stands for;
2. the support of the k-th itemset (sensitivity c; not for a threshold, which is given), and how many items are as
   frequent as that (one draw of the exponential mechanism, score of sensitivity c, not monotone);
3. if a transaction holds much of the answer (`few_items`): the best items, draws on supports, monotone with
   sensitivity c; then the joint patterns of these items, of which a transaction shows one: sensitivity c;
4. if not (`by_size`): histograms of how many of some itemsets transactions hold, sensitivity c each; the largest
   support of a size, sensitivity c each; and supports in which a transaction that holds n > m of the itemsets in
   question counts m / n for each: L1 sensitivity c m. The last question may instead be joint patterns of w groups
   of items, a share of 1 / w for each, sensitivity c.

Every question gets a share of what was left before it, chosen from earlier answers. Which itemsets are asked about,
every m, and every choice between strategies follow from earlier answers and public numbers alone. The budget refuses
what would exceed epsilon. Predictions, beliefs, consistency and the final choice are post-processing.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

from veilset.choose import Estimates
from veilset.gate import Curator, NoisyCounts
from veilset.itemsets import Domain, Itemset, Itemsets, joined
from veilset.methods.bases import basis_set
from veilset.methods.beliefs import (
    WIDEST_IN_SIGMA,
    Beliefs,
    Places,
    Prior,
    grid_to,
    measured,
    prior_of,
    weighed,
)
from veilset.methods.opening import Opening, ask_first
from veilset.methods.privbasis import averaged, supersets_added_up
from veilset.methods.spread import UNEVEN, Cap, Spread, ask_spread
from veilset.release import Release
from veilset.target import Target

Floats = npt.NDArray[np.float64]

NAME = "planned"
MAX_SIZE = 12
"""The largest itemset that is looked for, unless the caller says."""
SHARE_FOR_KTH, SHARE_FOR_RANK = Fraction(3, 100), Fraction(1, 20)
SHARE_FOR_SPREAD, SHARE_FOR_LARGEST = Fraction(1, 100), Fraction(3, 200)
"""Small questions: parts of all of epsilon. The rest go to counts, as parts of what is left."""
SHARE_FOR_ITEMS = Fraction(2, 5)
SHARE_FOR_FEW = Fraction(2, 5)
"""For choosing items, where few carry everything; their joint patterns have the rest."""
MARGIN = Fraction(11, 10)
"""Ranks are compared with the support of the itemset of this many times k."""
FLOOR_IN_SCALES, WITHIN_NOISE = 2.5, 2.0
"""So many scales of noise below what was answered, the k-th support may still be; and what is compared with it."""
LARGEST_GROUP, LARGEST_BASIS = 14, 12
ITEMS_FOR_EACH = Fraction(13, 10)
MOST_ITEMS = 200
"""So many items are combined at the most: this many times k, but no more than MOST_ITEMS."""
HALF_A_CHANCE = 0.5
SURE_BELOW, SURE_ABOVE = 0.02, 0.98
"""An itemset is measured again where its chance to be in the answer is between the two."""
WORTH_EXTENDING, OUT_OF_QUESTION = 0.1, 1e-4
LEAST_SHARE, MOST_SHARE = Fraction(1, 10), Fraction(1, 2)
"""Of what is left, for the candidates of one size."""
VALUES_MATTER = 4.0
"""Candidates are counted under the cap that is best for this many times the support in question: what is well above
it is not measured again, so its value should be right."""
MOST_IN_BASES, MOST_PAIRS_IN_BASES = 60, 150
"""With more, there would be so many bases that patterns cannot win."""
ALWAYS_UNSURE = 0.05
"""The part of the answer that is taken to be unsure even where beliefs are not: no belief is better than its model."""
STEEP = 2.0
"""Among few items: the part of the answer that is lost for each part of the k-th support by which counts err."""
LOST_WITH_AN_ITEM = 0.04


def planned(curator: Curator, target: Target, *, epsilon: Fraction) -> Release:
    """The k most frequent itemsets, by the strategy that is predicted to err least."""
    domain = curator.domain(max_size=min(target.max_size or MAX_SIZE, MAX_SIZE))
    first = ask_first(curator, target, domain=domain, epsilon=epsilon)
    if first.k == 0:
        return first.release(curator, Estimates.none(), method=NAME)
    aim = ask_aim(curator, first, target, domain=domain, epsilon=epsilon)
    if aim.is_dense:
        return few_items(curator, aim)
    return by_size(curator, aim)


@dataclass(frozen=True, slots=True)
class Aim:
    """What is looked for, and what is left of epsilon, after the small questions.

    About k itemsets have a support of `about` or more, most likely at least `floor`; `rank` items do.
    """

    first: Opening
    domain: Domain
    k: int
    number: int
    about: int
    floor: int
    is_given: bool
    rank: int
    epsilon: Fraction
    left: Fraction

    @property
    def is_dense(self) -> bool:
        """Whether transactions hold so much of the answer that joint patterns of the items err less.

        A transaction holds at least k * about / number of the answer on average, and about half as much again is
        a cap that it fits under: that is the noise of shared supports. The noise of patterns of g items, added up
        for an itemset of two or three, is 2^((g - 2.5) / 2).
        """
        shared = 1.5 * self.k * min(1.0, self.about / self.number)
        return shared * math.sqrt(2) > math.sqrt(2 * 2.0 ** (min(self.rank, LARGEST_BASIS) - 2.5))

    def support(self, beliefs: Beliefs) -> float:
        """The support that an itemset of the answer has at least."""
        return self.about if self.is_given else max(beliefs.kth_support(self.k), self.floor)


def ask_aim(curator: Curator, first: Opening, target: Target, *, domain: Domain, epsilon: Fraction) -> Aim:
    """Ask for the k-th support, unless a threshold is given, and how many items are as frequent."""
    left, k, number = first.left, first.k, max(first.number.value, 1)
    if target.k is None:
        about = floor = max(first.min_count, 1)
    else:
        answer = curator.ask_kth_support(k, domain=domain, epsilon=epsilon * SHARE_FOR_KTH)
        left -= epsilon * SHARE_FOR_KTH
        about = min(max(answer.value, 1), number)
        scale = float(answer.mechanism.scale) if answer.mechanism else 0.0
        floor = max(1, math.floor(about - FLOOR_IN_SCALES * scale))
    wider = min(math.ceil(MARGIN * k), domain.size)
    rank = curator.ask_matching_rank(
        wider, domain=domain, most=min(wider, curator.alphabet_size), epsilon=epsilon * SHARE_FOR_RANK
    )
    left -= epsilon * SHARE_FOR_RANK
    return Aim(first, domain, k, number, about, floor, target.k is None, rank, epsilon, left)


def few_items(curator: Curator, aim: Aim) -> Release:
    """Choose the items that carry the answer, and ask for their joint patterns."""
    for_items = aim.left * SHARE_FOR_FEW
    for_patterns = aim.left - for_items
    size = group_size(aim, unit=curator.unit.transactions / float(for_patterns))
    every_item = Domain(items=aim.domain.items, max_size=1)
    chosen = curator.ask_best(size, domain=every_item, epsilon=for_items)
    items = tuple(sorted(item for (item,) in chosen.itemsets))
    patterns = curator.ask_joint_patterns(items, epsilon=for_patterns)
    raw = supersets_added_up(patterns.values)
    ranked = supersets_added_up(
        np.rint(onto_simplex(patterns.values.astype(np.float64), aim.number)).astype(np.int64)
    )
    sizes = np.array([pattern.bit_count() for pattern in range(raw.size)])
    allowed = np.flatnonzero((sizes >= 1) & (sizes <= aim.domain.max_size))
    best = allowed[np.argsort(-ranked[allowed], kind="stable")][: aim.k]
    if aim.is_given:
        best = best[ranked[best] >= aim.about]
    spread = WIDEST_IN_SIGMA * math.sqrt(2) * float(patterns.mechanism.scale)
    estimates = Estimates(
        Itemsets.of(
            [items[place] for place in range(size) if pattern >> place & 1] for pattern in best.tolist()
        ),
        np.clip(raw[best], 0, aim.number),
        np.ceil(spread * 2.0 ** ((size - sizes[best]) / 2)).astype(np.int64),
    )
    why = (
        f"transactions hold much of the answer, so {size} items were chosen and counted together: "
        f"about {aim.rank} items are as frequent as the {aim.k}-th itemset"
    )
    return aim.first.release(curator, estimates, method=NAME, notes=(why,))


def group_size(aim: Aim, *, unit: float) -> int:
    """How many items are counted together: each one more finds more of the answer, and adds to the noise of all."""

    def lost(size: int) -> float:
        noise = math.sqrt(2 * 2.0 ** (size - 3)) * unit  # of an itemset of three
        return LOST_WITH_AN_ITEM * (aim.rank - size) + STEEP * noise / aim.about

    most = min(aim.rank, LARGEST_GROUP, len(aim.domain.items))
    enough = next((size for size in range(1, most) if 2**size > aim.k), most)
    return min(range(min(enough, most), most + 1), key=lost)


def onto_simplex(values: Floats, total: int) -> Floats:
    """The closest values that are not negative and add up to the total.

    >>> onto_simplex(np.array([5.0, 3.0, -4.0]), 6).tolist()
    [4.0, 2.0, 0.0]
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)
    last = int(np.flatnonzero(falling > excess)[-1]) if total > 0 else 0
    moved: Floats = np.maximum(values - excess[last], 0.0)
    return moved


@dataclass(frozen=True, slots=True)
class Known:
    """What is believed, what is left of epsilon, and in words what was done; whether larger itemsets may matter."""

    beliefs: Beliefs
    left: Fraction
    story: tuple[str, ...]
    may_grow: bool = True

    def then(self, beliefs: Beliefs, *, left: Fraction, story: str) -> "Known":
        """After one more answer."""
        return Known(beliefs, left, (*self.story, story))

    def stopped(self, story: str, *, left: Fraction) -> "Known":
        """With no larger itemsets to look for."""
        return Known(self.beliefs, left, (*self.story, story), may_grow=False)


def by_size(curator: Curator, aim: Aim) -> Release:
    """Items, pairs, and so on; then again what is still unsure."""
    known = ask_items(curator, aim)
    for size in range(2, aim.domain.max_size + 1):
        if known.may_grow:
            known = ask_larger(curator, aim, known, size)
    known = ask_again(curator, aim, known)
    return aim.first.release(curator, answer(aim, known.beliefs), method=NAME, notes=known.story)


def answer(aim: Aim, beliefs: Beliefs) -> Estimates:
    """The itemsets that are most likely in the answer, with what is believed of their supports."""
    support = aim.about if aim.is_given else beliefs.kth_support(aim.k)
    chances = beliefs.at_least(support)
    order = np.lexsort((-beliefs.means(), -np.round(chances, 3)))
    chosen = order[chances[order] >= HALF_A_CHANCE] if aim.is_given else order[: aim.k]
    return beliefs.estimates(chosen)


def ask_items(curator: Curator, aim: Aim) -> Known:
    """Supports of all items, under a cap on what one transaction counts; those that may matter are kept."""
    for_spread = 2 * aim.epsilon * SHARE_FOR_SPREAD
    spread = ask_spread(curator, None, number=aim.number, epsilon=for_spread)
    left = aim.left - for_spread
    epsilon = left * SHARE_FOR_ITEMS
    cap = spread.best_cap(support=aim.about, unit=unit_of(curator, epsilon))
    counts = curator.ask_normalised_supports(cap.most, epsilon=epsilon)
    values = counts.values / counts.mechanism.steps
    order, scale = np.argsort(-values, kind="stable"), cap.most * unit_of(curator, epsilon)
    kth = float(values[order[min(aim.k, order.size) - 1]])
    least = max(kth, aim.floor * cap.kept) - WITHIN_NOISE * scale
    most = min(math.ceil(ITEMS_FOR_EACH * aim.k), MOST_ITEMS)
    items = [item for item in order[:most].tolist() if values[item] >= least] or order[:2].tolist()
    grid = grid_to(aim.number)
    counted = spread.counted(grid, cap.most)
    uneven = UNEVEN * (1 - cap.kept)
    answers = measured(values[items], counted, scale=scale, uneven=uneven)
    sums = weighed(values[items], counted, scale=scale, uneven=uneven, grid=grid)
    story = f"items: a transaction counts for at most {cap.most}; {len(items)} of them may matter"
    beliefs = Beliefs.of([(item,) for item in items], answers, grid, sums)
    return Known(beliefs, left - epsilon, (story,))


def ask_larger(curator: Curator, aim: Aim, known: Known, size: int) -> Known:
    """Supports of the itemsets of one more item that may be in the answer."""
    beliefs, support = known.beliefs, aim.support(known.beliefs)
    candidates, prior = candidates_of(beliefs, size, support, aim.number)
    for_largest, for_spread = aim.epsilon * SHARE_FOR_LARGEST, aim.epsilon * SHARE_FOR_SPREAD
    left = known.left - for_largest
    if not candidates or left < 10 * for_spread:
        return known.stopped(f"itemsets of {size}: none can be in the answer", left=known.left)
    floor = max(1, aim.number // 1000, math.floor(support / 2))
    largest = curator.ask_largest_support(size, floor=floor, epsilon=for_largest)
    if largest.value < support - WITHIN_NOISE * unit_of(curator, for_largest):
        return known.stopped(f"itemsets of {size}: the most frequent one is too rare", left=left)
    itemsets = Itemsets.of(candidates)
    spread = ask_spread(curator, itemsets, number=aim.number, epsilon=for_spread)
    left -= for_spread
    epsilon = left * share_for(prior.chances(size, support), beliefs.at_least(support), aim.k)
    cap = spread.best_cap(support=VALUES_MATTER * support, unit=unit_of(curator, epsilon))
    if (
        cap.error > support
    ):  # too noisy to tell one from another; a little says how frequent they are on average
        epsilon = left * LEAST_SHARE
        cap = spread.best_cap(support=VALUES_MATTER * support, unit=unit_of(curator, epsilon))
    counts = curator.ask_shared_supports(itemsets, most=cap.most, epsilon=epsilon)
    answers, sums = likelihood(counts, cap, spread.counted(beliefs.grid, cap.most), beliefs.grid)
    found = Beliefs.of(candidates, prior.fitted(answers, beliefs.grid) + answers, beliefs.grid, sums)
    found = found.take(np.flatnonzero(found.at_least(support / 2) > OUT_OF_QUESTION))
    story = f"itemsets of {size}: {len(candidates)}, of which a transaction counts for at most {cap.most}"
    return known.then(beliefs + found, left=left - epsilon, story=story)


def candidates_of(beliefs: Beliefs, size: int, support: float, number: int) -> tuple[list[Itemset], Prior]:
    """Itemsets whose parts may all be in the answer, and that could be in it themselves; what is believed of them."""
    chances = beliefs.at_least(support)
    parts = [
        itemset
        for itemset, chance in zip(beliefs.itemsets, chances.tolist(), strict=True)
        if len(itemset) == size - 1 and (size == 2 or chance > WORTH_EXTENDING)
    ]
    larger = joined(parts)
    if not larger:
        return [], Prior(np.empty(0), np.empty(0))
    means = np.maximum(beliefs.means(), 1.0).tolist()
    known = dict(zip(beliefs.itemsets, means, strict=True))
    prior = prior_of(larger, known, number, slack=error_of_items(beliefs) if size == 2 else 0.0)
    may_be = np.flatnonzero(prior.chances(size, support) > SURE_BELOW)
    return [larger[place] for place in may_be.tolist()], prior.take(may_be)


def error_of_items(beliefs: Beliefs) -> float:
    """The median error of single items: what a bound by them is uncertain by."""
    chances = beliefs.chances[[len(itemset) == 1 for itemset in beliefs.itemsets]]
    means = chances @ beliefs.grid
    return float(2 * np.median(np.sqrt(np.maximum(chances @ beliefs.grid**2 - means**2, 0.0))))


def share_for(new: Floats, old: Floats, k: int) -> Fraction:
    """The share of what is left for new candidates; the rest is for measuring again what stays unsure.

    The error of n unsure itemsets under noise in proportion to 1 / epsilon, added up, is n / epsilon^2: least where
    each part has a share in proportion to the cube root of its n. Half as much again for what comes last, which has
    to make up for the candidates of larger sizes as well.
    """
    unsure = float((new * (1 - new)).sum()) ** (1 / 3)
    rest = 1.5 * (float((old * (1 - old)).sum()) + ALWAYS_UNSURE * k) ** (1 / 3)
    return min(max(Fraction(round(100 * unsure / (unsure + rest)), 100), LEAST_SHARE), MOST_SHARE)


def ask_again(curator: Curator, aim: Aim, known: Known) -> Known:
    """With all that is left: what may or may not be in the answer, by the strategy that is predicted to err less."""
    support, chances = aim.support(known.beliefs), known.beliefs.at_least(aim.support(known.beliefs))
    unsure = np.flatnonzero((chances > SURE_BELOW) & (chances < SURE_ABOVE))
    if unsure.size == 0:
        unsure = np.argsort(-chances, kind="stable")[: aim.k]
    unsure = unsure[np.argsort(-(chances * (1 - chances))[unsure], kind="stable")][: 2 * aim.k]
    groups = ask_groups(curator, aim, known, unsure)
    left = known.left - len(groups) * aim.epsilon * SHARE_FOR_SPREAD
    shares = shares_of(groups, chances, support, left, unit=unit_of(curator, left))
    errors = [
        group.spread.best_cap(support=support, unit=unit_of(curator, share)).error
        for group, share in zip(groups, shares, strict=True)
    ]
    sizes = [group.places.size for group in groups]
    shared_error = float(np.average(errors, weights=sizes))
    bases, pattern_error = bases_for(known.beliefs, chances, unsure, unit=unit_of(curator, left))
    if pattern_error < shared_error:
        beliefs = told_by_patterns(curator, known.beliefs, bases, epsilon=left)
        story = f"again by joint patterns of {len(bases)} groups of items: error {pattern_error:.0f}"
        return known.then(beliefs, left=Fraction(0), story=f"{story}, not {shared_error:.0f}")
    beliefs = known.beliefs
    for group, share in zip(groups, shares, strict=True):
        cap = group.spread.best_cap(support=support, unit=unit_of(curator, share))
        counts = curator.ask_shared_supports(group.itemsets, most=cap.most, epsilon=share)
        counted = group.spread.counted(beliefs.grid, cap.most)
        beliefs = beliefs.told(group.places, *likelihood(counts, cap, counted, beliefs.grid))
    story = f"again the {unsure.size} that were unsure: error about {shared_error:.0f}"
    return known.then(beliefs, left=Fraction(0), story=story)


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Itemsets of one size that are measured together: their places among beliefs, and how transactions hold them."""

    places: Places
    itemsets: Itemsets
    spread: Spread


def ask_groups(curator: Curator, aim: Aim, known: Known, places: Places) -> list[Group]:
    """By size: larger itemsets are held by longer transactions, which lose more under a cap."""
    size_of = np.array([len(known.beliefs.itemsets[place]) for place in places.tolist()])
    groups = []
    for size in np.unique(size_of).tolist():
        some = places[size_of == size]
        itemsets = Itemsets.of(known.beliefs.itemsets[place] for place in some.tolist())
        spread = ask_spread(curator, itemsets, number=aim.number, epsilon=aim.epsilon * SHARE_FOR_SPREAD)
        groups.append(Group(some, itemsets, spread))
    return groups


def shares_of(
    groups: list[Group], chances: Floats, support: float, left: Fraction, *, unit: float
) -> list[Fraction]:
    """What is left, in proportion to the cube root of (how many are unsure) * (noise at equal shares)^2.

    `unit` is the noise of a count that has all that is left.
    """
    weights = []
    for group in groups:
        some = chances[group.places]
        unsure = float((some * (1 - some)).sum()) + ALWAYS_UNSURE * some.size
        cap = group.spread.best_cap(support=support, unit=unit * len(groups))
        weights.append(round(1000 * (unsure * (cap.most / cap.kept) ** 2) ** (1 / 3)) + 1)
    return [left * Fraction(weight, sum(weights)) for weight in weights]


def bases_for(
    beliefs: Beliefs, chances: Floats, unsure: Places, *, unit: float
) -> tuple[list[tuple[int, ...]], float]:
    """Groups of items whose joint patterns tell about what is likely in the answer, and the error they would have."""
    likely = [beliefs.itemsets[place] for place in np.flatnonzero(chances > HALF_A_CHANCE).tolist()]
    items = sorted({item for itemset in likely for item in itemset})
    pairs = sorted({pair for itemset in likely for pair in combinations(itemset, 2)})
    if not items or len(items) > MOST_IN_BASES or len(pairs) > MOST_PAIRS_IN_BASES:
        return [], math.inf
    bases = basis_set(items, pairs, largest=LARGEST_BASIS)
    precisions = [
        sum(2.0 ** (len(itemset) - len(basis)) for basis in bases if set(itemset) <= set(basis))
        for itemset in (beliefs.itemsets[place] for place in unsure.tolist())
    ]
    covered = [precision for precision in precisions if precision > 0]
    if len(covered) < HALF_A_CHANCE * len(precisions):
        return [], math.inf
    return bases, float(np.mean([len(bases) * unit * math.sqrt(2 / precision) for precision in covered]))


def told_by_patterns(
    curator: Curator, beliefs: Beliefs, bases: list[tuple[int, ...]], *, epsilon: Fraction
) -> Beliefs:
    """Ask for the joint patterns of all bases, and add what they say about known itemsets."""
    patterns = [curator.ask_joint_patterns(basis, epsilon=epsilon / len(bases)) for basis in bases]
    largest = max(len(itemset) for itemset in beliefs.itemsets)
    estimates = averaged(zip(bases, patterns, strict=True), max_size=largest)
    place_of = {itemset: place for place, itemset in enumerate(beliefs.itemsets)}
    itemsets = list(estimates.itemsets)
    told = [place for place, itemset in enumerate(itemsets) if itemset in place_of]
    values = estimates.supports[told].astype(np.float64)
    scale = estimates.half_widths[told, None] / (WIDEST_IN_SIGMA * math.sqrt(2))
    answers = measured(values, beliefs.grid, scale=scale, uneven=0.0)
    sums = weighed(values, beliefs.grid, scale=scale, uneven=0.0, grid=beliefs.grid)
    return beliefs.told(np.array([place_of[itemsets[place]] for place in told]), answers, sums)


def unit_of(curator: Curator, epsilon: Fraction) -> float:
    """The scale of the noise of a count that a transaction moves by 1."""
    return curator.unit.transactions / float(epsilon)


def likelihood(counts: NoisyCounts, cap: Cap, counted: Floats, grid: Floats) -> tuple[Floats, Floats]:
    """What shared supports say about supports, of which `counted` is counted on average: chances, and sums."""
    noise = counts.mechanism
    values, scale, uneven = (
        counts.values / noise.steps,
        float(noise.scale) / noise.steps,
        UNEVEN * (1 - cap.kept),
    )
    answers = measured(values, counted, scale=scale, uneven=uneven)
    return answers, weighed(values, counted, scale=scale, uneven=uneven, grid=grid)
