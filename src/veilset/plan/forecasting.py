"""Forecasts of every method in one model of the data, and the least epsilon at which one says enough."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

from veilset.arguments import exact_number, instance
from veilset.arrays import FloatArray
from veilset.errors import BadCall
from veilset.forecast import Forecast, World
from veilset.forecast.curve import SupportCurve, popularity, popularity_through, support_curve
from veilset.gate import Delta, exact_delta
from veilset.integers import whole
from veilset.itemsets import Domain
from veilset.methods import METHODS, Forecaster
from veilset.methods.shared.forecast_discovery import forecast_discovery
from veilset.plan.facts import Facts
from veilset.request import Request, Support
from veilset.results.estimates import count_of

_POWERS_OF_TEN = [Fraction(10) ** power for power in range(-4, 5)]
"""9 epsilons from 0.0001 to 10,000: below, noise drowns everything; above, nobody is protected."""

MOST_SEARCHED = _POWERS_OF_TEN[-1]
"""10,000: no larger epsilon is looked at."""


SHARE_OF_RECORDS = 0.5
"""Where half of all rows hold the k-th itemset, they are records of a form and about equally long. The rarer it is, the
more they are baskets, which differ."""


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
        instance(facts, Facts, "facts", give="Facts(rows=..., items=..., length=...)")
        request = Request.of(k=k, min_support=kth_support, max_size=max_size)
        guess = None if request.min_support is None else _count(request.min_support, facts.rows)
        chance = None if delta is None else exact_delta(exact_number(delta, "delta", such_as="1e-9"))
        return cls(facts, request, whole(k, "k, the number of itemsets,", least=1), guess, chance)

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
        largest = min(largest_asked(self.request.max_size), self.facts.items)
        world = cache(lambda: world_of(self.facts, domain, largest=largest, k=self.k, guess=self.guess))

        @cache  # searches over epsilon begin with the same steps
        def at(epsilon: Fraction) -> Forecast:
            if self.delta is None:
                return forecaster.forecast(world(), self.k, epsilon)
            found = forecast_discovery(world(), self.k, epsilon=epsilon, delta=self.delta)
            wanted = min(self.k, found.world.domain.size)
            return found.after(forecaster.forecast(found.world, wanted, found.remaining))

        return Forecasts(at, kth_support=lambda: world().kth_support(self.k))


@dataclass(frozen=True, slots=True)
class Forecasts:
    """What to expect of one method at any epsilon, and the support of the k-th itemset in its model."""

    at: Callable[[Fraction], Forecast]
    kth_support: Callable[[], float]


def forecasters() -> dict[str, Forecaster]:
    """What forecasts each method that has a forecast, by the method's name."""
    every = {name: method.forecaster() for name, method in METHODS.items()}
    return {name: forecaster for name, forecaster in every.items() if forecaster is not None}


def largest_asked(max_size: int | None) -> int:
    """The most items in an itemset that counts: what the caller allows, or the most that any method looks for."""
    return max_size or max(each.largest_size(None) for each in forecasters().values())


def world_of(facts: Facts, domain: Domain, *, largest: int, k: int, guess: int | None) -> World:
    """The model of the data, bent to a guess of the k-th support where there is one.

    Asked for are itemsets of up to `largest` items; a method may consider fewer of them, those of its domain.
    """
    shares = _shares(facts, largest, k, guess)
    asked = _curve(facts, largest, k, guess)
    considered = (
        asked
        if domain.max_size >= largest
        else support_curve(shares, rows=facts.rows, max_size=domain.max_size)
    )
    unevenness = _unevenness(facts, asked.at_rank(k))
    return World(facts.rows, shares, domain, considered, asked, unevenness, facts.length)


def _unevenness(facts: Facts, kth_support: float) -> float:
    """How far rows differ in how much they take: for baskets so far that lengths vary as the geometric law from 1 does.

    Of mean m, that law has variance m (m - 1). Independent items give lengths a variance of m, about, and activity of
    standard deviation u adds (u m)^2.
    """
    are_baskets = max(0.0, 1 - kth_support / (SHARE_OF_RECORDS * facts.rows))
    return are_baskets * math.sqrt(max(0.0, 1 - 2 / facts.length))


@lru_cache(maxsize=8)  # all methods are forecast in the same model
def _shares(facts: Facts, largest: int, k: int, guess: int | None) -> FloatArray:
    """Of items, in the model."""
    if guess is None:
        return popularity(items=facts.items, length=facts.length)
    support = _curve(facts, largest, k, None).at_rank(k)
    if not 0 < support < facts.rows:
        raise BadCall(
            "a guess of the k-th support does not go with these facts, by which "
            f"{support:.0f} of {facts.rows} rows hold it; leave the guess out, or give another length"
        )
    return popularity_through(
        guess, k=k, rows=facts.rows, items=facts.items, length=facts.length, max_size=largest
    )


@lru_cache(maxsize=16)
def _curve(facts: Facts, largest: int, k: int, guess: int | None) -> SupportCurve:
    """The supports of all itemsets that are asked for, in the model."""
    return support_curve(_shares(facts, largest, k, guess), rows=facts.rows, max_size=largest)


def least_epsilon(is_enough: Callable[[Fraction], bool]) -> float | None:
    """The least epsilon of two digits that is enough; None where none up to 10,000 is.

    The first power of ten that is enough is found one by one, for a forecast can promise less at a larger epsilon;
    then by bisection, among the numbers of two digits below it.

    >>> least_epsilon(lambda epsilon: epsilon >= Fraction(1, 3)), least_epsilon(lambda _: False)
    (0.34, None)
    """
    enough = next((epsilon for epsilon in _POWERS_OF_TEN if is_enough(epsilon)), None)
    if enough is None:
        return None
    below = [enough * hundredths / 100 for hundredths in range(11, 101)]
    if enough == _POWERS_OF_TEN[0]:
        return float(enough)
    return float(below[bisect_left(below, 1, key=lambda epsilon: int(is_enough(epsilon)))])


def _count(guess: Fraction, rows: int) -> int:
    """A guessed support as a number of transactions that the model can reach."""
    support = count_of(guess, transactions=rows)
    if support >= rows:
        raise BadCall(
            f"a k-th support of {support} in {rows} rows leaves nothing to forecast; guess a smaller one"
        )
    return support
