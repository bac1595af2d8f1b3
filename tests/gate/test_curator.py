"""The gate: charge before look, sensitivity as claimed, budget never overspent."""

import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import ONE_TRANSACTION, Untouchable, curator_over, engine_over
from reference import Basket, Baskets
from row_keys_twin import keys_of
from strategies import ALPHABET_SIZE, basket, baskets, transactions_of
from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate import (
    Budget,
    Curator,
    DropLonger,
    KeepAll,
    KeepBest,
    KeepRandom,
    Noise,
    OnlyItems,
    PrivacyUnit,
    SeededNoise,
    Truncation,
)
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemsets
from veilset.opening import open_curator
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.owners import keep_per_owner
from veilset.raw.cuts.row_keys import SipKeys
from veilset.raw.read import read
from veilset.raw.transactions import Transactions

TINY = Fraction(1, 10**9)
ALL_ITEMSETS = Itemsets.of([(), (0,), (1,), (2, 3), (0, 1), (0, 1, 2), (0, 1, 2, 3, 4)])


class Recorder(Noise):
    """Noise that adds nothing and remembers what it was handed: shows what a question really looked at."""

    is_private = False

    def __init__(self) -> None:
        self.looks: list[Int64Array] = []

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """Keep the exact counts."""
        assert scale > 0
        self.looks.append(counts.values)
        return counts.values

    def discrete_gaussian(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """The same."""
        return self.discrete_laplace(counts, scale=scale)

    def below(self, bound: int) -> int:
        """The first."""
        assert bound > 0
        return 0

    def keys(self) -> SipKeys:
        """The same keys on every database: each transaction is truncated in the same way."""
        return keys_of(1)


TRUNCATIONS: list[Truncation | None] = [
    None,
    DropLonger(2),
    KeepRandom(2),
    KeepBest(2, np.arange(ALPHABET_SIZE)[::-1].copy()),
    OnlyItems(np.array([0, 2, 3]), KeepAll()),
    OnlyItems(np.array([0, 2, 3]), KeepRandom(1)),
]

QUESTIONS: dict[str, Callable[[Curator, Truncation | None], object]] = {
    "number": lambda curator, _: curator.ask_number(epsilon=TINY),
    "lengths": lambda curator, truncation: curator.ask_lengths(limit=3, truncation=truncation, epsilon=TINY),
    "items": lambda curator, truncation: curator.ask_item_supports(truncation=truncation, epsilon=TINY),
    "supports": lambda curator, truncation: curator.ask_supports(
        ALL_ITEMSETS, truncation=truncation, epsilon=TINY
    ),
    "marginal": lambda curator, truncation: curator.ask_marginal(
        (0, 2, 4), truncation=truncation, epsilon=TINY
    ),
    "k-th": lambda curator, _: curator.ask_kth_support(2, domain=curator.domain(max_size=2), epsilon=TINY),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("truncation", TRUNCATIONS, ids=repr)
@given(rows=baskets(), extra=basket())
@settings(max_examples=30)
def test_one_more_transaction_moves_an_answer_by_at_most_its_claimed_sensitivity(
    question: str, truncation: Truncation | None, rows: Baskets, extra: Basket
) -> None:
    """L1 distance of what was looked at on neighbours, against the mechanism in the trace."""
    before, after = Recorder(), Recorder()
    QUESTIONS[question](curator_over(rows, noise=before), truncation)
    curator = curator_over([*rows, extra], noise=after)
    QUESTIONS[question](curator, truncation)
    moved = int(np.abs(after.looks[0] - before.looks[0]).sum())
    mechanism = curator.budget.charges[0].mechanism
    assert isinstance(mechanism, DiscreteLaplace)
    assert moved <= mechanism.sensitivity


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_costs_what_it_says_and_leaves_one_row_in_the_trace(question: str) -> None:
    """Charge and trace are one and the same."""
    curator = curator_over([frozenset({0, 1})])
    QUESTIONS[question](curator, KeepRandom(2))
    assert [charge.mechanism.epsilon for charge in curator.budget.charges] == [TINY] == [curator.budget.spent]


OWNED = pl.DataFrame({"who": ["a", "a", "b"], "receipt": [1, 2, 1], "what": ["tea", "milk", "tea"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"per_owner": 10**30}, "give numbers from 1 up"),
        ({"per_owner": 0}, "give numbers from 1 up"),
        ({"per_owner": 1, "transactions": 10**30}, "not possible"),
        ({"per_owner": 1, "transactions": -1}, "not possible"),
    ],
)
def test_a_curator_is_not_opened_with_numbers_out_of_range(options: dict[str, Any], message: str) -> None:
    """Numbers of transactions, of one person or of all, that leave the range of counts and of noise."""
    owned = read(OWNED, owner="who", basket="receipt", item="what")
    with pytest.raises(BadCall, match=message):
        open_curator(owned, epsilon=1, noise=SeededNoise(1), public_items=True, **options)


def test_answers_with_next_to_no_noise_are_the_exact_ones() -> None:
    """Each question counts what its name says."""
    rows = [frozenset({0, 1}), frozenset({0, 1, 2}), frozenset({0}), frozenset()]
    curator = curator_over(rows, epsilon=Fraction(10**9))
    sure = Fraction(10**6)
    assert curator.ask_number(epsilon=sure).value == 4
    assert curator.ask_lengths(limit=2, epsilon=sure).values.tolist() == [1, 1, 2]
    assert curator.ask_item_supports(epsilon=sure).values.tolist() == [3, 2, 1, 0, 0, 0]
    asked = curator.ask_supports(Itemsets.of([(0, 1), (2, 4)]), epsilon=sure)
    assert asked.values.tolist() == [2, 0]
    assert curator.ask_marginal((0, 1), epsilon=sure).values.tolist() == [1, 1, 0, 2]
    domain = curator.domain(max_size=2)
    ranked = [curator.ask_kth_support(k, domain=domain, epsilon=sure).value for k in (1, 2, 4, 15)]
    assert ranked == [3, 2, 1, 0]
    assert curator.ask_best(1, domain=domain, epsilon=sure).itemsets == ((0,),)


def test_a_public_number_costs_nothing() -> None:
    """Where the caller publishes the number of transactions, nothing is charged and nothing looked at."""
    engine = Untouchable(transactions_of([frozenset({0})]))
    curator = Curator(
        engine,  # type: ignore[arg-type]
        budget=Budget(Fraction(1)),
        noise=SeededNoise(1),
        unit=ONE_TRANSACTION,
        public_number=77,
    )
    assert curator.ask_number(epsilon=Fraction(1)).value == 77
    assert curator.budget.charges == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda curator: curator.ask_lengths(limit=0, epsilon=TINY), "leaves no histogram"),
        (lambda curator: curator.ask_supports(Itemsets.of([]), epsilon=TINY), "no itemsets"),
        (lambda curator: curator.ask_supports(Itemsets.of([(0,), (0,)]), epsilon=TINY), "stands twice"),
        (lambda curator: curator.ask_marginal((0, 0), epsilon=TINY), "different items"),
        (lambda curator: curator.ask_marginal((), epsilon=TINY), "1 to 16"),
        (lambda curator: curator.ask_best(22, domain=curator.domain(max_size=2), epsilon=TINY), "is 21"),
        (
            lambda curator: curator.ask_kth_support(0, domain=curator.domain(max_size=2), epsilon=TINY),
            "at least 1",
        ),
        (lambda curator: curator.ask_number(epsilon=Fraction(0)), "above 0"),
        (lambda curator: curator.domain(max_size=0), "sizes from 1 up"),
        (lambda _: KeepRandom(0), "keeps nothing"),
    ],
)
def test_questions_that_make_no_sense_are_refused_before_a_charge(
    call: Callable[[Curator], object], message: str
) -> None:
    """One line that says what to do; nothing spent."""
    curator = curator_over([frozenset({0})])
    with pytest.raises(BadCall, match=message):
        call(curator)
    assert curator.budget.spent == 0


