"""TPS (Wang, Wang, Gu, Xu, Wei, Yu, IEEE Access 2019): the k most frequent items, chosen in two phases.

Task: the k most frequent items (columns), with their supports. Symbols of the paper: theta or l = the
truncating length; C^ = noisy supports; tau^ = the k-th of them; delta = 2 l / epsilon_2 = how close to it an
item is unsafe; R_1 = the safe items; B = the unsafe ones; k_delta = how many of them are wanted; epsilon_1,
epsilon_2, epsilon_3 = shares of epsilon for the length, the supports, and the choice among the unsafe.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the preliminaries (`methods.shared.preliminaries`): the number of transactions, unless it is public;
2. of what remains, 1/25 for what normalising took away (`methods.tps.scaling`): a histogram of lengths, sensitivity
   c, a sum of supports, c m, and how unlike long and short transactions are, at most c times a limit; asked last, and
   for each of the counts that supports are from. Of the rest
3. epsilon_1 and epsilon_2 for length and supports (`methods.tps.dpsense`), sensitivities c and c theta. Zones are
   post-processing of the noisy supports;
4. epsilon_3 for the choice among the unsafe items, which 3 made known.
   `tps-em`: k_delta draws on supports, monotone with sensitivity c (T3: right where neighbours differ by adding).
   `tps-pfm`: comparisons with noisy thresholds, sensitivity c (`gate.selection.sparse_vector`; T1, T5). Where they
   find too few, the order of 3 fills up (T2: post-processing).
   `tps-recount`, ours: length and supports again, on transactions restricted to the unsafe items.

`frefirst` is 1 to 3 alone. `em` and `svt` have no first phase: after 1 they choose among all items, by k draws
or by the sparse vector technique, both of sensitivity c, and pay a share for the noisy supports of what they
chose, L1 sensitivity c k. Those are not used to choose.
"""

from fractions import Fraction
from functools import partial

import numpy as np

from veilset.gate import Curator, NormalisedCounts
from veilset.itemsets import Domain
from veilset.methods.tps.dpsense import PRICE, dpsense, in_order
from veilset.methods.tps.phases import Fractions, Items, Part, Zones, filled_up, in_one_phase, in_two_phases
from veilset.request import Request
from veilset.results.release import Release

SHARES = (Fraction(1, 10), Fraction(6, 10), Fraction(3, 10))
"""epsilon_1, epsilon_2, epsilon_3 (Sec. VI)."""
SHARES_OF_FREFIRST = (Fraction(1, 10), Fraction(9, 10))
SHARES_OF_RECOUNT = (Fraction(1, 20), Fraction(1, 2), Fraction(1, 20), Fraction(2, 5))
"""Length and supports of all items, then of the unsafe ones. Chosen on generated baskets; docs/methods/tps.md."""


def tps_em(curator: Curator, request: Request, *, epsilon: Fraction, price: int = PRICE) -> Release:
    """Two phases, with the exponential mechanism in the second (Alg. 1)."""

    def choose(counts: NormalisedCounts, zones: Zones, for_phases: Fraction) -> list[Part]:
        unsafe = Domain(items=tuple(sorted(zones.unsafe.tolist())), max_size=1)
        extra = curator.ask_best(zones.wanted, domain=unsafe, epsilon=for_phases * SHARES[2])
        return [Part(counts, [*zones.safe.tolist(), *(item for (item,) in extra.itemsets)])]

    sense = partial(dpsense, price=price)
    return in_two_phases(curator, request, sense, choose, SHARES, method="tps-em", epsilon=epsilon)


def tps_pfm(
    curator: Curator, request: Request, *, epsilon: Fraction, shares: Fractions = SHARES, price: int = PRICE
) -> Release:
    """Two phases, with the privacy-free mechanism in the second (Alg. 1 and 2)."""

    def choose(counts: NormalisedCounts, zones: Zones, for_phases: Fraction) -> list[Part]:
        for_choice = for_phases * shares[2]
        extra = curator.ask_above_kth(zones.unsafe, zones.wanted, epsilon=for_choice, by_blocks=True)
        missing = filled_up(extra.items, zones.unsafe, zones.wanted)  # T2
        return [Part(counts, [*zones.safe.tolist(), *missing])]

    sense = partial(dpsense, price=price)
    return in_two_phases(curator, request, sense, choose, shares, method="tps-pfm", epsilon=epsilon)


def tps_recount(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """Two phases; the second counts again, in transactions restricted to the unsafe items: they are short."""

    def choose(counts: NormalisedCounts, zones: Zones, for_phases: Fraction) -> list[Part]:
        for_length, for_supports = (for_phases * share for share in SHARES_OF_RECOUNT[2:])
        again = dpsense(
            curator, k=zones.wanted, for_length=for_length, for_supports=for_supports, items=zones.unsafe
        )
        extra = in_order(again)[: zones.wanted].tolist()
        return [Part(counts, zones.safe.tolist()), Part(again, extra)]

    return in_two_phases(
        curator, request, dpsense, choose, SHARES_OF_RECOUNT, method="tps-recount", epsilon=epsilon
    )


def frefirst(
    curator: Curator, request: Request, *, epsilon: Fraction, price: int = PRICE, is_random: bool = False
) -> Release:
    """The k items of largest noisy support: the first phase alone (Sec. III.C)."""

    def choose(counts: NormalisedCounts, zones: Zones, for_phases: Fraction) -> list[Part]:  # noqa: ARG001 - asks nothing
        return [Part(counts, in_order(counts)[: zones.safe.size + zones.wanted].tolist())]

    sense = partial(dpsense, price=price, is_random=is_random)
    return in_two_phases(
        curator, request, sense, choose, SHARES_OF_FREFIRST, method="frefirst", epsilon=epsilon
    )


def em(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """k draws of the exponential mechanism over all items (Sec. III.C)."""

    def choose(k: int, for_choice: Fraction) -> Items:
        chosen = curator.ask_best(k, domain=curator.domain(max_size=1), epsilon=for_choice)
        return [item for (item,) in chosen.itemsets]

    return in_one_phase(curator, request, choose, method="em", epsilon=epsilon)


def svt(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """The sparse vector technique over all items, in the order of the alphabet (Sec. III.B)."""

    def choose(k: int, for_choice: Fraction) -> Items:
        every = np.arange(curator.alphabet_size)
        found = curator.ask_above_kth(every, k, epsilon=for_choice, by_blocks=False)
        return filled_up(found.items, every, k)

    return in_one_phase(curator, request, choose, method="svt", epsilon=epsilon)
