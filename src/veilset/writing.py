"""Files that are there whole or not at all; baskets as Arrow lists, and as lines of text in such files.

Whatever is written is written beside its place, brought to the disk and then renamed: a crash, or a disk that is full,
leaves what was there before. Knows nothing of where baskets come from.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from veilset.arrays import Int32Array, Int64Array
from veilset.arrow_arrays import integers, text_array
from veilset.deferred import Deferred
from veilset.errors import BadCall

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = Deferred("pyarrow.compute")


FEW_RECORDS = 1 << 14
"""Up to 2^14 different records are written one by one."""
_ROWS_PER_BLOCK = 1 << 18
"""Rows turned into text at a time: bounds the memory of writing, whatever the size of the data."""


@contextmanager
def atomically(path: str | Path) -> Iterator[Path]:
    """Where to write a file: it takes the place of `path` when all is on the disk, and vanishes where that fails.

    Its name ends as that of `path` does. What is no file, such as a pipe or a device, is written to as it is.
    """
    path = Path(path)
    place = path.resolve() if path.is_symlink() else path
    if place.exists() and not place.is_file():
        with _named(path):
            yield place
        return
    part = place.with_name(f".{secrets.token_hex(4)}-{place.name}")
    try:
        with _named(path):
            yield part
            _bring_to_disk(part)
            if place.exists():
                part.chmod(place.stat().st_mode)
            part.replace(place)
    finally:
        part.unlink(missing_ok=True)
    with suppress(OSError):  # the file is in its place; not every file system can wait for a folder
        _bring_to_disk(place.parent)


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write text, as UTF-8, or bytes to a file; all of it or nothing."""
    with atomically(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """An error names the file that was asked for, not the one that stands in for it."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def _bring_to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, would survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def as_lists(offsets: Int64Array, items: Int32Array, words: Any) -> Any:  # noqa: ANN401 - Arrow has no types
    """The baskets between the offsets as an Arrow list array of `words[code]`."""
    codes = integers(items[offsets[0] : offsets[-1]])
    return pa.LargeListArray.from_arrays(integers(offsets - offsets[0]), words.take(codes))


def as_words(names: Sequence[int | str]) -> Any:  # noqa: ANN401
    """What items are called as an Arrow array: of integers if all of them are, else of text."""
    if all(isinstance(name, int) for name in names):
        return pa.array(names)
    return pa.array([str(name) for name in names])


def write_fimi(
    path: Path,
    offsets: Int64Array,
    items: Int32Array,
    *,
    names: Sequence[int | str],
    copies: Int64Array | None = None,
    before_it_shows: Callable[[Path], None] | None = None,
) -> None:
    """Ids that are integers stay as they are; names are numbered, and the vocabulary tells the numbers.

    `before_it_shows` is called with the whole file before that takes its place: what it writes is there first.
    """
    has_vocabulary = not all(isinstance(name, int) for name in names)
    if has_vocabulary:
        check_vocabulary(names)
    words = [str(code) for code in range(len(names))] if has_vocabulary else [str(name) for name in names]
    with atomically(path) as part:
        _write_lines(part, offsets, items, words=words, separator=" ", copies=copies)
        if has_vocabulary:
            write_whole(vocabulary_beside(path), numbered(names))
        if before_it_shows is not None:
            before_it_shows(part)


def check_vocabulary(names: Sequence[int | str]) -> None:
    """BadCall if a vocabulary cannot hold one of the names."""
    if any(mark in str(name) for name in names for mark in "\t\r\n"):
        raise BadCall("a name holds a tab or a line break, which a vocabulary cannot; write .parquet instead")


def vocabulary_beside(path: Path) -> Path:
    """Where the names of a FIMI file are told."""
    return path.with_name(path.name.removesuffix(path.suffix).removesuffix(".dat") + ".vocab.tsv")


def numbered(names: Sequence[int | str]) -> str:
    """A line for each name, with its number before it."""
    return "".join(f"{code}\t{name}\n" for code, name in enumerate(names))


def write_lines(
    path: Path,
    offsets: Int64Array,
    items: Int32Array,
    *,
    words: Sequence[str],
    separator: str,
    copies: Int64Array | None = None,
) -> None:
    """One line for each basket, or `copies[r]` lines for basket r; `words[code]` for each item.

    Compressed as the file's name says.
    """
    with atomically(path) as part:
        _write_lines(part, offsets, items, words=words, separator=separator, copies=copies)


def _write_lines(
    path: Path,
    offsets: Int64Array,
    items: Int32Array,
    *,
    words: Sequence[str],
    separator: str,
    copies: Int64Array | None,
) -> None:
    if offsets.size - 1 <= FEW_RECORDS:
        _write_few(path, offsets, items, words=words, separator=separator, copies=copies)
        return
    dictionary = text_array(words)
    between, line_break = text_array([separator])[0], text_array(["\n"])[0]
    with pa.output_stream(str(path)) as stream:
        for rows in _blocks(offsets.size - 1, copies):
            block = slice(rows.start, rows.stop + 1)
            lists = as_lists(offsets[block], items, dictionary)
            lines = pc.binary_join(lists, between)
            if copies is not None:
                numbers = np.arange(len(lines))
                lines = lines.take(integers(np.repeat(numbers, copies[rows.start : rows.stop])))
            if len(lines):
                joined = pa.LargeListArray.from_arrays(integers(np.array([0, len(lines)])), lines)
                stream.write(pc.binary_join(joined, line_break)[0].as_buffer())
                stream.write(b"\n")


def _write_few(
    path: Path,
    offsets: Int64Array,
    items: Int32Array,
    *,
    words: Sequence[str],
    separator: str,
    copies: Int64Array | None,
) -> None:
    """The same, for few baskets: it takes less time than importing the functions of Arrow."""
    codes = items[offsets[0] : offsets[-1]].tolist()
    bounds = pairwise((offsets - offsets[0]).tolist())
    numbers = repeat(1) if copies is None else copies.tolist()
    with pa.output_stream(str(path)) as stream:
        for (start, end), number in zip(bounds, numbers, strict=False):
            line = separator.join(words[code] for code in codes[start:end]) + "\n"
            stream.write(line.encode() * number)


def _blocks(rows: int, copies: Int64Array | None) -> list[range]:
    """Runs of rows that make about as many lines as a block may have."""
    if copies is None:
        starts = np.arange(0, rows, _ROWS_PER_BLOCK)
    else:
        block_of_row = (np.cumsum(copies) - 1) // _ROWS_PER_BLOCK
        starts = np.flatnonzero(np.diff(block_of_row, prepend=-1))
    return [range(first, end) for first, end in pairwise([*starts.tolist(), rows])]
