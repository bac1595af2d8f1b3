"""The only importer of numba: arrays in, arrays out.

A kernel draws no random numbers, knows no epsilon and keeps indices in 64 bits where they could overflow. The
caller validates. Kernels release the interpreter lock: engines run them on all cores from plain threads.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from veilset.raw.kernels.caching import KernelCache

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile for one core; the result is cached on disk, so only the first run after a change of a kernel pays."""
    compiled: Any = numba.njit(nogil=True)(function)
    if compiled is not function:  # with NUMBA_DISABLE_JIT it is
        compiled._cache = KernelCache(function)  # noqa: SLF001 - as numba's own `enable_caching` does
    return cast("Function", compiled)


def inlined(function: Function) -> Function:
    """Compile into the kernels that call it: within a loop over rows, handing arrays to a call takes too long."""
    return cast("Function", numba.njit(inline="always")(function))
