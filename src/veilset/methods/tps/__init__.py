"""TPS (Wang, Wang, Gu, Xu, Wei, Yu, IEEE Access 2019): the k most frequent items, chosen in two phases.

Task: the k most frequent items (columns), with their supports. Symbols of the paper: theta or l = the
truncating length; C^ = noisy supports; tau^ = the k-th of them; delta = 2 l / epsilon_2 = how close to it an
item is unsafe; R_1 = the safe items; B = the unsafe ones; k_delta = how many of them are wanted; epsilon_1,
epsilon_2, epsilon_3 = shares of epsilon for the length, the supports, and the choice among the unsafe.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the opening (`methods.opening`): the number of transactions, unless it is public;
2. of what is left, 1/50 for sums of supports, by which they are scaled (`dpsense.scaled_up`), and of the rest
3. epsilon_1 and epsilon_2 for length and supports (`methods.dpsense`), sensitivities c and c theta. Zones are
   post-processing of the noisy supports;
4. epsilon_3 for the choice among the unsafe items, which 3 made known.
   `tps-em`: k_delta draws on supports, monotone with sensitivity c (T3: right where neighbours differ by adding).
   `tps-pfm`: comparisons with noisy thresholds, sensitivity c (`gate.above_threshold`; T1, T5). Where they find
   too few, the order of 3 fills up (T2: post-processing).
   `tps-recount`, ours: length and supports again, on transactions restricted to the unsafe items.

`frefirst` is 1 to 3 alone. `em` and `svt` have no first phase: after 1 they choose among all items, by k draws
or by the sparse vector technique, both of sensitivity c, and pay a share for the noisy supports of what they
chose, L1 sensitivity c k. Those are not used to choose.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import Curator, NormalisedCounts
from veilset.itemsets import Domain, Itemsets
from veilset.methods.privbasis import CHOSEN_BY_THE_SAME_NOISE
from veilset.methods.shared.preliminaries import ask_preliminaries
from veilset.methods.tps.dpsense import MOST_ADDED, PRICE, dpsense, in_order, scaled_up
from veilset.request import Request
from veilset.results.estimates import Estimates
from veilset.results.release import Release

Fractions = tuple[Fraction, ...]

SHARE_FOR_SCALING = Fraction(1, 50)
SHARES = (Fraction(1, 10), Fraction(6, 10), Fraction(3, 10))
"""epsilon_1, epsilon_2, epsilon_3 (Sec. VI)."""
SHARES_OF_FREFIRST = (Fraction(1, 10), Fraction(9, 10))
SHARES_OF_RECOUNT = (Fraction(1, 20), Fraction(1, 2), Fraction(1, 20), Fraction(2, 5))
"""Length and supports of all items, then of the unsafe ones. Chosen on generated baskets; docs/methods/tps.md."""
SHARE_FOR_SUPPORTS = Fraction(1, 10)
SCALED_UP = (
    "supports are scaled up because long transactions count less; an item may have lost more or less than the "
    "average one, so the intervals allow for as much again as was added"
)


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the chosen items, the noisy supports that speak of them, and how many a transaction holds, at most."""

    counts: NormalisedCounts
    items: Sequence[int]
    most: int = MOST_ADDED


Second = Callable[[NormalisedCounts, "Zones", Fraction], Sequence[Part]]
"""The second phase: from noisy supports, zones and the epsilon that the shares are of, to k items."""


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


def tps_em(
    curator: Curator, request: Request, *, epsilon: Fraction, shares: Fractions = SHARES, price: int = PRICE
) -> Release:
    """Two phases, with the exponential mechanism in the second (Alg. 1)."""

    def choose(counts: NormalisedCounts, zones: Zones, left: Fraction) -> list[Part]:
        unsafe = Domain(items=tuple(sorted(zones.unsafe.tolist())), max_size=1)
        extra = curator.ask_best(zones.wanted, domain=unsafe, epsilon=left * shares[2])
        return [Part(counts, [*zones.safe.tolist(), *(item for (item,) in extra.itemsets)])]

    sense = partial(dpsense, price=price)
    return in_two_phases(curator, request, sense, choose, method="tps-em", epsilon=epsilon, shares=shares)


def tps_pfm(
    curator: Curator, request: Request, *, epsilon: Fraction, shares: Fractions = SHARES, price: int = PRICE
) -> Release:
    """Two phases, with the privacy-free mechanism in the second (Alg. 1 and 2)."""

    def choose(counts: NormalisedCounts, zones: Zones, left: Fraction) -> list[Part]:
        extra = curator.ask_above_kth(zones.unsafe, zones.wanted, epsilon=left * shares[2], by_blocks=True)
        missing = filled_up(extra.items, zones.unsafe, zones.wanted)  # T2
        return [Part(counts, [*zones.safe.tolist(), *missing])]

    sense = partial(dpsense, price=price)
    return in_two_phases(curator, request, sense, choose, method="tps-pfm", epsilon=epsilon, shares=shares)


