"""The error to expect, before any look at the data: nothing is read and nothing is spent.

`make_plan` takes public facts alone (about how many transactions, how many items, how long a transaction
is), puts a stated model of the supports in the place of the data (`veilset.forecast.curve`), and follows each method
through it with the shares of epsilon and the noise that the method will use.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from veilset.errors import BadCall
from veilset.forecast import Forecast, World
from veilset.forecast.curve import bend, popularity, support_curve
from veilset.gate import Delta, Epsilon, exact_delta, exact_epsilon
from veilset.itemsets import Domain
from veilset.methods import METHODS, Forecaster
from veilset.methods.shared.forecast_discovery import forecast_discovery
from veilset.plan import bounds
from veilset.plan.bounds import Usefulness
from veilset.request import MOST_TRANSACTIONS, Request, Support
from veilset.results.estimates import count_of

_LEAST_EPSILON, _MOST_EPSILON = 1e-4, 1e4
_ROUNDS = 11
"""Of a bisection between them on a logarithmic scale: to within a percent."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is public, or can be guessed without a look; `length` is the mean number of items in a row."""

    rows: int
    items: int
    length: float

    def __post_init__(self) -> None:
        if self.rows < 1 or self.items < 1:
            raise BadCall(f"{self.rows} rows over {self.items} items hold nothing; give at least 1 of each")
        if self.rows > MOST_TRANSACTIONS:
            raise BadCall(f"{self.rows} rows are more than anybody has; give at most {MOST_TRANSACTIONS}")
        if not 0 < self.length <= self.items:
            raise BadCall(
                f"a typical length of {self.length:g} is not possible with {self.items} items; "
                f"give a number above 0 and at most {self.items}"
            )


@dataclass(frozen=True, slots=True)
class Limits:
    """What is proven for every database, at the support of the k-th itemset: see `veilset.plan.bounds`."""

    necessary: float
    necessary_when_short: float
    sufficient_when_short: float

    @classmethod
    def of(cls, facts: Facts, kth_support: int) -> "Limits":
        """For an answer that is right to within 20 % with even chances."""
        wanted = Usefulness(items=facts.items, threshold=max(kth_support, 1), delta=0.2, eta=0.5)
        length = math.ceil(facts.length)
        return cls(
            bounds.necessary_epsilon(wanted),
            bounds.necessary_epsilon_when_short(wanted, length=length),
            bounds.sufficient_epsilon_when_short(wanted, length=length),
        )

    def sentence(self) -> str:
        """The limits in words."""
        return (
            "to be right to within 20 % at the k-th support, half of the time and on every database, takes "
            f"epsilon {self.necessary:.2g} at least; {self.necessary_when_short:.2g} if no transaction is "
            f"longer than typical, and then {self.sufficient_when_short:.2g} is enough for single items "
            "(DiffFIM)"
        )


