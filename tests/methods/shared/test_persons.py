"""How many transactions of a person count: chosen from noisy answers, for what is asked, within one budget."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from veilset import SeededNoise, items, mine, publish
from veilset.arrays import FloatArray
from veilset.errors import BadCall
from veilset.gate import LEAST_EPSILON, DiscreteLaplace, NoisyHistogram
from veilset.methods.shared.persons import (
    PERSON_CLASSES,
    PERSON_LIMITS,
    SHARE_FOR_ONE_EACH,
    SHARE_FOR_PERSONS,
    TYPICAL_NUMBERS,
    error_of_limit,
    persons_by_class,
)
from veilset.opening import Access, ItemChoice
from veilset.raw.read import read
from veilset.raw.transactions import Transactions
from veilset.request import PublishRequest, Request

ITEMS = [["tea", "milk"], ["tea"], ["milk", "bread"]]


def owned(persons: int, baskets: int) -> Transactions:
    """Persons with that many baskets each."""
    held = read([ITEMS[place % 3] for place in range(persons * baskets)])
    return replace(held, owners=np.arange(persons * baskets) // baskets)


def chosen(data: Transactions, *, epsilon: Any = 1, request: Any = None, seed: int = 1, **choice: Any) -> int:  # noqa: ANN401
    """How many transactions of a person count after the choice."""
    access = Access(
        epsilon=epsilon,
        noise=SeededNoise(seed),
        items=ItemChoice(**choice or {"public_items": True}),
        per_owner="auto",
    )
    return access.curator_for(request or Request.of(k=3), data).unit.transactions


@pytest.mark.parametrize("baskets", [1, 2, 4, 10])
def test_where_all_have_the_same_number_and_noise_is_small_that_number_counts(baskets: int) -> None:
    """More would be noise for nothing, and less would lose something."""
    assert {chosen(owned(20_000, baskets), seed=seed) for seed in range(5)} == {baskets}


def test_less_epsilon_lets_fewer_transactions_count() -> None:
    """Down to one, where noise hides all else; and never more than are paid for."""
    data = owned(3000, 10)
    by_epsilon = [chosen(data, epsilon=epsilon) for epsilon in ("0.001", "0.02", 100)]
    assert by_epsilon[0] == 1
    assert by_epsilon == sorted(by_epsilon)
    assert by_epsilon[-1] == 10
    assert chosen(data, epsilon=LEAST_EPSILON) == 1


@pytest.mark.parametrize(
    "request_",
    [
        Request.of(k=3, max_size=1),
        Request.of(min_support="0.3"),
        Request.of(min_support=900),
        PublishRequest(),
    ],
    ids=str,
)
@pytest.mark.parametrize("choice", [{"public_items": True}, {"delta": "1e-9"}], ids=str)
def test_a_limit_is_chosen_for_every_task_and_every_choice_of_items(
    request_: Request | PublishRequest, choice: dict[str, Any]
) -> None:
    """Four of each person, where there is enough of everything."""
    assert chosen(owned(20_000, 4), epsilon=5, request=request_, **choice) == 4


def test_the_choice_is_paid_from_the_budget_of_the_release() -> None:
    """First, at the price that is said, for a whole person; what comes later is noised for as many as count."""
    data = owned(20_000, 4)
    for verb in (mine, items):
        release = verb(data, epsilon=2, k=3, public_items=True, per_owner="auto", noise=SeededNoise(1))
        persons, one_each, later = (charge.mechanism for charge in release.trace[:3])
        assert persons == DiscreteLaplace(1, 2 * SHARE_FOR_PERSONS)
        assert one_each == DiscreteLaplace(1, 2 * SHARE_FOR_ONE_EACH)
        assert later.to_dict()["sensitivity"] % 4 == 0
        assert release.spent == release.epsilon == 2
    published = publish(data, epsilon=2, public_items=True, per_owner="auto", noise=SeededNoise(1))
    assert published.trace[0].mechanism == DiscreteLaplace(1, 2 * SHARE_FOR_PERSONS)
    assert published.spent == 2


def test_nothing_is_taken_from_those_who_say_a_number() -> None:
    """No question about persons is asked."""
    release = mine(owned(2000, 4), epsilon=1, k=3, public_items=True, per_owner=4, noise=SeededNoise(1))
    assert not [charge for charge in release.trace if "person" in charge.question]


def test_without_a_request_there_is_nothing_to_choose_for() -> None:
    """It is said before anything is paid."""
    access = Access(epsilon=1, noise=SeededNoise(1), items=ItemChoice(public_items=True), per_owner="auto")
    with pytest.raises(BadCall, match="give a number per owner"):
        access.curator(owned(10, 2))


def test_an_empty_database_has_a_choice_like_any_other() -> None:
    """Nobody is in it, and noise says so: one transaction of a person counts."""
    empty = replace(read([], format=None), owners=np.empty(0, np.int64))
    assert {chosen(empty, seed=seed, alphabet=["tea"]) for seed in range(20)} <= {1, *PERSON_LIMITS}


def test_classes_that_do_not_stand_out_from_noise_count_for_nothing() -> None:
    """Else empty classes of persons with hundreds of transactions would outweigh all others."""
    values = np.zeros(len(PERSON_CLASSES), np.int64)
    values[[0, 3, -1]] = 5000, 599, 600
    found = persons_by_class(NoisyHistogram(values, DiscreteLaplace(1, Fraction(1, 100))))
    assert found[[0, 3, -1]].tolist() == [5000, 0, 600]
    nobody = persons_by_class(NoisyHistogram(0 * values, DiscreteLaplace(1, Fraction(1, 100))))
    assert nobody[0] == nobody.sum() == 1


def crowd(**numbers: int) -> FloatArray:
    """Persons by their class, whose number is named."""
    found = np.zeros(len(PERSON_CLASSES))
    for least, number in numbers.items():
        found[PERSON_CLASSES.index(int(least[1:]))] = number
    return found


def test_the_error_is_what_is_dropped_and_what_is_noised() -> None:
    """Without noise it falls with the limit, to 0 where nothing is dropped; with nothing dropped it grows with it."""
    several = crowd(_1=100, _3=50, _11=10)
    dropped = [error_of_limit(limit, several, support=100, scale=0) for limit in PERSON_LIMITS]
    assert dropped == sorted(dropped, reverse=True)
    assert dropped[PERSON_LIMITS.index(14)] == pytest.approx(0)
    noised = [error_of_limit(limit, crowd(_1=100), support=100, scale=1) for limit in PERSON_LIMITS]
    assert noised == pytest.approx([noised[0] * limit for limit in PERSON_LIMITS])


def test_limits_end_where_classes_do() -> None:
    """So that what a limit drops of a class does not depend on how persons lie within it."""
    assert len(PERSON_LIMITS) == len(PERSON_CLASSES) - 1
    for limit, least, above, typical in zip(
        PERSON_LIMITS, PERSON_CLASSES[:-1], PERSON_CLASSES[1:], TYPICAL_NUMBERS[:-1], strict=True
    ):
        assert least <= typical <= limit < above
