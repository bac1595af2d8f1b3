"""What the papers prove about error, as functions: limits on every method, and promises of particular ones.

Zeng, Naughton, Cai (DiffFIM, PVLDB 2012) call an answer at the threshold `lambda` *delta-approximate* when
it holds every itemset with a support above (1 + delta) lambda and none with one below (1 - delta) lambda. A
method is (delta, eta)-*useful* when its answer is delta-approximate with probability at least 1 - eta, on
every database. Chen et al. (DiffPart, PVLDB 2011) call a published dataset (error, delta)-useful when a
counting query is off by at most `error` with probability at least 1 - delta.

All of these are worst cases over databases: a method can do far better on yours, as `veilset.plan` forecasts.
"""

import math
from dataclasses import dataclass

from veilset.errors import BadCall


@dataclass(frozen=True, slots=True)
class Usefulness:
    """The (delta, eta)-usefulness that is wanted of frequent single items at a threshold, a count."""

    items: int
    threshold: float
    delta: float
    eta: float

    def __post_init__(self) -> None:
        if self.items < 1 or self.threshold <= 0:
            raise BadCall(
                f"{self.items} items and a threshold of {self.threshold}: give at least 1 and a count above 0"
            )
        if not (0 < self.delta < 1 and 0 < self.eta < 1):
            raise BadCall(f"delta = {self.delta} and eta = {self.eta}: usefulness needs both between 0 and 1")


def necessary_epsilon(wanted: Usefulness) -> float:
    """DiffFIM, Lemma 1 and Theorem 3: no (delta, eta)-useful method can do with less.

    The paper's example: BMS-WebView-2 has 3,340 items; a threshold of 310 is 0.4 % of its transactions.

    >>> round(necessary_epsilon(Usefulness(items=3340, threshold=310, delta=0.2, eta=0.5)), 1)
    18.4
    """
    # ln(2^n - 1): 2^n itself would overflow
    return _epsilon_to_tell_apart(wanted, wanted.items * math.log(2) + math.log1p(-(0.5**wanted.items)))


def necessary_epsilon_when_short(wanted: Usefulness, *, length: int) -> float:
    """DiffFIM, Theorem 6: the same limit where a transaction has at most `length` items. Of order log n.

    The proof (B.5) moves a database to one whose only good answer is a set of j items, by adding
    2 delta lambda + 2 transactions for every `length` of them. Its last line prints that number inside the
    logarithm, which does not follow from the line before: it divides the logarithm. It also has eta where
    1 - eta must stand. Sets of up to `length` items take one batch, which gives the strongest limit, and
    the chances of all of them add up to at most eta. With length = items this is Lemma 1.

    >>> wanted = Usefulness(items=3340, threshold=310, delta=0.2, eta=0.5)
    >>> round(necessary_epsilon_when_short(wanted, length=10), 2)
    0.52
    """
    _check_length(length)
    answers, of_this_size = 0, 1
    for size in range(1, min(length, wanted.items) + 1):
        of_this_size = of_this_size * (wanted.items - size + 1) // size
        answers += of_this_size
    return _epsilon_to_tell_apart(wanted, math.log(answers))


def sufficient_epsilon_when_short(wanted: Usefulness, *, length: int) -> float:
    """DiffFIM, Theorem 5: enough for single items, with geometric noise on every support. Of order log n.

    The constant is that of the proof (B.4): epsilon = -length ln(1 - (1 - eta)^(1/n)) / (delta lambda).

    >>> wanted = Usefulness(items=3340, threshold=310, delta=0.2, eta=0.5)
    >>> round(sufficient_epsilon_when_short(wanted, length=10), 2)
    1.37
    """
    _check_length(length)
    chance_of_one_miss = -math.expm1(math.log1p(-wanted.eta) / wanted.items)
    return -length * math.log(chance_of_one_miss) / (wanted.delta * wanted.threshold)


def diffpart_failure_chance(
    *, error: float, itemsets: int, budget: float, items: int, fanout: int, strictness: float
) -> float:
    """DiffPart, Theorem 4.2: how likely a counting query over `itemsets` itemsets is off by more than `error`.

    The theorem states no numbers; its proof (F.3) ends in m exp(beta gamma - beta error / m), with
    beta = budget / (2 internal nodes of the taxonomy), the least that is spent on one partition, and
    gamma = sqrt(2) C_2 log_fanout(items) / beta, the largest threshold; `strictness` is C_2. To know:

    * m is printed as the number of covered itemsets less those that are neither in the data nor in the
      release. Which those are depends on the noise, so the proof holds for all covered itemsets: give that.
    * itemsets under one dropped partition share its noise, so the noises are not independent as printed; the
      last line is a union bound, which does not need that.
    * it asks every single noise to be below its share of the error, and gives every itemset the noise and the
      threshold of the worst partition. The bound is true and very loose.

    >>> query = {"itemsets": 4, "budget": 1, "items": 100, "fanout": 10, "strictness": 1}
    >>> round(diffpart_failure_chance(error=500, **query), 4)
    0.2306
    """
    beta, gamma = _worst_partition(budget, items, fanout, strictness)
    return min(1.0, itemsets * math.exp(beta * gamma - beta * error / itemsets))


def diffpart_error(
    *, delta: float, itemsets: int, budget: float, items: int, fanout: int, strictness: float
) -> float:
    """DiffPart, Theorem 4.2 the other way round: the error that is exceeded with probability at most delta.

    >>> query = {"itemsets": 4, "budget": 1, "items": 100, "fanout": 10, "strictness": 1}
    >>> round(diffpart_error(delta=0.2306, **query))
    500
    """
    beta, gamma = _worst_partition(budget, items, fanout, strictness)
    return itemsets * (gamma + math.log(itemsets / delta) / beta)


def internal_nodes(*, items: int, fanout: int) -> int:
    """How many nodes above the items a taxonomy has that groups `fanout` of them at a time.

    >>> internal_nodes(items=100, fanout=10)
    11
    """
    if items < 1 or fanout < 2:
        raise BadCall(
            f"a taxonomy of {items} items with fan-out {fanout}: give 1 item and fan-out 2 at least"
        )
    nodes, level = 0, items
    while level > 1:
        level = math.ceil(level / fanout)
        nodes += level
    return max(nodes, 1)


def _worst_partition(budget: float, items: int, fanout: int, strictness: float) -> tuple[float, float]:
    """Beta, the least budget of a partition, and gamma, the largest threshold."""
    beta = budget / (2 * internal_nodes(items=items, fanout=fanout))
    return beta, math.sqrt(2) * strictness * math.log(items, fanout) / beta


def _epsilon_to_tell_apart(wanted: Usefulness, ln_answers: float) -> float:
    """One database gives an answer with probability 1 - eta; another, so near, with at most eta / answers."""
    steps = 2 * wanted.delta * wanted.threshold + 2
    return max(0.0, (ln_answers + math.log((1 - wanted.eta) / wanted.eta)) / steps)


def _check_length(length: int) -> None:
    if length < 1:
        raise BadCall(f"transactions of at most {length} items: give at least 1")