@dataclass(frozen=True, slots=True)
class MethodPlan:
    """A forecast, and the least epsilon for more.

    Attributes:
        epsilon_for_kth: with it, the k-th itemset is chosen over ones that nobody holds, 95 times in 100.
        epsilon_for_error: with it, the half width at the k-th support is at most the wanted share of it.
    """

    forecast: Forecast
    epsilon_for_kth: float | None
    epsilon_for_error: float | None

    def to_dict(self) -> dict[str, Any]:
        """The plan for a method as JSON values."""
        return {
            **self.forecast.to_dict(),
            "epsilon_for_kth": self.epsilon_for_kth,
            "epsilon_for_error": self.epsilon_for_error,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What to expect of each method, from public facts alone."""

    facts: Facts
    k: int
    epsilon: Fraction
    error: float
    kth_support: int | None
    methods: tuple[MethodPlan, ...]
    limits: Limits
    delta: Fraction = Fraction(0)

    @property
    def assumption(self) -> str:
        """What stands in for the data, in words."""
        bent = "" if self.kth_support is None else f", bent so that the k-th support is {self.kth_support}"
        return (
            f"items held independently, the odds of the i-th most popular falling as 1/i, "
            f"{self.facts.length:g} items in a transaction on average{bent}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The document that `veilset plan --json` prints."""
        return {
            **asdict(self.facts),
            "k": self.k,
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "error": self.error,
            "kth_support": self.kth_support,
            "assumption": self.assumption,
            "methods": [each.to_dict() for each in self.methods],
            "limits": asdict(self.limits),
            "spent": "0",
        }


def make_plan(
    facts: Facts,
    *,
    k: int,
    epsilon: Epsilon,
    max_size: int | None = None,
    kth_support: Support | None = None,
    error: float = 0.1,
    delta: Delta | None = None,
) -> Plan:
    """What every method of `mine` that can give k itemsets will do with epsilon.

    Args:
        facts: about how many transactions and items there are, and how long a transaction is.
        k: how many itemsets.
        epsilon: the privacy budget that the release would have.
        max_size: the most items in an itemset; left out, each method has its own limit.
        kth_support: a guess of the k-th itemset's support, below 1 a share, else a count. Worth more than all
            other facts, if you have one from similar data that is public.
        error: the wanted half width of an interval, as a share of the k-th support.
        delta: the delta that the release would have, where its items are to be found privately.

    >>> plan = make_plan(Facts(rows=100_000, items=169, length=4.4), k=10, epsilon=1)
    >>> [(each.forecast.method, each.forecast.half_width) for each in plan.methods[:2]]
    [('planned', 34), ('truncated-em', 61)]
    """
    request = Request.of(k=k, min_support=kth_support, max_size=max_size)
    if not 0 < error < math.inf:
        raise BadCall(f"an error of {error:g} is not possible; give a share above 0, such as 0.1 for 10 %")
    exact = exact_epsilon(epsilon)
    guess = None if request.min_support is None else _count(request.min_support, facts.rows)
    exact_or_none = None if delta is None else exact_delta(delta)
    plans = tuple(
        _plan_method(
            forecaster,
            world_of(facts, domain, k=k, guess=guess),
            k=k,
            epsilon=exact,
            error=error,
            delta=exact_or_none,
        )
        for forecaster, domain in _that_can_give(k, facts, request)
    )
    limits = Limits.of(facts, plans[0].forecast.kth_support)
    return Plan(facts, k, exact, error, guess, plans, limits, exact_or_none or Fraction(0))


def _count(guess: Fraction, rows: int) -> int:
    """A guessed support as a number of transactions that the model can reach."""
    count = count_of(guess, transactions=rows)
    if count >= rows:
        raise BadCall(
            f"a k-th support of {count} in {rows} rows leaves nothing to forecast; guess a smaller one"
        )
    return count


def _that_can_give(k: int, facts: Facts, request: Request) -> list[tuple[Forecaster, Domain]]:
    """What forecasts methods that consider k itemsets at least, and not too many, each with all that it considers."""
    domains = [
        (
            each,
            Domain(items=range(facts.items), max_size=min(each.largest_size(request.max_size), facts.items)),
        )
        for each in forecasters().values()
    ]
    max(domains, key=lambda each: each[1].max_size)[1].check_holds(k)
    return [
        (forecaster, domain)
        for forecaster, domain in domains
        if k <= domain.size <= getattr(forecaster, "MOST_ITEMSETS", math.inf)
    ]


def forecasters() -> dict[str, Forecaster]:
    """What forecasts each method that has a forecast, by the method's name."""
    every = {name: method.forecaster() for name, method in METHODS.items()}
    return {name: forecaster for name, forecaster in every.items() if forecaster is not None}


def _plan_method(
    forecaster: Forecaster, world: World, *, k: int, epsilon: Fraction, error: float, delta: Fraction | None
) -> MethodPlan:
    @cache  # the two searches below begin with the same steps
    def at(epsilon: Fraction) -> Forecast:
        if delta is None:
            return forecaster.forecast(world, k, epsilon)
        found = forecast_discovery(world, k, epsilon=epsilon, delta=delta)
        wanted = min(k, found.world.domain.size)
        return found.after(forecaster.forecast(found.world, wanted, found.remaining))

    return MethodPlan(
        at(epsilon),
        epsilon_for_kth=_least_epsilon(lambda each: at(each).chosen_from <= world.curve.at_rank(k)),
        epsilon_for_error=_least_epsilon(lambda each: at(each).error_at_kth <= error),
    )


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


def _least_epsilon(is_enough: Callable[[Fraction], bool]) -> float | None:
    """The least epsilon that is enough, rounded up to two digits; None where none up to 10,000 is."""
    low, high = math.log(_LEAST_EPSILON), math.log(_MOST_EPSILON)
    if not is_enough(Fraction(_MOST_EPSILON)):
        return None
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(Fraction(math.exp(middle))) else (middle, high)
    unit = 10.0 ** (math.floor(high / math.log(10)) - 1)
    return float(f"{math.ceil(math.exp(high) / unit) * unit:.2g}")
