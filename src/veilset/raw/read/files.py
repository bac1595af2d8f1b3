"""Opening files: compressed or not, from a path or from standard input, whole or as blocks of lines."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from veilset.arrays import Uint8Array
from veilset.errors import BadInput
from veilset.memory_room import raise_if_memory
from veilset.raw.kernels import parse

BLOCK_BYTES = 1 << 18
"""The first bytes of a file, which can be looked at: enough for the first rows."""

LARGEST_BLOCK = 16
"""Later blocks have up to this many times the bytes of the first: with fewer, cores wait for each other more often."""

BLOCKS_IN_A_FILE = 8
"""The fewest blocks of a file that has more than one, but for short ones: so that all cores have work until the end."""

SHORT_FILE = 4 * BLOCK_BYTES
"""A file of less than one MB is one block: its numbers are parsed before a second thread would have started."""

UNKNOWN_GROWTH = 1.5
MOST_GROWTH = 64.0  # the start of a file can mislead about the rest
STANDARD_INPUT = "-"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
COMPRESSED_SUFFIXES = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True, slots=True)
class Lines:
    """Some whole lines of a text: the number of the first in the file, from 1, and how many there are.

    `growth` guesses by what factor the text up to their end grows until the end of the file.
    """

    text: Uint8Array
    first: int
    number: int
    growth: float = UNKNOWN_GROWTH


class ByteFile:
    """The bytes of an open file, decompressed; `head` can be looked at before the rest is read.

    `name` is for messages, `suffix` that of the file name less the one for compression; `path` is where
    these very bytes are, or None if they come compressed or from standard input.
    """

    def __init__(
        self,
        stream: BinaryIO,
        *,
        name: str,
        suffix: str = "",
        path: Path | None = None,
        size: int | None = None,
        share_read: Callable[[], float] | None = None,
    ) -> None:
        self.name = name
        self.suffix = suffix
        self.path = path
        self.is_short = size is not None and size < SHORT_FILE
        first_bytes = size + 1 if size is not None and self.is_short else BLOCK_BYTES
        self._share_read = share_read
        self._stream = stream
        self._blocks = LARGEST_BLOCK if size is None else size // (BLOCKS_IN_A_FILE * BLOCK_BYTES)
        self._first = self._read_block(first_bytes)

    @property
    def head(self) -> bytes:
        """The first bytes, which can be looked at."""
        return self._first[:BLOCK_BYTES]

    def starts_with(self, *marks: bytes) -> bool:
        """Whether one of these is at the start."""
        return self._first.startswith(marks)

    def is_in_head(self, byte: bytes) -> bool:
        """Whether the first bytes hold this one; they are not copied for that."""
        return self._first.find(byte, 0, BLOCK_BYTES) >= 0

    def first_lines(self, most: int) -> Lines:
        """The whole lines at the start of what has been read, at most this number; nothing is consumed."""
        head = self.head
        is_all = len(head) < BLOCK_BYTES
        text = head + b"\n" if is_all and head[-1:] not in (b"", b"\n") else head
        lines = text.split(b"\n", most)[:-1]  # what is behind the last newline, or beyond those asked for
        return _lines([line + b"\n" for line in lines], 1)

    def blocks(self) -> Iterator[bytes]:
        """All bytes, from the start; once."""
        block = self._first
        while block:
            yield block
            block = self._read_block(BLOCK_BYTES * min(max(self._blocks, 1), LARGEST_BLOCK))

    @cached_property
    def _whole(self) -> bytes:
        return b"".join(self.blocks())

    def read_all(self) -> bytes:
        """All bytes, as one; they are kept, since they come only once."""
        return self._whole

    def read_text(self) -> str:
        """All bytes, as text."""
        data = self.read_all().removeprefix(BYTE_ORDER_MARK)
        self.check_utf8(data, first_line=1)
        return data.decode()

    def lines(self) -> Iterator[Lines]:
        """The text in blocks of whole lines; a missing last newline is added.

        A byte order mark at the start of a line is left out, of any line: which one is first depends on the others.
        """
        first = 1
        unfinished: list[bytes] = []
        for block in self.blocks():
            truncation = block.rfind(b"\n") + 1
            if truncation:
                whole = block if truncation == len(block) else memoryview(block)[:truncation]
                lines = _lines([*unfinished, whole], first, self._growth_ahead())
                yield lines
                first += lines.number
                unfinished = []
            if truncation < len(block):
                unfinished.append(block[truncation:])
        if b"".join(unfinished).removeprefix(BYTE_ORDER_MARK):
            yield _lines([*unfinished, b"\n"], first, self._growth_ahead())

    def check_utf8(self, data: bytes, *, first_line: int) -> None:
        """BadInput at the first line that is not UTF-8."""
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = first_line + data.count(b"\n", 0, error.start)
            raise self.bad_line(line, "not UTF-8; save the file as UTF-8") from None

    def bad_line(self, line: int, problem: str) -> BadInput:
        """The error for a line that cannot be read."""
        return BadInput(f"{self.name}, line {line}: {problem}")

    def _growth_ahead(self) -> float:
        """By what factor that which has been read may grow until the end: a guess, within bounds; 1 at the end."""
        if self._share_read is None:
            return UNKNOWN_GROWTH
        share = self._share_read()
        return 1.0 if share >= 1 else min(1.05 / share, MOST_GROWTH)

    def _read_block(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (OSError, pa.ArrowException) as error:
            raise_if_memory(error)
            raise BadInput(
                f"{self.name} breaks off or is damaged; check that it was copied completely"
            ) from None


@contextmanager
def open_bytes(path: str | os.PathLike[str], *, by_name: bool = False) -> Iterator[ByteFile]:
    """Open a file, or standard input for "-"; gzip and Zstandard are recognised by their first bytes.

    The first bytes of plain text are the first transaction's. No text in UTF-8 starts like a compressed file; but
    where a row may be anything (`by_name`), only the suffix .gz or .zst tells.
    """
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise BadInput("standard input is closed; pipe a file into it, or name one")
        yield _decompressed(sys.stdin.buffer, name="standard input", by_name=by_name)
        return
    name = os.fspath(path)
    try:
        file = Path(path).open("rb")  # noqa: SIM115 - closed below; only opening it may fail here
    except IsADirectoryError:
        raise BadInput(f"{name} is a directory; name one file in it") from None
    except FileNotFoundError:
        raise BadInput(f"{name} does not exist; check the path") from None
    except OSError as error:
        raise BadInput(f"{name} cannot be opened: {error.strerror}") from None
    with file:
        yield _decompressed(file, name=name, path=Path(path), by_name=by_name)


def _lines(pieces: Sequence[bytes | memoryview], first: int, growth: float = UNKNOWN_GROWTH) -> Lines:
    joined = b"".join(pieces)
    # One byte is found ten times as fast as three.
    if BYTE_ORDER_MARK[:1] in joined and BYTE_ORDER_MARK in joined:
        joined = joined.removeprefix(BYTE_ORDER_MARK).replace(b"\n" + BYTE_ORDER_MARK, b"\n")
    text = np.frombuffer(joined, dtype=np.uint8)
    return Lines(text, first, parse.count_bytes(text, parse.NEWLINE), growth)


def _decompressed(file: BinaryIO, *, name: str, path: Path | None = None, by_name: bool) -> ByteFile:
    suffix = "" if path is None else suffix_of(path)
    size = 0 if path is None else path.stat().st_size  # none for a pipe, too
    share_read = (lambda: file.tell() / size) if size else None
    compression = _compression_by_name(path) if by_name else _compression_by_start(file)
    if compression is None:
        return ByteFile(file, name=name, suffix=suffix, path=path, size=size or None, share_read=share_read)
    stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), compression)
    return ByteFile(stream, name=name, suffix=suffix, share_read=share_read)


def _compression_by_name(path: Path | None) -> str | None:
    return None if path is None else COMPRESSED_SUFFIXES.get(path.suffix.lower())


def _compression_by_start(file: BinaryIO) -> str | None:
    first_bytes = file.peek(4)  # type: ignore[attr-defined]
    return next((name for magic, name in COMPRESSIONS.items() if first_bytes.startswith(magic)), None)


def suffix_of(path: Path) -> str:
    """How a file name ends, less the ending for compression; in small letters."""
    path = path.with_suffix("") if path.suffix.lower() in COMPRESSED_SUFFIXES else path
    return path.suffix.lower()
