"""Small tasks in any corner, for the tests of what methods spend: no data, hardly any epsilon, odd sizes."""

from dataclasses import dataclass
from fractions import Fraction

from hypothesis import strategies as st

from reference import Baskets
from strategies import ALPHABET_SIZE, baskets, transactions_of
from veilset.api import mine
from veilset.gate import SeededNoise
from veilset.itemsets import Domain
from veilset.results.release import Release


@dataclass(frozen=True)
class Corner:
    """Baskets, epsilon, and k itemsets, or without k those above 30 %."""

    rows: Baskets
    epsilon: Fraction
    at_most: int | None
    max_size: int | None
    seed: int

    @property
    def k(self) -> int | None:
        """As many as were drawn, or as there are."""
        size = Domain(
            items=range(ALPHABET_SIZE), max_size=min(self.max_size or ALPHABET_SIZE, ALPHABET_SIZE)
        ).size
        return None if self.at_most is None else min(self.at_most, size)

    def release(self, method: str) -> Release:
        """What a method makes of it."""
        return mine(
            transactions_of(self.rows),
            epsilon=self.epsilon,
            method=method,
            k=self.k,
            min_support=None if self.k else "0.3",
            max_size=self.max_size,
            noise=SeededNoise(self.seed),
        )


def corners(*, most: int = 6, largest: int) -> st.SearchStrategy[Corner]:
    """Tasks of up to `most` itemsets of up to `largest` items; epsilon goes down to 0.01."""
    return st.builds(
        Corner,
        rows=baskets(),
        epsilon=st.fractions(min_value=Fraction(1, 100), max_value=10),
        at_most=st.none() | st.integers(1, most),
        max_size=st.none() | st.integers(1, largest),
        seed=st.integers(0, 1000),
    )
