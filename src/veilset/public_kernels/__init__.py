"""Kernels for what is public: rows that are made up from noisy answers. Compiled as those of `raw.kernels` are.

They are handed noisy numbers and return rows; nothing of `raw` but the compiler is within their reach.
"""

from veilset.raw.kernels import inlined, inner, kernel
from veilset.raw.kernels.popcount import popcount

__all__ = ["inlined", "inner", "kernel", "popcount"]
