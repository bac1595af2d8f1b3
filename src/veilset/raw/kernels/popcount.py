"""How many bits of a word are set: one instruction, which the compiler can spread over a vector of words."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload


def popcount(word: np.uint64) -> int:
    """The number of set bits of one 64-bit word; inside a kernel it becomes a single instruction.

    >>> popcount(np.uint64(0b1011))
    3
    """
    return int(word).bit_count()


@intrinsic
def _ctpop(_typing_context: Any, word: Any) -> tuple[Any, Any]:  # noqa: ANN401 - the compiler's own objects
    """Type and code of LLVM's `ctpop` on an unsigned word."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        return builder.ctpop(arguments[0])

    return types.uint64(word), generate


@overload(popcount)
def _popcount_in_kernels(word: Any) -> Callable[[Any], Any] | None:  # noqa: ANN401
    """What a kernel runs for `popcount`; anything but an unsigned word is a compile error."""

    def count(word: Any) -> Any:  # noqa: ANN401
        return np.int64(_ctpop(word))  # type: ignore[call-arg]

    return count if word == types.uint64 else None
