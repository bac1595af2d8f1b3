"""Comparisons with a noisy threshold: PFM's blocks and its account, the sparse vector technique, their laws."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over
from laws import fits
from reference import Basket, Baskets, item_supports
from strategies import ALPHABET_SIZE, basket, baskets
from veilset.arrays import Int64Array
from veilset.audit.transcripts.label_laws import LabelsLaw
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import PrivacyUnit, SeededNoise
from veilset.gate.mechanisms import AboveThreshold
from veilset.gate.selection.sparse_vector import COMPARISON_STEPS, Comparisons, in_blocks, sparse_vector

ONE = Fraction(1)
EVERY = np.arange(ALPHABET_SIZE)
Algorithm = Callable[..., Comparisons]


class Noiseless:
    """Supports and a threshold without noise, for tests of what happens to labels that are known."""

    def __init__(self, supports: Int64Array, threshold: int) -> None:
        self.number, self._supports, self._threshold = supports.size, supports, threshold

    def threshold(self, scale: Fraction) -> int:
        """As it is."""
        assert scale > 0
        return self._threshold

    def supports(self, start: int, end: int, scale: Fraction) -> Int64Array:
        """As they are."""
        assert scale > 0
        return self._supports[start:end]


def labelled(signs: str, k: int, algorithm: Algorithm = in_blocks, epsilon: Fraction = ONE) -> Comparisons:
    """Run over items that are above (+) or below (-) a threshold, without noise."""
    supports = np.array([9 if sign == "+" else 1 for sign in signs])
    return algorithm(Noiseless(supports, 5), k, sensitivity=1, epsilon=epsilon)


def floored(share: Fraction, epsilon: Fraction = ONE) -> Fraction:
    """A share of epsilon on its public grid."""
    return share // (epsilon / COMPARISON_STEPS) * (epsilon / COMPARISON_STEPS)


def test_the_running_example_of_the_paper_is_paid_for_block_by_block() -> None:
    """Figure 3: {C, D, E} is + + -, {F, G, H} is - - +; two more are found in a block that no label ends."""
    found = labelled("++---+++", 5)
    assert found.above == (0, 1, 5, 6, 7)
    for_threshold = floored(ONE / 20)
    for_e = floored((ONE - for_threshold) / 3)  # C and D were found: 3 of 5 are still wanted
    left = ONE - for_threshold - for_e
    next_threshold = floored(left / 12)
    for_h = floored((left - next_threshold) / 3)
    left -= next_threshold + for_h
    assert found.account == (for_threshold + for_e, next_threshold + for_h, floored(left / 8))


def test_the_search_stops_when_the_last_item_was_found() -> None:
    """T1: the printed form divides by zero there."""
    assert labelled("-+++", 1) == Comparisons((1,), (floored(ONE / 4) + ONE - floored(ONE / 4),))
    assert labelled("++-+", 2).above == (0, 1)


def test_a_search_can_end_with_its_budget_gone_and_fewer_items_than_wanted() -> None:
    """T2: the last wanted item gets all that is left, and one label that differs takes it."""
    found = labelled("+-++", 2)
    assert found.above == (0,)
    assert sum(found.account) == ONE


@pytest.mark.parametrize(("signs", "found"), [("---", 0), ("-+-", 1), ("++-", 2), ("++++", 3)])
def test_the_sparse_vector_technique_pays_for_its_threshold_and_for_everyone_above_it(
    signs: str, found: int
) -> None:
    """A quarter of epsilon, and a third of the rest for each of at most three."""
    account = labelled(signs, 3, sparse_vector).account
    assert account == (ONE / 4, *[ONE / 4] * found)


@given(
    signs=st.text("+-", max_size=40),
    k=st.integers(1, 12),
    epsilon=st.fractions(min_value=Fraction(1, 1000), max_value=50),
)
def test_no_account_is_ever_overdrawn(signs: str, k: int, epsilon: Fraction) -> None:
    """Whatever the labels: the sum of all parts is at most epsilon, and labels are what was seen."""
    for algorithm in (in_blocks, sparse_vector):
        found = labelled(signs, k, algorithm, epsilon)
        assert all(part > 0 for part in found.account)
        assert sum(found.account) <= epsilon
        assert all(signs[place] == "+" for place in found.above)
        assert len(found.above) <= k
    assert (
        labelled(signs, k, sparse_vector).above
        == tuple(place for place, sign in enumerate(signs) if sign == "+")[:k]
    )


@given(signs=st.text("+-", max_size=30), k=st.integers(1, 8))
def test_the_account_is_a_function_of_the_labels(signs: str, k: int) -> None:
    """Two databases with the same labels show the same account: it says nothing more."""
    supports = np.array([900 if sign == "+" else -7 for sign in signs], dtype=np.int64)
    other = in_blocks(Noiseless(supports, 30), k, sensitivity=1, epsilon=ONE)
    assert labelled(signs, k) == other


@pytest.mark.parametrize("by_blocks", [True, False], ids=["PFM", "sparse vector"])
def test_labels_have_their_law(by_blocks: bool) -> None:
    """The law of the twin is accepted; with a fifth more epsilon, or less, it is rejected."""
    supports, k, epsilon = np.array([7, 3, 6, 5, 9]), 3, Fraction(3, 2)
    noise = SeededNoise(11)
    mechanism = AboveThreshold(k, 1, epsilon)
    drawn = Counter(
        noise.labels(supports, mechanism, threshold=6, by_blocks=by_blocks).above for _ in range(12_000)
    )
    assert [fits(drawn, above_law(supports, k, epsilon * factor, by_blocks)) for factor in CONTROLS] == [
        True,
        False,
        False,
    ]


CONTROLS = (Fraction(1), Fraction(6, 5), Fraction(4, 5))


def above_law(
    supports: Int64Array, k: int, epsilon: Fraction, by_blocks: bool
) -> dict[tuple[int, ...], float]:
    """The law of which places are above."""
    law: dict[tuple[int, ...], float] = {}
    for released, log_p in law_of_labels(supports, k, epsilon=epsilon, by_blocks=by_blocks).items():
        law[released.above] = law.get(released.above, 0.0) + float(np.exp(log_p))
    return law


def law_of_labels(
    supports: Int64Array, k: int, *, epsilon: Fraction, by_blocks: bool
) -> dict[Comparisons, float]:
    """The log of the probability of everything that can be released."""
    threshold = int(np.sort(supports)[-k])
    law = LabelsLaw(supports, AboveThreshold(k, 1, epsilon), threshold=threshold, by_blocks=by_blocks)
    return {released: law.log_chance(released) for released in law.telling(law)}


@given(
    rows=baskets(),
    extra=basket(),
    k=st.integers(1, 5),
    by_blocks=st.booleans(),
    epsilon=st.sampled_from([Fraction(1, 2), Fraction(2)]),
)
@settings(max_examples=25)
def test_one_more_transaction_changes_the_law_by_at_most_epsilon(
    rows: Baskets, extra: Basket, k: int, by_blocks: bool, epsilon: Fraction
) -> None:
    """Exactly, over everything that can be released, with supports and threshold that all move."""
    before, after = (
        law_of_labels(
            np.array(item_supports(database, ALPHABET_SIZE)[:5]), k, epsilon=epsilon, by_blocks=by_blocks
        )
        for database in (rows, [*rows, extra])
    )
    assert before.keys() == after.keys()
    assert max(abs(before[labels] - after[labels]) for labels in before) <= float(epsilon) + 1e-9


def test_twice_the_epsilon_would_be_noticed() -> None:
    """The comparison of laws has a control: run at twice epsilon, blocks cost more than epsilon."""
    one, other = (
        law_of_labels(np.array(supports), 2, epsilon=Fraction(2), by_blocks=True)
        for supports in ([4, 5, 4, 4], [4, 6, 4, 4])
    )
    assert max(abs(one[labels] - other[labels]) for labels in one) > 1


@pytest.mark.parametrize("by_blocks", [True, False])
def test_without_noise_the_most_frequent_items_are_found(by_blocks: bool) -> None:
    """Also where a person has several transactions."""
    rows = [frozenset({0, 3})] * 50 + [frozenset({3, 4})] * 30 + [frozenset({5})] * 10
    curator = curator_over(rows, epsilon=Fraction(10**6), unit=PrivacyUnit("owner", 3))
    found = curator.ask_above_kth(EVERY, 3, epsilon=Fraction(10**5), by_blocks=by_blocks)
    assert found.items == (0, 3, 4)
    mechanism = curator.budget.charges[0].mechanism
    assert isinstance(mechanism, AboveThreshold)
    assert (mechanism.sensitivity, mechanism.epsilon) == (3, Fraction(10**5))
    assert 0 < mechanism.used <= 10**5


def test_nothing_is_looked_at_that_was_not_paid_for() -> None:
    """The whole epsilon is charged first, or nothing happens."""
    curator = curator_over([], epsilon=ONE)
    with pytest.raises(BudgetExceeded):
        curator.ask_above_kth(EVERY, 1, epsilon=Fraction(2), by_blocks=True)
    assert curator.budget.charges == ()


@pytest.mark.parametrize(
    ("items", "k", "message"),
    [
        ([0, 1], 3, "k from 1 to 2"),
        ([0, 1], 0, "k from 1 to 2"),
        ([0, 0], 1, "different items"),
        ([], 1, "different items"),
        ([0, 6], 1, "from 0 to 5"),
        ([-1], 1, "from 0 to 5"),
    ],
)
def test_bad_questions_are_refused_before_they_cost(items: list[int], k: int, message: str) -> None:
    """In one line, with the budget untouched."""
    curator = curator_over([])
    with pytest.raises(BadCall, match=message):
        curator.ask_above_kth(np.array(items, dtype=np.int64), k, epsilon=ONE, by_blocks=True)
    assert curator.budget.left == 1
