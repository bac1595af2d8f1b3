"""What questions accept, checked before anything is paid: the house's own types, codes of the alphabet, whole numbers.

A question's sensitivity is reckoned from what it is handed. So nothing is taken on trust: another class in the place of
a truncation could keep more than it says, and a code beyond the alphabet would be read beyond the end of an array.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.integers import whole, whole_numbers
from veilset.itemsets import Domain, Itemsets
from veilset.raw.cuts.similar_cut import KeepSimilar
from veilset.raw.cuts.smart_cut import KeepSmart
from veilset.raw.cuts.split import Split
from veilset.raw.cuts.truncation import (
    DropLonger,
    KeepAll,
    KeepBest,
    KeepRandom,
    OnlyItems,
    Reshape,
    Truncation,
)
from veilset.taxonomy import Taxonomy

_TRUNCATIONS = (KeepAll, DropLonger, KeepRandom, KeepBest, KeepSmart, KeepSimilar, OnlyItems)
"""All there are, each with a proof of its bound in the tests."""


def checked_truncation(truncation: Truncation | None, alphabet_size: int) -> Truncation:
    """The truncation to use; BadCall where it is none of the house's, or does not fit the alphabet."""
    cut = KeepAll() if truncation is None else truncation
    within: object = cut
    while True:
        if type(within) not in _TRUNCATIONS:
            raise BadCall(
                f"a {type(within).__name__} is no truncation of veilset, so nobody knows what it keeps; "
                f"give one of {', '.join(each.__name__ for each in _TRUNCATIONS)}"
            )
        if isinstance(within, KeepSmart | KeepSimilar | OnlyItems):
            _check_codes(within.items, "a truncation", alphabet_size)
        if not isinstance(within, OnlyItems):
            break
        within = within.then
    cut.longest(alphabet_size)  # raises where it does not fit
    return cut


def checked_reshape(reshape: Reshape | None, alphabet_size: int) -> Reshape | None:
    """What transactions become; BadCall where it is neither a split nor a truncation of the house's."""
    if reshape is None:
        return None
    if type(reshape) is Split:
        _check_codes(reshape.items, "a split", alphabet_size)
        return reshape
    return checked_truncation(reshape, alphabet_size)  # type: ignore[arg-type]


def check_known(itemsets: Itemsets, alphabet_size: int) -> None:
    """Raise BadCall for anything but itemsets over the alphabet."""
    if type(itemsets) is not Itemsets:
        raise BadCall(f"a {type(itemsets).__name__} is no list of itemsets; make one with Itemsets.of")
    _check_codes(itemsets.items, "an itemset", alphabet_size)


def check_countable(itemsets: Itemsets, alphabet_size: int) -> None:
    """Raise BadCall where rows that share no item could move a support by more than 1, or one stands twice."""
    check_known(itemsets, alphabet_size)
    if len(itemsets) == 0 or 0 in itemsets.number_by_size() or len(set(itemsets)) < len(itemsets):
        raise BadCall("itemsets to count must be different, and none empty; give at least one, each once")


def checked_cap(most: int, itemsets: Itemsets) -> int:
    """For how many of the itemsets a transaction may count; none holds more than there are."""
    cap = whole(most, "the contribution cap")
    if cap < 1:
        raise BadCall(f"a transaction that may count for {cap} itemsets counts for none; give at least 1")
    return min(cap, len(itemsets))


def checked_rank(k: int, domain: Domain, alphabet_size: int) -> int:
    """The rank, if a domain over the alphabet has one."""
    if type(domain) is not Domain:
        raise BadCall(f"a {type(domain).__name__} is no domain; make one with Domain or ask the curator")
    if len(domain.items) > 0 and domain.items[-1] >= alphabet_size:
        raise BadCall(
            f"an item of the domain lies outside the alphabet; give codes from 0 to {alphabet_size - 1}"
        )
    rank = whole(k, "k")
    domain.check_holds(rank)
    return rank


def checked_items(items: npt.ArrayLike, alphabet_size: int) -> Int64Array:
    """The chosen items, in an array that nobody else has; each of the alphabet, and each once."""
    chosen = whole_numbers(items, "chosen items")
    if (
        chosen.size == 0
        or not 0 <= chosen.min() <= chosen.max() < alphabet_size
        or np.unique(chosen).size < chosen.size
    ):
        raise BadCall(f"choose different items, by codes from 0 to {alphabet_size - 1}, and at least one")
    return chosen


def check_taxonomy(taxonomy: Taxonomy, alphabet_size: int) -> None:
    """Raise BadCall for anything but a tree over items of the alphabet."""
    if type(taxonomy) is not Taxonomy:
        raise BadCall(f"a {type(taxonomy).__name__} is no taxonomy; make one with Taxonomy.of")
    _check_codes(taxonomy.items, "the taxonomy", alphabet_size)


def checked_classes(classes: Sequence[int], *, of: str, first: int = 0) -> tuple[int, ...]:
    """The least number of each class, from the first that is possible up."""
    numbers = tuple(whole(least, "the least number of a class") for least in classes)
    if len(numbers) < 2 or numbers[0] != first or any(a >= b for a, b in pairwise(numbers)):
        example = ", ".join(str(first + step) for step in (0, 1, 2, 4))
        raise BadCall(
            f"classes of {of} must begin with {first} and rise; give at least two, such as {example}"
        )
    return numbers


def checked_place(k: int, max_size: int) -> tuple[int, int]:
    """The place of an itemset and the most items that it may have, where nobody knows how many items there are."""
    place, size = whole(k, "k"), whole(max_size, "max_size")
    if place < 1 or size < 1:
        raise BadCall(f"the {place}th itemset of up to {size} items; give numbers from 1 up")
    return place, size


def _check_codes(items: npt.NDArray[np.integer], what: str, alphabet_size: int) -> None:
    if items.size > 0 and not 0 <= items.min() <= items.max() < alphabet_size:
        raise BadCall(f"{what} holds an item outside the alphabet; give codes from 0 to {alphabet_size - 1}")
