"""Which epsilon it takes, and what each epsilon buys and costs: nothing is read and nothing is spent.

What it costs is told in odds. Whoever thought it as likely as not that one person is in the data can, after a release,
think so with a probability of at most e^epsilon / (1 + e^epsilon), whatever else they know: the release is at most
e^epsilon times as likely with this person as without, so Bayes' rule moves even odds to e^epsilon to 1 at most.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

from veilset.arguments import exact_number, instance, truth
from veilset.errors import BadCall
from veilset.gate import Delta, Epsilon, exact_epsilon
from veilset.plan.facts import Facts
from veilset.plan.forecasting import MOST_SEARCHED, Forecasts, Model, least_epsilon
from veilset.plan.notebook import notebook_table
from veilset.rationals import Rational, rational_of
from veilset.request import Support
from veilset.wording import shown

USUAL_EPSILONS: tuple[Epsilon, ...] = ("1/10", "1/5", "1/2", 1, 2, 5)
"""From strict to lenient; what a trade shows unless told otherwise."""

_MOST_DECIMALS = 6
"""Of a percentage; a belief that needs more of them is told as 100 %."""


def most_believed(epsilon: float) -> float:
    """What somebody who was 50:50 about one person can at most believe after a release.

    >>> [round(most_believed(epsilon), 3) for epsilon in (0, 0.1, 1, 5)]
    [0.5, 0.525, 0.731, 0.993]
    """
    return 1 / (1 + math.exp(-epsilon))


def belief_in_words(epsilon: float) -> str:
    """The same as a percentage, rounded up: a bound is never told smaller than it is.

    >>> [belief_in_words(epsilon) for epsilon in (0.1, 1, 5, 10, 100)]
    ['52.5%', '73.2%', '99.4%', '99.996%', '100%']
    """
    doubt = 100 / (1 + math.exp(min(epsilon, 700)))
    decimals = max(1, math.ceil(-math.log10(doubt)))
    if decimals > _MOST_DECIMALS:
        return "100%"
    return f"{math.ceil((100 - doubt) * 10**decimals) / 10**decimals:.{decimals}f}%"


def exact_share(given: Rational, *, what: str) -> Fraction:
    """A share as people write it: 0.1, 10%, 1/10.

    >>> exact_share("10%", what="error"), exact_share(0.9, what="share found")
    (Fraction(1, 10), Fraction(9, 10))
    """
    if isinstance(given, bool) or not isinstance(given, str | Real | Decimal):
        raise BadCall(f"{shown(given)} is no {what}; give a share, such as 10% or 0.1")
    try:
        text = str(given).strip()
        share = rational_of(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise BadCall(f"{shown(given)} is no {what}; give a share, such as 10% or 0.1") from None
    if not 0 < share <= 1:
        raise BadCall(
            f"a wanted {what} of {text} is not possible; give a share above 0 and up to 1, such as 10% or 0.1"
        )
    return share


@dataclass(frozen=True, slots=True)
class TradePoint:
    """What one epsilon buys, and what it costs.

    Attributes:
        found: the expected share of the true k best itemsets among the k released.
        error: what a released support is wrong by on average, as a part of it.
        belief: what somebody who was 50:50 about one person can at most believe afterwards.
    """

    epsilon: float
    found: float
    error: float
    belief: float


@dataclass(frozen=True, slots=True)
class Need:
    """The least epsilon at which a method finds the wanted share, and errs by the wanted share at most."""

    method: str
    max_size: int
    epsilon_for_found: float | None
    epsilon_for_error: float | None

    @property
    def epsilon(self) -> float | None:
        """For both; None where no epsilon up to 10,000 is enough."""
        if self.epsilon_for_found is None or self.epsilon_for_error is None:
            return None
        return max(self.epsilon_for_found, self.epsilon_for_error)

    def label(self) -> str:
        """The method's name; one that gives single items alone says so."""
        return f"{self.method} (single items)" if self.max_size == 1 else self.method

    def to_dict(self) -> dict[str, Any]:
        """The need as JSON values."""
        return {**asdict(self), "epsilon": self.epsilon}


