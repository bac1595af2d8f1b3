"""What most methods ask first: the number of transactions, and how many itemsets a threshold stands for.

Privacy argument. Of epsilon, the number of transactions takes 1/50 unless it is public (sensitivity c, the
transactions of one privacy unit). A threshold without k takes 1/10: a binary search over n public ranks asks
for the support of the itemset of that rank, sensitivity c, at most floor(log2 n) + 1 times, and each
comparison gets an equal share. What remains is the method's.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from veilset.gate import Curator, NoisyCount
from veilset.itemsets import Domain
from veilset.request import Request
from veilset.results.estimates import Estimates, count_of
from veilset.results.release import Release

SHARE_FOR_NUMBER = Fraction(1, 50)
SHARE_FOR_HOW_MANY = Fraction(1, 10)
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Where a threshold is compared with the support of the itemset of that rank: a public grid."""
MOST_ABOVE_THRESHOLD = 2 * RANKS[-1] - 1
TOO_MANY = (
    f"limited to {MOST_ABOVE_THRESHOLD} itemsets: the threshold may stand for more; raise it, or give k"
)


@dataclass(frozen=True, slots=True)
class Preliminaries:
    """The first answers: `k` itemsets of at least `min_count` are wanted, `remaining` of epsilon is not spent."""

    number: NoisyCount
    k: int
    min_count: int
    remaining: Fraction
    notes: tuple[str, ...]

    @property
    def most(self) -> int:
        """How many transactions there may be: no support is above."""
        mechanism = self.number.mechanism
        return max(1, self.number.value + (0 if mechanism is None else mechanism.half_width()))

    def less(self, epsilon: Fraction) -> "Preliminaries":
        """The same with that much more spent."""
        return replace(self, remaining=self.remaining - epsilon)

    def release(
        self, curator: Curator, estimates: Estimates, *, method: str, notes: tuple[str, ...] = ()
    ) -> Release:
        """The release of what a method found out about supports."""
        return Release.of(
            curator,
            estimates,
            method=method,
            number=self.number,
            min_count=self.min_count,
            notes=(*self.notes, *notes),
        )


def wanted_itemsets(curator: Curator, request: Request, domain: Domain) -> int | None:
    """How many itemsets are wanted: k, which a domain must hold; of items that were found, at most all there are."""
    if curator.alphabet_is_found and request.k is not None:
        return min(request.k, domain.size)
    domain.check_holds(request.k or 1)
    return request.k


def ask_preliminaries(
    curator: Curator, request: Request, *, domain: Domain, epsilon: Fraction
) -> Preliminaries:
    """Pay for what is not public: the number of transactions; for a threshold, how many itemsets it means."""
    wanted = wanted_itemsets(curator, request, domain)
    for_number = epsilon * SHARE_FOR_NUMBER if curator.public_number is None else Fraction(0)
    for_how_many = epsilon * SHARE_FOR_HOW_MANY if request.k is None else Fraction(0)
    number = curator.ask_number(epsilon=for_number)
    min_count = count_of(request.min_support or Fraction(0), transactions=number.value)
    k = wanted or ask_how_many(curator, min_count, domain=domain, epsilon=for_how_many)
    notes = (TOO_MANY,) if request.k is None and k == MOST_ABOVE_THRESHOLD else ()
    return Preliminaries(number, k, min_count, epsilon - for_number - for_how_many, notes)


def ask_threshold(curator: Curator, request: Request, *, domain: Domain, epsilon: Fraction) -> Preliminaries:
    """For methods that search above a threshold: the one asked for, or the noisy support of the k-th itemset.

    Where k is given, the k best of what is found are wanted, whether above the threshold or not.
    """
    wanted = wanted_itemsets(curator, request, domain)
    for_number = epsilon * SHARE_FOR_NUMBER if curator.public_number is None else Fraction(0)
    for_kth = epsilon * SHARE_FOR_HOW_MANY if request.min_support is None else Fraction(0)
    number = curator.ask_number(epsilon=for_number)
    if request.min_support is None:
        min_count = curator.ask_kth_support(wanted or 1, domain=domain, epsilon=for_kth).value
    else:
        min_count = count_of(request.min_support, transactions=number.value)
    return Preliminaries(number, wanted or domain.size, max(1, min_count), epsilon - for_number - for_kth, ())


def ask_how_many(curator: Curator, min_count: int, *, domain: Domain, epsilon: Fraction) -> int:
    """How many itemsets have that support at least, rounded up on the grid of ranks."""
    ranks = [rank for rank in RANKS if rank <= domain.size]
    for_each = epsilon / len(ranks).bit_length()
    low, high = 0, len(ranks)
    while low < high:
        middle = (low + high) // 2
        if curator.ask_kth_support(ranks[middle], domain=domain, epsilon=for_each).value >= min_count:
            low = middle + 1
        else:
            high = middle
    return [*(rank - 1 for rank in ranks), min(MOST_ABOVE_THRESHOLD, domain.size)][low]
