"""Transactions that several processes look at: written once as an Arrow list array, mapped by each."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from veilset.raw.transactions import Alphabet, Transactions

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def share_transactions(transactions: Transactions, path: Path) -> None:
    """Write rows of item codes and whose they are; what the items are called stays behind."""
    rows = pa.LargeListArray.from_arrays(pa.array(transactions.offsets), pa.array(transactions.items))
    columns = {"items": rows}
    if transactions.owners is not None:
        columns["owners"] = pa.array(transactions.owners)
    about = {"alphabet_size": str(len(transactions.alphabet)), "is_by_person": str(transactions.is_by_person)}
    table = pa.table(columns).replace_schema_metadata(about)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


@lru_cache(maxsize=2)
def map_transactions(path: Path, *, has_public_items: bool = True) -> Transactions:
    """What `share_transactions` wrote, without a copy; an item is called by its code.

    The codes are a public list of items, unless they are to be found.
    """
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    rows = table.column("items").combine_chunks()
    about = table.schema.metadata
    return Transactions(
        rows.offsets.to_numpy(),
        rows.values.to_numpy(),
        Alphabet(range(int(about[b"alphabet_size"])), is_given=has_public_items),
        owners=table.column("owners").combine_chunks().to_numpy() if "owners" in table.column_names else None,
        is_by_person=about[b"is_by_person"] == b"True",
    )


def fingerprint_of(transactions: Transactions) -> str:
    """Tells datasets apart that have the same name: by their rows, and whose they are."""
    digest = hashlib.blake2b(transactions.offsets.tobytes(), digest_size=8)
    digest.update(transactions.items.tobytes())
    if transactions.owners is not None:
        digest.update(transactions.owners.tobytes())
    return digest.hexdigest()


class Peak:
    """By how much memory grew at its largest; None where the system does not tell."""

    bytes: int | None = None


@contextmanager
def peak_growth() -> Iterator[Peak]:
    """Measure the peak of this process' memory over what it held before (Linux)."""
    peak = Peak()
    try:
        _RESET.write_text("5")  # sets the peak to what is held now
        before = _kilobytes("VmRSS")
    except OSError:
        yield peak
        return
    yield peak
    peak.bytes = 1024 * max(0, _kilobytes("VmHWM") - before)


def _kilobytes(name: str) -> int:
    return next(int(line.split()[1]) for line in _STATUS.read_text().splitlines() if line.startswith(name))
