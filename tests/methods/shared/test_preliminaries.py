"""The preliminaries: how many itemsets a threshold stands for."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over
from strategies import ALPHABET_SIZE
from veilset.methods.shared.preliminaries import ask_how_many


@given(
    supports=st.lists(st.integers(0, 100), min_size=ALPHABET_SIZE, max_size=ALPHABET_SIZE),
    min_count=st.integers(1, 100),
)
def test_how_many_are_above_a_threshold_is_found_with_the_questions_that_were_paid_for(
    supports: list[int], min_count: int
) -> None:
    """Never fewer than there are, at most twice as many."""
    rows = [frozenset({item}) for item, support in enumerate(supports) for _ in range(support)]
    curator = curator_over(rows, epsilon=Fraction(10**8))
    domain = curator.domain(max_size=1)
    number = ask_how_many(curator, min_count, domain=domain, epsilon=Fraction(10**8))
    reached = sum(support >= min_count for support in supports)
    assert reached <= number <= min(2 * reached, domain.size)
