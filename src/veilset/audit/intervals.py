"""Exact (Clopper-Pearson) bounds on a probability from a count of successes."""

import math
from collections.abc import Callable

_STEPS = 60


def at_least(successes: int, trials: int, *, error: float) -> float:
    """A lower bound on the probability of success, wrong with at most this probability.

    >>> round(at_least(10, 10, error=0.05), 4)  # 0.05 ** (1 / 10)
    0.7411
    """
    if successes == 0:
        return 0.0
    return _solved(lambda p: tail(successes, trials, p) < error)


def at_most(successes: int, trials: int, *, error: float) -> float:
    """An upper bound on the probability of success, wrong with at most this probability."""
    return 1 - at_least(trials - successes, trials, error=error)


def tail(successes: int, trials: int, p: float) -> float:
    """P(X >= successes) for X binomial.

    >>> round(tail(1, 2, 0.5), 12)
    0.75
    """
    if successes > trials * p:
        return _sum_away(successes, trials, p, step=1)
    return 1 - _sum_away(successes - 1, trials, p, step=-1)


def _sum_away(start: int, trials: int, p: float, *, step: int) -> float:
    """The binomial probabilities from `start` away from the mean, until they add nothing."""
    if not 0 <= start <= trials:
        return 0.0
    log_term = (
        math.lgamma(trials + 1)
        - math.lgamma(start + 1)
        - math.lgamma(trials - start + 1)
        + (start * math.log(p) if start else 0.0)
        + ((trials - start) * math.log1p(-p) if start < trials else 0.0)
    )
    term = total = math.exp(log_term)
    count = start
    while 0 <= count + step <= trials and term > 1e-17 * total:
        if step > 0:
            term *= (trials - count) / (count + 1) * p / (1 - p)
        else:
            term *= count / (trials - count + 1) * (1 - p) / p
        count += step
        total += term
    return total


def _solved(is_too_small: Callable[[float], bool]) -> float:
    """The largest probability, to many digits, that is still too small."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_too_small(middle) else (low, middle)
    return low
