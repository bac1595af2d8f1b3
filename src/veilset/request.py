"""What a caller wants: the top k itemsets, those above a threshold, a whole dataset; checked before any look."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from veilset.errors import BadCall
from veilset.rationals import Rational, rational_of
from veilset.taxonomy import FAN_OUT, Taxonomy, check_fan_out

Support = Rational
"""A threshold: below 1 a share of the transactions, from 1 up a count."""

PerOwner = int | Literal["auto"]
"""How many transactions of one person count: a number, or to be chosen privately."""

AUTO: Literal["auto"] = "auto"
"""To be chosen privately."""

MOST_TRANSACTIONS = 10**15
"""More than anybody has, and few enough for sums in 64 bits."""


@dataclass(frozen=True, slots=True)
class Request:
    """The k most frequent itemsets, those above a threshold, or both: the k best of those above it.

    >>> Request.of(k=10)
    Request(k=10, min_support=None, max_size=None)
    >>> Request.of(min_support=0.07).min_support
    Fraction(7, 100)
    """

    k: int | None
    min_support: Fraction | None
    max_size: int | None

    @classmethod
    def of(
        cls, *, k: int | None = None, min_support: Support | None = None, max_size: int | None = None
    ) -> "Request":
        """Check what a caller handed in."""
        if k is None and min_support is None:
            raise BadCall("how many itemsets? give k, such as 100, or a minimum support: a share or a count")
        if k is not None and k < 1:
            raise BadCall(f"k = {k} asks for nothing; give at least 1")
        if max_size is not None and max_size < 1:
            raise BadCall(f"a maximum size of {max_size} leaves no itemset; give at least 1")
        return cls(k, None if min_support is None else _exact_support(min_support), max_size)

    def to_dict(self) -> dict[str, int | str | None]:
        """What was asked for, as JSON values."""
        support = None if self.min_support is None else str(self.min_support)
        return {"k": self.k, "min_support": support, "max_size": self.max_size}


@dataclass(frozen=True, slots=True)
class PublishRequest:
    """A whole dataset, taken apart along a taxonomy; without a given one, along items in the alphabet's order."""

    fan_out: int = FAN_OUT
    taxonomy: Taxonomy | None = None

    def __post_init__(self) -> None:
        check_fan_out(self.fan_out)

    def to_dict(self) -> dict[str, int | bool]:
        """What was asked for, as JSON values."""
        return {"fan_out": self.fan_out, "follows_taxonomy": self.taxonomy is not None}

    def taxonomy_over(self, alphabet_size: int) -> Taxonomy:
        """The taxonomy for an alphabet of that size."""
        if self.taxonomy is None:
            return Taxonomy.context_free(range(alphabet_size), fan_out=self.fan_out)
        if sorted(self.taxonomy.items.tolist()) != list(range(alphabet_size)):
            raise BadCall(
                f"the taxonomy has {self.taxonomy.items.size} items, the alphabet {alphabet_size}; "
                "give one that holds every item of the alphabet once"
            )
        return self.taxonomy


def _exact_support(min_support: Support) -> Fraction:
    try:
        exact = rational_of(min_support)
    except ValueError:
        raise BadCall(
            f"minimum support {min_support!r} is not a number; give a share, such as 0.01, or a count"
        ) from None
    if exact <= 0:
        raise BadCall(f"a minimum support of {min_support} excludes nothing; give a share or a count above 0")
    return exact