@dataclass(frozen=True, slots=True, repr=False)
class Trade:
    """The epsilon that is needed for what is wanted, and what others would buy; by `planned`, unless others are asked.

    `needs` has the methods that were asked, the one that `points` are about first.
    """

    facts: Facts
    k: int
    want_found: Fraction
    want_error: Fraction
    needs: tuple[Need, ...]
    points: tuple[TradePoint, ...]
    assumption: str
    delta: Fraction = Fraction(0)

    @property
    def method(self) -> str:
        """By which the wanted is reached."""
        return self.needs[0].method

    @property
    def epsilon(self) -> float | None:
        """The least that is enough for what is wanted; None where none is."""
        return self.needs[0].epsilon

    def sentence(self) -> str:
        """The answer, in one sentence."""
        wanted = f"{_part(self.want_found)} itemsets right and errors under {_percent(self.want_error)}"
        if self.epsilon is None:
            return (
                f"No epsilon up to {int(MOST_SEARCHED):,} is enough to have {wanted} (by {self.method}): "
                "ask for fewer itemsets, or be content with less."
            )
        return f"To have {wanted}, you need epsilon {self.epsilon:g} (by {self.method})."

    def reasons(self) -> str:
        """Which of the two wishes asks for how much."""
        need = self.needs[0]
        return (
            f"{_part(self.want_found)} right alone takes {_epsilon_or_none(need.epsilon_for_found)}; "
            f"errors under {_percent(self.want_error)} alone {_epsilon_or_none(need.epsilon_for_error)}."
        )

    def odds(self) -> str:
        """What the needed epsilon means for one person; of epsilon 1, where none is enough."""
        epsilon = 1.0 if self.epsilon is None else self.epsilon
        exception = (
            "" if self.delta == 0 else f", except with a probability of at most {float(self.delta):g} (delta)"
        )
        return (
            f"At epsilon {epsilon:g}, whoever was 50:50 about whether one person's transaction is in the data "
            f"can be {belief_in_words(epsilon)} sure at most, whatever else they know{exception}."
        )

    def to_dict(self) -> dict[str, Any]:
        """The document that `veilset plan --json` prints where no epsilon is given."""
        return {
            **asdict(self.facts),
            "k": self.k,
            "want_found": float(self.want_found),
            "want_error": float(self.want_error),
            "delta": float(self.delta),
            "sentence": self.sentence(),
            **self.needs[0].to_dict(),
            "trade": [asdict(point) for point in self.points],
            "methods": [need.to_dict() for need in self.needs],
            "assumption": self.assumption,
            "spent": "0",
        }

    def __repr__(self) -> str:
        points = "; ".join(
            f"{each.epsilon:g}: {each.found:.0%} right, {each.error:.1%} off" for each in self.points
        )
        return f"<Trade: {self.sentence()} {points}>"

    def _repr_html_(self) -> str:
        rows = [
            (f"{each.epsilon:g}", f"{each.found:.0%}", f"{each.error:.1%}", belief_in_words(each.epsilon))
            for each in self.points
        ]
        head = ("epsilon", "itemsets right", "mean error", "50:50 becomes at most")
        return notebook_table(self.sentence(), head, rows)


def plan_epsilon(  # noqa: PLR0913 - all keyword-only, each documented
    facts: Facts,
    *,
    k: int,
    want_found: Rational = "90%",
    want_error: Rational = "10%",
    max_size: int | None = None,
    kth_support: Support | None = None,
    delta: Delta | None = None,
    epsilons: Sequence[Epsilon] = USUAL_EPSILONS,
    all_methods: bool = False,
) -> Trade:
    """The epsilon that `mine` needs for what is wanted, and the trade between accuracy and protection.

    Args:
        facts: about how many transactions and items there are, and how long a transaction is.
        k: how many itemsets.
        want_found: the wanted share of the true k best among the k released, such as 0.9 or "90%".
        want_error: what a released support may be wrong by on average, as a part of it.
        max_size: the most items in an itemset.
        kth_support: a guess of the k-th itemset's support, below 1 a share, else a count.
        delta: the delta that the release would have, where its items are to be found privately.
        epsilons: at which the trade is shown, beside the needed one.
        all_methods: whether to ask every method what it needs; by default `planned`, the method that `mine` takes.

    >>> trade = plan_epsilon(Facts(rows=100_000, items=169, length=4.4), k=10, want_found="95%", want_error="5%")
    >>> trade.method, trade.epsilon < 0.5, trade.to_dict()["trade"][0]["epsilon"] <= 0.1
    ('planned', True, True)
    """
    model = Model.of(facts, k=k, max_size=max_size, kth_support=kth_support, delta=delta)
    asks_all = truth(all_methods, "all_methods")
    found = exact_share(want_found, what="share found")
    error = exact_share(want_error, what="error")
    told = {
        exact_epsilon(exact_number(epsilon, "epsilon", such_as="0.5"))
        for epsilon in instance(epsilons, Sequence, "epsilons", give="a list")  # type: ignore[type-abstract]
    }
    forecasts = model.forecasts()
    needs = tuple(_need(each, found, error) for each in forecasts[: None if asks_all else 1])
    if needs[0].epsilon is not None:
        told.add(Fraction(str(needs[0].epsilon)))
    points = _never_less(_point(forecasts[0], epsilon) for epsilon in sorted(told))
    return Trade(facts, k, found, error, needs, points, model.assumption, model.delta or Fraction(0))


def _need(forecasts: Forecasts, found: Fraction, error: Fraction) -> Need:
    at, at_one = forecasts.at, forecasts.at(Fraction(1))
    return Need(
        at_one.method,
        at_one.max_size,
        least_epsilon(lambda epsilon: at(epsilon).found >= found),
        least_epsilon(lambda epsilon: at(epsilon).relative_error <= error),
    )


def _point(forecasts: Forecasts, epsilon: Fraction) -> TradePoint:
    forecast = forecasts.at(epsilon)
    return TradePoint(float(epsilon), forecast.found, forecast.relative_error, most_believed(float(epsilon)))


def _never_less(points: Iterable[TradePoint]) -> tuple[TradePoint, ...]:
    """What each epsilon buys, in ascending order: no less than a smaller one, for whoever has more can spend less.

    A forecast follows a method's decisions without their noise, so it can fall by a little where one of them turns.
    """
    best: list[TradePoint] = []
    for point in points:
        found = max([point.found, *(each.found for each in best)])
        error = min([point.error, *(each.error for each in best)])
        best.append(replace(point, found=found, error=error))
    return tuple(best)


def _part(share: Fraction) -> str:
    """A share in whole numbers, where ten or a hundred are enough for it."""
    if share == 1:
        return "all"
    whole = next((whole for whole in (10, 100) if (share * whole).denominator == 1), None)
    return _percent(share) + " of" if whole is None else f"{share * whole} of {whole}"


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):g} %"


def _epsilon_or_none(epsilon: float | None) -> str:
    return f"more than {int(MOST_SEARCHED):,}" if epsilon is None else f"{epsilon:g}"
