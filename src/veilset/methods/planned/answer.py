"""Which itemsets are released, and with which supports. Post-processing: everything here follows from noisy answers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned.posterior import Posterior
from veilset.methods.planned.scouting import Scouting
from veilset.methods.planned.told_prior import with_told_prior
from veilset.methods.shared.preliminaries import MOST_ABOVE_THRESHOLD, Preliminaries
from veilset.methods.shared.several_marginals import Measured
from veilset.results.estimates import Estimates
from veilset.wording import counted

NEARLY_NORMAL_IN_SIGMA = 2.0
"""The 95 % half width of an error to which a few draws of Laplace noise add up, in standard deviations: normal noise
has 1.96, a single draw 2.12; and errors that all itemsets of a marginal share have longer tails."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The itemsets to release, with notes for the reader on how they were found, and the number of transactions."""

    estimates: Estimates
    notes: tuple[str, ...]
    preliminaries: Preliminaries

    @classmethod
    def of(cls, scouting: Scouting, estimates: Estimates, notes: tuple[str, ...]) -> "Answer":
        """With one more note, where fewer than k itemsets were found."""
        found = len(estimates.itemsets)
        if scouting.is_given or found >= scouting.k:
            return cls(estimates, notes, scouting.preliminaries)
        fewer = f"{counted(found, 'itemset')} instead of {scouting.k}: no other is likely to be as frequent"
        return cls(estimates, (*notes, fewer), scouting.preliminaries)


def most_likely(scouting: Scouting, posterior: Posterior) -> Estimates:
    """The itemsets that are most likely in the answer, with the posterior of their supports."""
    support = scouting.threshold if scouting.is_given else posterior.kth_support(scouting.k)
    chances = posterior.at_least(support)
    order = np.lexsort((-posterior.means, -np.round(chances, 3)))
    is_likely = chances[order] >= scouting.settings.least_chance
    chosen = order[is_likely][:MOST_ABOVE_THRESHOLD] if scouting.is_given else order[: scouting.k]
    told = with_told_prior(posterior, scouting.number, scouting.settings)
    return told.fine(chosen).nested().estimates()


def most_frequent(scouting: Scouting, measured: Mapping[Itemset, Measured]) -> Estimates:
    """The k most frequent itemsets, or those above the threshold, as marginals measured them."""
    order = sorted(measured, key=lambda itemset: -measured[itemset].mean)[: scouting.k]
    best = [
        itemset for itemset in order if not scouting.is_given or measured[itemset].mean >= scouting.threshold
    ]
    means, deviations = np.array([measured[itemset] for itemset in best]).reshape(-1, 2).T
    supports = np.clip(means, 0, scouting.most_transactions)
    reach = NEARLY_NORMAL_IN_SIGMA * deviations + np.abs(means - supports)
    return Estimates.within(
        Itemsets.of(best), np.rint(supports).astype(np.int64), np.ceil(reach).astype(np.int64)
    )
