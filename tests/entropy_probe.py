"""Draws of a process and of what is forked from it: a program for tests.

    python entropy_probe.py KIND WHERE

Prints one line of JSON: the draws of the process and of two forks, or what they raised. KIND is `secure` or `seeded`,
the control: a generator that is kept in memory. WHERE is `here`, `namespace` (forks have process number 1, as has the
process they come from), `unknown` (there is no system call `getrandom`, as on an old kernel) or `refused` (a sandbox
refuses it).
"""

import ctypes
import errno
import json
import os
import platform
import sys
from fractions import Fraction

import numpy as np

from veilset.errors import EntropyFailed
from veilset.gate import Noise, SecureNoise, SeededNoise
from veilset.raw.counts import ExactCounts

NEW_PROCESS_NAMESPACE = 0x20000000
GETRANDOM = {"x86_64": 318, "aarch64": 278}
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000
REFUSALS = {"unknown": errno.ENOSYS, "refused": errno.EPERM}
WIDE = Fraction(2**40)
"""A scale of 2^40: two draws that are the same are no accident."""


def draws(noise: Noise) -> list[int]:
    """Noise of both laws, uniform integers."""
    zeros = ExactCounts(np.zeros(3, np.int64))
    laplace = noise.discrete_laplace(zeros, scale=WIDE).tolist()
    gaussian = noise.discrete_gaussian(zeros, scale=WIDE).tolist()
    return [*laplace, *gaussian, noise.below(2**62)]


def of_fork(noise: Noise) -> object:
    """What a child draws, or why it does not."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told: object = draws(noise)
        except EntropyFailed as error:
            told = str(error)
        os.write(writing, json.dumps(told).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return json.loads(pipe.read())


def enter_namespace() -> None:
    """Go on as process 1 of a namespace, whose next child is process 1 of another; ends where that is not allowed."""
    library = ctypes.CDLL(None)
    if library.unshare(NEW_PROCESS_NAMESPACE) != 0:
        print(json.dumps("not allowed here"))  # noqa: T201
        sys.exit()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        sys.exit()


def refuse_getrandom(error: int) -> None:
    """A sandbox in which the system call fails."""

    class Step(ctypes.Structure):
        _fields_ = (
            ("code", ctypes.c_uint16),
            ("yes", ctypes.c_uint8),
            ("no", ctypes.c_uint8),
            ("value", ctypes.c_uint32),
        )

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_uint16), ("steps", ctypes.POINTER(Step)))

    steps = (Step * 4)(
        Step(LOAD, 0, 0, 0),
        Step(EQUAL, 0, 1, GETRANDOM[platform.machine()]),
        Step(RETURN, 0, 0, FAIL | error),
        Step(RETURN, 0, 0, ALLOW),
    )
    library = ctypes.CDLL(None)
    library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if library.prctl(SET_SECCOMP, FILTER, ctypes.byref(Program(4, steps)), 0, 0) != 0:
        print(json.dumps("not allowed here"))  # noqa: T201
        sys.exit()


def main(kind: str, where: str) -> None:
    """Draw, fork twice, draw again."""
    if where in REFUSALS:
        refuse_getrandom(REFUSALS[where])
    if where == "namespace":
        enter_namespace()
    try:
        noise: Noise = SecureNoise() if kind == "secure" else SeededNoise(7)
    except EntropyFailed as error:
        print(json.dumps([str(error)]))  # noqa: T201
        return
    draws(noise)  # a generator in memory is seeded by now
    if where == "namespace":
        ctypes.CDLL(None).unshare(NEW_PROCESS_NAMESPACE)
        forks = [of_fork(noise)]  # a namespace ends with its first process
    else:
        forks = [of_fork(noise), of_fork(noise)]
    print(json.dumps([draws(noise), *forks]))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
