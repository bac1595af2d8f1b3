"""The only importer of numba: arrays in, arrays out.

A kernel draws no random numbers, knows no epsilon and keeps indices in 64 bits where they could overflow. The
caller validates. Kernels release the interpreter lock: engines run them on all cores from plain threads.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar, cast

import numba
from numba.core.registry import CPUDispatcher

from veilset.raw.kernels.caching import KernelCache

Function = TypeVar("Function", bound=Callable[..., object])

_OPTIONS: Any = {"nogil": True, "no_cfunc_wrapper": True}
"""Kernels are handed to no other code as pointers to C functions; what would serve that takes time to compile."""

_COMPILES: bool = not numba.config.DISABLE_JIT  # type: ignore[attr-defined] # set by numba, from the environment


def kernel(function: Function) -> Function:
    """Compile for one core; the result is cached on disk, so only the first run after a change of a kernel pays."""
    return _kept(numba.njit(**_OPTIONS)(function), KernelCache(function)) if _COMPILES else function


def inner(function: Function) -> Function:
    """Compile for other kernels to call: for each signature this takes a third less than what Python can call, too."""
    return _kept(InnerKernel(function), KernelCache(function, form=".inner")) if _COMPILES else function


def inlined(function: Function) -> Function:
    """Compile into the kernels that call it: within a loop over rows, handing arrays to a call takes too long."""
    return cast("Function", numba.njit(inline="always")(function))


class InnerKernel(CPUDispatcher):
    """A kernel without the code that turns Python's objects into arguments; where Python calls it, a twin that has it.

    Numba would call a null pointer. So tests may call such a kernel as any other.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        options = {"nopython": True, "boundscheck": None, **_OPTIONS, "no_cpython_wrapper": True}
        super().__init__(function, targetoptions=options)

    @cached_property
    def _callable(self) -> Callable[..., object]:
        return kernel(self.py_func)

    def __call__(self, *arguments: object) -> object:
        """Run the twin."""
        return self._callable(*arguments)


def _kept(compiled: Any, where: KernelCache) -> Any:  # noqa: ANN401 - numba's own objects
    compiled._cache = where  # noqa: SLF001 - as numba's own `enable_caching` does
    return compiled
