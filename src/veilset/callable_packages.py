"""Packages that are verbs, too: `veilset.plan(...)` plans, and `veilset.plan.Facts` is still there.

Some commands are called as the package that does their work: plan, evaluate, audit, exact. Whoever imports one of
these packages makes its name in `veilset` the package, whatever stood there before. So the package itself can be
called, and nobody has to remember a second name for the verb.
"""

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

_VERBS: dict[str, tuple[str, str]] = {}
"""For each package, the module and the name of its verb; imported when it is first called."""


class CallablePackage(ModuleType):
    """A package that is called as its verb; help and signature of the call are the verb's."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - the verb's own
        """Do what the verb does."""
        return verb_of(self.__name__)(*arguments, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(verb_of(self.__name__))


def make_callable(package: str, *, home: str, verb: str) -> None:
    """Let a package that is being imported be called as its verb, which stands in another module."""
    _VERBS[package] = home, verb
    sys.modules[package].__class__ = CallablePackage


def verb_of(package: str) -> Callable[..., Any]:
    """The function that a package is called as."""
    home, verb = _VERBS[package]
    found: Callable[..., Any] = getattr(import_module(home), verb)
    return found
