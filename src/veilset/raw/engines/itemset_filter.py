"""Which itemsets a miner is to look at."""

from dataclasses import dataclass

from veilset.arrays import Int32Array
from veilset.errors import BadCall


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ItemsetFilter:
    """Itemsets of `min_size` to `max_size` items, held by at least `min_count` transactions, over `items` alone.

    None means no limit: itemsets of any size, or over all items.
    """

    max_size: int | None
    min_size: int = 1
    min_count: int = 1
    items: Int32Array | None = None

    def __post_init__(self) -> None:
        for name, value in (("min_count", self.min_count), ("min_size", self.min_size)):
            if value < 1:
                raise BadCall(f"{name} is {value}; give at least 1")
        if self.max_size is not None and self.max_size < self.min_size:
            raise BadCall(
                f"max_size is {self.max_size}, below min_size {self.min_size}; give at least {self.min_size}"
            )
