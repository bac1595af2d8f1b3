"""What an attacker sees of one run, as whole numbers with names: all of a release, and of all that is written.

A JSON document is taken apart down to its last value: counts and flags as they are, fractions in millionths, texts by
their checksum. What belongs to an itemset is named after the itemset, not after its place in a list, so that the same
statistic means the same in every run; the place is a statistic of its own. Nothing is left out: a part that never
changes cannot refute anything, and one that should not change but does is what an audit looks for.
"""

import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from veilset.arrays import Int64Array
from veilset.audit.lower_bound import LARGEST, Outcome
from veilset.gate import Item, NoisyTree
from veilset.itemsets import Itemset
from veilset.results.published import Published
from veilset.results.release import Release

MILLIONTHS = 10**6
EVIDENCE = "evidence of the unit"

_NO_COUNT = re.compile(
    r"^(text|place|low|high|frequency) of |^(trace|promise|notes)\b| (low|high|is missing|in millionths)$"
)
"""Statistics that are no noisy counts of their own: what is told beside them, or follows from them."""


def seen_release(release: Release) -> Outcome:
    """All of a release, as `--json` prints it."""
    return of_document(release.to_dict())


def seen_published(published: Published) -> Outcome:
    """All of a published dataset: its records, how many copies of each, their order, and what stands beside it."""
    names = published.names
    labels = [label([names[code] for code in record]) for record in published.records]
    copies = published.multiplicities.tolist()
    return {
        **{f"copies of {each}": number for each, number in zip(labels, copies, strict=True)},
        "text of the order of records": checksum("\n".join(labels)),
        **of_document(published.to_dict()),
    }


def of_document(document: object, name: str = "") -> Outcome:
    """Every value of a JSON document.

    >>> found = {"itemsets": [{"items": ["a", "b"], "support": 5}], "share": 0.25, "none": None}
    >>> of_document(found)  # doctest: +NORMALIZE_WHITESPACE
    {'number of itemsets': 1, 'place of {a, b}': 0, 'support of {a, b}': 5, 'share in millionths': 250000,
     'none is missing': 1}
    """
    found: dict[str, int] = {}
    _take_apart(document, name, found)
    return found


def _take_apart(value: Any, name: str, found: dict[str, int]) -> None:  # noqa: ANN401 - whatever JSON holds
    match value:
        case dict():
            for key, inner in value.items():
                _take_apart(inner, f"{name} {key}" if name else key, found)
        case list():
            found[f"number of {name}"] = len(value)
            for place, inner in enumerate(value):
                if isinstance(inner, dict) and "items" in inner:
                    _take_row(inner, place, found)
                else:
                    _take_apart(inner, f"{name} {place}", found)
        case str():
            found[f"text of {name}"] = checksum(value)
        case int():
            found[name] = within_range(int(value))
        case float():
            found[f"{name} in millionths"] = in_millionths(value)
        case _:
            found[f"{name} is missing"] = 1


def _take_row(row: Mapping[str, Any], place: int, found: dict[str, int]) -> None:
    """What is said of an itemset, under its name."""
    itemset = label(row["items"])
    found[f"place of {itemset}"] = place
    for key, inner in row.items():
        if key != "items":
            _take_apart(inner, f"{key} of {itemset}", found)


def label(items: Iterable[Item]) -> str:
    """An itemset as part of a statistic's name."""
    return "{" + ", ".join(map(str, items)) + "}"


def checksum(text: str) -> int:
    """A number for a text, the same in every run and every process."""
    return zlib.crc32(text.encode())


def within_range(value: int) -> int:
    """A count, however large it is."""
    return max(-LARGEST + 1, min(value, LARGEST - 1))


def in_millionths(value: float) -> int:
    """A fraction as a whole number."""
    return within_range(round(value * MILLIONTHS)) if math.isfinite(value) else LARGEST - 1


def with_evidence(outcome: Outcome, typical: Sequence[Outcome]) -> Outcome:
    """An outcome, and how much closer it is to what one database says than to what the other says, over all counts.

    For Laplace noise on all of them this is the log of the likelihood ratio: the best that an attacker can do
    who knows both databases.
    """
    with_unit, without_unit = typical
    evidence = sum(
        abs(outcome[name] - without) - abs(outcome[name] - with_unit[name])
        for name, without in without_unit.items()
        if name in outcome and name in with_unit
    )
    return {**outcome, EVIDENCE: within_range(evidence)}


def only_counts(outcome: Outcome) -> Outcome:
    """The noisy counts among all that is seen."""
    return {name: value for name, value in outcome.items() if not _NO_COUNT.search(name)}


def seen_counts(name: str, values: Int64Array) -> Outcome:
    """Counts that have a place each."""
    return {f"{name} {place}": int(value) for place, value in enumerate(values)}


def seen_items(items: tuple[int, ...]) -> Outcome:
    """Which items were above, how many, and in which order."""
    order = {"text of the order": checksum(label(items))}
    return {"number": len(items), **{f"{item} above": 1 for item in items}, **order}


def seen_choice(itemsets: tuple[Itemset, ...]) -> Outcome:
    """Which itemset came first, and so on; and which came at all."""
    places = {f"text of place {place}": checksum(label(itemset)) for place, itemset in enumerate(itemsets)}
    return {**places, **{f"{label(itemset)} chosen": 1 for itemset in itemsets}}


def seen_tree(tree: NoisyTree) -> Outcome:
    """Which nodes came out, and their counts."""
    paths: list[Itemset] = [()]
    for parent, rank in zip(tree.parents[1:].tolist(), tree.ranks[1:].tolist(), strict=True):
        paths.append((*paths[parent], tree.order[rank]))
    return {f"path {path}": int(count) for path, count in zip(paths[1:], tree.counts[1:], strict=True)}
