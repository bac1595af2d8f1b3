"""A Published dataset: noisy records that stand for the data, what they cost, and what is promised.

Whatever is done with it afterwards is free: mining it looks at no person's data. A file of it has a sidecar,
`NAME.json`, with the trace, the promise and a digest of the file, so that others can tell that it is private.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate import Curator, Item
from veilset.itemsets import Itemsets
from veilset.marks import PUBLISHED_MARK
from veilset.results.promise import Paid, Promise
from veilset.writing import (
    as_lists,
    as_words,
    atomically,
    check_vocabulary,
    vocabulary_beside,
    write_fimi,
    write_whole,
)

FILES = (".dat", ".dat.gz", ".dat.zst", ".parquet")
"""What a published dataset can be written to."""


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
        order = np.array(_by_items(records), dtype=np.int64)
        order = order[multiplicities[order] > 0]
        return cls(
            records=_records_at(records, order),
            multiplicities=multiplicities[order],
            names=curator.names(tuple(range(curator.alphabet_size))),
            method=method,
            trace=curator.budget.charges,
            promise=Promise.of(curator),
            notes=notes,
        )

    def __len__(self) -> int:
        """How many records there are, copies included."""
        return int(self.multiplicities.sum())

    def to_frame(self) -> pl.DataFrame:
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
        path = Path(path)
        check_can_hold(path, self.names)
        if path.suffix == ".parquet":
            with atomically(path) as part:
                pq.write_table(self._table(), part, compression="zstd")
        else:
            records, copies = self.records, self.multiplicities
            write_fimi(path, records.offsets, records.items, names=self.names, copies=copies)
            if all(isinstance(name, int) for name in self.names):
                # An older dataset's may name what this one must not.
                vocabulary_beside(path).unlink(missing_ok=True)
        about = {"file": path.name, "sha256": _digest(path), **self.to_dict()}
        write_whole(_sidecar(path), json.dumps(about, ensure_ascii=False, indent=1) + "\n")

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


def _by_items(records: Itemsets) -> list[int]:
    """The places of records in the order of their item codes."""
    codes = records.items.astype(">i4").tobytes()  # bytes compare as big-endian numbers do
    keys = [codes[4 * start : 4 * end] for start, end in pairwise(records.offsets.tolist())]
    return sorted(range(len(records)), key=keys.__getitem__)


def _records_at(records: Itemsets, places: Int64Array) -> Itemsets:
    """The records at the places, in that order."""
    starts, lengths = records.offsets[places], np.diff(records.offsets)[places]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    return Itemsets(offsets, records.items[np.repeat(starts, lengths) + within])
