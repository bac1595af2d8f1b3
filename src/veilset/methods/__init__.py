"""The methods: one paper, one folder. This is their list, each with its forecast."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast, overload

from veilset.errors import BadCall
from veilset.gate import Curator
from veilset.request import PublishRequest, Request
from veilset.results.release import Release
from veilset.wording import shown

if TYPE_CHECKING:
    from veilset.forecast import Forecast, World
    from veilset.results.published import Published

Keywords = Mapping[str, Any]


class Forecaster(Protocol):
    """What a forecast module offers. One that cannot do with any number of itemsets also says `MOST_ITEMSETS`."""

    def forecast(self, world: "World", k: int, epsilon: Fraction, /) -> "Forecast":
        """Follow the method's steps in a model of the data."""

    def largest_size(self, max_size: int | None, /) -> int:
        """The most items in an itemset, given what the caller allows."""


@dataclass(frozen=True, slots=True)
class Paper:
    """Where methods come from: the folder of their modules, the citation, and their task."""

    folder: str
    citation: str
    task: str = "mine"

    @property
    def forecast(self) -> str | None:
        """The module of the folder that forecasts its methods; so far, only those that mine have one."""
        return "forecast" if self.task == "mine" else None


@dataclass(frozen=True, slots=True)
class Method:
    """An algorithm that answers a task by asking a Curator.

    Methods of two tasks may have the same name; `label` tells them apart, and is the name of the function in the code.
    """

    label: str
    name: str
    task: str
    paper: str
    summary: str
    module: str
    forecast: str | None
    variants: Mapping[str, Keywords] = field(default_factory=dict)
    options: Keywords = field(default_factory=dict)

    @classmethod
    def of(
        cls, label: str, paper: Paper, summary: str, *, name: str | None = None, forecast: str | None = None
    ) -> "Method":
        """A method of a paper: in its folder, a function of its label; forecast as the paper says, or else.

        Its name is its label, unless another is given: that of a method of another task.
        """
        module, forecast = f"veilset.methods.{paper.folder}", forecast or paper.forecast
        forecast_module = forecast and f"{module}.{forecast}"
        variants = VARIANTS.get(label, {})
        return cls(
            label, name or label, paper.task, paper.citation, summary, module, forecast_module, variants
        )

    def variant(self, name: str) -> "Method":
        """The same with other settings, for comparison; called "method:variant"."""
        if name not in self.variants:
            known = ", ".join(self.variants) or "none"
            raise BadCall(f"{self.name} has no variant {name!r}; there is: {known}")
        return replace(self, name=f"{self.name}:{name}", options=self.variants[name])

    @overload
    def run(self, curator: Curator, request: Request, *, epsilon: Fraction) -> Release: ...

    @overload
    def run(self, curator: Curator, request: PublishRequest, *, epsilon: Fraction) -> "Published": ...

    def run(
        self, curator: Curator, request: Request | PublishRequest, *, epsilon: Fraction
    ) -> "Release | Published":
        """Ask the curator, spend at most epsilon, return a release of what the task is about."""
        function = self.label.replace("-", "_")
        run: Callable[..., Release | Published] = getattr(import_module(self.module), function)
        return run(curator, request, epsilon=epsilon, **self.options)

    def forecaster(self) -> Forecaster | None:
        """What forecasts the method, where anything does."""
        return None if self.forecast is None else cast("Forecaster", import_module(self.forecast))


FOR_COUNTS: Keywords = {"price": 1}
VARIANTS: Mapping[str, Mapping[str, Keywords]] = {
    "planned-dataset": {"rows": {"most_few": 0}},
    "f1m": {"whole": {"share": Fraction(1)}},
    "difffim": {
        "only-smart": {"has_double_standards": False},
        "only-double": {"is_smart": False},
        "plain": {"is_smart": False, "has_double_standards": False},
        "by-length": {"weighs_lengths": True},
    },
    "tps-pfm": {
        "for-counts": FOR_COUNTS,
        "small-second": {"shares": (Fraction(1, 20), Fraction(9, 10), Fraction(1, 20))},
    },
    "tps-em": {"for-counts": FOR_COUNTS},
    "frefirst": {"for-counts": FOR_COUNTS, "random": {"is_random": True}},
    "splitsample": {
        **{form: {"form": form} for form in ("random-cut", "best-cut", "whole")},
        "only-short": {"only_short": True},
        "inverted": {"inverts": True},
    },
    "dpfim": {
        **{f"eta-{eta}": {"eta": Fraction(eta, 100)} for eta in (75, 80, 90, 95)},
        "small-sample": {"tolerance": 0.01},
    },
}
"""Other settings of a method, for comparison."""

