"""A search for frequent itemsets that pays for what it finds, and nothing for what it does not.

A search is a chain of steps. Each names a sequence of candidates and a price, both public or known from the steps
before. The candidates are compared one after another with one noisy threshold for the whole search, which is the
support of the k-th itemset of a domain: the first whose noisy support reaches it is told, or that none does. Supports
and threshold never leave.

Why this is private. Let D' be D with one more privacy unit of at most c transactions. Every support rises by some a in
0..c, the threshold by some r in 0..c. Noise of scale c / e has P(x) <= exp(e) P(x + s) for |s| <= c, and so have its
tails. Fix everything that is told: with it all sequences and prices are fixed, because a step is a function of what was
told before. Let x be the noisy threshold, and e_t its share. A candidate that was passed over has noise below x less
its support, one that was told has noise of at least that.

* From D to D': put x + c for x. Who was passed over on D, at a given noise, is so on D'. The noise of the threshold
  moves by c - r: a factor of exp(e_t). The noise of each one told moves by c - a: a factor of exp(price).
* From D' to D: at the same x. Who was passed over on D', at a given noise, is so on D, too. The noise of the threshold
  moves by r, that of each one told by a: the same factors.

So the search costs e_t and the prices of those told, whatever else it compared, and however often: refusals are free.
The account keeps that sum at most epsilon on every path, in exact fractions, and epsilon is charged before the look.
What was not used is not given back: how much that is depends on the outcome.

The argument is that of the sparse vector technique, with prices that may differ from step to step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.itemsets import Itemsets

SHARE_FOR_SEARCH_THRESHOLD = Fraction(1, 8)
"""1/8 of epsilon for the threshold, which is drawn once; the rest pays for what is found."""
COMPARED_AT_ONCE = 64
"""64 candidates are compared together; what stands behind the first that reaches the threshold is not told."""


@dataclass(frozen=True, slots=True)
class CandidateSequence:
    """One step: candidates in order, and what it costs to find one of them."""

    candidates: Itemsets
    price: Fraction

    def __post_init__(self) -> None:
        if type(self.price) is not Fraction or self.price <= 0:
            raise BadCall(f"a price of {self.price!r} is none; give a Fraction above 0")
        if type(self.candidates) is not Itemsets:
            raise BadCall(f"candidates are Itemsets, not {type(self.candidates).__name__}")
        if len(self.candidates) == 0:
            raise BadCall("a sequence of no candidates cannot be compared; give at least one")


class SearchState(Protocol):
    """Where a search stands. It never changes: it is a function of what was told, and tells the next step."""

    @property
    def sequence(self) -> CandidateSequence | None:
        """What to compare next; None where the search is over."""

    def after(self, place: int | None) -> "SearchState":
        """Where it stands when the candidate at that place was the first to reach the threshold, or none did."""


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """For each step the place of the candidate that was found, or None; and what was used of epsilon, part by part."""

    places: tuple[int | None, ...]
    account: tuple[Fraction, ...]


class NoisySearch(Protocol):
    """The exact threshold and exact supports; they leave with discrete Laplace noise on each."""

    def threshold(self, scale: Fraction) -> int:
        """The threshold with noise."""

    def supports(self, candidates: Itemsets, start: int, end: int, scale: Fraction) -> Int64Array:
        """The supports of the candidates from `start` up to, not including, `end`, each with new noise."""


def search_with_free_refusals(
    noisy: NoisySearch, start: SearchState, *, most: int, sensitivity: int, epsilon: Fraction
) -> SearchOutcome:
    """Follow a search to its end, to its last find, or to where what is left cannot pay for the next one."""
    for_threshold = epsilon * SHARE_FOR_SEARCH_THRESHOLD
    account, places, state = [for_threshold], list[int | None](), start
    threshold = noisy.threshold(sensitivity / for_threshold)
    while (step := affordable_step(state, account, most=most, epsilon=epsilon)) is not None:
        place = _first_reaching(noisy, step, threshold, scale=sensitivity / step.price)
        if place is not None:
            account.append(step.price)
        places.append(place)
        state = state.after(place)
    return SearchOutcome(tuple(places), tuple(account))


def affordable_step(
    state: SearchState, account: Sequence[Fraction], *, most: int, epsilon: Fraction
) -> CandidateSequence | None:
    """The next step of a search, if there is one that what is left can pay for; the first part is the threshold's."""
    step = state.sequence if len(account) <= most else None
    # Of another type, a price could be another when the noise is drawn than when it is reckoned with.
    if step is not None and type(step) is not CandidateSequence:
        raise BadCall(f"a step of a search is a CandidateSequence, not {type(step).__name__}")
    return None if step is None or sum(account) + step.price > epsilon else step


def _first_reaching(
    noisy: NoisySearch, step: CandidateSequence, threshold: int, *, scale: Fraction
) -> int | None:
    """The place of the first candidate whose noisy support reaches the threshold; ties count as above."""
    number = len(step.candidates)
    for start in range(0, number, COMPARED_AT_ONCE):
        end = min(start + COMPARED_AT_ONCE, number)
        is_above = noisy.supports(step.candidates, start, end, scale) >= threshold
        if is_above.any():
            return start + int(is_above.argmax())
    return None
