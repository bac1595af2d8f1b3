"""How good a published dataset is, as Chen et al. (2011) measure it. For public data only: not private.

Random counting queries in five classes of lengths (Sec. 5.1), and the top itemsets that are mined from the
dataset in place of the data (Appendix E).
"""

from dataclasses import dataclass

import numpy as np

from veilset.arrays import Int64Array
from veilset.evaluate.metrics import fim_utility, query_error, random_queries
from veilset.gate import SeededNoise
from veilset.itemsets import Itemset, Itemsets
from veilset.raw.counts import ExactItemsets
from veilset.raw.cuts.truncation import KeepAll
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Alphabet, Transactions
from veilset.results.published import Published


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Counting queries in classes of lengths, and what the data answers."""

    classes: tuple[Itemsets, ...] = ()
    answers: tuple[Int64Array, ...] = ()
    transactions: int = 0

    @classmethod
    def on(cls, held: Transactions, *, seed: int) -> "Queries":
        """50,000 queries over the data's items, of lengths up to that of its longest transaction."""
        drawn = random_queries(
            np.random.default_rng(seed),
            items=len(held.alphabet),
            longest=int(held.lengths.max(initial=1)),
        )
        classes = tuple(map(Itemsets.of, drawn))
        engine = LocalEngine(held)
        return cls(classes, tuple(supports_in(engine, queries) for queries in classes), len(held))

    def errors(self, engine: LocalEngine) -> list[float]:
        """The mean relative error of each class, where others answer in the data's place."""
        return [
            query_error(answers, supports_in(engine, queries), transactions=self.transactions)
            for queries, answers in zip(self.classes, self.answers, strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """What a published dataset is measured against."""

    top: dict[Itemset, int]
    queries: Queries
    alphabet_size: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PublishedScore:
    """How good a published dataset is; `top` are the itemsets that are mined from it."""

    fim_utility: float
    query_error: list[float]
    top: ExactItemsets


def score_published(published: Published, exact: Reference, *, max_size: int | None) -> PublishedScore:
    """Ask the published dataset what was asked of the data."""
    engine = LocalEngine(transactions_of(published, alphabet_size=exact.alphabet_size), threads=1)
    top = engine.top(len(exact.top), ItemsetFilter(max_size=max_size))
    return PublishedScore(
        fim_utility=fim_utility(exact.top, supports_by_itemset(top)),
        query_error=exact.queries.errors(engine),
        top=top,
    )


def transactions_of(published: Published, *, alphabet_size: int | None = None) -> Transactions:
    """The records of a published dataset, every copy a transaction, over the codes of its items.

    Where an alphabet's size is given, items are called by their codes in it: those that were found are some of them.
    """
    records, copies = published.records, published.multiplicities
    rows = np.repeat(np.arange(len(records)), copies)
    lengths = np.diff(records.offsets)[rows]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - records.offsets[rows], lengths)
    items = records.items[places]
    if alphabet_size is not None:
        items = np.array(published.names, dtype=np.int32)[items]
    size = len(published.names) if alphabet_size is None else alphabet_size
    return Transactions(offsets, items, Alphabet(range(size), is_given=True))


def supports_by_itemset(found: ExactItemsets) -> dict[Itemset, int]:
    """Itemsets with their supports."""
    return dict(zip(Itemsets(found.offsets, found.items), found.supports.tolist(), strict=True))


def supports_in(engine: LocalEngine, itemsets: Itemsets) -> Int64Array:
    """How many transactions hold all of each itemset, exactly."""
    return engine.supports(itemsets.offsets, itemsets.items, KeepAll(), SeededNoise(0).keys).values
