"""Exact mining: the ground truth, for comparison and for data that is public. NOT private.

The module can be called: `veilset.exact(data, k=...)` is `mine_exact`.
"""

import os
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from veilset.arguments import either, truth
from veilset.callable_packages import make_callable
from veilset.itemsets import Itemsets
from veilset.raw.counts import ExactItemsets
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.local import LocalEngine
from veilset.raw.engines.mining import only_maximal
from veilset.raw.read import read
from veilset.raw.transactions import Alphabet, Item, Transactions
from veilset.request import MOST_TRANSACTIONS, Request, Support
from veilset.results.estimates import count_of
from veilset.results.promise import Promise
from veilset.results.published import Published, promise_beside
from veilset.wording import counted

make_callable(__name__, home=__name__, verb="mine_exact")


@dataclass(frozen=True, slots=True, eq=False)
class ExactResult:
    """Itemsets with their exact supports, largest first.

    Not private, unless the data was: what is mined from a published dataset keeps that dataset's promise.
    """

    itemsets: tuple[tuple[Item, ...], ...]
    supports: tuple[int, ...]
    notes: tuple[str, ...] = ()
    promise: Promise | None = None

    def __len__(self) -> int:
        return len(self.itemsets)

    @property
    def is_private(self) -> bool:
        """Whether it was mined from data that had been published with a promise that is kept."""
        return self.promise is not None and self.promise.is_kept

    def to_frame(self) -> pl.DataFrame:
        """The itemsets as a Polars frame: items, support."""
        items = [list(itemset) for itemset in self.itemsets]
        return pl.DataFrame({"items": items, "support": list(self.supports)})

    def to_dict(self) -> dict[str, Any]:
        """The document that `veilset exact --json` prints."""
        rows = zip(self.itemsets, self.supports, strict=True)
        return {
            "itemsets": [{"items": list(items), "support": support} for items, support in rows],
            "is_private": self.is_private,
            "notes": list(self.notes),
        }


def mine_exact(
    data: Transactions | Published | Any,  # noqa: ANN401 - whatever `read` takes
    *,
    k: int | None = None,
    min_support: Support | None = None,
    max_size: int | None = None,
    max_len: int | None = None,
    maximal: bool = False,
) -> ExactResult:
    """All itemsets above a threshold, or the k most frequent ones. NOT private.

    The exception is a published dataset, or a file of one: mining it looks at nobody's data any more, costs
    nothing, and the result carries its promise. `max_len` is another name of `max_size`.

    >>> found = mine_exact([["bread", "milk"], ["bread"], ["bread", "milk"]], min_support=2)
    >>> dict(zip(found.itemsets, found.supports))
    {('bread',): 3, ('milk',): 2, ('bread', 'milk'): 2}
    """
    size = either(max_size=max_size, max_len=max_len)
    request = Request.of(k=k, min_support=min_support, max_size=size, most=MOST_TRANSACTIONS)
    only_largest = truth(maximal, "maximal")
    transactions, promise = _opened(data)
    engine = LocalEngine(transactions)
    min_count = max(1, count_of(request.min_support or Fraction(1), transactions=len(transactions)))
    which = ItemsetFilter(min_count=min_count, max_size=request.max_size)
    found = engine.frequent(which) if request.k is None else engine.top(request.k, which)
    notes = _limits(request, found)
    if only_largest:
        found = only_maximal(found)
    names = transactions.alphabet.names
    itemsets = tuple(
        tuple(names[code] for code in itemset) for itemset in Itemsets(found.offsets, found.items)
    )
    return ExactResult(itemsets, tuple(found.supports.tolist()), notes, promise)


def _opened(data: Transactions | Published | Any) -> tuple[Transactions, Promise | None]:  # noqa: ANN401
    """The transactions, and what was promised where they had been published."""
    if isinstance(data, Transactions):
        return data, None
    if isinstance(data, Published):
        return read(data.to_frame(), multiplicity="multiplicity"), data.promise
    return read(data), promise_beside(data) if isinstance(data, (str, os.PathLike)) else None


def published_transactions(published: Published) -> Transactions:
    """The records of a published dataset, a row for each copy; nobody owns them, and their items are public."""
    records, copies = published.records, published.multiplicities
    lengths = np.repeat(np.diff(records.offsets), copies)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    starts = np.repeat(records.offsets[:-1], copies)
    within = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], lengths)
    items = records.items[np.repeat(starts, lengths) + within]
    return Transactions(offsets, items, Alphabet(published.names, is_given=True))


def _limits(request: Request, found: ExactItemsets) -> tuple[str, ...]:
    """Which of the caller's own limits may have left out itemsets."""
    notes = []
    if request.k is not None and found.supports.size == request.k:
        notes.append(
            f"limited to k = {request.k}: others may have the support of the last, {found.supports[-1]}"
        )
    if request.max_size is not None:
        notes.append(f"limited to itemsets of up to {counted(request.max_size, 'item')}")
    return tuple(notes)


def describe(data: Transactions | Any) -> dict[str, float]:  # noqa: ANN401 - whatever `read` takes
    """What the data holds, in figures. NOT private."""
    transactions, _ = _opened(data)
    lengths = transactions.lengths
    rows, items = len(transactions), len(transactions.alphabet)
    facts: dict[str, float] = {
        "transactions": rows,
        "items": items,
        "occurrences": int(lengths.sum()),
        "shortest": int(lengths.min(initial=items)) if rows else 0,
        "longest": int(lengths.max(initial=0)),
        "mean_length": float(lengths.mean()) if rows else 0.0,
        "density": float(lengths.sum() / max(1, rows * items)),
        "memory_bytes": transactions.nbytes,
    }
    if transactions.owners is not None:
        facts["owners"] = int(np.unique(transactions.owners).size)
    return facts
