"""Two releases side by side: what both name, what only one does, and where they differ by more than their noise.

Nothing is looked at but what was released, so a comparison costs nothing.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from veilset.arguments import a_path
from veilset.results.release import Release, ReleasedItemset


@dataclass(frozen=True, slots=True)
class SharedItemset:
    """An itemset of both releases."""

    first: ReleasedItemset
    second: ReleasedItemset

    @property
    def difference(self) -> int:
        """By how much the support is larger in the second release."""
        return self.second.support - self.first.support

    @property
    def overlaps(self) -> bool:
        """Whether the 95 % intervals meet; where they do not, noise alone does not explain the difference."""
        return self.first.low <= self.second.high and self.second.low <= self.first.high

    def to_dict(self) -> dict[str, Any]:
        """Both as JSON values."""
        sides = {name: _support_of(each) for name, each in (("first", self.first), ("second", self.second))}
        return {
            "items": list(self.first.items),
            **sides,
            "difference": self.difference,
            "intervals_overlap": self.overlaps,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The itemsets of two releases: in both, only in the first, only in the second; the most frequent first."""

    in_both: tuple[SharedItemset, ...]
    only_first: tuple[ReleasedItemset, ...]
    only_second: tuple[ReleasedItemset, ...]

    @classmethod
    def of(cls, first: Release, second: Release) -> "Comparison":
        """Compare what was released; the order of items within a set does not matter."""
        one, other = ({frozenset(each.items): each for each in found.itemsets} for found in (first, second))
        return cls(
            tuple(SharedItemset(found, other[items]) for items, found in one.items() if items in other),
            tuple(found for items, found in one.items() if items not in other),
            tuple(found for items, found in other.items() if items not in one),
        )

    @property
    def apart(self) -> int:
        """How many itemsets of both have intervals that do not overlap."""
        return sum(not each.overlaps for each in self.in_both)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON values."""
        return {
            "in_both": [each.to_dict() for each in self.in_both],
            "only_first": [{**asdict(each), "items": list(each.items)} for each in self.only_first],
            "only_second": [{**asdict(each), "items": list(each.items)} for each in self.only_second],
            "intervals_apart": self.apart,
        }


def _support_of(found: ReleasedItemset) -> dict[str, int]:
    return {"support": found.support, "low": found.low, "high": found.high}


def compare_releases(first: Release | str | Path, second: Release | str | Path) -> Comparison:
    """Two releases, or files of them, side by side. Costs nothing: no data is read."""
    return Comparison.of(_release_of(first), _release_of(second))


def _release_of(given: Release | str | Path) -> Release:
    return given if isinstance(given, Release) else Release.load(Path(a_path(given, "a release")))
