"""How the refinement measures what is in the answer: by which questions, at which shares.

Post-processing: everything here follows from earlier answers and public numbers. Each function is asked by the method,
with what its answers say, and by its forecast, with what a model of the data expects of them.

Every option is told by the error that it would leave each itemset. That with the least expected loss is taken, which
counts itemsets that would be mistaken and relative errors of supports alike. Capped counts measure few itemsets well,
or many that are rare; marginals measure all itemsets of a few items, and lose nothing to a cap.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np

from veilset.arrays import BoolArray, FloatArray, Int64Array
from veilset.methods.planned.knowledge import Knowledge, itemset_sizes
from veilset.methods.planned.membership import Membership, items_and_larger
from veilset.methods.planned.overlap import Overlap
from veilset.methods.planned.refinement_errors import (
    CappedGroup,
    choose_cover,
    deviations_after,
    errors_by_fitting_caps,
    errors_under_caps,
    price_of_overlaps,
    prices_of_groups,
)
from veilset.methods.planned.scouting import Scouting
from veilset.methods.shared.bases import Basis

PARTS_FOR_COUNTED = tuple(Fraction(part, 5) for part in (5, 4, 3, 2, 1))
"""All of what remains for what is uncertain, or four fifths, and so on; the rest is for what is certain."""
PARTS_FOR_UNCOVERED = tuple(Fraction(part, 20) for part in (1, 2, 4, 6, 10))
"""A twentieth of what remains for what marginals do not cover, a tenth, and so on up to half."""
PARTS_OF_CERTAIN = (1, 2, 4, 8)
"""All certain itemsets, or the most frequent half, quarter or eighth of them, may be covered by marginals."""
LEAST_LEFT = Fraction(1, 2)
"""1/2 of what remains must be left after containment histograms, or what marginals do not cover is not counted."""
HARDLY_CUT = 0.9
"""0.9 of supports, or more, is kept under a cap that hardly takes anything."""
CLEARLY_LESS = 0.8
"""Marginals replace the search for larger itemsets where they lose less than 0.8 of what capped counts would: how
itemsets overlap is not known by then."""


@dataclass(frozen=True, slots=True, eq=False)
class ByMarginals:
    """Marginals of bases; a part of what remains is for capped counts of the uncertain itemsets not covered."""

    bases: list[Basis]
    uncovered: Int64Array
    part_for_uncovered: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class ByCappedCounts:
    """Capped counts of the uncertain itemsets, and a share of what remains for the certain ones.

    These are measured by marginals of `bases_of_certain`, or where there are none of these, by capped counts.
    """

    for_uncertain: Fraction
    certain: Int64Array
    for_certain: Fraction
    bases_of_certain: list[Basis]


Choice = ByMarginals | ByCappedCounts
Choice_co = TypeVar("Choice_co", bound=Choice, covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Option(Generic[Choice_co]):
    """A way to refine, and the error that it would leave each known itemset; infinite where it measures none."""

    choice: Choice_co
    errors: FloatArray

    def expected_loss(self, known: Knowledge, membership: Membership) -> float:
        """Itemsets that would be mistaken after it, and relative errors of the supports of the others, added up.

        One that belongs to the answer with a chance p is mistaken about p (1 - p) of the time, and the less often the
        better it is known then.
        """
        chances, after = membership.chances, deviations_after(known, self.errors)
        mistaken = chances * (1 - chances) * after / np.maximum(known.deviations, 1e-9)
        relative = chances * after / np.maximum(known.means, 1.0)
        return float((mistaken + relative).sum())


def choose_refinement(
    scouting: Scouting,
    known: Knowledge,
    membership: Membership,
    groups: Sequence[CappedGroup],
    *,
    remaining: Fraction,
) -> Choice:
    """Capped counts or marginals, of what is uncertain and of what is certain: whatever is expected to lose least."""
    options: list[Option[Choice]] = [
        *_by_capped_counts(scouting, known, membership, groups, remaining),
        *_by_marginals(scouting, known, membership, remaining),
    ]
    return min(options, key=lambda option: option.expected_loss(known, membership)).choice


def places_to_count(
    scouting: Scouting, known: Knowledge, membership: Membership, lengths: Overlap | None, remaining: Fraction
) -> Int64Array:
    """The places of the uncertain itemsets, and of certain items where one count of all items loses less than two.

    Where certain items are little more frequent than uncertain ones, a cap for all of them is hardly larger. It must
    not take much, though: what it takes is the same in every count. `lengths` tell how all items overlap, if known.
    """
    uncertain, certain = (_items_among(known, each) for each in (membership.uncertain, membership.certain))
    if lengths is None or uncertain.size == 0 or certain.size == 0:
        return membership.uncertain

    def errors(places: Int64Array, epsilon: Fraction) -> FloatArray:
        group = CappedGroup.of_items(known, places, lengths)
        return errors_under_caps(scouting, known, membership, [group], epsilon)

    def loss(errors: FloatArray) -> float:
        choice = ByCappedCounts(remaining, certain, Fraction(0), [])
        return Option(choice, errors).expected_loss(known, membership)

    every_item = np.union1d(uncertain, certain)
    together = CappedGroup.of_items(known, every_item, lengths)
    if prices_of_groups(scouting, membership, [together], remaining)[0].cap.kept < HARDLY_CUT:
        return membership.uncertain
    apart = [
        loss(np.minimum(errors(uncertain, remaining * part), errors(certain, remaining * (1 - part))))
        for part in PARTS_FOR_COUNTED
        if part < 1
    ]
    is_better = loss(errors(every_item, remaining)) < min(loss(errors(uncertain, remaining)), *apart)
    return np.union1d(membership.uncertain, certain) if is_better else membership.uncertain


def _items_among(known: Knowledge, places: Int64Array) -> Int64Array:
    """Those places that have single items."""
    is_item: BoolArray = itemset_sizes(known.itemsets)[places] == 1
    return places[is_item]


def choose_marginals(scouting: Scouting, known: Knowledge, remaining: Fraction) -> ByMarginals | None:
    """Marginals in place of larger itemsets, where they clearly lose less than capped counts; None where they do not.

    They tell of all larger itemsets of their items, so that these need not be measured before.
    """
    membership = Membership.before_larger(known, scouting)
    by_counts = Option(
        ByCappedCounts(remaining, membership.certain, Fraction(0), []),
        errors_by_fitting_caps(scouting, known, membership.of_interest, remaining),
    )
    least = CLEARLY_LESS * by_counts.expected_loss(known, membership)
    losses = [
        (option.expected_loss(known, membership), option.choice)
        for option in _by_marginals(scouting, known, membership, remaining)
    ]
    loss, choice = min(losses, key=lambda each: each[0], default=(least, None))
    return choice if loss < least else None


def _by_marginals(
    scouting: Scouting, known: Knowledge, membership: Membership, remaining: Fraction
) -> Iterator[Option[ByMarginals]]:
    """Marginals that cover what may well be in the answer, and capped counts of the uncertain ones among the others."""
    cover = choose_cover(known.itemsets, membership.chances, scouting.noise(remaining), scouting.settings)
    if not cover.bases:
        return
    yield Option(ByMarginals(cover.bases, np.empty(0, np.int64), Fraction(0)), cover.errors)
    uncovered = np.setdiff1d(membership.uncertain, np.flatnonzero(np.isfinite(cover.errors)))
    after = remaining - price_of_overlaps(scouting, items_and_larger(known, uncovered))
    if uncovered.size == 0 or after < LEAST_LEFT * remaining:
        return
    for part in PARTS_FOR_UNCOVERED:
        by_counts = errors_by_fitting_caps(scouting, known, uncovered, after * part)
        errors = np.minimum(cover.errors * float(remaining / (after * (1 - part))), by_counts)
        yield Option(ByMarginals(cover.bases, uncovered, part), errors)


def _by_capped_counts(
    scouting: Scouting,
    known: Knowledge,
    membership: Membership,
    groups: Sequence[CappedGroup],
    remaining: Fraction,
) -> Iterator[Option[ByCappedCounts]]:
    """Capped counts of groups; for certain itemsets outside of them a part, by the questions that err less."""
    certain = np.setdiff1d(membership.likely, np.concatenate([group.places for group in groups]))
    for part in PARTS_FOR_COUNTED:
        for_groups, for_certain = remaining * part, remaining * (1 - part)
        errors = errors_under_caps(scouting, known, membership, groups, for_groups)
        if for_certain == 0:
            yield Option(ByCappedCounts(for_groups, certain, for_certain, []), errors)
        elif certain.size > 0:
            for bases, of_certain in _ways_to_measure(scouting, known, certain, for_certain):
                choice = ByCappedCounts(for_groups, certain, for_certain, bases)
                yield Option(choice, np.minimum(errors, of_certain))


def _ways_to_measure(
    scouting: Scouting, known: Knowledge, certain: Int64Array, epsilon: Fraction
) -> Iterator[tuple[list[Basis], FloatArray]]:
    """Bases of marginals that measure certain itemsets, or none for capped counts of them; and the errors left.

    Marginals cover all of them, or the more frequent half, and so on.
    """
    order = certain[np.argsort(-known.means[certain], kind="stable")]
    for number in sorted({math.ceil(order.size / parts) for parts in PARTS_OF_CERTAIN}):
        is_covered = np.zeros(len(known.itemsets))
        is_covered[order[:number]] = 1.0
        cover = choose_cover(known.itemsets, is_covered, scouting.noise(epsilon), scouting.settings)
        if cover.bases:
            yield cover.bases, cover.errors
    histogram = scouting.price(scouting.settings.share_for_overlap)
    if epsilon >= scouting.settings.least_histograms_left * histogram:
        after = epsilon - price_of_overlaps(scouting, items_and_larger(known, certain))
        yield [], errors_by_fitting_caps(scouting, known, certain, after)
