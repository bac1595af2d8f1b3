"""The encoded form: transactions in an Arrow file, as they are in memory, so that nothing has to be parsed again.

The file is an Arrow IPC file of one row. Each column is a list: `offsets` and `items` of the compressed rows, `owners`
where there are any, `names` of the alphabet, and where names are text, which of them `are_integers`. The metadata of
its schema have the mark `veilset.encoded` and tell whether the alphabet was given and whether a row is all that one
person has. It holds the data themselves and is as private as they are.

Reading maps the file into memory and copies nothing. All of it is looked at once, before a kernel trusts it: a file
that does not hold rows over an alphabet is refused. Whether it holds what was written into it cannot be told.
"""

import mmap
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.arguments import a_path, instance
from veilset.arrow_arrays import integers
from veilset.deferred import Deferred
from veilset.errors import BadCall, BadInput
from veilset.marks import ENCODED_MARK
from veilset.memory_room import raise_if_memory
from veilset.raw.kernels import row_checks
from veilset.raw.read.cores import on_all_cores
from veilset.raw.read.files import STANDARD_INPUT, ByteFile
from veilset.raw.read.frames import ARROW_START
from veilset.raw.transactions import Alphabet, ArrowNames, Transactions

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = Deferred("pyarrow.compute")


SUFFIX = ".arrow"

ENCODED_VERSION = b"1"
"""Written into the mark; a file with another one is from another version of veilset."""

GIVEN_MARK, BY_PERSON_MARK = b"veilset.alphabet_is_given", b"veilset.is_by_person"
BY_BASKET_MARK = b"veilset.is_by_basket"
MARK_OF = {False: b"no", True: b"yes"}

ROWS_CHECKED_AT_ONCE = 1 << 18

ANY_INTEGER = "^(0|-?[1-9][0-9]*)$"

ARRAY_TYPES = {"offsets": np.int64, "items": np.int32, "owners": np.int64, "are_integers": np.uint8}
NAME_TYPES = (pa.int64(), pa.uint64(), pa.large_string())

Memory = mmap.mmap | bytearray


def write_encoded(transactions: Transactions, path: str | os.PathLike[str]) -> None:
    """Write transactions to an `.arrow` file that `read` maps into memory, without parsing anything.

    The file holds the data themselves, and nobody but its owner may read it at first. Whether the alphabet was given
    is kept. A file that is there already is replaced once the new one is complete.

    >>> import tempfile
    >>> from veilset.raw.read import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_encoded(read([["milk", "bread"], []]), folder + "/data.arrow")
    ...     read(folder + "/data.arrow").alphabet.names
    ('bread', 'milk')
    """
    path = Path(a_path(path, "the path of the encoded data"))
    instance(transactions, Transactions, "transactions", give="what veilset.read returned")
    if path.suffix != SUFFIX:
        raise BadCall(f"cannot write encoded transactions to {path}; name it {SUFFIX}")
    columns = _columns(transactions)
    batch = pa.RecordBatch.from_arrays([_as_one_row(values) for values in columns.values()], list(columns))
    marks = {
        ENCODED_MARK: ENCODED_VERSION,
        GIVEN_MARK: MARK_OF[transactions.alphabet.is_given],
        BY_PERSON_MARK: MARK_OF[transactions.is_by_person],
        BY_BASKET_MARK: MARK_OF[transactions.is_by_basket],
    }
    batch = batch.replace_schema_metadata(marks)
    unfinished = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as stream:
            unfinished = Path(stream.name)
            with pa.ipc.new_file(stream, batch.schema) as writer:
                writer.write_batch(batch)
        unfinished.replace(path)
    except OSError as error:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
        raise BadCall(
            f"{path} cannot be written ({error.strerror}); name a file in a folder of yours"
        ) from None


def holds_given_alphabet(path: str | os.PathLike[str]) -> bool:
    """Whether a file is encoded, with an alphabet that was given; only the description of its columns is looked at."""
    if path == STANDARD_INPUT:
        return False
    try:
        with Path(path).open("rb") as stream:
            marks = _marks_of(stream) if stream.read(len(ARROW_START)) == ARROW_START else {}
    except OSError:
        return False
    return ENCODED_MARK in marks and marks.get(GIVEN_MARK) == MARK_OF[True]


def read_encoded(file: ByteFile) -> Transactions | None:
    """The transactions of an encoded file, in its own memory unless it is compressed; None if it is no such file."""
    if not file.starts_with(ARROW_START):
        return None
    marks = _marks_of(pa.BufferReader(file.read_all()) if file.path is None else file.path)
    if ENCODED_MARK not in marks:
        return None
    if marks[ENCODED_MARK] != ENCODED_VERSION:
        raise BadInput(f"{file.name} was encoded by another version of veilset; encode the data again")
    found = None
    try:
        arrays = _arrays_in(bytearray(file.read_all()) if file.path is None else _mapped(file.path))
        found = _checked(arrays, marks)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise_if_memory(error)  # as damaged as one whose arrays are no rows
    if found is None:
        raise BadInput(f"{file.name} is damaged or was changed since it was encoded; encode the data again")
    return found


