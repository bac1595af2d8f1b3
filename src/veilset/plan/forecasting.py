"""Forecasts of every method in one model of the data, and the least epsilon at which one says enough."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from veilset.errors import BadCall
from veilset.forecast import Forecast, World
from veilset.forecast.curve import bend, popularity, support_curve
from veilset.gate import Delta, exact_delta
from veilset.itemsets import Domain
from veilset.methods import METHODS, Forecaster
from veilset.methods.shared.forecast_discovery import forecast_discovery
from veilset.plan.facts import Facts
from veilset.request import Request, Support
from veilset.results.estimates import count_of

_EPSILONS = [
    *(Fraction(digits) * Fraction(10) ** power for power in range(-5, 3) for digits in range(10, 100)),
    Fraction(10_000),
]
"""721 epsilons among which the least one is looked for: all numbers of two digits from 0.0001 to 10,000."""

MOST_SEARCHED = _EPSILONS[-1]
"""None above it is looked at: it would protect nobody."""


@dataclass(frozen=True, slots=True)
class Model:
    """Public facts with a request: all that forecasts are made from."""

    facts: Facts
    request: Request
    k: int
    guess: int | None
    delta: Fraction | None

    @classmethod
    def of(
        cls,
        facts: Facts,
        *,
        k: int,
        max_size: int | None = None,
        kth_support: Support | None = None,
        delta: Delta | None = None,
    ) -> "Model":
        """Check what a caller handed in."""
        request = Request.of(k=k, min_support=kth_support, max_size=max_size)
        guess = None if request.min_support is None else _count(request.min_support, facts.rows)
        return cls(facts, request, k, guess, None if delta is None else exact_delta(delta))

    @property
    def assumption(self) -> str:
        """What stands in for the data, in words."""
        bent = "" if self.guess is None else f", bent so that the k-th support is {self.guess}"
        return (
            f"items held independently, the odds of the i-th most popular falling as 1/i, "
            f"{self.facts.length:g} items in a transaction on average{bent}"
        )

    def forecasts(self) -> list["Forecasts"]:
        """Of all methods that consider k itemsets at least, and not too many; `planned` is the first."""
        domains = [(each, self._considered_by(each)) for each in forecasters().values()]
        max(domains, key=lambda each: each[1].max_size)[1].check_holds(self.k)
        return [
            self._forecasts_of(forecaster, domain)
            for forecaster, domain in domains
            if self.k <= domain.size <= getattr(forecaster, "MOST_ITEMSETS", math.inf)
        ]

    def _considered_by(self, forecaster: Forecaster) -> Domain:
        largest = min(forecaster.largest_size(self.request.max_size), self.facts.items)
        return Domain(items=range(self.facts.items), max_size=largest)

    def _forecasts_of(self, forecaster: Forecaster, domain: Domain) -> "Forecasts":
        world = cache(lambda: world_of(self.facts, domain, k=self.k, guess=self.guess))

        @cache  # searches over epsilon begin with the same steps
        def at(epsilon: Fraction) -> Forecast:
            if self.delta is None:
                return forecaster.forecast(world(), self.k, epsilon)
            found = forecast_discovery(world(), self.k, epsilon=epsilon, delta=self.delta)
            wanted = min(self.k, found.world.domain.size)
            return found.after(forecaster.forecast(found.world, wanted, found.remaining))

        return Forecasts(at, kth_support=lambda: world().curve.at_rank(self.k))


@dataclass(frozen=True, slots=True)
class Forecasts:
    """What to expect of one method at any epsilon, and the support of the k-th itemset in its model."""

    at: Callable[[Fraction], Forecast]
    kth_support: Callable[[], float]


def forecasters() -> dict[str, Forecaster]:
    """What forecasts each method that has a forecast, by the method's name."""
    every = {name: method.forecaster() for name, method in METHODS.items()}
    return {name: forecaster for name, forecaster in every.items() if forecaster is not None}


def world_of(facts: Facts, domain: Domain, *, k: int, guess: int | None) -> World:
    """The model of the data, bent to a guess of the k-th support where there is one."""
    shares = popularity(items=facts.items, length=facts.length)
    curve = support_curve(shares, rows=facts.rows, max_size=domain.max_size)
    if guess is not None:
        support = curve.at_rank(k)
        if not 0 < support < facts.rows:
            raise BadCall(
                "a guess of the k-th support does not go with these facts, by which "
                f"{support:.0f} of {facts.rows} rows hold it; leave the guess out, or give another length"
            )
        shares = bend(shares, rows=facts.rows, support=support, wanted=guess)
        curve = support_curve(shares, rows=facts.rows, max_size=domain.max_size)
    return World(facts.rows, shares, domain, curve)


def least_epsilon(is_enough: Callable[[Fraction], bool]) -> float | None:
    """The least epsilon of two digits that is enough; None where none up to 10,000 is.

    By bisection: what is enough is taken to stay enough with more.

    >>> least_epsilon(lambda epsilon: epsilon >= Fraction(1, 3)), least_epsilon(lambda _: False)
    (0.34, None)
    """
    place = bisect_left(_EPSILONS, 1, key=lambda epsilon: int(is_enough(epsilon)))
    return float(_EPSILONS[place]) if place < len(_EPSILONS) else None


def _count(guess: Fraction, rows: int) -> int:
    """A guessed support as a number of transactions that the model can reach."""
    support = count_of(guess, transactions=rows)
    if support >= rows:
        raise BadCall(
            f"a k-th support of {support} in {rows} rows leaves nothing to forecast; guess a smaller one"
        )
    return support
