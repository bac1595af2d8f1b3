"""What to expect of `planned`: its own steps and rules, on the supports of the model in place of noisy answers.

Answers are followed without their noise; noise decides what is believed afterwards, and so which itemsets are found.
Approximated are:

* beliefs, by normal laws around the true support. Answers about an itemset of several items, and what its parts let
  expect of it (as closely as the method takes to be usual), count by inverse variance;
* how many candidates a transaction holds, from how many of their items it holds: all combinations of these, thinned
  out evenly to as many as the candidates' supports add up to. Lengths above 64 are taken for 64;
* what noise brings in among the items: taken to be no better than what it keeps out;
* among few items, what making patterns consistent takes from the noise: nothing.

Items are numbered from the most popular one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.gate import NoisyCount
from veilset.gate.mechanisms import DiscreteLaplace, Exponential
from veilset.itemsets import Itemset, Itemsets, joined
from veilset.methods import planned as method
from veilset.methods.beliefs import USUAL_WIDTH, WIDEST_IN_SIGMA, Beliefs, Places, Prior
from veilset.methods.opening import Opening
from veilset.methods.planned import Aim, Group
from veilset.methods.spread import MOST, UNEVEN, Cap, Spread
from veilset.plan import laws
from veilset.plan.curve import TOLERANCE, Floats
from veilset.plan.difffim import model_lengths
from veilset.plan.forecast import Forecast, Stage, World, opening
from veilset.plan.privbasis import expected_rank

Stages = tuple[Stage, ...]


def largest(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return min(max_size or method.MAX_SIZE, method.MAX_SIZE)


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Itemsets that will be known: true supports, deviations of what is believed, chances to be known at all."""

    itemsets: list[Itemset]
    supports: Floats
    deviations: Floats
    present: Floats

    def __add__(self, other: "Expected") -> "Expected":
        """Both."""
        return Expected(
            self.itemsets + other.itemsets,
            np.append(self.supports, other.supports),
            np.append(self.deviations, other.deviations),
            np.append(self.present, other.present),
        )

    def take(self, places: Places) -> "Expected":
        """Some of them."""
        return Expected(
            [self.itemsets[place] for place in places.tolist()],
            self.supports[places],
            self.deviations[places],
            self.present[places],
        )

    def told(self, places: Places, deviations: Floats) -> "Expected":
        """After one more answer about some of them."""
        after = self.deviations.copy()
        after[places] = _together(after[places], deviations)
        return Expected(self.itemsets, self.supports, after, self.present)

    def at_least(self, support: float) -> Floats:
        """How likely each will seem to be so frequent."""
        return laws.normal_distribution((self.supports - support) / self.deviations)

    def kth_support(self, aim: Aim) -> float:
        """The support that an itemset of the answer has at least, by what is known."""
        kth = min(aim.k, self.supports.size)
        return max(float(np.partition(self.supports, -kth)[-kth]), aim.floor)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What will be known, the questions so far, and what is left of epsilon.

    With a support of `kept_from` an item is chosen over ones that nobody holds.
    """

    expected: Expected
    kept_from: int
    stages: Stages
    left: Fraction

    def chosen_from(self, k: int) -> int:
        """The support with which an itemset is chosen over ones that nobody holds, by what is believed of the k-th."""
        kth = np.argsort(-self.expected.supports, kind="stable")[:k][-1]
        scale = float(self.expected.deviations[kth]) / math.sqrt(2)
        return max(
            self.kept_from, laws.support_to_be_first(scale, k=k, candidates=len(self.expected.itemsets))
        )


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    first, aim = _aim(world, k, epsilon)
    known = _few_items(world, aim) if aim.is_dense else _by_size(world, aim)
    expected, kth_support = known.expected, world.curve.at_rank(k)
    chances = expected.present * laws.chances_to_be_among_first(
        expected.supports, expected.deviations, k=k, present=expected.present
    )
    best = np.argsort(-expected.supports, kind="stable")[:k]
    half_width = _half_width(expected.take(best))
    return Forecast(
        method=method.NAME,
        max_size=world.domain.max_size,
        stages=first + known.stages,
        half_width=half_width,
        chosen_from=known.chosen_from(k),
        above_zero_from=laws.support_above_zero(half_width),
        kth_support=round(kth_support),
        found=float(chances[best][expected.supports[best] >= (1 - TOLERANCE) * kth_support].sum()) / k,
    )


def _aim(world: World, k: int, epsilon: Fraction) -> tuple[Stages, Aim]:
    """The small questions, and what follows from their answers."""
    number, left = opening(epsilon)
    kth = DiscreteLaplace(1, epsilon * method.SHARE_FOR_KTH)
    rank = Exponential(1, 1, epsilon * method.SHARE_FOR_RANK, is_monotone=False)
    about = min(max(round(world.curve.at_rank(k)), 1), world.rows)
    wider = min(math.ceil(method.MARGIN * k), world.domain.size)
    aim = Aim(
        Opening(NoisyCount(world.rows, None), k, 0, left, ()),
        world.domain,
        k,
        number=world.rows,
        about=about,
        floor=max(1, math.floor(about - method.FLOOR_IN_SCALES * float(kth.scale))),
        is_given=False,
        rank=expected_rank(world, wider, rate=float(rank.rate)),
        epsilon=epsilon,
        left=left - kth.epsilon - rank.epsilon,
    )
    return (number, Stage("support of the k-th itemset", kth), Stage("how many items", rank)), aim


def _half_width(best: Expected) -> int:
    """The median one."""
    return math.ceil(WIDEST_IN_SIGMA * float(np.median(best.deviations)))


def _few_items(world: World, aim: Aim) -> Known:
    """Draws of items, then their joint patterns."""
    for_items = aim.left * method.SHARE_FOR_FEW
    patterns = DiscreteLaplace(1, aim.left - for_items)
    size = method.group_size(aim, unit=float(patterns.scale))
    choice = Exponential(size, 1, for_items)
    items = world.rows * world.shares
    drawn = laws.chances_to_be_drawn(items, np.zeros(items.size), draws=size, rate=float(choice.rate))
    holds = np.arange(2**size)[:, None] >> np.arange(size) & 1
    sizes = holds.sum(axis=1)
    holds = holds[(sizes >= 1) & (sizes <= world.domain.max_size)]
    expected = Expected(
        [tuple(np.flatnonzero(row).tolist()) for row in holds],
        world.rows * np.where(holds, world.shares[:size], 1.0).prod(axis=1),
        math.sqrt(2) * float(patterns.scale) * 2.0 ** ((size - holds.sum(axis=1)) / 2),
        np.where(holds, drawn[:size], 1.0).prod(axis=1),
    )
    stages = (Stage("choice of items", choice), Stage("joint patterns", patterns))
    kept_from = laws.support_to_be_drawn(choice, candidates=items.size)
    return Known(expected, kept_from, stages, Fraction(0))


def _by_size(world: World, aim: Aim) -> Known:
    """Items, pairs, and so on; then again what is still unsure."""
    known, may_grow = _items(world, aim), True
    for size in range(2, world.domain.max_size + 1):
        if may_grow:
            known, may_grow = _larger(world, aim, known, size)
    return _again(world, aim, known)


def _items(world: World, aim: Aim) -> Known:
    """Supports of all items, of which those are kept that may matter."""
    lengths = DiscreteLaplace(1, 2 * aim.epsilon * method.SHARE_FOR_SPREAD)
    left = aim.left - lengths.epsilon
    epsilon = left * method.SHARE_FOR_ITEMS
    supports = world.rows * world.shares
    every_item: list[Itemset] = [(item,) for item in range(supports.size)]
    cap = _spread(world, every_item).best_cap(support=aim.about, unit=1 / float(epsilon))
    noise, scale = DiscreteLaplace(min(cap.most, supports.size), epsilon), cap.most / float(epsilon)
    kth = supports[min(aim.k, supports.size) - 1]
    least = max(kth, aim.floor) * cap.kept - method.WITHIN_NOISE * scale
    most = min(math.ceil(method.ITEMS_FOR_EACH * aim.k), method.MOST_ITEMS)
    deviations = _deviations(supports, cap, epsilon)
    passing = laws.laplace_distribution((supports * cap.kept - least) / scale)
    among_first = laws.chances_to_be_among_first(supports, deviations, k=most)
    expected = Expected(every_item, supports, deviations, np.minimum(passing, among_first))
    number = max(2, round(float(expected.present.sum())))
    kept_from = laws.support_to_be_first(scale / cap.kept, k=most, candidates=supports.size)
    stages = (Stage("lengths", lengths), Stage("supports, size 1", noise))
    return Known(expected.take(np.arange(min(number, supports.size))), kept_from, stages, left - epsilon)


def _larger(world: World, aim: Aim, known: Known, size: int) -> tuple[Known, bool]:
    """Supports of the itemsets of one more item that may be in the answer; and whether to go on."""
    expected, support = known.expected, known.expected.kth_support(aim)
    best = DiscreteLaplace(1, aim.epsilon * method.SHARE_FOR_LARGEST)
    held = DiscreteLaplace(1, aim.epsilon * method.SHARE_FOR_SPREAD)
    candidates, chances = _candidates(world, expected, size, support)
    left = known.left - best.epsilon
    if not candidates or left < 10 * held.epsilon:
        return known, False
    stages = (*known.stages, Stage(f"largest support, size {size}", best))
    if world.rows * world.shares[:size].prod() < support - method.WITHIN_NOISE * float(best.scale):
        return Known(expected, known.kept_from, stages, left), False
    left -= held.epsilon
    spread, wanted = _spread(world, candidates), method.VALUES_MATTER * support
    epsilon = left * method.share_for(chances, expected.at_least(support), aim.k)
    cap = spread.best_cap(support=wanted, unit=1 / float(epsilon))
    if cap.error > support:
        epsilon = left * method.LEAST_SHARE
        cap = spread.best_cap(support=wanted, unit=1 / float(epsilon))
    supports = _supports(world, candidates)
    found = Expected(
        candidates,
        supports,
        _together(USUAL_WIDTH * supports, _deviations(supports, cap, epsilon)),
        expected.present[np.array(candidates)].prod(axis=1),  # items come first, in their order
    )
    found = found.take(np.flatnonzero(found.at_least(support / 2) > method.OUT_OF_QUESTION))
    noise = DiscreteLaplace(min(cap.most, len(candidates)), epsilon)
    stages = (*stages, Stage(f"held, size {size}", held), Stage(f"supports, size {size}", noise))
    return Known(expected + found, known.kept_from, stages, left - epsilon), True


def _candidates(world: World, expected: Expected, size: int, support: float) -> tuple[list[Itemset], Floats]:
    """Itemsets that could be in the answer, with their chances before any of them was measured."""
    sizes = np.array([len(itemset) for itemset in expected.itemsets])
    may_be = sizes == size - 1
    if size > 2:
        may_be &= expected.at_least(support) > method.WORTH_EXTENDING
    larger = joined([expected.itemsets[place] for place in np.flatnonzero(may_be).tolist()])
    if not larger:
        return [], np.empty(0)
    supports = _supports(world, larger)
    rarest_part = supports / world.shares[np.array(larger)].max(axis=1)
    slack = 2 * float(np.median(expected.deviations[sizes == 1])) if size == 2 else 0.0
    chances = Prior(supports, 1.1 * rarest_part + slack).chances(size, support)
    likely = np.flatnonzero(chances > method.SURE_BELOW)
    return [larger[place] for place in likely.tolist()], chances[likely]


def _again(world: World, aim: Aim, known: Known) -> Known:
    """With all that is left: what may or may not be in the answer, by the strategy that errs less."""
    expected, support = known.expected, known.expected.kth_support(aim)
    chances = expected.at_least(support)
    doubt = chances * (1 - chances)
    unsure = np.flatnonzero((chances > method.SURE_BELOW) & (chances < method.SURE_ABOVE))
    if unsure.size == 0:
        unsure = np.argsort(-chances, kind="stable")[: aim.k]
    unsure = unsure[np.argsort(-doubt[unsure], kind="stable")][: 2 * aim.k]
    groups = _groups(world, expected, unsure)
    held = DiscreteLaplace(1, aim.epsilon * method.SHARE_FOR_SPREAD)
    left = known.left - len(groups) * held.epsilon
    stages = (*known.stages, Stage("held, again", held, times=len(groups)))
    shares = method.shares_of(groups, chances, support, left, unit=1 / float(left))
    caps = [
        group.spread.best_cap(support=support, unit=1 / float(share))
        for group, share in zip(groups, shares, strict=True)
    ]
    shared_error = np.average([cap.error for cap in caps], weights=[group.places.size for group in groups])
    names_only = Beliefs.of(expected.itemsets, np.empty((0, 0)), np.empty(0))
    bases, pattern_error = method.bases_for(names_only, chances, unsure, unit=1 / float(left))
    if pattern_error < shared_error:
        patterns = DiscreteLaplace(1, left / len(bases))
        expected = expected.told(unsure, np.full(unsure.size, pattern_error))
        stages = (*stages, Stage("joint patterns", patterns, times=len(bases)))
        return Known(expected, known.kept_from, stages, Fraction(0))
    for group, share, cap in zip(groups, shares, caps, strict=True):
        size = len(expected.itemsets[group.places[0]])
        expected = expected.told(group.places, _deviations(expected.supports[group.places], cap, share))
        noise = DiscreteLaplace(min(cap.most, group.places.size), share)
        stages = (*stages, Stage(f"supports again, size {size}", noise))
    return Known(expected, known.kept_from, stages, Fraction(0))


def _groups(world: World, expected: Expected, places: Places) -> list[Group]:
    """What is measured again, by size."""
    sizes = np.array([len(expected.itemsets[place]) for place in places.tolist()])
    groups = []
    for size in np.unique(sizes).tolist():
        some = places[sizes == size]
        itemsets = [expected.itemsets[place] for place in some.tolist()]
        groups.append(Group(some, Itemsets.of(itemsets), _spread(world, itemsets)))
    return groups


def _spread(world: World, itemsets: Sequence[Itemset]) -> Spread:
    """How many of some itemsets of one size transactions hold, from how many of their items they hold."""
    size, number = len(itemsets[0]), 1 + max(map(max, itemsets))
    lengths = model_lengths(world, number, epsilon=Fraction(1)).values
    every_one = np.array([math.comb(length, size) for length in range(lengths.size)])
    thinned = every_one * min(
        1.0, float(_supports(world, itemsets).sum()) / max(float(every_one @ lengths), 1.0)
    )
    numbers = np.minimum(thinned, MOST)
    below, part = np.floor(numbers).astype(np.int64), numbers % 1
    transactions = np.bincount(below, lengths * (1 - part), minlength=MOST + 2).astype(np.float64)
    transactions += np.bincount(below + 1, lengths * part, minlength=MOST + 2)
    return Spread(transactions[1 : MOST + 1])


def _supports(world: World, itemsets: Sequence[Itemset]) -> Floats:
    supports: Floats = world.rows * world.shares[np.array(itemsets)].prod(axis=1)
    return supports


def _deviations(supports: Floats, cap: Cap, epsilon: Fraction) -> Floats:
    """Of supports counted under a cap: noise, scaled up, and the uneven loss."""
    noise = math.sqrt(2) * cap.most / float(epsilon) / cap.kept
    deviations: Floats = np.hypot(noise, UNEVEN * (1 - cap.kept) * supports)
    return deviations


def _together(one: Floats, other: Floats) -> Floats:
    """The deviation of what two answers say, by inverse variance."""
    together: Floats = one * other / np.hypot(one, other)
    return together