def tps_recount(
    curator: Curator,
    request: Request,
    *,
    epsilon: Fraction,
    shares: Fractions = SHARES_OF_RECOUNT,
    price: int = PRICE,
) -> Release:
    """Two phases; the second counts again, in transactions restricted to the unsafe items: they are short."""

    def choose(counts: NormalisedCounts, zones: Zones, left: Fraction) -> list[Part]:
        again = dpsense(
            curator,
            k=zones.wanted,
            for_length=left * shares[2],
            for_supports=left * shares[3],
            price=price,
            items=zones.unsafe,
        )
        extra = in_order(again)[: zones.wanted].tolist()
        return [Part(counts, zones.safe.tolist()), Part(again, extra, min(MOST_ADDED, 4 * again.limit))]

    sense = partial(dpsense, price=price)
    return in_two_phases(
        curator, request, sense, choose, method="tps-recount", epsilon=epsilon, shares=shares
    )


def frefirst(
    curator: Curator,
    request: Request,
    *,
    epsilon: Fraction,
    shares: Fractions = SHARES_OF_FREFIRST,
    price: int = PRICE,
    is_random: bool = False,
) -> Release:
    """The k items of largest noisy support: the first phase alone (Sec. III.C)."""

    def choose(counts: NormalisedCounts, zones: Zones, left: Fraction) -> list[Part]:  # noqa: ARG001 - asks nothing more
        return [Part(counts, in_order(counts)[: zones.safe.size + zones.wanted].tolist())]

    sense = partial(dpsense, price=price, is_random=is_random)
    return in_two_phases(curator, request, sense, choose, method="frefirst", epsilon=epsilon, shares=shares)


def em(
    curator: Curator, request: Request, *, epsilon: Fraction, share: Fraction = SHARE_FOR_SUPPORTS
) -> Release:
    """k draws of the exponential mechanism over all items (Sec. III.C)."""

    def choose(k: int, left: Fraction) -> Iterable[int]:
        chosen = curator.ask_best(k, domain=curator.domain(max_size=1), epsilon=left)
        return [item for (item,) in chosen.itemsets]

    return in_one_phase(curator, request, choose, method="em", epsilon=epsilon, share=share)


def svt(
    curator: Curator, request: Request, *, epsilon: Fraction, share: Fraction = SHARE_FOR_SUPPORTS
) -> Release:
    """The sparse vector technique over all items, in the order of the alphabet (Sec. III.B)."""

    def choose(k: int, left: Fraction) -> Iterable[int]:
        every = np.arange(curator.alphabet_size)
        found = curator.ask_above_kth(every, k, epsilon=left, by_blocks=False)
        return filled_up(found.items, every, k)

    return in_one_phase(curator, request, choose, method="svt", epsilon=epsilon, share=share)


def in_two_phases(
    curator: Curator,
    request: Request,
    sense: Callable[..., NormalisedCounts],
    second: Second,
    *,
    method: str,
    epsilon: Fraction,
    shares: Fractions,
) -> Release:
    """Noisy supports, zones, then the second phase (Alg. 1)."""
    first = ask_preliminaries(curator, request, domain=curator.domain(max_size=1), epsilon=epsilon)
    if first.k == 0:
        return first.release(curator, Estimates.none(), method=method)
    for_scaling = first.left * SHARE_FOR_SCALING
    left = first.left - for_scaling
    counts = sense(curator, k=first.k, for_length=left * shares[0], for_supports=left * shares[1])  # l. 1-2
    parts = [part for part in second(counts, Zones.of(counts, first.k), left) if part.items]  # l. 3-14
    found = Estimates.joined(
        [
            scaled_up(curator, part.counts, part.items, most=part.most, epsilon=for_scaling / len(parts))
            for part in parts
        ]
    )
    return first.release(curator, found, method=method, notes=(CHOSEN_BY_THE_SAME_NOISE, SCALED_UP))


def in_one_phase(
    curator: Curator,
    request: Request,
    choose: Callable[[int, Fraction], Iterable[int]],
    *,
    method: str,
    epsilon: Fraction,
    share: Fraction,
) -> Release:
    """Choose k items by their exact supports, then ask for noisy ones."""
    first = ask_preliminaries(curator, request, domain=curator.domain(max_size=1), epsilon=epsilon)
    if first.k == 0:
        return first.release(curator, Estimates.none(), method=method)
    for_supports = first.left * share
    chosen = Itemsets.of((item,) for item in choose(first.k, first.left - for_supports))
    supports = curator.ask_supports(chosen, epsilon=for_supports)
    return first.release(curator, Estimates.of(supports), method=method)


def filled_up(found: Sequence[int], order: Iterable[int], k: int) -> list[int]:
    """The k items that were found; where they are fewer, the first of the others in a public order, too (T2).

    >>> filled_up((7, 3), [9, 7, 5, 3], 3)
    [7, 3, 9]
    """
    return list(dict.fromkeys([*found, *(int(item) for item in order)]))[:k]
