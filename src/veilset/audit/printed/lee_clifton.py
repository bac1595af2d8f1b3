"""The sparse vector technique of Lee and Clifton (KDD 2014), which top-k methods have copied.

It asks of one itemset after another whether its support reaches a threshold, and stops after c positive
answers. The threshold gets noise of scale 4 / epsilon, each support of scale 4 / (3 epsilon), not multiplied
by c. Lyu, Su and Li ("Understanding the sparse vector technique for differential privacy", VLDB 2017, Alg. 4)
prove that this costs at most (1 + 6c) / 4 epsilon, or (1 + 3c) / 4 for supports, which move in one direction.

That much is reached. The telling answers are some negative ones to itemsets above the threshold, then c
positive ones to itemsets below it. Add a transaction that holds the former and not the latter: for the same
answers the noise on the threshold must be larger by 1, at a cost of 1/4 epsilon, and then the noise on each
of the c supports, at a cost of 3/4 epsilon each.
"""

import math
from collections.abc import Sequence

import numpy as np

from veilset.audit import geometric
from veilset.audit.printed.forms import Database, PrintedForm, by_computing, copies, support

POSITIVES = 4
NEGATIVES = 20
SVT_THRESHOLD = 10
_WIDEST_NOISE = 80  # scales: noise beyond has a probability under 1e-34


def _telling_answers(rows: Database, epsilon: float) -> dict[str, float]:
    return law_of_telling_answers(rows, for_threshold=epsilon / 4, for_each_question=epsilon * 3 / 4)


def law_of_telling_answers(
    rows: Database, *, for_threshold: float, for_each_question: float
) -> dict[str, float]:
    """The probability of `NEGATIVES` times no, then `POSITIVES` times yes, for one item after another."""
    supports = [support(rows, frozenset({item})) for item in range(NEGATIVES + POSITIVES)]
    answers = [False] * NEGATIVES + [True] * POSITIVES
    chance = chance_of_answers(
        supports, answers, for_threshold=for_threshold, for_each_question=for_each_question
    )
    return {f"{NEGATIVES} times no, then {POSITIVES} times yes": chance}


def chance_of_answers(
    supports: Sequence[int], answers: Sequence[bool], *, for_threshold: float, for_each_question: float
) -> float:
    """The probability of a vector of answers, summed over the noise on the threshold."""
    widest = math.ceil(_WIDEST_NOISE / for_threshold)
    noise = np.arange(-widest, widest + 1)
    total = geometric.chance(noise, for_threshold)
    for count, answer in zip(supports, answers, strict=True):
        yes = geometric.chance_at_least(SVT_THRESHOLD + noise - count, for_each_question)
        total = total * (yes if answer else 1 - yes)
    return float(total.sum())


LC1 = PrintedForm(
    "LC1",
    "Lee and Clifton",
    "svt",
    "adds noise to each support that is not scaled by the number of positive answers",
    "every positive answer costs 3/4 of epsilon, and there may be c of them",
    rows=copies(2 * SVT_THRESHOLD, *range(NEGATIVES)),
    extra=frozenset(range(NEGATIVES)),
    measure=by_computing(_telling_answers),
)

LEE_CLIFTON_FORMS = (LC1,)
