"""Sources of randomness: the only importer of opendp. Handed to a Curator, never global.

Discrete Laplace noise comes from OpenDP's exact integer sampler. Everything else (which candidate wins, which
items a truncation keeps) is built on uniform integers, exactly: see `gate.selection.exponential`.
"""

import math
import os
import random
import secrets
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import EntropyFailed
from veilset.gate import referee
from veilset.gate.approximate_mechanisms import DiscreteGaussian, ItemNaming
from veilset.gate.draws import Noise
from veilset.gate.entropy import check_entropy, check_not_repeating
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.gate.selection.item_discovery import NamedItems
from veilset.gate.selection.noisy_test import NoisyTest, PassedCounts, SparseCounts
from veilset.gate.zcdp import largest_rho
from veilset.integers import whole
from veilset.rationals import float_at_least
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.row_keys import RowKeys, SipKeys

COUNTS_FOR_A_THREAD = 2048
"""2,048 draws take about 10 ms, much longer than to start a thread."""


class SecureNoise(Noise):
    """Entropy of the operating system; exact integer samplers; cannot be seeded or repeated.

    The entropy is checked before anything is asked for, and a fork before anything is drawn: see `gate.entropy`.
    """

    is_private = True

    def __init__(self) -> None:
        check_entropy()
        _check_generator(os.getpid())

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """The counts with independent noise, drawn by OpenDP."""
        check_not_repeating()
        if counts.values.size == 0:
            return counts.values
        return _with_noise(counts.values, _opendp_laplace(float_at_least(scale)))

    def discrete_gaussian(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """The counts with independent noise, drawn by OpenDP."""
        check_not_repeating()
        if counts.values.size == 0:
            return counts.values
        return _with_noise(counts.values, _opendp_gaussian(float_at_least(scale)))

    def counts(self, exact: ExactCounts, mechanism: DiscreteLaplace | DiscreteGaussian) -> Int64Array:
        """Every count with noise of its own, unless OpenDP says that it costs more than was paid."""
        if isinstance(mechanism, DiscreteLaplace):
            self._ask_referee(mechanism.scale, mechanism.sensitivity * mechanism.steps, mechanism.epsilon)
        else:
            squared = mechanism.squared_sensitivity * mechanism.steps**2
            measurement = _opendp_gaussian(float_at_least(mechanism.scale))
            referee.check_gaussian(measurement, squared_sensitivity=squared, rho=mechanism.rho)
        return super().counts(exact, mechanism)

    def passing(self, counts: SparseCounts, test: NoisyTest) -> PassedCounts:
        """Which of the counts pass a test, unless OpenDP says that its noise costs more than was paid."""
        self._ask_referee(test.scale, test.sensitivity, test.epsilon)
        return super().passing(counts, test)

    def named(self, weights: ExactCounts, mechanism: ItemNaming) -> NamedItems:
        """The items that are named, unless OpenDP says that the noise on their weights costs more than was paid."""
        reach = mechanism.sensitivity * mechanism.steps
        if mechanism.law == "laplace":
            self._ask_referee(mechanism.scale, reach, mechanism.epsilon)
        else:
            rho = largest_rho(epsilon=mechanism.epsilon, delta=mechanism.delta / 2)
            measurement = _opendp_gaussian(float_at_least(mechanism.scale))
            referee.check_gaussian(measurement, squared_sensitivity=reach**2, rho=rho)
        return super().named(weights, mechanism)

    def _ask_referee(self, scale: Fraction, sensitivity: int, epsilon: Fraction) -> None:
        measurement = _opendp_laplace(float_at_least(scale))
        referee.check_laplace(measurement, sensitivity=sensitivity, epsilon=epsilon)

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""
        return secrets.randbelow(bound)

    def keys(self) -> RowKeys:
        """Keys under a secret of the operating system."""
        return SipKeys(np.frombuffer(secrets.token_bytes(16), dtype=np.uint64))


class SeededNoise(Noise):
    """The same laws from a seed, for tests, audits and evaluation on public data. Protects nobody."""

    is_private = False

    def __init__(self, seed: int) -> None:
        seed = whole(seed, "the seed", least=0)
        self._integers = random.Random(seed)  # noqa: S311 - repeatable on purpose
        self._arrays = np.random.default_rng(seed)

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """The counts with independent noise: the difference of two geometric variables."""
        success = -math.expm1(-1 / float(scale))
        up, down = self._arrays.geometric(success, size=(2, counts.values.size))
        noisy: Int64Array = counts.values + up - down
        return noisy

    def discrete_gaussian(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """The counts with independent noise: discrete Laplace draws, of which some are rejected."""
        sigma = float(scale)
        width = math.floor(sigma) + 1
        drawn = np.empty(0, np.int64)
        while drawn.size < counts.values.size:
            missing = 2 * (counts.values.size - drawn.size) + 16
            tries = self.discrete_laplace(ExactCounts(np.zeros(missing, np.int64)), scale=Fraction(width))
            log_kept = -((np.abs(tries) - sigma**2 / width) ** 2) / (2 * sigma**2)
            drawn = np.append(drawn, tries[self._arrays.random(missing) < np.exp(log_kept)])
        noisy: Int64Array = counts.values + drawn[: counts.values.size]
        return noisy

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""
        return self._integers.randrange(bound)

    def keys(self) -> RowKeys:
        """Keys under a secret of the seed's."""
        return SipKeys(self._arrays.integers(0, 2**64, size=2, dtype=np.uint64))


def _with_noise(exact: Int64Array, measurement: Any) -> Int64Array:  # noqa: ANN401 - opendp has no types
    """Every count with noise of its own, drawn by OpenDP: on all cores where there are many.

    Each draw has the same law and is independent of all others, whichever thread makes it: OpenSSL's generator, which
    OpenDP asks, has a state for each thread, seeded apart.
    """
    threads = max(1, min(os.cpu_count() or 1, exact.size // COUNTS_FOR_A_THREAD))
    if threads == 1:
        return np.array(measurement(exact), dtype=np.int64)
    with ThreadPoolExecutor(threads) as pool:
        noisy = pool.map(measurement, np.array_split(exact, threads))
        return np.concatenate([np.array(part, dtype=np.int64) for part in noisy])


@lru_cache(maxsize=1)
def _check_generator(_: int) -> None:
    """EntropyFailed where OpenDP cannot draw or repeats itself; once in each process, by its number.

    Before anything is asked for: a question that was paid for cannot be answered without noise.
    """
    from opendp.mod import OpenDPException  # noqa: PLC0415

    measurement = _opendp_laplace(WIDE_SCALE)
    try:
        first, second = measurement([0] * 4), measurement([0] * 4)
    except OpenDPException:
        raise EntropyFailed(
            "OpenDP gets no randomness: its generator, OpenSSL's, asks the system call getrandom and nothing else; let "
            "the sandbox allow it. Nothing was spent"
        ) from None
    if first == second:
        raise EntropyFailed("OpenDP draws the same noise twice; install opendp anew. Nothing was spent")


WIDE_SCALE = float(2**40)
"""Noise of scale 2^40: four draws agree with four others never, but for a generator that repeats itself."""


@lru_cache(maxsize=64)
def _opendp_laplace(scale: float) -> Any:  # noqa: ANN401 - opendp has no types
    # Only when noise is due: a tenth of a second. Its prelude takes a whole one where scikit-learn is installed.
    from opendp.measurements import make_laplace  # noqa: PLC0415
    from opendp.metrics import l1_distance  # noqa: PLC0415

    return make_laplace(_opendp_integers(), l1_distance(T="i64"), scale=scale)


@lru_cache(maxsize=64)
def _opendp_gaussian(scale: float) -> Any:  # noqa: ANN401
    from opendp.measurements import make_gaussian  # noqa: PLC0415
    from opendp.metrics import l2_distance  # noqa: PLC0415

    return make_gaussian(_opendp_integers(), l2_distance(T=float), scale=scale)


def _opendp_integers() -> Any:  # noqa: ANN401
    """Vectors of integers, as OpenDP calls them."""
    from opendp.domains import atom_domain, vector_domain  # noqa: PLC0415
    from opendp.mod import enable_features  # noqa: PLC0415

    enable_features("contrib")
    return vector_domain(atom_domain(T="i64"))
