"""Output laws that are computed: choices cost what they claim, and a control costs more."""

from fractions import Fraction

import pytest

from veilset.audit.exact_laws import EXACT_LAWS, law_of_best
from veilset.audit.neighbours import PAIRS, Pair
from veilset.audit.verdicts import HOLDS
from veilset.itemsets import Domain


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)], ids=str)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_choices_cost_what_they_claim_exactly(pair: Pair, epsilon: Fraction) -> None:
    """The law of every choice, computed on both databases."""
    for law in EXACT_LAWS:
        found = law(pair, epsilon=epsilon)
        assert found.verdict == HOLDS, found


def test_a_choice_at_twice_its_rate_is_caught_exactly() -> None:
    """The exact comparison has a control: twice the epsilon is more than the claim on some pair."""
    losses = []
    for pair in PAIRS:
        domain = Domain(items=range(pair.items), max_size=1)
        one, other = (
            law_of_best(data, domain, 1, epsilon=Fraction(2))
            for data in (pair.with_unit(), pair.without_unit())
        )
        losses.append(max(abs(one[output] - other[output]) for output in one))
    assert max(losses) > 1