OURS = Paper("planned", "ours: docs/methods/planned.md")
OURS_FOR_ITEMS = Paper("planned.items", "ours: docs/methods/planned-items.md", task="items")
OURS_FOR_DATASETS = Paper("planned.dataset", "ours: docs/methods/planned-dataset.md", task="publish")
BHASKAR = Paper("truncated_em", "Bhaskar et al., Discovering frequent patterns in sensitive data, KDD 2010")
LI = Paper("privbasis", "Li et al., PrivBasis: frequent itemset mining with differential privacy, PVLDB 2012")
WANG_2017 = Paper(
    "privsuper",
    "after Wang et al., PrivSuper: a superset-first approach to frequent itemset mining under differential privacy, "
    "ICDE 2017",
)
ZENG = Paper("difffim", "Zeng et al., On differentially private frequent itemset mining, PVLDB 2012")
WANG = Paper(
    "tps",
    "Wang et al., Differentially private top-k frequent columns publication, IEEE Access 2019",
    task="items",
)
LIANG = Paper(
    "splitsample",
    "Liang et al., An effective scheme for top-k frequent itemset mining under differential privacy conditions, "
    "Sci. China Inf. Sci. 2020",
)
CHEN = Paper(
    "diffpart", "Chen et al., Publishing set-valued data via differential privacy, PVLDB 2011", task="publish"
)
AFTER_CHEN = Paper("diffpart.chosen", f"ours, after {CHEN.citation}", task="publish")
XIONG = Paper(
    "dpfim",
    "Xiong et al., Frequent itemsets mining with differential privacy over large-scale data, IEEE Access 2018",
)

EVERY_METHOD = (
    Method.of("planned", OURS, "itemsets by the strategy that is predicted to err least"),
    Method.of(
        "truncated-em", BHASKAR, "top-k itemsets by the exponential mechanism on supports with a floor"
    ),
    Method.of("privbasis", LI, "top-k itemsets from noisy marginals of small groups of items"),
    Method.of(
        "privsuper", WANG_2017, "top-k itemsets by a search for large ones first, whose refusals are free"
    ),
    Method.of("f1m", ZENG, "items above a threshold from truncated transactions", forecast="forecast_f1m"),
    Method.of(
        "difffim-naive",
        ZENG,
        "itemsets above a threshold from transactions truncated at random",
        forecast="forecast_naive",
    ),
    Method.of("difffim", ZENG, "itemsets above a threshold by smart truncation and double standards"),
    Method.of(
        "planned-items",
        OURS_FOR_ITEMS,
        "top-k items from noisy supports, uncertain ones counted again, by predicted error",
        name="planned",
    ),
    Method.of("tps-pfm", WANG, "top-k items from noisy supports, unsafe ones by blocks of comparisons"),
    Method.of("tps-em", WANG, "top-k items from noisy supports, unsafe ones by the exponential mechanism"),
    Method.of("tps-recount", WANG, "top-k items from noisy supports, unsafe ones counted again"),
    Method.of("frefirst", WANG, "top-k items from noisy supports alone"),
    Method.of("em", WANG, "top-k items by k draws of the exponential mechanism"),
    Method.of("svt", WANG, "top-k items by the sparse vector technique"),
    Method.of("splitsample", LIANG, "top-k itemsets by exponential draws on supports in split transactions"),
    Method.of(
        "planned-dataset",
        OURS_FOR_DATASETS,
        "a dataset with the supports that the miner planned finds",
        name="planned",
    ),
    Method.of("diffpart", CHEN, "a dataset from noisy sizes of partitions along a taxonomy of the items"),
    Method.of(
        "diffpart-chosen", AFTER_CHEN, "a dataset of frequent items, rare ones filled in by their supports"
    ),
    Method.of("basic", CHEN, "a dataset from noisy counts of all combinations of a few items"),
    Method.of("dpfim", XIONG, "itemsets of large data from a noisy FP-tree of truncated transactions"),
    Method.of(
        "strawman",
        XIONG,
        "noise on the supports of all itemsets, for small alphabets",
        forecast="forecast_strawman",
    ),
)
METHODS = {method.label: method for method in EVERY_METHOD}

DEFAULTS = {"mine": "planned", "items": "planned", "publish": "planned"}
"""The method of each task, where the caller names none."""


def find_method(name: str | None, *, task: str) -> Method:
    """The method of a task by its name ("method" or "method:variant"), or the default of the task."""
    if name is not None and not isinstance(name, str):
        raise BadCall(f"method is {shown(name)}; give the name of a method, such as {DEFAULTS[task]}")
    plain, _, variant = (DEFAULTS[task] if name is None else name).partition(":")
    of_task = {method.name: method for method in EVERY_METHOD if method.task == task}
    method = of_task.get(plain)
    if method is None:
        raise BadCall(f"no method {name!r} for {task!r}; there is: {', '.join(of_task)}")
    return method.variant(variant) if variant else method
