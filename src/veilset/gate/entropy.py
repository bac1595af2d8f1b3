"""Where randomness comes from, whether it can be relied on, and why a forked process never repeats its parent's noise.

Uniform integers and keys come from the operating system at every draw (`secrets`, which is `getrandom`, or /dev/urandom
where a sandbox refuses that call). Nothing of them is kept, so a fork shares nothing.

Noise comes from OpenDP, which draws it from the generator of OpenSSL: seeded by `getrandom` alone, and kept in the
memory of the process. `gate.noise` draws some of it before anything is asked for, to see that it can. A fork copies
that memory. OpenSSL notices a fork by the number of the process, and seeds itself anew. Two processes with one number
are beyond it: a child in a process namespace of its own, or one that has the number of an ancestor that has ended.
Such a child would draw its parent's noise once more, and whoever subtracts one release from the other would be left
with exact counts. So it is refused here, before anything is drawn.

A machine that is copied while it runs (a snapshot that is started twice) is beyond both: docs/reliability.md says so.
"""

import os
import secrets

from veilset.errors import EntropyFailed

CHECKED_BYTES = 64
"""64 bytes of the operating system are looked at: by chance two such blocks agree, or one is all alike, never."""


class _Numbers:
    """The numbers of this process and of all that it was forked from, as long as this module was loaded."""

    ancestors = frozenset({os.getpid()})
    repeats_an_ancestor = False


def _note_fork() -> None:
    """In a child: whether OpenSSL could take it for one of its ancestors."""
    number = os.getpid()
    _Numbers.repeats_an_ancestor = number in _Numbers.ancestors
    _Numbers.ancestors |= {number}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def check_entropy() -> None:
    """EntropyFailed where the operating system's randomness is none, or a fork would repeat its parent's noise."""
    try:
        first, second = secrets.token_bytes(CHECKED_BYTES), secrets.token_bytes(CHECKED_BYTES)
    except (OSError, NotImplementedError):
        raise EntropyFailed(
            "the operating system hands out no randomness (neither getrandom nor /dev/urandom answers), and without "
            "it there is no privacy; allow one of them to this process. Nothing was drawn"
        ) from None
    if first == second or len(set(first)) == 1:
        raise EntropyFailed(
            "the operating system's randomness repeats itself, and without randomness there is no privacy; repair "
            "/dev/urandom of this machine. Nothing was drawn"
        )
    check_not_repeating()


def check_not_repeating() -> None:
    """EntropyFailed in a fork that has the process number of an ancestor: its noise would be that of the ancestor."""
    if _Numbers.repeats_an_ancestor:
        raise EntropyFailed(
            "this process was forked and has the number of the process it came from, so that its noise would be the "
            "same; start it as a process of its own (multiprocessing: spawn). Nothing was drawn"
        )
