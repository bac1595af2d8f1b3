"""The methods: one paper, one file. This is their list."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from veilset.errors import BadCall
from veilset.gate import Curator
from veilset.request import PublishRequest, Request
from veilset.results.release import Release

if TYPE_CHECKING:
    from veilset.results.published import Published

Run = Callable[..., "Release | Published"]


@dataclass(frozen=True, slots=True)
class Method:
    """An algorithm that answers a task by asking a Curator."""

    name: str
    task: str
    paper: str
    summary: str
    module: str
    function: str
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

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
        run: Run = getattr(import_module(self.module), self.function)
        return run(curator, request, epsilon=epsilon, **self.options)


WANG = "Wang et al., Differentially private top-k frequent columns publication, IEEE Access 2019"
ZENG = "Zeng et al., On differentially private frequent itemset mining, PVLDB 2012"
CHEN = "Chen et al., Publishing set-valued data via differential privacy, PVLDB 2011"
XIONG = (
    "Xiong et al., Frequent itemsets mining with differential privacy over large-scale data, IEEE Access 2018"
)

METHODS = {
    method.name: method
    for method in [
        Method(
            name="planned",
            task="mine",
            paper="ours: docs/methods/planned.md",
            summary="itemsets by the strategy that is predicted to err least",
            module="veilset.methods.planned",
            function="planned",
        ),
        Method(
            name="truncated-em",
            task="mine",
            paper="Bhaskar et al., Discovering frequent patterns in sensitive data, KDD 2010",
            summary="top-k itemsets by the exponential mechanism on supports with a floor",
            module="veilset.methods.truncated_em",
            function="truncated_em",
        ),
        Method(
            name="privbasis",
            task="mine",
            paper="Li et al., PrivBasis: frequent itemset mining with differential privacy, PVLDB 2012",
            summary="top-k itemsets from noisy joint patterns of small groups of items",
            module="veilset.methods.privbasis",
            function="privbasis",
        ),
        Method(
            name="f1m",
            task="mine",
            paper=ZENG,
            summary="items above a threshold from truncated transactions",
            module="veilset.methods.difffim",
            function="f1m",
            variants={"whole": {"share": Fraction(1)}},
        ),
        Method(
            name="difffim-naive",
            task="mine",
            paper=ZENG,
            summary="itemsets above a threshold from transactions truncated at random",
            module="veilset.methods.difffim",
            function="difffim_naive",
        ),
        Method(
            name="difffim",
            task="mine",
            paper=ZENG,
            summary="itemsets above a threshold by smart truncation and double standards",
            module="veilset.methods.difffim",
            function="difffim",
            variants={
                "only-smart": {"has_double_standards": False},
                "only-double": {"is_smart": False},
                "plain": {"is_smart": False, "has_double_standards": False},
                "by-length": {"weighs_lengths": True},
            },
        ),
        Method(
            name="tps-pfm",
            task="items",
            paper=WANG,
            summary="top-k items from noisy supports, the unsafe ones by blocks of comparisons",
            module="veilset.methods.tps",
            function="tps_pfm",
            variants={
                "for-counts": {"price": 1},
                "small-second": {"shares": (Fraction(1, 20), Fraction(9, 10), Fraction(1, 20))},
            },
        ),
        Method(
            name="tps-em",
            task="items",
            paper=WANG,
            summary="top-k items from noisy supports, the unsafe ones by the exponential mechanism",
            module="veilset.methods.tps",
            function="tps_em",
            variants={"for-counts": {"price": 1}},
        ),
        Method(
            name="tps-recount",
            task="items",
            paper=WANG,
            summary="top-k items from noisy supports, the unsafe ones counted again",
            module="veilset.methods.tps",
            function="tps_recount",
        ),
        Method(
            name="frefirst",
            task="items",
            paper=WANG,
            summary="top-k items from noisy supports alone",
            module="veilset.methods.tps",
            function="frefirst",
            variants={"for-counts": {"price": 1}, "random": {"is_random": True}},
        ),
        Method(
            name="em",
            task="items",
            paper=WANG,
            summary="top-k items by k draws of the exponential mechanism",
            module="veilset.methods.tps",
            function="em",
        ),
        Method(
            name="svt",
            task="items",
            paper=WANG,
            summary="top-k items by the sparse vector technique",
            module="veilset.methods.tps",
            function="svt",
        ),
        Method(
            name="splitsample",
            task="mine",
            paper="Liang et al., An effective scheme for top-k frequent itemset mining under differential privacy "
            "conditions, Sci. China Inf. Sci. 2020",
            summary="top-k itemsets by the exponential mechanism on supports in split transactions",
            module="veilset.methods.splitsample",
            function="splitsample",
            variants={
                "random-cut": {"form": "random-cut"},
                "best-cut": {"form": "best-cut"},
                "whole": {"form": "whole"},
                "only-short": {"only_short": True},
                "inverted": {"inverts": True},
            },
        ),
        Method(
            name="diffpart",
            task="publish",
            paper=CHEN,
            summary="a dataset from noisy sizes of partitions along a taxonomy of the items",
            module="veilset.methods.diffpart",
            function="diffpart",
        ),
        Method(
            name="diffpart-chosen",
            task="publish",
            paper=f"ours, after {CHEN}",
            summary="the same for the most frequent of many items, the others filled in by their supports",
            module="veilset.methods.diffpart.chosen",
            function="diffpart_chosen",
        ),
        Method(
            name="basic",
            task="publish",
            paper=CHEN,
            summary="a dataset from noisy counts of all combinations of a few items",
            module="veilset.methods.diffpart",
            function="basic",
        ),
        Method(
            name="dpfim",
            task="mine",
            paper=XIONG,
            summary="itemsets of large data from a noisy FP-tree of truncated transactions",
            module="veilset.methods.dpfim",
            function="dpfim",
            variants={
                **{f"eta-{eta}": {"eta": Fraction(eta, 100)} for eta in (75, 80, 90, 95)},
                "small-sample": {"tolerance": 0.01},
            },
        ),
        Method(
            name="strawman",
            task="mine",
            paper=XIONG,
            summary="noise on the supports of all itemsets, for small alphabets",
            module="veilset.methods.dpfim",
            function="strawman",
        ),
    ]
}

DEFAULTS = {"mine": "planned", "items": "tps-pfm", "publish": "diffpart"}
"""The method of each task, where the caller names none."""


def find_method(name: str | None, *, task: str) -> Method:
    """The method of that name ("method" or "method:variant"), or the default of the task."""
    plain, _, variant = (DEFAULTS[task] if name is None else name).partition(":")
    method = METHODS.get(plain)
    if method is None or method.task != task:
        known = ", ".join(method.name for method in METHODS.values() if method.task == task)
        raise BadCall(f"no method {name!r} for {task!r}; there is: {known}")
    return method.variant(variant) if variant else method
