"""The phases of TPS: noisy supports make zones of items, a second phase chooses among the unsafe ones.

The privacy argument is that of `methods.tps`.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import Curator, NormalisedCounts
from veilset.itemsets import Itemsets
from veilset.methods.shared.preliminaries import Preliminaries, ask_preliminaries
from veilset.methods.tps.scaling import scaled_up
from veilset.methods.tps.unlikeness import USUAL_TILT_SPREAD
from veilset.request import Request
from veilset.results.estimates import Estimates
from veilset.results.release import Release

Items = Sequence[int]
Fractions = tuple[Fraction, ...]

SHARE_FOR_SCALING = Fraction(1, 25)
"""4 % for what normalising took away."""
SHARE_FOR_CHOSEN = Fraction(1, 10)
"""10 % for the noisy supports of what was chosen without any."""


@dataclass(frozen=True, slots=True, eq=False)
class Zones:
    """Items by how sure it is that they are among the k most frequent; `unsafe` in the order of noisy supports."""

    safe: Int64Array
    unsafe: Int64Array
    wanted: int

    @classmethod
    def of(cls, counts: NormalisedCounts, k: int) -> "Zones":
        """Safe: more than delta above the k-th noisy support. Unsafe: within delta of it (Alg. 1, l. 3-12)."""
        order = np.argsort(-counts.values, kind="stable")
        noisy, codes = counts.values[order], counts.items[order]
        kth, delta = noisy[k - 1], math.floor(2 * counts.mechanism.scale)
        is_safe = noisy > kth + delta
        is_unsafe = ~is_safe & (noisy >= kth - delta)
        return cls(codes[is_safe], codes[is_unsafe], k - int(np.count_nonzero(is_safe)))


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the chosen items, and the noisy supports that speak of them."""

    counts: NormalisedCounts
    items: Items


FirstPhase = Callable[..., NormalisedCounts]
SecondPhase = Callable[[NormalisedCounts, Zones, Fraction], Sequence[Part]]
"""From noisy supports, zones and the epsilon that the shares are of, to k items."""


def in_two_phases(
    curator: Curator,
    request: Request,
    first: FirstPhase,
    second: SecondPhase,
    shares: Fractions,
    *,
    method: str,
    epsilon: Fraction,
) -> Release:
    """Noisy supports, zones, then the second phase (Alg. 1)."""
    preliminaries = ask_about_items(curator, request, epsilon=epsilon)
    k, for_scaling = preliminaries.k, preliminaries.remaining * SHARE_FOR_SCALING
    if k == 0:
        return preliminaries.release(curator, Estimates.none(), method=method)
    for_phases = preliminaries.remaining - for_scaling
    for_length, for_supports = (for_phases * share for share in shares[:2])
    counts = first(curator, k=k, for_length=for_length, for_supports=for_supports)  # l. 1-2
    parts = [part for part in second(counts, Zones.of(counts, k), for_phases) if part.items]  # l. 3-14
    estimates, spread = [], USUAL_TILT_SPREAD
    for part in parts:
        scaled, spread = scaled_up(
            curator,
            part.counts,
            part.items,
            number=preliminaries.number,
            largest=preliminaries.most,
            epsilon=for_scaling / len(parts),
            spread=spread,
        )
        estimates.append(scaled)
    return preliminaries.release(curator, Estimates.joined(estimates), method=method)


def in_one_phase(
    curator: Curator,
    request: Request,
    choose: Callable[[int, Fraction], Items],
    *,
    method: str,
    epsilon: Fraction,
) -> Release:
    """Choose k items by their exact supports, then ask for noisy ones."""
    preliminaries = ask_about_items(curator, request, epsilon=epsilon)
    if preliminaries.k == 0:
        return preliminaries.release(curator, Estimates.none(), method=method)
    for_supports = preliminaries.remaining * SHARE_FOR_CHOSEN
    chosen = choose(preliminaries.k, preliminaries.remaining - for_supports)
    supports = curator.ask_supports(Itemsets.of((item,) for item in chosen), epsilon=for_supports)
    return preliminaries.release(curator, Estimates.of(supports), method=method)


def ask_about_items(curator: Curator, request: Request, *, epsilon: Fraction) -> Preliminaries:
    """The preliminaries, where itemsets are single items."""
    return ask_preliminaries(curator, request, domain=curator.domain(max_size=1), epsilon=epsilon)


def filled_up(found: Items, order: Iterable[int], k: int) -> list[int]:
    """The k items that were found; where they are fewer, the first of the others in a public order, too (T2).

    >>> filled_up((7, 3), [9, 7, 5, 3], 3)
    [7, 3, 9]
    """
    return list(dict.fromkeys([*found, *(int(item) for item in order)]))[:k]