@given(
    owned=st.lists(st.lists(basket(), min_size=1, max_size=4), max_size=4),
    extra=st.lists(basket(), min_size=1, max_size=5),
    limit=st.integers(1, 3),
)
def test_one_more_owner_moves_an_answer_by_at_most_its_claimed_sensitivity(
    owned: list[Baskets], extra: Baskets, limit: int
) -> None:
    """Where a person has several transactions, `limit` of them count and sensitivities grow with it."""
    looks, mechanisms = [], []
    for people in (owned, [*owned, extra]):
        rows = [basket for person in people for basket in person]
        owners = np.array([i for i, person in enumerate(people) for _ in person], np.int64)
        held = transactions_of(rows)
        held = Transactions(held.offsets, held.items, held.alphabet, owners)
        noise = Recorder()
        bounded = keep_per_owner(held, limit, noise.keys())
        assert bounded.owners is not None
        assert max(np.bincount(bounded.owners), default=0) <= limit
        curator = curator_over(bounded, noise=noise, unit=PrivacyUnit("owner", limit))
        curator.ask_supports(ALL_ITEMSETS, epsilon=TINY)
        looks.append(noise.looks[0])
        mechanisms.append(curator.budget.charges[0].mechanism)
    assert isinstance(mechanisms[0], DiscreteLaplace)
    assert np.abs(looks[1] - looks[0]).sum() <= mechanisms[0].sensitivity


def test_exact_values_show_nothing() -> None:
    """Neither counts nor curators nor transactions give anything away when printed."""
    rows = [frozenset({0, 1})] * 41
    shown = " ".join(
        map(repr, [ExactCounts(np.array([41])), transactions_of(rows), engine_over(rows), curator_over(rows)])
    )
    without_addresses = re.sub("0x[0-9a-f]+", "", shown)
    assert "41" not in without_addresses


def test_mypy_refuses_exact_counts_where_noisy_ones_are_due(tmp_path: Path) -> None:
    """The type checker, not the reviewer, keeps exact counts out of a release."""
    program = tmp_path / "program.py"
    program.write_text(
        "from veilset.gate.answers import NoisyCounts\n"
        "from veilset.raw.counts import ExactCounts\n"
        "def publish(counts: NoisyCounts) -> None: ...\n"
        "def leak(counts: ExactCounts) -> None:\n"
        "    publish(counts)\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(program)], capture_output=True, text=True, check=False
    )
    assert 'incompatible type "ExactCounts"; expected "NoisyCounts"' in run.stdout
