"""What somebody asks for: checked before anything waits, from what is public alone; and what it would be worth."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from veilset.errors import BadCall
from veilset.gate import LEAST_EPSILON, Amount, exact_delta, exact_epsilon
from veilset.itemsets import Domain
from veilset.methods import Method, find_method
from veilset.methods.dpfim import check_listable
from veilset.plan.facts import Facts
from veilset.plan.forecasting import Forecasts, Model
from veilset.request import Request
from veilset.service.catalogue import RegisteredDataset
from veilset.service.release_job import RELEASE_TASKS
from veilset.taxonomy import MOST_CHILDREN


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseAsk:
    """What somebody asks for."""

    dataset: str
    task: str = "mine"
    epsilon: str
    k: int | None = None
    min_support: str | None = None
    max_size: int | None = None
    method: str | None = None
    delta: str | None = None


def checked_request(ask: ReleaseAsk, dataset: RegisteredDataset) -> tuple[dict[str, Any], Amount]:
    """The arguments of the library's verb, and what it may cost; BadCall where they cannot be meant."""
    if ask.task not in RELEASE_TASKS:
        raise BadCall(f"there is no task {ask.task!r}; give one of {', '.join(RELEASE_TASKS)}")
    epsilon = exact_epsilon(ask.epsilon)
    request: dict[str, Any] = {"epsilon": str(epsilon), **_items_of(ask, dataset)}
    delta = exact_delta(request["delta"]) if "delta" in request else Fraction(0)
    if ask.method is not None:
        request["method"] = find_method(ask.method, task=ask.task).name
    per_owner = dataset.told.per_owner
    if per_owner is not None:
        request["per_owner"] = per_owner
        if epsilon / per_owner < LEAST_EPSILON:
            raise BadCall(
                f"epsilon {epsilon} for {per_owner} transactions of one person is less than {LEAST_EPSILON} for each; "
                "give more"
            )
    if ask.task != "publish":
        request |= _wanted(ask)
    check_possible(ask, dataset.told.known_items)
    return request, Amount(epsilon, delta)


def check_possible(ask: ReleaseAsk, items: int | None) -> None:
    """Raise BadCall where a public alphabet of that many items has less than is asked for, whatever the data."""
    if not items:
        return
    method = find_method(ask.method, task=ask.task)
    if ask.task == "publish":
        if method.name == "basic" and items > MOST_CHILDREN:
            raise BadCall(
                f"basic publishes data of up to {MOST_CHILDREN} items, not of {items}; take diffpart"
            )
        return
    domain = Domain(range(items), largest_size(method, ask.max_size))
    if method.name == "strawman":
        check_listable(domain)
    if ask.k is not None:
        domain.check_holds(ask.k)


def largest_size(method: Method, max_size: int | None) -> int:
    """The most items in an itemset that a method finds, given what the asker allows."""
    forecaster = method.forecaster()
    return 1 if forecaster is None else forecaster.largest_size(max_size)


def _wanted(ask: ReleaseAsk) -> dict[str, Any]:
    if ask.task == "items" and (ask.k is None or ask.min_support is not None or ask.max_size is not None):
        raise BadCall("items are asked for by k, their number, and by nothing else; give k")
    Request.of(k=ask.k, min_support=ask.min_support, max_size=ask.max_size)
    given = {"k": ask.k, "min_support": ask.min_support, "max_size": ask.max_size}
    return {name: value for name, value in given.items() if value is not None}


def _items_of(ask: ReleaseAsk, dataset: RegisteredDataset) -> dict[str, Any]:
    """Which items may be named, as the owner decided; a delta goes with items that are found privately."""
    if dataset.told.items != "private":
        if ask.delta is not None:
            raise BadCall("the items of this dataset are public, so no delta is needed; leave it out")
        return {} if dataset.told.items == "list" else {"public_items": True}
    if ask.delta is None:
        raise BadCall("the items of this dataset are found privately; give a delta, such as 1e-9")
    return {"delta": str(exact_delta(ask.delta))}


@lru_cache(maxsize=256)
def forecasts_of(
    rows: int, items: int, length: float, k: int, max_size: int | None, delta: str | None
) -> tuple[Any, str | None]:
    """Forecasts of the default method at any epsilon, remembered: whoever moves a slider asks often."""
    try:
        model = Model.of(
            Facts(rows, items, min(length, items)),
            k=k,
            max_size=max_size,
            delta=None if delta is None else delta,
        )
        forecasts: Forecasts = model.forecasts()[0]
    except BadCall:
        return _nothing_expected, None

    @cache
    def at(epsilon: Fraction) -> dict[str, Any]:
        forecast = forecasts.at(epsilon)
        return {
            "found": forecast.found,
            "relative_error": forecast.relative_error,
            "half_width": forecast.half_width,
        }

    return at, model.assumption


def _nothing_expected(epsilon: Fraction) -> dict[str, Any]:  # noqa: ARG001 - as a forecast is asked
    return {"found": None, "relative_error": None, "half_width": None}
