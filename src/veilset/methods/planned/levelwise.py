"""Items first, then larger and larger itemsets: which may be in the answer, and about how frequent they are.

Privacy argument. With c the transactions of one privacy unit, four kinds of questions are asked: containment
histograms, of how many items transactions contain (`planned.lengths`), or of some itemsets, and the largest support of
a size, of sensitivity c each; once how far itemsets differ in who holds them (`planned.tilts`); and supports under a
cap m, of L1 sensitivity c m (`ask_normalised_supports` for all items, `planned.capped_counts` for a list). Each takes a
share of what remains. Lists, caps and shares follow from earlier answers (`planned.candidate_selection`); posteriors
are post-processing.
"""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from veilset.gate import Curator, NormalisedCounts
from veilset.itemsets import Itemsets
from veilset.methods.planned import candidate_selection as choices
from veilset.methods.planned.candidate_selection import LevelCandidates, Price
from veilset.methods.planned.capped_counts import EveryItem, ask_capped_supports, measurement_of
from veilset.methods.planned.companions import supports_known
from veilset.methods.planned.discovered import DiscoveredSupports, discovered_supports
from veilset.methods.planned.lengths import ask_item_overlap
from veilset.methods.planned.overlap import Overlap, ask_overlap
from veilset.methods.planned.posterior import Posterior, grid_to
from veilset.methods.planned.prior import ItemPrior, prior_of
from veilset.methods.planned.refinement_choice import ByMarginals, choose_marginals
from veilset.methods.planned.scouting import Scouting
from veilset.methods.planned.tilts import Tilts, ask_tilts
from veilset.wording import counted


@dataclass(frozen=True, slots=True)
class MiningProgress:
    """The posterior so far, what remains of epsilon, and notes on what was done; whether larger itemsets may matter.

    `every_item` also tells of items that cannot be in the answer; `lengths` how all items overlap, where that was paid
    for; `marginals` are the refinement, where it is settled; `tilts` tell how far apart those are who hold itemsets.
    """

    posterior: Posterior
    remaining: Fraction
    notes: tuple[str, ...] = ()
    may_grow: bool = True
    every_item: EveryItem | None = None
    lengths: Overlap | None = None
    marginals: ByMarginals | None = None
    tilts: Tilts = field(default_factory=Tilts)

    def then(self, posterior: Posterior, *, remaining: Fraction, note: str) -> "MiningProgress":
        """After one more stage."""
        return replace(self, posterior=posterior, remaining=remaining, notes=(*self.notes, note))

    def tuned(self, scouting: Scouting) -> Scouting:
        """What is looked for, with settings that fit how far tilts are apart."""
        return replace(scouting, settings=self.tilts.tuned(scouting.settings))

    def stopped(self, note: str, *, remaining: Fraction) -> "MiningProgress":
        """With no larger itemsets to look for."""
        return replace(self, remaining=remaining, notes=(*self.notes, note), may_grow=False)


def ask_levelwise(curator: Curator, scouting: Scouting) -> MiningProgress:
    """Items, pairs, and so on, while larger itemsets may be in the answer."""
    progress = ask_single_items(curator, scouting)
    scouting = progress.tuned(scouting)
    for size in range(2, scouting.domain.max_size + 1):
        if size > 2 and progress.may_grow:
            progress = perhaps_by_marginals(scouting, progress, size)
        if progress.may_grow:
            progress = ask_level(curator, scouting, progress, size)
    return progress


def perhaps_by_marginals(scouting: Scouting, progress: MiningProgress, size: int) -> MiningProgress:
    """With no larger itemsets to look for, where marginals are to tell of these as well."""
    marginals = choose_marginals(scouting, progress.posterior, progress.remaining)
    if marginals is None:
        return progress
    note = f"{_name_of(size)} and more are told by marginals: capped counts would err more"
    return replace(progress.stopped(note, remaining=progress.remaining), marginals=marginals)


def ask_single_items(curator: Curator, scouting: Scouting) -> MiningProgress:
    """Supports of all items: as finding them told, where that is good enough, or measured."""
    if curator.discovery is None:
        return _measured_items(curator, scouting)
    found = discovered_supports(curator.discovery, scouting)
    if not choices.is_good_enough(scouting, found.error):
        return _measured_items(curator, scouting, found)
    items = found.may_matter(scouting)
    posterior = Posterior.measured(
        [(item,) for item in items], found.measurement.take(items), grid_to(scouting.most_transactions)
    )
    note = f"supports of items: as finding them told; {counted(len(items), 'item')} may matter to the answer"
    every_item = EveryItem(found.supports, found.error / math.sqrt(2))
    return MiningProgress(posterior, scouting.remaining, (note,), every_item=every_item)


def _measured_items(
    curator: Curator, scouting: Scouting, found: DiscoveredSupports | None = None
) -> MiningProgress:
    """Supports under a cap on what one transaction counts, and what finding the items told; some may matter."""
    settings = scouting.settings
    overlap, for_lengths = ask_item_overlap(
        curator, number=scouting.number, epsilon=scouting.epsilon, settings=settings
    )
    remaining = scouting.remaining - for_lengths
    price = choices.price_of_items(scouting, overlap, remaining)
    counts = curator.ask_normalised_supports(price.cap.most, epsilon=price.epsilon)
    grid = grid_to(scouting.most_transactions)
    every_item = EveryItem.of(counts, overlap, price.cap, noise=scouting.noise(price.epsilon), grid=grid)
    tilts, for_tilts = ask_tilts(
        curator, overlap, every_item.above_noise(), epsilon=scouting.price(settings.share_for_tilts)
    )
    remaining -= price.epsilon + for_tilts
    items = _kept_items(scouting, counts, price)
    measured = measurement_of(counts, overlap, price.cap, grid=grid)
    prior = ItemPrior.explaining(measured)
    posterior = Posterior.measured([(item,) for item in items], measured.take(items), grid, prior=prior)
    posterior = replace(posterior, log_tilts=tilts.law)
    if found is not None:
        posterior = posterior.updated(np.arange(len(items)), found.measurement.take(items))
    note = (
        f"supports of all items: one transaction counts for at most {price.cap.most} of them; "
        f"{counted(len(items), 'item')} may matter to the answer"
    )
    lengths = replace(overlap, settings=tilts.tuned(settings))
    return MiningProgress(posterior, remaining, (note,), every_item=every_item, lengths=lengths, tilts=tilts)


