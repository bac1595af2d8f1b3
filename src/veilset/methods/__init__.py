"""The methods: one paper, one file. This is their list."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module

from veilset.errors import BadCall
from veilset.gate import Curator
from veilset.release import Release
from veilset.target import Target

Run = Callable[..., Release]


@dataclass(frozen=True, slots=True)
class Method:
    """An algorithm that answers a task by asking a Curator."""

    name: str
    task: str
    paper: str
    summary: str
    module: str
    function: str

    def run(self, curator: Curator, target: Target, *, epsilon: Fraction) -> Release:
        """Ask the curator, spend at most epsilon, return a release."""
        run: Run = getattr(import_module(self.module), self.function)
        return run(curator, target, epsilon=epsilon)


METHODS = {
    method.name: method
    for method in [
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
    ]
}

DEFAULTS = {"mine": "truncated-em"}
"""The method of each task, where the caller names none."""


def find_method(name: str | None, *, task: str) -> Method:
    """The method of that name, or the default of the task."""
    method = METHODS.get(name or DEFAULTS[task])
    if method is None or method.task != task:
        known = ", ".join(method.name for method in METHODS.values() if method.task == task)
        raise BadCall(f"no method {name!r} for {task!r}; there is: {known}")
    return method
