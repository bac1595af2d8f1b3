"""What the papers prove: limits that agree with each other."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.errors import BadCall
from veilset.plan.bounds import (
    Usefulness,
    diffpart_error,
    diffpart_failure_chance,
    necessary_epsilon,
    necessary_epsilon_when_short,
    sufficient_epsilon_when_short,
)

usefulness = st.builds(
    Usefulness,
    items=st.integers(1, 400),
    threshold=st.floats(1, 1e5),
    delta=st.floats(0.01, 0.9),
    eta=st.floats(0.01, 0.5),
)


@given(wanted=usefulness, length=st.integers(1, 400))
def test_what_is_necessary_never_exceeds_what_is_sufficient(wanted: Usefulness, length: int) -> None:
    """DiffFIM's Theorems 5 and 6 bound the same epsilon from both sides."""
    length = min(length, wanted.items)
    necessary = necessary_epsilon_when_short(wanted, length=length)
    assert necessary <= sufficient_epsilon_when_short(wanted, length=length)
    assert necessary <= necessary_epsilon(wanted) * (1 + 1e-9)


@given(wanted=usefulness)
def test_without_a_limit_on_the_length_theorem_6_is_lemma_1(wanted: Usefulness) -> None:
    """All sets of items are within one transaction then."""
    unlimited = necessary_epsilon_when_short(wanted, length=wanted.items)
    assert unlimited == pytest.approx(necessary_epsilon(wanted))


@given(wanted=usefulness, length=st.integers(1, 50))
def test_at_the_sufficient_epsilon_geometric_noise_is_useful(wanted: Usefulness, length: int) -> None:
    """Equation 14 of the proof holds with equality: n items pass with probability 1 - eta together."""
    epsilon = sufficient_epsilon_when_short(wanted, length=length)
    one_miss = math.exp(-wanted.delta * wanted.threshold * epsilon / length)
    assert (1 - one_miss) ** wanted.items == pytest.approx(1 - wanted.eta)


@given(delta=st.floats(0.001, 0.9), itemsets=st.integers(1, 1000), items=st.integers(2, 5000))
def test_the_two_forms_of_the_diffpart_bound_agree(delta: float, itemsets: int, items: int) -> None:
    """The error for a chance, put into the chance for an error, gives the chance back."""
    query: dict[str, Any] = {
        "itemsets": itemsets,
        "budget": 0.5,
        "items": items,
        "fanout": 10,
        "strictness": 1.5,
    }
    error = diffpart_error(delta=delta, **query)
    assert diffpart_failure_chance(error=error, **query) == pytest.approx(delta)


def test_bounds_refuse_what_the_theorems_do_not_cover() -> None:
    """Usefulness is between 0 and 1, and there is something to count."""
    with pytest.raises(BadCall, match="between 0 and 1"):
        Usefulness(items=10, threshold=5, delta=0.2, eta=1)
    with pytest.raises(BadCall, match="at least 1"):
        Usefulness(items=0, threshold=5, delta=0.2, eta=0.5)
    with pytest.raises(BadCall, match="at least 1"):
        necessary_epsilon_when_short(Usefulness(10, 5, 0.2, 0.5), length=0)
    with pytest.raises(BadCall, match="fan-out 2"):
        diffpart_error(delta=0.1, itemsets=1, budget=1, items=10, fanout=1, strictness=1)
