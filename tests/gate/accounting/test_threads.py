"""Every account under real threads: never more spent than was paid, as many answers as charges, no other error."""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from threading import Barrier
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from curators import curator_over
from row_keys_twin import keys_of
from veilset.arrays import Int64Array
from veilset.errors import BudgetExceeded
from veilset.gate import (
    AboveThreshold,
    Budget,
    ChainedLaplace,
    Curator,
    DiscreteLaplace,
    Noise,
    Partitions,
    Refinement,
    SampleAccount,
    SizeTest,
    chance_of_a_unit,
    price_of,
)
from veilset.gate.accounting.amplification import SampledEngine
from veilset.gate.accounting.parallel import Chains, ParallelAccount
from veilset.gate.zcdp import delta_of
from veilset.itemsets import Itemsets
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.row_keys import SipKeys
from veilset.raw.transactions import Alphabet
from veilset.taxonomy import Taxonomy

if TYPE_CHECKING:
    from veilset.raw.engines import Engine

THREADS = 8
ROWS = [frozenset({0, 1}), frozenset({2}), frozenset({0, 1, 2})] * 10
DELTA = Fraction(1, 10**6)


class NoNoise(Noise):
    """Randomness that adds nothing: threads share it, and answers can be told apart from errors."""

    is_private = False

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """The counts."""
        assert scale > 0
        return counts.values

    def discrete_gaussian(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """The same."""
        return self.discrete_laplace(counts, scale=scale)

    def below(self, bound: int) -> int:
        """The first."""
        assert bound > 0
        return 0

    def keys(self) -> SipKeys:
        """The same for everybody."""
        return keys_of(1)


@pytest.fixture(autouse=True)
def _hurried_switches() -> Iterator[None]:
    """Threads take turns a thousand times more often than usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def answered(ask: Callable[[int], object], *, times: int) -> list[object]:
    """What all threads together were answered, each asking a number of times; a refusal is no answer."""
    ready = Barrier(THREADS)

    def work(thread: int) -> list[object]:
        ready.wait()
        found = []
        for turn in range(times):
            try:
                found.append(ask(thread * times + turn))
            except BudgetExceeded:
                continue
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        return [
            answer for future in [pool.submit(work, i) for i in range(THREADS)] for answer in future.result()
        ]


@pytest.mark.parametrize("attempt", range(5))
def test_a_budget_is_spent_to_the_last_share_and_no_further(attempt: int) -> None:
    """A hundred shares for 240 questions; explanations come in between."""
    budget = Budget(Fraction(1))

    def ask(number: int) -> object:
        paid = AboveThreshold(1 + attempt, 1, Fraction(1, 100))
        budget.charge(f"question {number}", paid)
        budget.explain(paid, AboveThreshold(1 + attempt, 1, Fraction(1, 100), (Fraction(1, 200),)))
        return paid

    assert len(answered(ask, times=30)) == 100 == len(budget.charges)
    assert budget.spent == 1 == sum(charge.mechanism.epsilon for charge in budget.charges)
    accounts = {
        each.account
        for each in (charge.mechanism for charge in budget.charges)
        if isinstance(each, AboveThreshold)
    }
    assert accounts == {(Fraction(1, 200),)}


def test_questions_of_one_curator_spend_its_budget_and_no_more() -> None:
    """The same through the door."""
    curator = curator_over(ROWS, noise=NoNoise())
    answers = answered(lambda _: curator.ask_number(epsilon=Fraction(1, 50)).value, times=10)
    assert answers == [len(ROWS)] * 50
    assert curator.budget.spent == 1


@pytest.mark.parametrize("attempt", range(5))
def test_a_sample_is_drawn_once_and_priced_as_a_whole(attempt: int) -> None:
    """While others ask the data and another sample: every account tells the price of what was asked of it."""
    curator = curator_over(ROWS, noise=NoNoise(), epsilon=Fraction(3 + attempt))
    samples = [curator.on_sample(Fraction(1, 2), epsilon=Fraction(1, 2)) for _ in range(2)]
    share = Fraction(1, 20)

    def ask(number: int) -> tuple[int, int]:
        asked: list[Curator] = [*samples, curator]
        return number % 3, asked[number % 3].ask_number(epsilon=share).value

    answers = answered(ask, times=12)
    found: dict[int, list[int]] = {place: [] for place in range(3)}
    for place, value in answers:  # type: ignore[misc]
        found[place].append(value)  # type: ignore[has-type]
    chance = chance_of_a_unit(Fraction(1, 2), transactions=1)
    for place, sample in enumerate(samples):
        assert sample.budget.spent == len(found[place]) * share <= sample.budget.total
        assert len(set(found[place])) == 1
    prices = sum(price_of(sample.budget.spent, chance=chance) for sample in samples)
    assert curator.budget.spent == prices + len(found[2]) * share <= curator.budget.total
    assert len(curator.budget.charges) == len(answers)


@pytest.mark.parametrize("attempt", range(5))
def test_a_sample_account_by_itself_keeps_its_price(attempt: int) -> None:
    """Charges and explanations from all sides; the data's account runs out first."""
    budget = Budget(Fraction(1, 4 + attempt))
    account = SampleAccount(budget, rate=Fraction(1, 4), transactions=1, epsilon=Fraction(1))

    def ask(_: int) -> object:
        paid = AboveThreshold(1, 1, Fraction(1, 30))
        account.charge("which", paid)
        account.explain(paid, AboveThreshold(1, 1, Fraction(1, 30), (Fraction(1, 60),)))
        return paid

    number = len(answered(ask, times=10))
    assert number == len(account.charges) == len(budget.charges) > 0
    assert account.spent == number * Fraction(1, 30)
    assert budget.spent == price_of(account.spent, chance=Fraction(1, 4)) <= budget.total


@pytest.mark.parametrize("attempt", range(5))
def test_gaussian_questions_are_quoted_and_charged_at_once(attempt: int) -> None:
    """Each gets the rho of its turn: together what (the sum of epsilons, delta) pays for, and delta is paid once."""
    curator = curator_over(ROWS, noise=NoNoise(), delta=DELTA)
    some, share = Itemsets.of([(0,), (0, 1)]), Fraction(1, 12 + attempt)

    def ask(number: int) -> object:
        if number % 3 == 0:
            curator.ask_number(epsilon=Fraction(1, 1000))
        return curator.ask_root_counts(some, most=1, epsilon=share).mechanism

    mechanisms = answered(ask, times=3)
    rho = sum((each.rho for each in mechanisms), Fraction(0))  # type: ignore[attr-defined]
    epsilon = sum((each.epsilon for each in mechanisms), Fraction(0))  # type: ignore[attr-defined]
    assert delta_of(rho, epsilon=epsilon) <= DELTA
    assert epsilon == len(mechanisms) * share <= curator.budget.spent <= 1
    assert sorted(each.delta for each in mechanisms)[-2:] == [0, DELTA]  # type: ignore[attr-defined]
    assert curator.budget.delta_left == 0
    assert curator.budget.spent + share > 1 - Fraction(8, 1000)


ONE = np.zeros(1, np.int64)


def split_first(partitions: Partitions, epsilon: Fraction) -> object:
    """Split the first partition by the root."""
    return partitions.ask_split(Refinement(ONE, ONE, (SizeTest(epsilon, 1),), ONE, ONE))


@pytest.mark.parametrize("attempt", range(5))
@pytest.mark.parametrize(("epsilon", "answers"), [(Fraction(99, 100), 1), (Fraction(1, 10), 10)])
def test_no_record_is_tested_for_more_than_was_paid(epsilon: Fraction, answers: int, attempt: int) -> None:
    """All threads split the first partition, again and again: its chain ends where its epsilon does."""
    curator = curator_over(ROWS * (1 + attempt), noise=NoNoise())
    partitions = curator.ask_partitions(Taxonomy.of([0, [1, 2]]), epsilon=Fraction(1))
    found = answered(lambda _: split_first(partitions, epsilon), times=4)
    assert len(found) == answers
    (charge,) = curator.budget.charges
    assert charge.mechanism == ChainedLaplace(1, Fraction(1), (epsilon,) * answers)


@pytest.mark.parametrize("attempt", range(20))
def test_two_threads_do_not_go_on_from_the_same_partition(attempt: int) -> None:
    """An account of chains by itself: of all that start from one place, one is served."""
    budget, paid = Budget(Fraction(1)), ChainedLaplace(1 + attempt, Fraction(1))
    budget.charge("sizes of partitions", paid)
    account = ParallelAccount(budget, paid)

    def ask(_: int) -> object:
        try:
            return account.charge(ONE, ONE, [Fraction(99, 100)])
        except Exception as error:
            if "each once" in str(error):  # somebody else went on from there
                raise BudgetExceeded from error
            raise

    assert len(answered(ask, times=2)) == 1
    assert budget.charges[0].to_dict()["largest_chain"] == ["99/100"]


def test_chains_by_themselves_add_up() -> None:
    """Threads that hand the way from one to the next, under no lock but that of the chains."""
    chains, place = Chains(Fraction(1)), [ONE]

    def ask(_: int) -> object:
        try:
            place[0] = chains.charge(place[0], ONE, [Fraction(1, 64)])
        except Exception as error:
            if "each once" in str(error):
                raise BudgetExceeded from error
            raise
        return place[0]

    number = len(answered(ask, times=20))
    assert 1 <= number <= 64
    assert sum(chains.largest) == Fraction(number, 64)


def test_a_mechanism_costs_the_same_for_every_thread() -> None:
    """One object charged by all: as often as the budget pays for."""
    budget, mechanism = Budget(Fraction(1)), DiscreteLaplace(1, Fraction(1, 10))
    assert len(answered(lambda _: budget.charge("number", mechanism), times=5)) == 10
    assert budget.spent == 1


class CountedDraws:
    """An engine that counts how often a sample of it is drawn, and takes its time."""

    def __init__(self) -> None:
        self.drawn: list[object] = []

    def sample(self, draw: object, *, below: int) -> "CountedDraws":
        """Another sample every time."""
        assert draw is not None
        assert below > 0
        time.sleep(0.001)
        self.drawn.append(draw)
        return self


def test_a_sample_is_drawn_once_whoever_comes_first() -> None:
    """A second draw would be a second sample, which nobody paid for."""
    engine = CountedDraws()
    sample = SampledEngine(Alphabet(range(3), is_given=True), rate=Fraction(1, 2), draw=NoNoise().keys)
    answered(lambda _: sample.draw_from(cast("Engine", engine)), times=2)
    assert len(engine.drawn) == 1
