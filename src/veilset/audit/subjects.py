"""What is audited: every method of the registry and every question of the gate, each as a law of outcomes.

A subject turns a database and a seed into an outcome, which is what an attacker could see of one run: which
itemsets came out, their noisy supports, how many transactions there seem to be.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from veilset.api import items, mine, publish
from veilset.arrays import Int64Array
from veilset.audit.lower_bound import Outcome
from veilset.gate import (
    Budget,
    Curator,
    DiscreteLaplace,
    DropLonger,
    KeepAll,
    KeepBest,
    KeepRandom,
    KeepSimilar,
    KeepSmart,
    NamingLaw,
    NoisyHistogram,
    NoisyTree,
    OnlyItems,
    PrivacyUnit,
    Refinement,
    SeededNoise,
    SizeTest,
    Split,
    Truncation,
    UnnamedCurator,
)
from veilset.itemsets import Itemset, Itemsets
from veilset.methods import METHODS, Method, find_method
from veilset.opening import Access, ItemChoice, open_curator
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Alphabet, Transactions
from veilset.request import PublishRequest, Request
from veilset.results.published import Published
from veilset.results.release import Release
from veilset.taxonomy import Taxonomy

AUDITED_DELTA = Fraction(1, 1000)
"""The largest delta there is: thresholds are at their lowest, where one unit's own items are named most easily."""

