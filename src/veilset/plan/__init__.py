"""The error to expect, before any look at the data: nothing is read and nothing is spent.

`make_plan` takes public facts alone (about how many transactions, how many items, how long a transaction
is), puts a stated model of the supports in the place of the data (`veilset.forecast.curve`), and follows each method
through it with the shares of epsilon and the noise that the method will use.

The package can be called: `veilset.plan(rows=..., items=..., length=..., k=...)` is `veilset.plan.verb.plan_release`.
"""

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from veilset.arguments import exact_number, finite_or_infinite
from veilset.callable_packages import make_callable
from veilset.errors import BadCall
from veilset.forecast import Forecast
from veilset.gate import Delta, Epsilon, exact_epsilon
from veilset.integers import whole
from veilset.plan import bounds
from veilset.plan.bounds import Usefulness
from veilset.plan.facts import Facts, KnownFacts, read_facts
from veilset.plan.forecasting import Forecasts, Model, forecasters, largest_asked, least_epsilon, world_of
from veilset.plan.notebook import notebook_table
from veilset.plan.trade import Trade, plan_epsilon
from veilset.request import Support
from veilset.wording import shown

__all__ = [
    "Facts",
    "KnownFacts",
    "Limits",
    "MethodPlan",
    "Plan",
    "Trade",
    "forecasters",
    "largest_asked",
    "make_plan",
    "plan_epsilon",
    "read_facts",
    "world_of",
]

make_callable(__name__, home="veilset.plan.verb", verb="plan_release")


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


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """What to expect of each method, from public facts alone; `left_out` names methods that nobody asked for."""

    facts: Facts
    k: int
    epsilon: Fraction
    error: float
    kth_support: int | None
    methods: tuple[MethodPlan, ...]
    limits: Limits
    assumption: str
    delta: Fraction = Fraction(0)
    left_out: tuple[str, ...] = ()

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
            "left_out": list(self.left_out),
            "limits": asdict(self.limits),
            "spent": "0",
        }

    def __repr__(self) -> str:
        methods = "; ".join(
            f"{each.method}: {each.found:.0%} right, {each.relative_error:.1%} off"
            for each in self._forecasts()
        )
        return f"<Plan: top {self.k} at epsilon {self.epsilon}: {methods}>"

    def _repr_html_(self) -> str:
        rows = [
            (each.method, f"{each.found:.0%}", f"{each.relative_error:.1%}", f"± {each.half_width:,}")
            for each in self._forecasts()
        ]
        head = ("method", "itemsets right", "mean error", "95 % half width")
        return notebook_table(f"What to expect of the top {self.k} at epsilon {self.epsilon}", head, rows)

    def _forecasts(self) -> list[Forecast]:
        return [each.forecast for each in self.methods]


def make_plan(
    facts: Facts,
    *,
    k: int,
    epsilon: Epsilon,
    max_size: int | None = None,
    kth_support: Support | None = None,
    error: float = 0.1,
    delta: Delta | None = None,
    most_methods: int | None = None,
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
        most_methods: only `planned` and those that find most beside it, this many in all.

    >>> plan = make_plan(Facts(rows=100_000, items=169, length=4.4), k=10, epsilon=1, most_methods=2)
    >>> [(each.forecast.method, each.forecast.half_width) for each in plan.methods], len(plan.left_out)
    ([('planned', 22), ('privsuper', 52)], 8)
    """
    model = Model.of(facts, k=k, max_size=max_size, kth_support=kth_support, delta=delta)
    error = finite_or_infinite(error, "the wanted error")
    if not 0 < error < math.inf:
        raise BadCall(f"an error of {error:g} is not possible; give a share above 0, such as 0.1 for 10 %")
    if most_methods is not None and whole(most_methods, "most_methods") < 1:
        raise BadCall(f"{shown(most_methods)} methods are none; give at least 1")
    exact = exact_epsilon(exact_number(epsilon, "epsilon", such_as="0.5 or 1/3"))
    every = model.forecasts()
    chosen = every if most_methods is None else _best(every, exact)[:most_methods]
    plans = tuple(_plan_method(each, exact, error) for each in chosen)
    return Plan(
        facts,
        model.k,
        exact,
        error,
        model.guess,
        plans,
        Limits.of(facts, plans[0].forecast.kth_support),
        model.assumption,
        delta=model.delta or Fraction(0),
        left_out=tuple(each.at(exact).method for each in every if each not in chosen),
    )


def _best(every: list[Forecasts], epsilon: Fraction) -> list[Forecasts]:
    """The first, which is `planned`; then what finds most, and of equals what errs least."""

    def rank(each: Forecasts) -> tuple[float, float]:
        forecast = each.at(epsilon)
        return -forecast.found, forecast.relative_error

    return [every[0], *sorted(every[1:], key=rank)]


def _plan_method(forecasts: Forecasts, epsilon: Fraction, error: float) -> MethodPlan:
    at = forecasts.at
    return MethodPlan(
        at(epsilon),
        epsilon_for_kth=least_epsilon(lambda each: at(each).chosen_from <= forecasts.kth_support()),
        epsilon_for_error=least_epsilon(lambda each: at(each).error_at_kth <= error),
    )
