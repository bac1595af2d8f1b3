"""Every printed form leaks on a pair of databases on which its repaired form does not."""

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import fits
from veilset.arrays import FloatArray
from veilset.audit import geometric
from veilset.audit.lower_bound import Outcome
from veilset.audit.printed import PRINTED, PrintedForm, lee_clifton, liang, xiong, zeng
from veilset.audit.printed.forms import Database, Measure, by_computing, by_sampling
from veilset.audit.verdicts import BROKEN, HOLDS

SAMPLES = 4000
Generator = np.random.Generator
small_rows = st.lists(st.frozensets(st.integers(0, 4)), max_size=6)


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


def test_only_a_power_of_two_makes_the_search_ask_too_often() -> None:
    """The row of the table holds for n = 2^j alone: elsewhere ceil(log2 n) is the number of comparisons."""
    too_few = [n for n in range(2, 200) if math.ceil(math.log2(n)) < most_comparisons(1, n)]
    assert too_few == [2, 4, 8, 16, 32, 64, 128]


def most_comparisons(low: int, high: int) -> int:
    """How often Alg. 9 compares at most, by walking all its branches."""
    if low > high:
        return 0
    pivot = (low + high) // 2
    return 1 + max(most_comparisons(pivot + 1, high), most_comparisons(low, pivot - 1))


@given(rows=small_rows)
def test_largest_supports_match_the_obvious_loop(rows: Database) -> None:
    """What rows have in common finds the largest support of every size."""
    obvious = [
        max(sum(set(itemset) <= row for row in rows) for itemset in combinations(range(5), size))
        for size in range(1, 6)
    ]
    assert zeng.largest_supports(rows, 5) == obvious


@pytest.mark.parametrize(("factor", "is_right"), [(0.9, False), (1.0, True), (1.1, False)])
def test_noise_has_the_law_that_is_computed_with(factor: float, is_right: bool) -> None:
    """Draws fit the probabilities, and do not fit those for ten percent more or less."""
    drawn = Counter(geometric.draw(np.random.default_rng(5), 0.3, 50_000).tolist())
    values = np.arange(-200, 201)
    law = dict(zip(values.tolist(), geometric.chance(values, 0.3 * factor).tolist(), strict=True))
    assert fits(drawn, law) == is_right


@given(bound=st.integers(-30, 30), epsilon=st.floats(0.2, 3))
def test_tails_are_sums_of_the_law(bound: int, epsilon: float) -> None:
    """The probability of so much or more, against adding up."""
    added = geometric.chance(np.arange(bound, bound + 400), epsilon).sum()
    assert geometric.chance_at_least(bound, epsilon) == pytest.approx(added, rel=1e-9)


def test_the_length_chosen_has_the_law_of_the_algorithm() -> None:
    """Against running lines 1 and 2 of Alg. 1."""
    rows = [frozenset({0}), frozenset({0}), frozenset({0, 1})]
    rng = np.random.default_rng(6)
    reached = [np.cumsum(zeng.noisy_lengths(rows, 0.5, rng)) >= 0.85 * len(rows) for _ in range(20_000)]
    chance = zeng.law_of_length(rows, 0.5)["length = 2"]
    assert fits(Counter(bool(two and not one) for one, two, _ in reached), {True: chance, False: 1 - chance})


@given(epsilon=st.floats(0.05, 3), number=st.integers(0, 6))
def test_the_sizes_found_have_a_law(epsilon: float, number: int) -> None:
    """The paths of the binary search are all there are: their probabilities add up to 1."""
    law = zeng.law_of_size((frozenset(range(zeng.SIZES_SEARCHED)),) * number, epsilon)
    assert sum(law.values()) == pytest.approx(1)


def test_the_answers_have_the_law_of_the_mechanism() -> None:
    """Against running it: noise on the threshold once, on each support, and a comparison."""
    supports, for_threshold, for_each = [8, 12, 10], 0.2, 0.4
    law = {
        answers: lee_clifton.chance_of_answers(
            supports, answers, for_threshold=for_threshold, for_each_question=for_each
        )
        for answers in product([False, True], repeat=3)
    }
    rng = np.random.default_rng(3)
    thresholds = lee_clifton.SVT_THRESHOLD + geometric.draw(rng, for_threshold, 30_000)
    noisy = [count + geometric.draw(rng, for_each, 30_000) for count in supports]
    drawn = Counter(zip(*((column >= thresholds).tolist() for column in noisy), strict=True))
    assert sum(law.values()) == pytest.approx(1)
    assert fits(drawn, law)