def _columns(transactions: Transactions) -> dict[str, pa.Array]:
    """All that transactions are made of, as Arrow arrays over the same memory."""
    start, end = transactions.offsets[0], transactions.offsets[-1]
    offsets = transactions.offsets - start if start else transactions.offsets
    columns = {"offsets": integers(offsets), "items": integers(transactions.items[start:end])}
    if transactions.owners is not None:
        columns["owners"] = integers(transactions.owners)
    names = _arrow_names(transactions.alphabet)
    if names.are_integers is not None:
        columns["are_integers"] = integers(names.are_integers.astype(np.uint8))
    array = names.array if pa.types.is_integer(names.array.type) else names.array.cast(pa.large_string())
    return {**columns, "names": array}


def _arrow_names(alphabet: Alphabet) -> ArrowNames:
    if isinstance(alphabet.stored, ArrowNames):
        return alphabet.stored
    names = alphabet.stored
    are_integers = np.array([not isinstance(name, str) for name in names], dtype=np.bool_)
    return ArrowNames(pa.array([str(name) for name in names], pa.large_string()), are_integers)


def _as_one_row(values: pa.Array) -> pa.LargeListArray:
    return pa.LargeListArray.from_arrays(integers(np.array([0, len(values)])), values)


def _marks_of(source: Any) -> dict[bytes, bytes]:  # noqa: ANN401 - whatever Arrow opens
    """What the schema of an Arrow file is marked with; nothing if it is damaged."""
    try:
        with pa.ipc.open_file(source) as arrow:
            return arrow.schema.metadata or {}
    except (pa.ArrowException, OSError):
        return {}


def _mapped(path: Path) -> mmap.mmap:
    """The file in memory. Kernels want memory that can be written; what is written never reaches the file."""
    with path.open("rb") as stream:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY)


def _arrays_in(memory: Memory) -> dict[str, Any]:
    """The columns of an encoded file, by name: NumPy arrays over its memory, and names as Arrow has them."""
    whole = pa.py_buffer(memory)
    with pa.ipc.open_file(pa.BufferReader(whole)) as arrow:
        batch = arrow.get_batch(0)
    batch.validate(full=True)
    if batch.num_rows != 1 or not {"offsets", "items", "names"} <= set(batch.schema.names):
        return {}
    columns: dict[str, Any] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if not pa.types.is_large_list(column.type) or column.null_count or column.values.null_count:
            return {}
        values = column.flatten()
        columns[name] = values if name == "names" else _as_numpy(values, memory, whole)
    return columns


def _as_numpy(values: pa.Array, memory: Memory, whole: pa.Buffer) -> npt.NDArray[Any]:
    """Integers of an Arrow array, as an array over the same memory that can be written."""
    kind = np.dtype(values.type.to_pandas_dtype())
    data = values.buffers()[1]
    if data is None or not len(values):
        return np.empty(0, dtype=kind)
    start = data.address - whole.address + values.offset * kind.itemsize
    return np.frombuffer(memory, dtype=kind, count=len(values), offset=start)


def _checked(arrays: dict[str, Any], marks: dict[bytes, bytes]) -> Transactions | None:
    """The transactions of these arrays, or None if they are none."""
    if any(name in arrays and arrays[name].dtype != kind for name, kind in ARRAY_TYPES.items()):
        return None
    names = _names_in(arrays)
    if names is None or not _are_rows(arrays, len(names)):
        return None
    is_given = marks.get(GIVEN_MARK) == MARK_OF[True]
    return Transactions(
        arrays["offsets"],
        arrays["items"],
        Alphabet(names, is_given=is_given),
        arrays.get("owners"),
        is_by_person=marks.get(BY_PERSON_MARK) == MARK_OF[True],
        is_by_basket=marks.get(BY_BASKET_MARK) == MARK_OF[True],
    )


def _names_in(arrays: dict[str, Any]) -> ArrowNames | None:
    """The names, if they are distinct and those that are to be integers are written like ones."""
    names, flags = arrays.get("names"), arrays.get("are_integers")
    if names is None or names.type not in NAME_TYPES:
        return None
    if flags is None:
        return ArrowNames(names) if _are_distinct(names) else None
    if names.type != pa.large_string() or flags.size != len(names):
        return None
    are_integers = flags == 1
    numbers, texts = names.filter(pa.array(are_integers)), names.filter(pa.array(~are_integers))
    are_written = pc.all(pc.match_substring_regex(numbers, ANY_INTEGER), min_count=0).as_py()
    if not (are_written and _are_distinct(numbers) and _are_distinct(texts)):
        return None
    return ArrowNames(names, are_integers)


def _are_distinct(names: pa.Array) -> bool:
    return bool(pc.count_distinct(names).as_py() == len(names))


def _are_rows(arrays: dict[str, Any], alphabet_size: int) -> bool:
    """Whether offsets and items are rows over an alphabet, and owners those of the rows: looks at all of it once."""
    offsets, items, owners = arrays["offsets"], arrays["items"], arrays.get("owners")
    rows = offsets.size - 1
    if rows < 0 or offsets[0] != 0 or offsets[-1] != items.size:
        return False
    if not row_checks.ascends_to(offsets, items.size):
        return False
    if owners is not None and (owners.size != rows or not row_checks.ascends_to(owners, rows - 1)):
        return False

    def are_fine(first: int) -> bool:
        return row_checks.rows_ascend(offsets[first : first + ROWS_CHECKED_AT_ONCE + 1], items, alphabet_size)

    return all(on_all_cores(are_fine, range(0, rows, ROWS_CHECKED_AT_ONCE)))
