"""Every printed form leaks on a pair of databases on which its repaired form does not."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from veilset.arrays import FloatArray
from veilset.audit import geometric
from veilset.audit.lower_bound import Outcome
from veilset.audit.printed import PRINTED, PrintedForm, lee_clifton, liang, naming, xiong, zeng
from veilset.audit.printed.forms import Database, Measure, by_computing, by_sampling
from veilset.audit.verdicts import BROKEN, HOLDS

SAMPLES = 4000


Generator = np.random.Generator


def normalised_by_its_sum(rows: Database, epsilon: float, rng: Generator) -> Outcome:
    """Z1: the divisor comes from the noisy histogram itself."""
    return zeng.divisor_seen(own_shares(rows, epsilon, rng))


def length_by_its_own_sum(rows: Database, epsilon: float, rng: Generator) -> Outcome:
    """Z1b: 85 % of the noisy histogram's own sum."""
    reached = np.cumsum(own_shares(rows, epsilon, rng)) >= 0.85
    return {"length": 1 + int(reached.argmax())}


def own_shares(rows: Database, epsilon: float, rng: Generator) -> FloatArray:
    """Shares of the sum of a noisy histogram, made possible: not below 0, and of something."""
    noisy = np.maximum(zeng.noisy_lengths(rows, epsilon, rng), 0)
    shares: FloatArray = noisy / max(1, noisy.sum())
    return shares


def noise_for_the_limit(rows: Database, epsilon: float, rng: Generator) -> Outcome:
    """Z2: the length that the cut allows, whether a row has it or not."""
    return zeng.number_of_frequent_items(rows, epsilon / zeng.LIMIT, rng, items=40, threshold=20)


def one_share_for_each_comparison(rows: Database, epsilon: float) -> dict[str, float]:
    """Z4: epsilon over the number of comparisons that a binary search makes at most."""
    return zeng.law_of_size(rows, epsilon / (math.floor(math.log2(zeng.SIZES_SEARCHED)) + 1))


def floor_under_largest_supports(rows: Database, epsilon: float, rng: Generator) -> Outcome:
    """Z6: what Apriori does not reach counts as its threshold."""
    largest = max(zeng.largest_supports(rows, 2)[1], zeng.APRIORI_THRESHOLD)
    return zeng.comparison_of_pairs(largest, epsilon, rng)


def public_number(rows: Database, epsilon: float, rng: Generator) -> Outcome:
    """Z10: the threshold is a share of a number that everybody knows."""
    return zeng.number_of_frequent_items(rows, epsilon, rng, items=zeng.USUAL + 1, threshold=3)


def drawn_from_all_items(rows: Database, epsilon: float, rng: Generator) -> Outcome:
    """S1: a public domain, with supports under the threshold lifted to it."""
    supports = zeng.item_supports(rows, 3)
    scores = {frozenset({item}): max(int(count), liang.LEAST_SUPPORT) for item, count in enumerate(supports)}
    return liang.rare_item_drawn(liang.draw_by_reservoir(scores, epsilon, rng))


def drawn_before_rescaling(rows: Database, epsilon: float, rng: Generator) -> Outcome:
    """S2: the draw is by C, which one row moves by 1."""
    return liang.pair_drawn(liang.draw_by_reservoir(liang.supports_after_splitting(rows), epsilon, rng))


def items_by_noisy_support(rows: Database, epsilon: float, rng: Generator) -> Outcome:
    """X1: the order is paid for; rows hold one item each."""
    noisy = zeng.item_supports(rows, 2) + geometric.draw(rng, epsilon, 2)
    return xiong.first_item(Counter(dict(enumerate(noisy.tolist()))))


def tree_of_what_could_be(rows: Database, epsilon: float, rng: Generator) -> Outcome:
    """X2: every path over the public items is tested, whether a row takes it or not."""
    counts = xiong.path_counts(rows)
    possible = Counter({path: counts[path] for path in [(0,), (1,), (0, 1)]})
    return xiong.longest_path_seen(xiong.kept_paths(possible, epsilon, rng))


def noise_for_all_positives(rows: Database, epsilon: float) -> dict[str, float]:
    """LC1: what is left for supports is divided by the number of positive answers."""
    each = epsilon * 3 / 4 / lee_clifton.POSITIVES
    return lee_clifton.law_of_telling_answers(rows, for_threshold=epsilon / 4, for_each_question=each)


def named_above_ones_own(rows: Database, epsilon: float, rng: Generator) -> Outcome:
    """N1, N2: an item of one transaction is named with a probability of at most delta."""
    threshold = 1 + math.ceil(math.log(1 / naming.CLAIMED_DELTA) / epsilon)
    return naming.named_from(rows, epsilon, rng, threshold=threshold)


REPAIRED: dict[str, Measure] = {
    "Z1": by_sampling(normalised_by_its_sum),
    "Z1b": by_sampling(length_by_its_own_sum),
    "Z2": by_sampling(noise_for_the_limit),
    "Z4": by_computing(one_share_for_each_comparison),
    "Z6": by_sampling(floor_under_largest_supports),
    "Z10": by_sampling(public_number),
    "S1": by_sampling(drawn_from_all_items),
    "S2": by_sampling(drawn_before_rescaling),
    "X1": by_sampling(items_by_noisy_support),
    "X2": by_sampling(tree_of_what_could_be),
    "LC1": by_computing(noise_for_all_positives),
    "N1": by_sampling(named_above_ones_own, delta=naming.CLAIMED_DELTA),
    "N2": by_sampling(named_above_ones_own, delta=naming.CLAIMED_DELTA),
}


each_form = pytest.mark.parametrize("form", PRINTED, ids=lambda form: form.number)


@each_form
@pytest.mark.parametrize("epsilon", [0.25, 1.0])
def test_the_printed_form_is_broken(form: PrintedForm, epsilon: float) -> None:
    """One transaction changes the probability of some output by more than the factor claimed."""
    verdict = form.audit(epsilon=epsilon, samples=SAMPLES, seed=1)
    assert verdict.verdict == BROKEN
    assert verdict.printed
    assert verdict.case == f"{form.number}: {form.step}"


@each_form
@pytest.mark.parametrize("epsilon", [0.25, 1.0])
def test_the_repaired_form_holds(form: PrintedForm, epsilon: float) -> None:
    """On the same databases, at the same epsilon, by the same attack."""
    repaired = replace(form, measure=REPAIRED[form.number])
    assert repaired.audit(epsilon=epsilon, samples=SAMPLES, seed=2).verdict == HOLDS


@pytest.mark.parametrize(
    ("form", "times"),
    [(zeng.Z1B, 2), (zeng.Z4, 6 / 5), (lee_clifton.LC1, (1 + 3 * lee_clifton.POSITIVES) / 4)],
    ids=lambda value: getattr(value, "number", ""),
)
def test_computed_bounds_are_what_theory_says(form: PrintedForm, times: float) -> None:
    """Two figures for the price of one, six comparisons for that of five, and Lyu, Su and Li's bound."""
    verdict = form.audit(epsilon=0.5, samples=SAMPLES, seed=1)
    assert verdict.bound == pytest.approx(0.5 * times, rel=1e-3)
    assert (verdict.samples, verdict.confidence) == (0, 1.0)