def _kept_items(scouting: Scouting, counts: NormalisedCounts, price: Price) -> list[int]:
    """The items that may matter, the most frequent ones first."""
    values = counts.values / counts.mechanism.steps
    order = np.argsort(-values, kind="stable")
    kth_count = float(values[order[min(scouting.k, order.size) - 1]])
    kept = choices.choose_items_to_keep(scouting, price, kth_count=kth_count)
    items = [item for item in order[: kept.most].tolist() if values[item] >= kept.least]
    return items or order[: scouting.settings.least_items].tolist()


def ask_level(curator: Curator, scouting: Scouting, progress: MiningProgress, size: int) -> MiningProgress:
    """Supports of the itemsets of a size that may be in the answer."""
    support = scouting.support_in_question(progress.posterior)
    candidates = candidates_of(scouting, progress, size=size, support=support)
    if candidates is None:
        return progress.stopped(f"{_name_of(size)}: none can be in the answer", remaining=progress.remaining)
    if choices.is_too_little(scouting, progress.remaining):
        return _unmeasured(progress, candidates)
    for_largest = scouting.price(scouting.settings.share_for_largest)
    remaining = progress.remaining - for_largest
    floor = _floor_of_search(scouting, support)
    largest = curator.ask_largest_support(size, floor=floor, epsilon=for_largest)
    if choices.is_too_rare(scouting, largest.value, support=support):
        return progress.stopped(f"{_name_of(size)}: the most frequent one is too rare", remaining=remaining)
    return _ask_candidates(
        curator, scouting, replace(progress, remaining=remaining), candidates, support=support
    )


def candidates_of(
    scouting: Scouting, progress: MiningProgress, *, size: int, support: float
) -> LevelCandidates | None:
    """The likeliest itemsets of a size by the posterior of their subsets; None where there are none."""
    settings, posterior = scouting.settings, progress.posterior
    itemsets = choices.extended(posterior, size=size, support=support, settings=settings)
    if not itemsets:
        return None
    means = supports_known(posterior)
    slacks = choices.slacks_of_bounds(posterior, size=size, settings=settings)
    prior = prior_of(itemsets, means, scouting.number, slacks=slacks, settings=settings)
    return choices.choose_candidates(scouting, itemsets, prior, support=support, remaining=progress.remaining)


def _unmeasured(progress: MiningProgress, candidates: LevelCandidates) -> MiningProgress:
    """With the prior of candidates in place of a measurement."""
    grid, itemsets = progress.posterior.grid, candidates.itemsets
    found = Posterior.unmeasured(itemsets, candidates.prior.usual(grid), grid)
    note = (
        f"supports of {_in_words(candidates)} are estimated from those of their subsets: "
        "too little of epsilon remains to measure them"
    )
    return progress.then(progress.posterior + found, remaining=progress.remaining, note=note)


def _floor_of_search(scouting: Scouting, support: float) -> int:
    """The support below which the most frequent itemset of a size need not be known."""
    settings = scouting.settings
    rarest = math.floor(scouting.number * settings.searched_from)
    return max(1, rarest, math.floor(settings.possible_from * support))


def _ask_candidates(
    curator: Curator,
    scouting: Scouting,
    progress: MiningProgress,
    candidates: LevelCandidates,
    *,
    support: float,
) -> MiningProgress:
    """Ask for the supports of candidates under the best cap, and keep what may be in the answer."""
    settings, posterior, itemsets = scouting.settings, progress.posterior, Itemsets.of(candidates.itemsets)
    for_overlap = scouting.price(settings.share_for_overlap)
    overlap = ask_overlap(
        curator,
        itemsets,
        number=scouting.number,
        epsilon=for_overlap,
        settings=settings,
        total=candidates.total,
        gaussian=scouting.gaussian,
    )
    remaining = progress.remaining - for_overlap
    price = choices.price_of_candidates(
        scouting, overlap, candidates, posterior, support=support, remaining=remaining
    )
    measured = ask_capped_supports(
        curator,
        itemsets,
        overlap,
        price.cap,
        epsilon=price.epsilon,
        grid=posterior.grid,
        companions=candidates.companions(supports_known(posterior), scouting.number),
    )
    found = Posterior.measured(candidates.itemsets, measured, posterior.grid, prior=candidates.prior)
    found = found.take(choices.still_possible(found, support=support, settings=settings))
    note = f"supports of {_in_words(candidates)}: one transaction counts for at most {price.cap.most} of them"
    return progress.then(posterior + found, remaining=remaining - price.epsilon, note=note)


def _in_words(candidates: LevelCandidates) -> str:
    """How many candidates there are, of which size."""
    number, size = len(candidates.itemsets), len(candidates.itemsets[0])
    noun = {2: "candidate pair", 3: "candidate triple"}.get(size)
    return counted(number, noun) if noun else f"{counted(number, 'candidate itemset')} of {size} items"


def _name_of(size: int) -> str:
    """What itemsets of a size are called."""
    return {2: "pairs of items", 3: "triples of items"}.get(size, f"itemsets of {size} items")
