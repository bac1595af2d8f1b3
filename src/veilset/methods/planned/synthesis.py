"""Rows that reproduce given supports: the model behind a dataset that `planned` publishes.

Post-processing: everything here follows from noisy answers, with randomness that is public and seeded.

Items are put into rows one after another, the most frequent first. Where an item goes is a logistic law: a row is the
likelier the more room it has left, and every itemset that the item completes has a weight for the rows that hold the
rest of it. The weights are those under which supports are expected to be as wanted (iterative scaling): the law of
maximum entropy given the items before. Numbers of rows are then rounded, not drawn, so that supports are met nearly
exactly. What nobody asked for must not become frequent by accident: itemsets that are not listed have a ceiling.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from veilset.arrays import FloatArray, Int64Array, Uint64Array
from veilset.itemsets import Itemset, joined
from veilset.public_kernels.row_groups import first_of_marks, take_first

SEED_OF_ROWS = 0
"""0: the randomness of rows is public."""
FULL_ROW = 0.02
"""0.02 items is the room that a row without any counts as: it may be needed where itemsets demand it."""
MOST_CYCLES = 100
"""100 cycles of iterative scaling at most."""
MOST_ACCELERATED = 4.0
"""4 times the difference of log-odds is the most that is added to the weight of an itemset at once."""
CLOSE_ENOUGH = 0.25
"""0.25 rows is how far expected supports may be from those wanted."""
LARGEST_WEIGHT = 12.0
"""12 is the largest weight of an itemset, on a logarithmic scale: more changes nothing but rounding errors."""
MOST_OF_ROWS = 0.25
"""0.25 of the rows of a group, or more, are drawn out of all rows; fewer out of some, which is faster."""
ROUNDS_OF_CEILINGS = 3
"""3 times at most, itemsets that would be too frequent are looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class WantedSupports:
    """What rows shall reproduce.

    Attributes:
        lengths: how many items each row has.
        items: the support of each item of the alphabet.
        larger: the supports of itemsets of two items or more.
        ceiling: the most that itemsets of two items or more have that are not among these.
    """

    lengths: Int64Array
    items: Int64Array
    larger: Mapping[Itemset, int]
    ceiling: int


@dataclass(frozen=True, slots=True, eq=False)
class RestOfItemset:
    """The rows that hold all of an itemset but the item in question, and how many of them shall hold that as well.

    Where it `is_ceiling`, that or fewer.
    """

    rows: Int64Array
    wanted: float
    is_ceiling: bool = False


@dataclass(slots=True, eq=False)
class GrowingRows:
    """Rows as far as they are filled: which of them hold each item, and how much room they have."""

    room: Int64Array
    holders: dict[int, Int64Array] = field(default_factory=dict)
    public: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED_OF_ROWS))

    def holding(self, itemset: Itemset) -> Int64Array:
        """The rows that hold all items of an itemset."""
        first, *others = sorted(itemset, key=lambda item: self.holders[item].size)
        rows = self.holders[first]
        for item in others:
            is_held = np.zeros(self.room.size, np.bool_)
            is_held[self.holders[item]] = True
            rows = rows[is_held[rows]]
        return rows

    def put(self, item: int, rows: Int64Array) -> None:
        """Put an item into rows."""
        self.holders[item] = rows
        self.room[rows] -= 1


def synthesised(wanted: WantedSupports) -> dict[int, Int64Array]:
    """Which rows hold each item; an item that none holds is left out."""
    rows = GrowingRows(wanted.lengths.copy())
    order = _joint_items(wanted)
    rank = {item: place for place, item in enumerate(order)}
    completed = _by_last_item(wanted.larger, rank)
    limited = _by_last_item(_unlisted(wanted), rank)
    for item in order:
        parts = [
            RestOfItemset(rows.holding(rest), wanted.larger[itemset])
            for itemset, rest in completed.get(item, [])
        ]
        rests = [rest for _, rest in limited.get(item, [])]
        rows.put(
            item, _chosen_rows(rows, parts, rests, number=int(wanted.items[item]), ceiling=wanted.ceiling)
        )
    others = np.setdiff1d(np.flatnonzero(wanted.items > 0), np.array(order, np.int64))
    _fill(rows, others, wanted.items[others])
    return {item: held for item, held in rows.holders.items() if held.size}


def _joint_items(wanted: WantedSupports) -> list[int]:
    """The items that larger itemsets tell of, and those that could make frequent ones; the most frequent first."""
    told = {item for itemset in wanted.larger for item in itemset}
    told.update(np.flatnonzero(wanted.items >= max(wanted.ceiling, 1)).tolist())
    return sorted(told, key=lambda item: (-int(wanted.items[item]), item))


