"""Truncated frequencies and the exponential mechanism (Bhaskar et al. 2010).

Task: the k most frequent itemsets of up to `max_size` items, with their supports. Symbols of the paper:
U = all itemsets up to the size limit; f_k = support of the k-th of them; gamma = the margin under f_k;
f^(X) = max(support, f_k - gamma) = the score. Floor and block are explained in `gate.scored`.

Privacy argument. Neighbours differ by one privacy unit, of at most c transactions (c = 1 unless a person may
have several). All questions are asked of the same data, so their costs add up to epsilon:

1. the number of transactions, unless it is public: sensitivity c, share 1/50;
2. for a threshold without k: at most 4 supports of a j-th itemset, sensitivity c each, together share 1/10;
3. the k best itemsets: k draws on monotone scores of sensitivity c, half of the rest;
4. the supports of those k: discrete Laplace, L1 sensitivity at most c k, the other half.

The domain of 3 is public (alphabet and size limit), so every itemset is possible on every database. A
threshold is compared with noisy supports only. Supports and intervals come from 4 alone, whose noise does not
depend on which itemsets 3 drew.
"""

from fractions import Fraction

from veilset.choose import count_of
from veilset.gate import Curator
from veilset.itemsets import Domain, Itemsets
from veilset.release import Release
from veilset.target import Target

NAME = "truncated-em"
SHARE_FOR_NUMBER = Fraction(1, 50)
SHARE_FOR_HOW_MANY = Fraction(1, 10)
MAX_SIZE = 3
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Where a threshold is compared with the support of the itemset of that rank: a public grid."""
MOST_ABOVE_THRESHOLD = 2 * RANKS[-1] - 1
TOO_MANY = (
    f"limited to {MOST_ABOVE_THRESHOLD} itemsets: the threshold may stand for more; raise it, or give k"
)


def truncated_em(curator: Curator, target: Target, *, epsilon: Fraction) -> Release:
    """The k most frequent itemsets, or those above a threshold, by the exponential mechanism."""
    domain = curator.domain(max_size=target.max_size or MAX_SIZE)
    domain.check_holds(target.k or 1)
    for_number = epsilon * SHARE_FOR_NUMBER if curator.public_number is None else Fraction(0)
    for_how_many = epsilon * SHARE_FOR_HOW_MANY if target.k is None else Fraction(0)
    for_itemsets = epsilon - for_number - for_how_many

    number = curator.ask_number(epsilon=for_number)
    min_count = count_of(target.min_support or Fraction(0), transactions=number.value)
    k = target.k or ask_how_many(curator, min_count, domain=domain, epsilon=for_how_many)
    if k == 0:
        return Release.of(curator, None, method=NAME, number=number)
    chosen = curator.ask_best(k, domain=domain, epsilon=for_itemsets / 2)
    supports = curator.ask_supports(Itemsets.of(chosen.itemsets), epsilon=for_itemsets / 2)
    notes = (TOO_MANY,) if k == MOST_ABOVE_THRESHOLD and target.k is None else ()
    return Release.of(curator, supports, method=NAME, number=number, min_count=min_count, notes=notes)


def ask_how_many(curator: Curator, min_count: int, *, domain: Domain, epsilon: Fraction) -> int:
    """How many itemsets have the support at least, rounded up on the grid: by binary search over the ranks.

    A search over n ranks makes at most floor(log2 n) + 1 comparisons, each of which is paid for.
    """
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