Ask = Callable[[Curator, Fraction], Outcome]
AskUnnamed = Callable[[UnnamedCurator, Fraction], Outcome]
Run = Callable[[Transactions, Fraction, SeededNoise], Outcome]
AskUnder = Callable[[Curator, Fraction, Truncation], Outcome]


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that claims to cost epsilon."""

    name: str
    case: str
    ask: Ask
    delta: ClassVar[Fraction] = Fraction(0)

    def outcome(self, data: Transactions, *, epsilon: Fraction, seed: int) -> Outcome:
        """One run, with a budget of exactly epsilon."""
        curator = open_curator(data, epsilon=epsilon, noise=SeededNoise(seed), threads=1)
        return self.ask(curator, epsilon)


@dataclass(frozen=True, slots=True)
class UnlistedSubject:
    """Something that claims to cost epsilon and delta, on data whose items nobody knows."""

    name: str
    case: str
    run: Run
    delta: ClassVar[Fraction] = AUDITED_DELTA

    def outcome(self, data: Transactions, *, epsilon: Fraction, seed: int) -> Outcome:
        """One run, with a budget of exactly epsilon and delta."""
        unlisted = replace(data, alphabet=Alphabet(data.alphabet.names, is_given=False))
        return self.run(unlisted, epsilon, SeededNoise(seed))


Audited = Subject | UnlistedSubject


TARGETS: Mapping[str, Mapping[str, Request | PublishRequest]] = {
    "mine": {
        "k = 2": Request.of(k=2, max_size=2),
        "support 4": Request.of(min_support=4, max_size=2),
    },
    "items": {
        "k = 2": Request.of(k=2, max_size=1),
    },
    "publish": {
        "fan-out 2": PublishRequest(fan_out=2),
        "fan-out 10": PublishRequest(fan_out=10),
    },
}
"""For each task, what its methods are asked for under the audit."""


def of_method(name: str) -> list[Audited]:
    """A method with everything it can be asked for; the default of each task also on items that are found privately."""
    method = METHODS[name]
    listed = [
        Subject(name, case, _asking(method, request))
        for case, request in TARGETS.get(method.task, {}).items()
    ]
    is_default = find_method(None, task=method.task).name == name
    return [*listed, *(_after_discovery(method) if is_default else ())]


def _after_discovery(method: Method) -> Iterator[UnlistedSubject]:
    """The whole way from data whose items nobody knows to a release, as a caller goes it."""
    if method.task == "publish":
        yield UnlistedSubject(
            method.name, "items found privately", partial(_published_of_found_items, method.name)
        )
    else:
        verb = mine if method.task == "mine" else items
        yield UnlistedSubject(
            method.name, "k = 2, items found privately", partial(_release_of_found_items, verb, method.name)
        )


def _release_of_found_items(
    verb: Callable[..., Release], method: str, data: Transactions, epsilon: Fraction, noise: SeededNoise
) -> Outcome:
    return _seen(verb(data, k=2, epsilon=epsilon, method=method, delta=AUDITED_DELTA, noise=noise))


def _published_of_found_items(
    method: str, data: Transactions, epsilon: Fraction, noise: SeededNoise
) -> Outcome:
    return _seen_records(publish(data, epsilon=epsilon, method=method, delta=AUDITED_DELTA, noise=noise))


def _asking(method: Method, request: Request | PublishRequest) -> Ask:
    if isinstance(request, PublishRequest):
        return lambda curator, epsilon: _seen_records(method.run(curator, request, epsilon=epsilon))
    return lambda curator, epsilon: _seen(method.run(curator, request, epsilon=epsilon))


def _seen(release: Release) -> Outcome:
    """What an attacker sees of a release."""
    outcome = {"number of itemsets": len(release), "number of transactions": release.transactions.value}
    for found in release.itemsets:
        itemset = "{" + ", ".join(map(str, found.items)) + "}"
        outcome[f"{itemset} released"] = 1
        outcome[f"support of {itemset}"] = found.support
    return outcome


def _seen_records(published: Published) -> Outcome:
    """What an attacker sees of a published dataset."""
    copies = {
        f"copies of {set(record)}": number
        for record, number in zip(published.records, published.multiplicities.tolist(), strict=True)
    }
    return {"number of records": len(published), "number of different records": len(copies), **copies}


def of_questions() -> list[Audited]:
    """Every question of the gate; those that take a truncation, under each kind of it; those about unnamed items."""
    plain = [Subject("questions", name, ask) for name, ask in QUESTIONS.items()]
    truncated = [
        Subject("questions", f"{name} under {label}", _under(ask, truncation))
        for name, ask in QUESTIONS_UNDER_TRUNCATION.items()
        for label, truncation in TRUNCATIONS.items()
    ]
    unnamed = [
        UnlistedSubject("questions", name, partial(_of_unnamed, ask))
        for name, ask in QUESTIONS_BEFORE_NAMES.items()
    ]
    rooted = UnlistedSubject("questions", "counts under a cap in the L2 norm", _root_counts)
    return [*plain, *truncated, *unnamed, rooted]


def _root_counts(data: Transactions, epsilon: Fraction, noise: SeededNoise) -> Outcome:
    """Noisy counts in 16ths of a transaction."""
    budget, unit = Budget(epsilon, delta=AUDITED_DELTA), PrivacyUnit("transaction", 1)
    curator = Curator(LocalEngine(data, threads=1), budget=budget, noise=noise, unit=unit)
    counts = curator.ask_root_counts(THREE_ITEMSETS, most=2, epsilon=epsilon)
    return _counts("itemset", 16 * counts.values // counts.mechanism.steps)


def _of_unnamed(ask: AskUnnamed, data: Transactions, epsilon: Fraction, noise: SeededNoise) -> Outcome:
    access = Access(epsilon=epsilon, noise=noise, items=ItemChoice(delta=AUDITED_DELTA), threads=1)
    return ask(access.unnamed_curator(data), epsilon)


def _under(ask: AskUnder, truncation: Callable[[int], Truncation]) -> Ask:
    return lambda curator, epsilon: ask(curator, epsilon, truncation(curator.alphabet_size))


def _counts(name: str, values: Int64Array) -> Outcome:
    return {f"{name} {place}": int(value) for place, value in enumerate(values)}


def _seen_items(items: tuple[int, ...]) -> Outcome:
    """Which items were above, and how many."""
    return {"number": len(items), **{f"{item} above": 1 for item in items}}


def _all(curator: Curator) -> Int64Array:
    return np.arange(curator.alphabet_size)


def _seen_choice(itemsets: tuple[Itemset, ...]) -> Outcome:
    """Which itemset came first, and so on; and which came at all."""
    places = {f"place {place}": hash(itemset) % 2**31 for place, itemset in enumerate(itemsets)}
    return {**places, **{f"{itemset} chosen": 1 for itemset in itemsets}}


def _above(scale: Fraction) -> int:
    """A threshold that three empty children seldom reach."""
    return math.ceil(scale)


def _paths(tree: NoisyTree) -> Outcome:
    """Which nodes came out, and their counts."""
    paths: list[Itemset] = [()]
    for parent, rank in zip(tree.parents[1:].tolist(), tree.ranks[1:].tolist(), strict=True):
        paths.append((*paths[parent], tree.order[rank]))
    return {f"path {path}": int(count) for path, count in zip(paths[1:], tree.counts[1:], strict=True)}


def _of_sample(sample: Curator) -> Outcome:
    """Two answers on one sample, which together cost all that was set aside for it."""
    half = sample.budget.total / 2
    lengths = sample.ask_lengths(limit=3, epsilon=half)
    items = sample.ask_item_supports(truncation=KeepRandom(2), epsilon=half)
    return {**_counts("length", lengths.values), **_counts("item", items.values)}


def _partitions(curator: Curator, epsilon: Fraction) -> Outcome:
    """Two levels of partitions: which of two groups of items a record meets, then which of the first group's."""
    half = curator.alphabet_size // 2
    taxonomy = Taxonomy.of([list(range(half)), list(range(half, curator.alphabet_size))])
    partitions = curator.ask_partitions(taxonomy, epsilon=epsilon)
    outcome: dict[str, int] = {}
    places, above = np.zeros(1, np.int64), ["all"]
    for level, share in enumerate((Fraction(1, 3), Fraction(2, 3))):
        same = np.zeros(places.size, np.int64)
        found = partitions.ask_split(
            Refinement(places, same + level, (SizeTest(share * epsilon, 1),), same, same)
        )
        above = [f"{above[parent]}/{mask}" for parent, mask in zip(found.parents, found.masks, strict=True)]
        outcome |= {f"size of {name}": int(size) for name, size in zip(above, found.sizes, strict=True)}
        places = np.arange(found.sizes.size)
    return outcome