def _unlisted(wanted: WantedSupports) -> list[Itemset]:
    """Itemsets that are not listed, though all their parts are as frequent as the ceiling: they may become so, too."""
    frequent: list[Itemset] = [
        (item,) for item in np.flatnonzero(wanted.items >= max(wanted.ceiling, 1)).tolist()
    ]
    unlisted: list[Itemset] = []
    while frequent:
        larger = joined(frequent)
        unlisted += [itemset for itemset in larger if itemset not in wanted.larger]
        frequent = [itemset for itemset in larger if wanted.larger.get(itemset, 0) >= wanted.ceiling]
    return unlisted


def _by_last_item(
    itemsets: Iterable[Itemset], rank: Mapping[int, int]
) -> dict[int, list[tuple[Itemset, Itemset]]]:
    """Itemsets, each with what is left of it without its last item, by that item."""
    by_item: dict[int, list[tuple[Itemset, Itemset]]] = {}
    for itemset in itemsets:
        last = max(itemset, key=rank.__getitem__)
        by_item.setdefault(last, []).append((itemset, tuple(item for item in itemset if item != last)))
    return by_item


def _chosen_rows(
    rows: GrowingRows, parts: list[RestOfItemset], rests: Sequence[Itemset], *, number: int, ceiling: int
) -> Int64Array:
    """The rows that get an item: as many as wanted, in each part as many as wanted of that."""
    unseen = list(rests)
    for _ in range(ROUNDS_OF_CEILINGS):
        groups = RowGroups.of(rows.room, parts, rows.public)
        chances = groups.fitted(parts, number=number)
        if not unseen:
            break
        of_rows = groups.of_rows(chances)
        above = [rest for rest in unseen if of_rows[rows.holding(rest)].sum() > ceiling]
        if not above:
            break
        parts = parts + [RestOfItemset(rows.holding(rest), ceiling, is_ceiling=True) for rest in above]
        unseen = [rest for rest in unseen if rest not in set(above)]
    return groups.drawn(chances, public=rows.public)


@dataclass(frozen=True, slots=True, eq=False)
class RowGroups:
    """Rows that are alike: in the same parts, with the same room.

    `group_of[row]` is the number of a row's group; `sizes` and `room` are those of groups; `members` are the groups in
    each part; groups before `first_in_parts` are in none.
    """

    group_of: Int64Array
    sizes: Int64Array
    room: Int64Array
    members: list[Int64Array]
    first_in_parts: int

    @classmethod
    def of(cls, room: Int64Array, parts: Sequence[RestOfItemset], public: np.random.Generator) -> "RowGroups":
        """Group rows by sums of random marks, one for each part: rows of different parts have different sums."""
        clipped = np.maximum(room, 0)
        group_of, is_marked = clipped.copy(), np.zeros(room.size, np.bool_)
        marks = np.zeros(room.size, np.uint64)
        for part in parts:
            marks[part.rows] += public.integers(1, 2**64 - 1, dtype=np.uint64)
            is_marked[part.rows] = True
        marked = np.flatnonzero(is_marked)
        first = int(clipped.max(initial=0)) + 1
        marks[marked] += clipped[marked].astype(np.uint64)
        places, group_of_marked = _alike(marks[marked])
        group_of[marked] = first + group_of_marked
        of_groups = np.concatenate([np.arange(first), clipped[marked[places]]])
        sizes = np.bincount(group_of, minlength=of_groups.size)
        members = [_different(group_of[part.rows], of_groups.size) for part in parts]
        return cls(group_of, sizes, of_groups, members, first)

    def fitted(self, parts: Sequence[RestOfItemset], *, number: int) -> FloatArray:
        """The chance of the rows of each group to get the item, by iterative scaling."""
        logits, sizes = np.log(np.maximum(self.room, FULL_ROW)), GroupSizes.of(self.sizes.astype(np.float64))
        sizes_of_parts = [GroupSizes.of(sizes.each[groups]) for groups in self.members]
        logits += _shift(logits, sizes, number)
        weights = np.zeros(len(parts))
        odds = [_log_odds(part.wanted, held.total) for part, held in zip(parts, sizes_of_parts, strict=True)]
        for _ in range(MOST_CYCLES if parts else 0):
            furthest = 0.0
            for place, (part, groups, held) in enumerate(
                zip(parts, self.members, sizes_of_parts, strict=True)
            ):
                step, expected = _step(logits[groups], held, odds[place])
                highest = 0.0 if part.is_ceiling else LARGEST_WEIGHT
                step = min(max(step, -LARGEST_WEIGHT - weights[place]), highest - weights[place])
                furthest = max(furthest, abs(part.wanted - expected) if step else 0.0)
                logits[groups] += step
                weights[place] += step
            logits += _shift(logits, sizes, number)
            if furthest < CLOSE_ENOUGH:
                break
        return _logistic(logits)

    def of_rows(self, chances: FloatArray) -> FloatArray:
        """The chance of each row."""
        return chances[self.group_of]

    def drawn(self, chances: FloatArray, *, public: np.random.Generator) -> Int64Array:
        """Rows at random, of each group about as many as expected."""
        numbers = _rounded(self.sizes * chances, np.argsort(chances, kind="stable"), public)
        numbers = np.minimum(numbers, self.sizes)
        some = self._some_rows(numbers, public)
        is_taken = np.zeros(self.group_of.size, np.bool_)
        if take_first(public.permutation(some), self.group_of, numbers, is_taken) < numbers.sum():
            # a group has too few among some of the rows
            is_taken[:] = False
            take_first(public.permutation(self.group_of.size), self.group_of, numbers, is_taken)
        return np.flatnonzero(is_taken)

    def _some_rows(self, numbers: Int64Array, public: np.random.Generator) -> Int64Array:
        """Rows of which there are enough in each group, most likely: all that are in parts, some of the others."""
        others, all_rows = slice(0, self.first_in_parts), self.group_of.size
        share = float(np.max(numbers[others] / np.maximum(self.sizes[others], 1), initial=0.0))
        if share > MOST_OF_ROWS:
            return np.arange(all_rows)
        sample = public.choice(all_rows, min(all_rows, round(1.5 * share * all_rows) + 100), replace=False)
        in_parts = np.flatnonzero(self.group_of >= self.first_in_parts)
        return np.concatenate([in_parts, sample[self.group_of[sample] < self.first_in_parts]])


