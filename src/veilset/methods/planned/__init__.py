"""planned: the default miner. It asks a little, predicts which way of asking the rest errs least, and takes that.

Task: the k most frequent itemsets, or those above a threshold. Ours; more in docs/methods/planned.md.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the opening (`methods.opening`): number of transactions; for a threshold, how many itemsets it stands for;
2. the aim (`methods.aim`): the support of the k-th itemset (sensitivity c; not for a threshold, which is given),
   and, where few items may carry the answer, how many items are as frequent as that (one draw of the exponential
   mechanism, score of sensitivity c, not monotone);
3. if a transaction holds much of the answer (`methods.few_items`): the items that carry it, and for many of them which
   of their pairs matter, draws of the exponential mechanism over sets on a score of sensitivity c, not monotone, or
   over items by their supports, monotone; then the joint patterns of w groups of these items, of which a transaction
   shows one: sensitivity c each;
4. if not (`methods.by_size`, `methods.again`): histograms of how many of some itemsets transactions hold, sensitivity
   c each; the largest support of a size, sensitivity c each; and supports in which a transaction that holds n > m of
   the itemsets in question counts m / n for each: L1 sensitivity c m. Of the last questions some may instead be
   joint patterns of w groups of items, a share of 1 / w for each, sensitivity c.

Every question gets a share of what was left before it, chosen from earlier answers. Which itemsets are asked about,
every m, and every choice between strategies follow from earlier answers and public numbers alone. The budget refuses
what would exceed epsilon. Predictions, beliefs, consistency and the final choice are post-processing.
"""

from fractions import Fraction

import numpy as np

from veilset.gate import Curator
from veilset.methods.planned.dense import ask_few_items
from veilset.methods.planned.levelwise import ask_items, ask_larger
from veilset.methods.planned.posterior import Posterior
from veilset.methods.planned.refinement import ask_again
from veilset.methods.planned.scouting import Aim, ask_aim
from veilset.methods.shared.preliminaries import ask_preliminaries
from veilset.request import Request
from veilset.results.estimates import Estimates
from veilset.results.release import Release

NAME = "planned"
MAX_SIZE = 12
"""The largest itemset that is looked for, unless the caller says."""
HALF_A_CHANCE = 0.5
"""Above a threshold is what is so likely there."""


def planned(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """The k most frequent itemsets, by the strategy that is predicted to err least."""
    domain = curator.domain(max_size=min(request.max_size or MAX_SIZE, MAX_SIZE))
    first = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    if first.k == 0:
        return first.release(curator, Estimates.none(), method=NAME)
    aim = ask_aim(curator, first, request, domain=domain, epsilon=epsilon)
    estimates, story = ask_few_items(curator, aim) if aim.is_dense else by_size(curator, aim)
    if len(estimates.itemsets) < aim.k and not aim.is_given:
        found = len(estimates.itemsets)
        story = (*story, f"{found} itemsets, not {aim.k}: nothing else was found that might be as frequent")
    return first.release(curator, estimates, method=NAME, notes=story)


def by_size(curator: Curator, aim: Aim) -> tuple[Estimates, tuple[str, ...]]:
    """Items, pairs, and so on; then again what is still unsure."""
    known = ask_items(curator, aim)
    for size in range(2, aim.domain.max_size + 1):
        if known.may_grow:
            known = ask_larger(curator, aim, known, size)
    known = ask_again(curator, aim, known)
    return answer(aim, known.posterior), known.story


def answer(aim: Aim, posterior: Posterior) -> Estimates:
    """The itemsets that are most likely in the answer, with what is believed of their supports."""
    support = aim.about if aim.is_given else posterior.kth_support(aim.k)
    chances = posterior.at_least(support)
    order = np.lexsort((-posterior.means(), -np.round(chances, 3)))
    chosen = order[chances[order] >= HALF_A_CHANCE] if aim.is_given else order[: aim.k]
    return posterior.estimates(chosen)
