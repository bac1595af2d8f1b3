"""Slow, obvious twins of what the kernels compute; never optimised."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from veilset.raw.cuts.similar_cut import KeepSimilar
from veilset.raw.cuts.smart_cut import KeepSmart
from veilset.raw.cuts.truncation import DropLonger, KeepAll, KeepBest, KeepRandom, OnlyItems, Truncation

Basket = frozenset[int]
Baskets = list[Basket]


def support(baskets: Baskets, itemset: Iterable[int]) -> int:
    """How many baskets hold all items of an itemset."""
    return sum(basket.issuperset(itemset) for basket in baskets)


def supports(baskets: Baskets, itemsets: Iterable[Iterable[int]]) -> list[int]:
    """The support of each itemset."""
    return [support(baskets, itemset) for itemset in itemsets]


def item_supports(baskets: Baskets, alphabet_size: int) -> list[int]:
    """The support of each item."""
    return [support(baskets, [item]) for item in range(alphabet_size)]


def normalised_supports(baskets: Baskets, alphabet_size: int, limit: int, steps: int) -> list[int]:
    """What each item weighs where no basket weighs more than `limit` on all its items together."""
    weights = [steps * limit // max(limit, len(basket)) for basket in baskets]
    return [
        sum(weight for basket, weight in zip(baskets, weights, strict=True) if item in basket)
        for item in range(alphabet_size)
    ]


def unlikeness(baskets: Baskets, items: Sequence[int], limit: int, average: Fraction) -> Fraction:
    """The sum over items of |a - average b|: a basket of n items adds min(1, limit / n) to a of each, 1 / n to b."""
    total = Fraction(0)
    for item in items:
        lengths = [len(basket) for basket in baskets if item in basket]
        to_limit = sum((min(Fraction(1), Fraction(limit, length)) for length in lengths), Fraction(0))
        total += abs(to_limit - average * sum((Fraction(1, length) for length in lengths), Fraction(0)))
    return total


def weighted_items(baskets: Baskets, alphabet_size: int, weights: Sequence[int]) -> list[int]:
    """For each item the sum of what the lengths of the baskets that hold it weigh."""
    return [
        sum(weights[len(basket)] for basket in baskets if item in basket) for item in range(alphabet_size)
    ]


def restricted(baskets: Baskets, items: Sequence[int]) -> Baskets:
    """The baskets without all other items; each of these is called by its place among them."""
    return [frozenset(place for place, item in enumerate(items) if item in basket) for basket in baskets]


def containment(baskets: Baskets, itemsets: Sequence[Iterable[int]]) -> list[int]:
    """How many of the itemsets each basket holds."""
    return [sum(basket.issuperset(itemset) for itemset in itemsets) for basket in baskets]


def capped_counts(baskets: Baskets, itemsets: Sequence[Iterable[int]], most: int, steps: int) -> list[int]:
    """What each itemset weighs where no basket weighs more than `most` on all of them together."""
    weights = [steps * most // max(most, number) for number in containment(baskets, itemsets)]
    return [
        sum(weight for basket, weight in zip(baskets, weights, strict=True) if basket.issuperset(itemset))
        for itemset in itemsets
    ]


def lengths(baskets: Baskets, limit: int) -> list[int]:
    """How many baskets hold 0, 1, ..., limit items; the last takes the longer ones."""
    return [sum(min(len(basket), limit) == length for basket in baskets) for length in range(limit + 1)]


def marginal(baskets: Baskets, items: Sequence[int]) -> list[int]:
    """How many baskets hold exactly which of the items; bit i of a cell stands for `items[i]`."""
    patterns = ({item for i, item in enumerate(items) if n >> i & 1} for n in range(1 << len(items)))
    return [sum(basket & set(items) == pattern for basket in baskets) for pattern in patterns]


def truncated(baskets: Baskets, how: Truncation, keys: Iterator[int]) -> Baskets:
    """The baskets after truncation; a random one takes a key for each item that it chooses among."""
    return [truncated_basket(basket, how, keys) for basket in baskets]


def truncated_basket(basket: Basket, how: Truncation, keys: Iterator[int]) -> Basket:  # noqa: PLR0911 - one for each kind
    """One basket after truncation; on equal keys or ranks the smaller item stays."""
    match how:
        case DropLonger(limit):
            return basket if len(basket) <= limit else frozenset()
        case KeepRandom(limit) if len(basket) > limit:
            key_of = {item: next(keys) for item in sorted(basket)}
            return frozenset(sorted(basket, key=lambda item: (key_of[item], item))[:limit])
        case KeepBest(limit, rank):
            return frozenset(sorted(basket, key=lambda item: (rank[item], item))[:limit])
        case KeepSmart(limit) if len(basket) > limit:
            return truncated_smartly(basket, how, {item: next(keys) for item in sorted(basket)})
        case KeepSimilar():
            return truncated_by_similarity(basket, how)
        case KeepAll() | KeepRandom() | KeepSmart():
            return basket
        case OnlyItems(items, then):
            return truncated_basket(basket.intersection(items.tolist()), then, keys)
        case _:
            raise NotImplementedError(how)


def truncated_by_similarity(basket: Basket, how: KeepSimilar) -> Basket:
    """What Alg. 3 of DP-FIM keeps of one basket."""
    held = [item for item in how.order.tolist() if item in basket]
    if len(held) <= how.limit:
        return frozenset(held)
    targets = [set(how.items[start:end].tolist()) for start, end in pairwise(how.offsets.tolist())]
    best = max(targets, key=lambda target: len(target & set(held)), default=set())
    common, others = ([item for item in held if (item in best) == wanted] for wanted in (True, False))
    return frozenset([*common, *others][: how.limit])


def truncated_smartly(basket: Basket, how: KeepSmart, key_of: dict[int, int]) -> Basket:
    """DiffFIM's Alg. 8 line by line, with an end (repair Z8); on equal weights the first in order goes first."""
    bounds, items = how.offsets.tolist(), how.items.tolist()
    candidates = [tuple(sorted(items[start:end])) for start, end in pairwise(bounds)]
    score_of = dict(zip(candidates, how.scores.tolist(), strict=True))
    weights = {each: Fraction(score) for each, score in score_of.items() if basket.issuperset(each)}
    kept: Basket = frozenset()
    while weights and len(kept) < how.limit:
        heaviest = min(weights, key=lambda each: (-weights[each], each))
        missing = sorted(set(heaviest) - kept, key=lambda item: (key_of[item], item))
        added = frozenset(missing[: how.limit - len(kept)])
        kept |= added
        del weights[heaviest]
        for each in weights:
            weights[each] += Fraction(score_of[each], len(each)) * len(added.intersection(each))
    return kept