def _alike(marks: Uint64Array) -> tuple[Int64Array, Int64Array]:
    """Groups of equal marks, by mark: the first place of each, and the group of each place."""
    found = np.empty(marks.size, np.int64)
    firsts = first_of_marks(marks, found)
    order = np.argsort(marks[firsts])
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return firsts[order], rank[found]


def _different(groups: Int64Array, number: int) -> Int64Array:
    """The different ones of a number of groups."""
    is_there = np.zeros(number, np.bool_)
    is_there[groups] = True
    return np.flatnonzero(is_there)


def _rounded(expected: FloatArray, order: Int64Array, public: np.random.Generator) -> Int64Array:
    """Whole numbers next to those expected, whose sums along an order are next to theirs as well."""
    sums = np.floor(np.cumsum(expected[order]) + public.random())
    numbers = np.empty(expected.size, np.int64)
    numbers[order] = np.diff(sums, prepend=0.0).astype(np.int64)
    return numbers


def _logistic(logits: FloatArray) -> FloatArray:
    chances = 0.5 * logits
    np.tanh(chances, out=chances)
    chances *= 0.5
    chances += 0.5
    return chances


def _log_odds(number: float, size: float) -> float:
    """ln of the odds of that many out of a size, kept off its ends."""
    kept = min(max(number, 0.01), max(size - 0.01, 0.01))
    return float(np.log(kept / max(size - kept, 0.01)))


@dataclass(frozen=True, slots=True, eq=False)
class GroupSizes:
    """How many rows some groups have, each of them and together: summed once, asked for in every cycle."""

    each: FloatArray
    total: float

    @classmethod
    def of(cls, each: FloatArray) -> "GroupSizes":
        """With their sum."""
        return cls(each, float(each.sum()))


def _step(logits: FloatArray, sizes: GroupSizes, wanted_odds: float) -> tuple[float, float]:
    """What to add to logits so that chances add up to about a number of these log-odds, and what they add up to now.

    The difference of log-odds would do where all chances are alike; where not, more by how much less they vary than
    that, as in Newton's method.
    """
    chances, total = _logistic(logits), sizes.total
    holding = sizes.each * chances
    expected = float(holding.sum())
    varying = float((holding * (1 - chances)).sum())
    alike = expected * (1 - expected / max(total, 1e-9))
    factor = min(max(alike / max(varying, 1e-9), 1.0), MOST_ACCELERATED)
    return factor * (wanted_odds - _log_odds(expected, total)), expected


def _shift(logits: FloatArray, sizes: GroupSizes, number: int) -> float:
    """What to add to all logits so that the chances add up to a number."""
    wanted, shift = min(max(float(number), 0.01), max(sizes.total - 0.01, 0.01)), 0.0
    odds = _log_odds(wanted, sizes.total)
    for _ in range(MOST_CYCLES):
        step, expected = _step(logits + shift, sizes, odds)
        if abs(expected - wanted) < CLOSE_ENOUGH:
            break
        shift += step
    return shift


def _fill(rows: GrowingRows, items: Int64Array, numbers: Int64Array) -> None:
    """Put items into rows that have room, as if they were independent of each other and of all else."""
    occurrences = np.repeat(items, numbers)
    slots = rows.public.permutation(np.repeat(np.arange(rows.room.size), np.maximum(rows.room, 0)))
    number = min(slots.size, occurrences.size)
    places = rows.public.permutation(occurrences.size)[:number]
    pairs = np.unique(occurrences[places] * rows.room.size + slots[:number])
    held, owner = pairs % max(rows.room.size, 1), pairs // max(rows.room.size, 1)
    bounds = np.searchsorted(owner, np.append(items, np.iinfo(np.int64).max))
    for place, item in enumerate(items.tolist()):
        rows.put(item, held[bounds[place] : bounds[place + 1]])
