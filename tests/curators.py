"""Engines and curators over small baskets, for tests."""

from fractions import Fraction

import pytest

from reference import Baskets
from strategies import transactions_of
from veilset.gate import Budget, Curator, Noise, PrivacyUnit, SeededNoise, UnnamedCurator
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Transactions

ONE_TRANSACTION = PrivacyUnit("transaction", 1)


def engine_over(rows: Baskets | Transactions) -> LocalEngine:
    """The local engine over small transactions."""
    return LocalEngine(rows if isinstance(rows, Transactions) else transactions_of(rows), threads=1)


def curator_over(
    rows: Baskets | Transactions,
    *,
    epsilon: Fraction = Fraction(1),
    delta: Fraction = Fraction(0),
    noise: Noise | None = None,
    unit: PrivacyUnit = ONE_TRANSACTION,
) -> Curator:
    """A curator over small transactions."""
    budget = Budget(epsilon, delta=delta)
    return Curator(engine_over(rows), budget=budget, noise=noise or SeededNoise(1), unit=unit)


def unnamed_curator_over(
    rows: Baskets | Transactions,
    *,
    epsilon: Fraction = Fraction(1),
    delta: Fraction = Fraction(1, 10**9),
    noise: Noise | None = None,
    unit: PrivacyUnit = ONE_TRANSACTION,
) -> UnnamedCurator:
    """A curator over the same, whose items have to be found."""
    budget = Budget(epsilon, delta=delta)
    return UnnamedCurator(engine_over(rows), budget=budget, noise=noise or SeededNoise(1), unit=unit)


class Untouchable:
    """An engine that nobody may ask."""

    def __init__(self, transactions: Transactions) -> None:
        self.alphabet = transactions.alphabet

    def __getattr__(self, name: str) -> object:
        pytest.fail(f"looked at the data through {name!r}")
