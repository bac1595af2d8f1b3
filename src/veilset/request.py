"""What a caller wants: the top k itemsets, those above a threshold, a whole dataset; checked before any look."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from veilset.arguments import exact_number
from veilset.errors import BadCall
from veilset.integers import whole
from veilset.rationals import Rational
from veilset.taxonomy import FAN_OUT, Taxonomy, check_fan_out
from veilset.wording import counted, shown

Support = Rational
"""A threshold: below 1 a share of the transactions, from 1 up a count."""

PerOwner = int | Literal["auto"]
"""How many transactions of one person count: a number, or to be chosen privately."""

AUTO: Literal["auto"] = "auto"
"""To be chosen privately."""

MOST_TRANSACTIONS = 10**15
"""More than anybody has, and few enough for sums in 64 bits."""

MOST_IN_RELEASE = 10_000
"""10,000 itemsets in a release at most: more take minutes and many GB, which is seen only after it is paid for."""


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
        cls,
        *,
        k: int | None = None,
        min_support: Support | None = None,
        max_size: int | None = None,
        most: int = MOST_IN_RELEASE,
    ) -> "Request":
        """Check what a caller handed in; k is at most `most`."""
        if k is None and min_support is None:
            raise BadCall("how many itemsets? give k, such as 100, or a minimum support: a share or a count")
        return cls(
            None if k is None else whole(k, "k, the number of itemsets,", least=1, most=most),
            None if min_support is None else _exact_support(min_support),
            None if max_size is None else whole(max_size, "max_size", least=1, most=MOST_TRANSACTIONS),
        )

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
                f"the taxonomy has {counted(self.taxonomy.items.size, 'item')}, the alphabet {alphabet_size}; "
                "give one that holds every item of the alphabet once"
            )
        return self.taxonomy


def _exact_support(min_support: Support) -> Fraction:
    exact = exact_number(min_support, "minimum support", such_as="0.01 for a share, or 500 for a count")
    if exact <= 0:
        raise BadCall(
            f"a minimum support of {shown(min_support)} excludes nothing; give a share or a count above 0"
        )
    is_decimal = not isinstance(min_support, Fraction) and any(mark in str(min_support) for mark in ".eE")
    if exact == 1 and is_decimal:
        raise BadCall(
            f"a minimum support of {min_support} may mean all transactions or one of them; give 1 for one "
            "transaction, or a share below 1, such as 0.999"
        )
    return exact


def checked_per_owner(per_owner: object) -> PerOwner:
    """How many transactions of one person count, from what a caller handed in."""
    if isinstance(per_owner, str) and per_owner == AUTO:
        return AUTO
    try:
        return whole(per_owner, "per_owner", least=1, most=MOST_TRANSACTIONS)
    except BadCall:
        raise BadCall(
            f"per_owner {shown(per_owner)} is no number of transactions of one person; give numbers from 1 up, or auto"
        ) from None
