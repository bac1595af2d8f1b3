"""A Published dataset: noisy records that stand for the data, what they cost, and what is promised.

Whatever is done with it afterwards is free: mining it looks at no person's data. A file of it has a sidecar,
`NAME.json`, with the trace, the promise and a digest of the file, so that others can tell that it is private.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from veilset.arguments import a_path, truth
from veilset.arrays import Int64Array
from veilset.deferred import Deferred
from veilset.errors import BadCall
from veilset.gate import Curator, Item
from veilset.itemsets import Itemsets
from veilset.marks import PUBLISHED_MARK
from veilset.results.html import MOST_SHOWN, ShownRow, result_html
from veilset.results.pandas_shapes import import_pandas, onehot_frame
from veilset.results.promise import Paid, Promise, as_sentence
from veilset.results.views import view
from veilset.wording import counted
from veilset.writing import (
    as_lists,
    as_words,
    atomically,
    check_vocabulary,
    vocabulary_beside,
    write_fimi,
    write_whole,
)

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow.parquet as pq
else:
    pl = Deferred("polars")
    pq = Deferred("pyarrow.parquet")

FILES = (".dat", ".dat.gz", ".dat.zst", ".parquet")
"""What a published dataset can be written to."""

MANY_RECORDS = 1 << 18
"""2^18 records, or more, may be in order: looking takes less time than sorting them; for fewer, no kernel is loaded."""

NO_RECORDS = (
    "No record was published: what there is cannot be told from noise at this epsilon. A larger epsilon or more data "
    "may show some."
)


@dataclass(frozen=True, slots=True, eq=False)
class Published(Paid):
    """A dataset that may be handed out: distinct records of item codes, and how many copies of each.

    `names[code]` is what an item is called; the alphabet is public.
    """

    records: Itemsets
    multiplicities: Int64Array
    names: tuple[Item, ...]

    @classmethod
    def of(
        cls,
        curator: Curator,
        records: Itemsets,
        multiplicities: Int64Array,
        *,
        method: str,
        notes: tuple[str, ...] = (),
    ) -> "Published":
        """Finish noisy records: leave out those without a copy, and sort the rest by their items.

        The order in which a method came across records can depend on more than what is published; that of
        their items cannot.
        """
        finished, copies = _finished(records, multiplicities)
        return cls(
            records=finished,
            multiplicities=copies,
            names=curator.names(tuple(range(curator.alphabet_size))),
            method=method,
            trace=curator.budget.charges,
            promise=Promise.of(curator),
            notes=notes,
        )

    def __len__(self) -> int:
        """How many records there are, copies included."""
        return int(self.multiplicities.sum())

    def __repr__(self) -> str:
        return self._repr_with(self._summary())

    def _repr_html_(self) -> str:
        """What a notebook shows: the records with most copies, the standing, the cost."""
        rows = [ShownRow(items, copies, (f"{copies:,}",)) for items, copies in self.most_copied(MOST_SHOWN)]
        return result_html(self._summary(), [self.badge()], ("copies",), rows, self._lines())

    def _summary(self) -> str:
        records = counted(len(self), "record", separator=",")
        return f"{records} over {counted(len(self.names), 'item', separator=',')}"

    def _lines(self) -> Iterator[str]:
        """What stands below the table."""
        others = len(self.records) - MOST_SHOWN
        if others > 0:
            yield f"… and {counted(others, 'distinct record', separator=',')} more: to_frame() has all of them."
        if len(self) == 0:
            yield from (NO_RECORDS, *map(as_sentence, self.notes))
        else:
            yield "Mine it with whatever you like: that costs nothing more. Numbers of copies are noisy."
        yield from self.cost_lines()

    def most_copied(self, most: int) -> list[tuple[list[Item], int]]:
        """The records with most copies, no more than that many, and how many copies each has."""
        order = np.argsort(-self.multiplicities, kind="stable")[:most]
        copies = self.multiplicities[order].tolist()
        records = _records_at(self.records, order)
        return [
            ([self.names[code] for code in record], number)
            for record, number in zip(records, copies, strict=True)
        ]

    def to_lists(self) -> list[list[Item]]:
        """Every record as a list of items, once for each copy; for whatever takes lists of transactions."""
        frame = self.to_frame()
        rows = zip(frame["items"].to_list(), frame["multiplicity"].to_list(), strict=True)
        return [list(items) for items, copies in rows for _ in range(copies)]

    def to_pandas(self) -> "pd.DataFrame":
        """The distinct records in pandas: items as frozensets, multiplicity."""
        pandas = import_pandas("to_pandas")
        columns = self.to_frame().to_dict(as_series=False)
        frame: pd.DataFrame = pandas.DataFrame(
            {**columns, "items": [frozenset(row) for row in columns["items"]]}
        )
        return frame

    def to_onehot(self, *, sparse: bool | None = None) -> "pd.DataFrame":
        """A row for each copy of a record and a boolean column for each item, as mlxtend takes it.

        Columns are sparse where the frame would be larger than 100 MB, or as `sparse` says.
        """
        if sparse is not None:
            truth(sparse, "sparse")
        words = as_words(self.names).to_pylist()
        return onehot_frame(self.records, self.multiplicities, words, sparse=sparse)

    def to_transactions(self) -> Any:  # noqa: ANN401 - `veilset.Transactions`, of a room that results must not enter
        """The records as `veilset.read` would return them: what all verbs of the library take.

        They are nobody's: mining them exactly is as private as the dataset is.
        """
        return view("transactions")(self)

    def to_frame(self) -> "pl.DataFrame":
        """The distinct records as a Polars frame: items, multiplicity.

        `veilset.read` takes it with `multiplicity="multiplicity"`.
        """
        return pl.DataFrame(self._table())

    def to_dict(self) -> dict[str, Any]:
        """Everything but the records, as JSON values."""
        return {
            "transactions": len(self),
            "distinct_records": len(self.records),
            "items": len(self.names),
            **self.account(),
        }

    def write(self, path: str | Path) -> None:
        """Write the dataset, and `NAME.json` beside it with the trace and the promise.

        `.dat`, `.dat.gz`, `.dat.zst`: FIMI, a line for every copy of a record. Items that are not integers
        are numbered, and `NAME.vocab.tsv` tells the names: an alphabet for whoever reads the file.
        `.parquet`: a list column `items` and a column `multiplicity`, marked as such for `veilset.read`.
        """
        path = Path(a_path(path, "the path of the dataset"))
        check_can_hold(path, self.names)

        def promise_first(part: Path) -> None:
            # Whoever is killed here leaves a promise without its dataset, never a dataset without its promise.
            about = {"file": path.name, "sha256": _digest(part), **self.to_dict()}
            write_whole(_sidecar(path), json.dumps(about, ensure_ascii=False, indent=1) + "\n")

        if path.suffix == ".parquet":
            with atomically(path) as part:
                pq.write_table(self._table(), part, compression="zstd")
                promise_first(part)
        else:
            rows = self.records
            write_fimi(
                *(path, rows.offsets, rows.items),
                names=self.names,
                copies=self.multiplicities,
                before_it_shows=promise_first,
            )
            if all(isinstance(name, int) for name in self.names):
                # An older dataset's may name what this one must not.
                vocabulary_beside(path).unlink(missing_ok=True)

    def _table(self) -> Any:  # noqa: ANN401 - Arrow has no types
        lists = as_lists(self.records.offsets, self.records.items, as_words(self.names))
        table = pa.table({"items": lists, "multiplicity": self.multiplicities})
        return table.replace_schema_metadata({PUBLISHED_MARK: "multiplicity"})

    def with_records(self) -> dict[str, Any]:
        """Everything, the records included, as JSON values: for where it can be written nowhere else."""
        return {"records": self.to_frame().to_dicts(), **self.to_dict()}


def files_of_dataset(path: Path) -> tuple[Path, ...]:
    """All that `Published.write` may write for a path."""
    also = () if path.suffix == ".parquet" else (vocabulary_beside(path),)
    return (path, _sidecar(path), *also)


def check_can_hold(path: Path, names: Sequence[Item]) -> None:
    """BadCall if a file of that name cannot hold a dataset of these items; better before it is paid for."""
    if not path.name.endswith(FILES):
        raise BadCall(f"cannot write a dataset to {path.name!r}; end it with {', '.join(FILES)}")
    if path.suffix != ".parquet":
        check_vocabulary(names)


def promise_beside(path: str | os.PathLike[str]) -> Promise | None:
    """What was promised when a file was published; None if it was not, or is no longer what it was then."""
    path = Path(path)
    try:
        about = json.loads(_sidecar(path).read_text(encoding="utf-8"))
        return Promise.from_dict(about["promise"]) if about["sha256"] == _digest(path) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _sidecar(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _finished(records: Itemsets, copies: Int64Array) -> tuple[Itemsets, Int64Array]:
    """The records that have copies, by their items."""
    if len(records) >= MANY_RECORDS and copies.min() > 0 and _are_in_order(records):
        return records, copies
    order = _by_items(records)
    order = order[copies[order] > 0]
    return _records_at(records, order), copies[order]


def _are_in_order(records: Itemsets) -> bool:
    from veilset.public_kernels.record_order import are_in_order  # noqa: PLC0415 - loads a kernel, for many records

    return are_in_order(records.offsets, records.items)


def _by_items(records: Itemsets) -> Int64Array:
    """The places of records in the order of their item codes; one that begins another comes before it.

    Sorted by words from the last to the first, each of which only those records have that are long enough.
    """
    words, firsts = _in_words(records)
    numbers = np.diff(firsts)
    by_number = np.argsort(numbers, kind="stable")
    bounds = np.append(0, np.cumsum(np.bincount(numbers)))
    order = np.zeros(0, np.int64)
    for word in range(bounds.size - 3, -1, -1):
        order = np.concatenate([by_number[bounds[word + 1] : bounds[word + 2]], order])
        order = order[np.argsort(words[firsts[order] + word], kind="stable")]
    return order


def _in_words(records: Itemsets) -> tuple[Int64Array, Int64Array]:
    """The items of each record in words, the first in the upper bits, and where the words of each record start.

    A word has as many items as fit into 63 bits; no item is 0, and a record has a word at least.
    """
    lengths = np.diff(records.offsets)
    record_of = np.repeat(np.arange(len(records)), lengths)
    places = np.arange(records.items.size) - np.repeat(records.offsets[:-1], lengths)
    bits = (int(records.items.max(initial=0)) + 1).bit_length()
    per_word = 63 // bits
    firsts = np.append(0, np.cumsum(np.maximum(-(-lengths // per_word), 1)))
    words = np.zeros(firsts[-1], np.int64)
    starts = np.flatnonzero(places % per_word == 0)
    if starts.size > 0:
        codes = records.items.astype(np.int64) + 1
        summed = np.add.reduceat(codes << ((per_word - 1 - places % per_word) * bits), starts)
        words[firsts[record_of[starts]] + places[starts] // per_word] = summed
    return words, firsts


def _records_at(records: Itemsets, places: Int64Array) -> Itemsets:
    """The records at the places, in that order."""
    starts, lengths = records.offsets[places], np.diff(records.offsets)[places]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return Itemsets(offsets, records.items[np.repeat(starts, lengths) + within])
