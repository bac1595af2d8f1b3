"""Randomness is checked before it is relied on, and a fork never repeats the noise of its parent."""

import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import veilset as vs
from veilset.errors import EntropyFailed
from veilset.gate import SecureNoise, entropy

PROBE = Path(__file__).parents[1] / "entropy_probe.py"


def drawn(kind: str, where: str) -> list[Any]:
    """What a process and its forks draw."""
    call = [sys.executable, str(PROBE), kind, where]
    found = subprocess.run(call, capture_output=True, text=True, check=True, timeout=300)
    told = json.loads(found.stdout)
    if told == "not allowed here":
        pytest.skip("this machine does not let a test have namespaces or sandboxes of its own")
    assert isinstance(told, list)
    return told


def repeated(draws: list[list[int]]) -> int:
    """How many draws stand at the same place in two of three processes."""
    assert [len(each) for each in draws] == [7, 7, 7]
    return sum(
        one == two for first, second in combinations(draws, 2) for one, two in zip(first, second, strict=True)
    )


def test_a_fork_draws_noise_of_its_own() -> None:
    """OpenDP's generator was seeded before the fork."""
    assert repeated(drawn("secure", "here")) == 0


def test_a_generator_in_memory_would_be_seen_to_repeat() -> None:
    """The control: both forks and the process itself go on with the same numbers."""
    assert repeated(drawn("seeded", "here")) == 3 * 7


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="process namespaces are Linux's")
def test_a_fork_with_its_parents_process_number_draws_nothing() -> None:
    """OpenSSL takes it for the parent, whose noise it would repeat."""
    of_process, of_fork = drawn("secure", "namespace")
    assert len(of_process) == 7
    assert "start it as a process of its own" in of_fork


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sandboxes of this kind are Linux's")
@pytest.mark.parametrize("sandbox", ["unknown", "refused"])
def test_where_getrandom_is_missing_it_is_told_before_anything_is_spent(sandbox: str) -> None:
    """Python falls back to /dev/urandom then; OpenSSL, which OpenDP draws from, does not."""
    (told,) = drawn("secure", sandbox)
    assert "the sandbox allow it" in told


def test_a_child_with_the_number_of_an_ancestor_is_refused_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And a child with a number of its own is not."""
    monkeypatch.setattr(entropy._Numbers, "ancestors", entropy._Numbers.ancestors | {10**9})
    monkeypatch.setattr(entropy._Numbers, "repeats_an_ancestor", False)
    monkeypatch.setattr(os, "getpid", lambda: 10**9)
    entropy._note_fork()
    with pytest.raises(EntropyFailed, match="the number of the process it came from"):
        vs.mine([["a"]], k=1, epsilon=1, public_items=True)
    monkeypatch.setattr(os, "getpid", lambda: 10**9 + 1)
    entropy._note_fork()
    SecureNoise()


@pytest.mark.parametrize("bad", [lambda number: b"\0" * number, lambda number: bytes(range(number))])
def test_randomness_that_repeats_itself_is_refused(monkeypatch: pytest.MonkeyPatch, bad: object) -> None:
    """All zeros, or the same bytes at every call."""
    monkeypatch.setattr("secrets.token_bytes", bad)
    with pytest.raises(EntropyFailed, match="repeats itself"):
        SecureNoise()


def test_a_machine_without_randomness_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, before anything is spent."""

    def missing(_: int) -> bytes:
        raise OSError(2, "No such file or directory")

    monkeypatch.setattr("secrets.token_bytes", missing)
    with pytest.raises(EntropyFailed, match="allow one of them"):
        SecureNoise()