def _naming(law: NamingLaw, longest: int) -> AskUnnamed:
    """Which items are named, how many, and their noisy weights in 16ths of a transaction."""

    def ask(curator: UnnamedCurator, epsilon: Fraction) -> Outcome:
        found = curator.ask_alphabet(
            law, longest=longest, epsilon=epsilon, delta=AUDITED_DELTA, lengths=NO_LENGTHS
        )
        names = found.names(tuple(range(found.alphabet_size)))
        told = found.discovery
        weights = [] if told is None else (16 * told.weights // told.mechanism.steps).tolist()
        outcome = {"number": len(names)}
        for name, weight in zip(names, weights, strict=True):
            outcome |= {f"{name} named": 1, f"weight of {name}": weight}
        return outcome

    return ask


NO_LENGTHS = NoisyHistogram(np.zeros(2, np.int64), DiscreteLaplace(1, Fraction(1)))
"""Goes along with a question that does not look at it."""
THREE_ITEMSETS = Itemsets.of([(0,), (1,), (0, 1)])
SPLIT = Split(1, THREE_ITEMSETS.offsets, THREE_ITEMSETS.items, weights=np.array([5, 4, 3]))
"""Pieces of one item: every transaction of several becomes as many rows as it can."""

QUESTIONS: Mapping[str, Ask] = {
    "number": lambda curator, epsilon: {"number": curator.ask_number(epsilon=epsilon).value},
    "k-th support": lambda curator, epsilon: {
        "support": curator.ask_kth_support(3, domain=curator.domain(max_size=2), epsilon=epsilon).value
    },
    "largest support": lambda curator, epsilon: {
        "support": curator.ask_largest_support(2, floor=1, epsilon=epsilon).value
    },
    "lengths and items of a sample": lambda curator, epsilon: _of_sample(
        curator.on_sample(Fraction(1, 4), epsilon=epsilon)
    ),
    "best 2": lambda curator, epsilon: _seen_choice(
        curator.ask_best(2, domain=curator.domain(max_size=2), epsilon=epsilon).itemsets
    ),
    "best 2 of a list, split": lambda curator, epsilon: _seen_choice(
        curator.ask_best_of(2, THREE_ITEMSETS, reshape=SPLIT, epsilon=epsilon).itemsets
    ),
    "best 2, split": lambda curator, epsilon: _seen_choice(
        curator.ask_best(2, domain=curator.domain(max_size=2), reshape=SPLIT, epsilon=epsilon).itemsets
    ),
    "supports, split": lambda curator, epsilon: _counts(
        "itemset", curator.ask_reshaped_supports(THREE_ITEMSETS, reshape=SPLIT, epsilon=epsilon).values
    ),
    "matching rank": lambda curator, epsilon: {
        "rank": curator.ask_matching_rank(
            4, domain=curator.domain(max_size=2), most=curator.alphabet_size, epsilon=epsilon
        )
    },
    "frequent items": lambda curator, epsilon: _seen_items(
        curator.ask_frequent_items(
            4,
            domain=curator.domain(max_size=2),
            least=1,
            most=min(3, curator.alphabet_size),
            epsilon=epsilon,
        )
    ),
    "frequent ones of a list": lambda curator, epsilon: _seen_choice(
        curator.ask_frequent_of(4, THREE_ITEMSETS, domain=curator.domain(max_size=2), epsilon=epsilon)
    ),
    "truncating length": lambda curator, epsilon: {
        "length": curator.ask_truncating_length(
            (1, 2, 4), k=1, price=Fraction(1, 2) / epsilon, epsilon=epsilon
        )
    },
    "truncating length on 2 items": lambda curator, epsilon: {
        "length": curator.ask_truncating_length(
            (1, 2), k=2, price=Fraction(0), epsilon=epsilon, items=np.array([0, 1])
        )
    },
    "normalised supports": lambda curator, epsilon: _counts(
        "item", curator.ask_normalised_supports(2, epsilon=epsilon).values
    ),
    "normalised supports of 2 items": lambda curator, epsilon: _counts(
        "item", curator.ask_normalised_supports(1, epsilon=epsilon, items=np.array([1, 0])).values
    ),
    "containment": lambda curator, epsilon: _counts(
        "class", curator.ask_containment(THREE_ITEMSETS, classes=(0, 1, 2), epsilon=epsilon).values
    ),
    "containment of items": lambda curator, epsilon: _counts(
        "class", curator.ask_containment(None, classes=(0, 1, 2, 4), epsilon=epsilon).values
    ),
    "capped counts": lambda curator, epsilon: _counts(
        "itemset", curator.ask_capped_counts(THREE_ITEMSETS, most=2, epsilon=epsilon).values
    ),
    "sum of supports": lambda curator, epsilon: {
        "sum": curator.ask_total(_all(curator), most=2, epsilon=epsilon).value
    },
    "above the 1st by blocks": lambda curator, epsilon: _seen_items(
        curator.ask_above_kth(_all(curator), 1, epsilon=epsilon, by_blocks=True).items
    ),
    "above the 2nd by blocks": lambda curator, epsilon: _seen_items(
        curator.ask_above_kth(_all(curator), 2, epsilon=epsilon, by_blocks=True).items
    ),
    "above the 2nd": lambda curator, epsilon: _seen_items(
        curator.ask_above_kth(_all(curator), 2, epsilon=epsilon, by_blocks=False).items
    ),
    "partitions": _partitions,
}

QUESTIONS_BEFORE_NAMES: Mapping[str, AskUnnamed] = {
    "classes of lengths": lambda curator, epsilon: _counts(
        "class", curator.ask_length_classes((0, 1, 2, 4), epsilon=epsilon).values
    ),
    "k-th support of unnamed items": lambda curator, epsilon: {
        "support": curator.ask_kth_support(3, max_size=2, epsilon=epsilon).value
    },
    "items named by Gaussian noise": _naming("gaussian", 8),
    "items named by Gaussian noise, at most 2 of a transaction": _naming("gaussian", 2),
    "items named by Laplace noise": _naming("laplace", 8),
    "items named by Laplace noise, at most 2 of a transaction": _naming("laplace", 2),
}

QUESTIONS_UNDER_TRUNCATION: Mapping[str, AskUnder] = {
    "lengths": lambda curator, epsilon, truncation: _counts(
        "length", curator.ask_lengths(limit=4, truncation=truncation, epsilon=epsilon).values
    ),
    "item supports": lambda curator, epsilon, truncation: _counts(
        "item", curator.ask_item_supports(truncation=truncation, epsilon=epsilon).values
    ),
    "supports": lambda curator, epsilon, truncation: _counts(
        "itemset", curator.ask_supports(THREE_ITEMSETS, truncation=truncation, epsilon=epsilon).values
    ),
    "marginal": lambda curator, epsilon, truncation: _counts(
        "cell", curator.ask_marginal((0, 1, 2), truncation=truncation, epsilon=epsilon).values
    ),
    "prefix tree": lambda curator, epsilon, truncation: _paths(
        curator.ask_prefix_tree(
            (1, 0, 2), depth=2, threshold=_above(6 / epsilon), truncation=truncation, epsilon=epsilon
        )
    ),
}

TRUNCATIONS: Mapping[str, Callable[[int], Truncation]] = {
    "no truncation": lambda _: KeepAll(),
    "DropLonger(2)": lambda _: DropLonger(2),
    "KeepRandom(2)": lambda _: KeepRandom(2),
    "KeepBest(1)": lambda items: KeepBest(1, np.arange(items, dtype=np.int64)),
    "KeepSmart(2)": lambda _: KeepSmart(
        2, np.array([0, 2, 4]), np.array([0, 1, 0, 2], dtype=np.int32), scores=np.array([5, 4])
    ),
    "KeepSimilar(2)": lambda _: KeepSimilar(
        2, np.array([2, 0, 1]), np.array([0, 2]), np.array([0, 1], dtype=np.int32)
    ),
    "OnlyItems, KeepRandom(1)": lambda _: OnlyItems(np.array([0, 1]), KeepRandom(1)),
}
"""Every truncation, for an alphabet of that size."""
