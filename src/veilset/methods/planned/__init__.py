"""planned: the default miner. It asks a little, predicts which way of asking the rest errs least, and takes that.

Task: the k most frequent itemsets, or those above a threshold. Ours; more in docs/methods/planned.md.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the preliminaries (`methods.shared.preliminaries`): number of transactions; for a threshold, how many itemsets it
   stands for;
2. scouting (`planned.scouting`): the support of the k-th itemset (sensitivity c; not for a threshold, which is given),
   and, where few items may carry the answer, how many items are as frequent as that (one draw of the exponential
   mechanism, score of sensitivity c, not monotone);
3. if a transaction contains much of the answer (`planned.dense`): the items that carry it, and for many of them which
   of their pairs matter, draws of the exponential mechanism over sets on a score of sensitivity c, not monotone, or
   over items by their supports, monotone; then the number of transactions once more, where most of them contain the
   answer, and the marginals of w groups of these items, in each of which a transaction counts in one cell:
   sensitivity c each;
4. if not (`planned.levelwise`, `planned.refinement`): histograms of how many of some itemsets transactions contain,
   sensitivity c each; how unlike long and short transactions are in frequent items, sensitivity c times a number that
   follows from noisy lengths (`planned.tilts`); the largest support of a size, sensitivity c each; and supports in
   which a transaction that contains n > m of the itemsets in question counts m / n for each: L1 sensitivity c m. Of the
   last questions some may instead be marginals of w groups of items, a share of 1 / w for each, sensitivity c; these
   may also come in place of all questions about larger itemsets than pairs.

Every question gets a share of what remained before it, chosen from earlier answers. Which itemsets are asked about,
every m, and every choice between strategies follow from earlier answers and public numbers alone. The budget refuses
what would exceed epsilon. Predictions, posteriors, consistency and the final choice are post-processing.
"""

from fractions import Fraction

from veilset.gate import Curator
from veilset.methods.planned.answer import Answer, most_likely
from veilset.methods.planned.dense import ask_dense
from veilset.methods.planned.levelwise import ask_levelwise
from veilset.methods.planned.refinement import ask_refinement
from veilset.methods.planned.scouting import DenseScouting, ask_scouting
from veilset.methods.planned.settings import DEFAULT, Settings
from veilset.methods.shared.preliminaries import ask_preliminaries
from veilset.request import Request
from veilset.results.estimates import Estimates
from veilset.results.release import Release

NAME = "planned"


def planned(
    curator: Curator, request: Request, *, epsilon: Fraction, settings: Settings = DEFAULT
) -> Release:
    """The k most frequent itemsets, by the strategy that is predicted to err least."""
    domain = curator.domain(max_size=settings.largest_size(request.max_size))
    first = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    if first.k == 0:
        return first.release(curator, Estimates.none(), method=NAME)
    scouting = ask_scouting(curator, request, first, domain=domain, epsilon=epsilon, settings=settings)
    if isinstance(scouting, DenseScouting):
        answer = ask_dense(curator, scouting)
    else:
        progress = ask_refinement(curator, scouting, ask_levelwise(curator, scouting))
        answer = Answer.of(scouting, most_likely(scouting, progress.posterior), progress.notes)
    return answer.preliminaries.release(curator, answer.estimates, method=NAME, notes=answer.notes)
