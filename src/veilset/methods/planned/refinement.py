"""The refinement: what may or may not be in the answer is measured once more, with all that remains of epsilon.

Privacy argument. Containment histograms have sensitivity c, the transactions of one privacy unit. Supports under a cap
m, by groups that share epsilon, have L1 sensitivity c m each. Marginals of w groups of items, in each of which a
transaction counts in one cell, have sensitivity c and a share of 1 / w each. Whether marginals are asked for, of what
is uncertain or of what is certain, or capped counts alone, the groups, caps and shares follow from earlier answers
(`planned.refinement_choice`).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned import candidate_selection as choices
from veilset.methods.planned.capped_counts import ask_capped_supports
from veilset.methods.planned.companions import Companions, supports_known
from veilset.methods.planned.dense import ask_marginals
from veilset.methods.planned.histogram_laws import Total
from veilset.methods.planned.levelwise import MiningProgress
from veilset.methods.planned.measurements import Measurement
from veilset.methods.planned.membership import Membership, items_and_larger
from veilset.methods.planned.overlap import ask_overlap
from veilset.methods.planned.posterior import Posterior
from veilset.methods.planned.prior import prior_of
from veilset.methods.planned.refinement_choice import (
    ByCappedCounts,
    ByMarginals,
    choose_refinement,
    places_to_count,
)
from veilset.methods.planned.refinement_errors import (
    CappedGroup,
    predicted_error,
    price_of_overlaps,
    prices_of_groups,
)
from veilset.methods.planned.scouting import Scouting
from veilset.methods.shared.bases import Basis
from veilset.methods.shared.several_marginals import Measured
from veilset.wording import counted


def ask_refinement(curator: Curator, scouting: Scouting, progress: MiningProgress) -> MiningProgress:
    """Measure what is uncertain once more, by the questions that are predicted to err less."""
    scouting = progress.tuned(scouting)
    if progress.marginals is not None:
        membership = Membership.before_larger(progress.posterior, scouting)
        return _by_marginals(curator, scouting, progress, membership, progress.marginals, progress.remaining)
    membership = Membership.of(progress.posterior, scouting)
    known = progress.posterior
    places = places_to_count(scouting, known, membership, progress.lengths, progress.remaining)
    groups = ask_groups(curator, scouting, known, places)
    remaining = progress.remaining - price_of_overlaps(scouting, groups)
    choice = choose_refinement(scouting, known, membership, groups, remaining=remaining)
    if isinstance(choice, ByMarginals):
        return _by_marginals(curator, scouting, progress, membership, choice, remaining)
    posterior = _ask_by_capped_counts(curator, scouting, known, membership, choice, groups)
    error = predicted_error(scouting, membership, groups, choice.for_uncertain)
    note = _note_on_counts(groups, choice, error=error)
    return progress.then(posterior, remaining=Fraction(0), note=note)


def _by_marginals(
    curator: Curator,
    scouting: Scouting,
    progress: MiningProgress,
    membership: Membership,
    choice: ByMarginals,
    remaining: Fraction,
) -> MiningProgress:
    """After marginals, with a note on them."""
    posterior = _ask_by_marginals(curator, scouting, progress.posterior, membership, choice, remaining)
    note = f"refinement: {counted(len(choice.bases), 'marginal')} of a few items each"
    if choice.uncovered.size > 0:
        note += f", and capped counts of {counted(choice.uncovered.size, 'itemset')} outside of them"
    return progress.then(posterior, remaining=Fraction(0), note=note)


def _ask_by_marginals(
    curator: Curator,
    scouting: Scouting,
    posterior: Posterior,
    membership: Membership,
    choice: ByMarginals,
    remaining: Fraction,
) -> Posterior:
    """Capped counts of what marginals do not cover, if anything; then the marginals."""
    if choice.uncovered.size > 0:
        groups = ask_groups(curator, scouting, posterior, choice.uncovered)
        remaining -= price_of_overlaps(scouting, groups)
        part = choice.part_for_uncovered
        posterior = updated_by_groups(
            curator, scouting, posterior, membership, groups, epsilon=remaining * part
        )
        remaining *= 1 - part
    return updated_by_marginals(curator, scouting, posterior, choice.bases, epsilon=remaining)


def _ask_by_capped_counts(
    curator: Curator,
    scouting: Scouting,
    posterior: Posterior,
    membership: Membership,
    choice: ByCappedCounts,
    groups: Sequence[CappedGroup],
) -> Posterior:
    """Capped counts of what is uncertain; then marginals or counts of what is certain, if anything remains for it."""
    posterior = updated_by_groups(
        curator, scouting, posterior, membership, groups, epsilon=choice.for_uncertain
    )
    if choice.for_certain == 0:
        return posterior
    if choice.bases_of_certain:
        bases, epsilon = choice.bases_of_certain, choice.for_certain
        return updated_by_marginals(curator, scouting, posterior, bases, epsilon=epsilon)
    certain = ask_groups(curator, scouting, posterior, choice.certain)
    epsilon = choice.for_certain - price_of_overlaps(scouting, certain)
    return updated_by_groups(curator, scouting, posterior, membership, certain, epsilon=epsilon)


def _note_on_counts(groups: Sequence[CappedGroup], choice: ByCappedCounts, *, error: float) -> str:
    """What capped counts were asked for, in words."""
    itemsets = counted(sum(group.places.size for group in groups), "itemset")
    note = (
        f"refinement: supports of {itemsets} that may belong to the answer were measured once more; "
        f"expected error about {error:.0f}"
    )
    if choice.for_certain == 0:
        return note
    if choice.bases_of_certain:
        marginals = counted(len(choice.bases_of_certain), "marginal")
        return f"{note}; and {marginals} of items that are certain to belong to it"
    return f"{note}; so were those of {counted(choice.certain.size, 'itemset')} certain to belong to it"


def ask_groups(
    curator: Curator, scouting: Scouting, posterior: Posterior, places: Int64Array
) -> list[CappedGroup]:
    """Items, and larger itemsets, with the containment histogram of each group."""
    return [_ask_group(curator, scouting, posterior, some) for some in items_and_larger(posterior, places)]


def _ask_group(curator: Curator, scouting: Scouting, posterior: Posterior, places: Int64Array) -> CappedGroup:
    """How the itemsets at some places overlap; what their supports add up to is known by now."""
    settings = scouting.settings
    itemsets = Itemsets.of(posterior.itemsets[place] for place in places.tolist())
    overlap = ask_overlap(
        curator,
        itemsets,
        number=scouting.number,
        epsilon=scouting.price(settings.share_for_overlap),
        settings=settings,
        total=Total(float(posterior.means[places].sum()), settings.known_total_within),
        gaussian=scouting.gaussian,
    )
    return CappedGroup(places, itemsets, overlap)


def updated_by_groups(
    curator: Curator,
    scouting: Scouting,
    posterior: Posterior,
    membership: Membership,
    groups: Sequence[CappedGroup],
    *,
    epsilon: Fraction,
) -> Posterior:
    """Ask for capped counts of all groups, which share epsilon, and update what is known of their itemsets."""
    prices = prices_of_groups(scouting, membership, groups, epsilon)
    for group, price in zip(groups, prices, strict=True):
        measured = ask_capped_supports(
            curator,
            group.itemsets,
            group.overlap,
            price.cap,
            epsilon=price.epsilon,
            grid=posterior.grid,
            companions=Companions.at(group.places, posterior, scouting.number),
        )
        posterior = posterior.updated(group.places, measured)
    return posterior


def updated_by_marginals(
    curator: Curator, scouting: Scouting, posterior: Posterior, bases: Sequence[Basis], *, epsilon: Fraction
) -> Posterior:
    """Ask for marginals of all bases, and update what is known; size after size, what else may be in the answer.

    Marginals tell of thousands of itemsets. The largest of as many answers are large by noise alone, so each itemset
    has the prior that its subsets make, as a candidate has.
    """
    measured = ask_marginals(curator, scouting, bases, epsilon=epsilon)
    known = {itemset: place for place, itemset in enumerate(posterior.itemsets)}
    told = [itemset for itemset in measured if itemset in known]
    answers = _answers_about(told, measured, posterior.grid)
    posterior = posterior.updated(np.array([known[itemset] for itemset in told]), answers)
    for size in range(1, max(map(len, measured)) + 1):
        larger = _extended_within(measured, posterior, size=size)
        if larger:
            posterior += _told_with_prior(scouting, posterior, larger, measured)
    return posterior


def _answers_about(
    itemsets: Sequence[Itemset], measured: Mapping[Itemset, Measured], grid: FloatArray
) -> Measurement:
    """What marginals say of some itemsets."""
    means, deviations = np.array([measured[itemset] for itemset in itemsets]).T
    return Measurement.of_supports(means, deviations, grid)


def _extended_within(
    measured: Mapping[Itemset, Measured], posterior: Posterior, *, size: int
) -> list[Itemset]:
    """Itemsets of a size that marginals tell of, and of which all subsets, but not they, are known."""
    known = set(posterior.itemsets)
    return [
        itemset
        for itemset in measured
        if len(itemset) == size
        and itemset not in known
        and all(subset in known for subset in combinations(itemset, size - 1) if subset)
    ]


def _told_with_prior(
    scouting: Scouting, posterior: Posterior, itemsets: list[Itemset], measured: Mapping[Itemset, Measured]
) -> Posterior:
    """What marginals say of itemsets that were no candidates, with the prior of these; those that may matter."""
    settings, support = scouting.settings, scouting.support_in_question(posterior)
    answers = _answers_about(itemsets, measured, posterior.grid)
    if len(itemsets[0]) == 1:
        return Posterior.measured(itemsets, answers, posterior.grid)
    slacks = choices.slacks_of_bounds(posterior, size=len(itemsets[0]), settings=settings)
    prior = prior_of(itemsets, supports_known(posterior), scouting.number, slacks=slacks, settings=settings)
    found = Posterior.measured(itemsets, answers, posterior.grid, prior=prior)
    return found.take(choices.still_possible(found, support=support, settings=settings))
