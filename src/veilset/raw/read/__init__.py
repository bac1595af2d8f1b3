"""Files, tables and lists in; transactions out."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from veilset.errors import BadCall, BadInput
from veilset.raw.read.encode import TokenRows, encode
from veilset.raw.read.files import ByteFile, open_bytes
from veilset.raw.read.frames import frame_of, is_table_file, read_csv_file, read_table_file
from veilset.raw.read.lists import list_rows
from veilset.raw.read.tables import Columns, table_rows
from veilset.raw.read.text import read_basket, read_fimi, read_spmf
from veilset.raw.read.vocabulary import AlphabetSource, integers_if_all, vocabulary_of
from veilset.raw.transactions import Item, Transactions

Format = Literal["fimi", "spmf", "basket", "long", "list", "table", "onehot"]
FORMATS: tuple[str, ...] = get_args(Format)
LINE_FORMATS = ("fimi", "spmf", "basket")

FORMAT_OF_SUFFIX = {
    ".dat": "fimi",
    ".fimi": "fimi",
    ".spmf": "spmf",
    ".csv": "basket",
    ".tsv": "basket",
    ".basket": "basket",
}
TABLE_SUFFIXES = (".parquet", ".arrow", ".feather", ".ipc")
SUFFIXES_THAT_TELL_NOTHING = ("", ".txt", ".data")

ONLY_NUMBERS = re.compile(rb"[0-9 \t\r]*")
SPMF_LINE = re.compile(rb"[@%#].*|(?:[0-9 \t\r]|-[12](?![0-9]))*")


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller said about how to read; None where nothing was said."""

    format: str | None
    owner: str | None
    basket: str | None
    item: str | None
    separator: str | None
    header: bool | None

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise BadCall(f"there is no format {self.format!r}; give one of {', '.join(FORMATS)}")
        if self.separator is not None and not re.fullmatch(r'[^"\r\n\x80-\U0010ffff]', self.separator):
            raise BadCall("a separator is one ASCII character, no quote and no newline; give such a one")

    @property
    def columns(self) -> Columns:
        """The columns that are named."""
        return Columns(self.owner, self.basket, self.item)

    def refuse(self, *names: str, where: str) -> None:
        """BadCall if one of these was given where it has no meaning."""
        for name in names:
            if getattr(self, name) is not None:
                raise BadCall(f"{name} means nothing for {where}; leave it out, or give another format")


def read(
    source: str | os.PathLike[str] | Iterable[Iterable[Item | None]] | Any,  # noqa: ANN401 - tables of other libraries
    *,
    format: Format | None = None,  # noqa: A002 - what everybody calls it, on the command line, too
    owner: str | None = None,
    basket: str | None = None,
    item: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    alphabet: AlphabetSource | None = None,
) -> Transactions:
    """Read transactions: one set of items for each person, or several for each.

    Repeats within a transaction count once, and a transaction without items is one, too: a blank line, an
    empty list, an owner whose items are all missing.

    | format | one transaction is |
    |---|---|
    | `fimi` | a line of item numbers of up to 64 bits, parted by blanks |
    | `spmf` | the same, with `@ITEM=3=milk` names, comments, and the marks -1 and -2 of sequences |
    | `basket` | a line of item names, parted by commas; cells may be quoted, but end on their line |
    | `long` | all rows of a table with the same owner (and the same basket) |
    | `list` | the list in a row of a table |
    | `table` | a row of a table; its items are `column=value`, but for missing values |
    | `onehot` | a row of a table; its items are the columns that are true or 1 |

    If no format is given, `item` tells `long` or `list`, whichever that column is. Then the file name tells,
    less `.gz` or `.zst`: `.dat` and `.fimi` are `fimi`, `.spmf` is `spmf`, `.csv`, `.tsv` and `.basket` are
    `basket`. Without a suffix, with `.txt` or `.data`, and on standard input, the first line that is not
    blank tells: `fimi` if it has only numbers, `spmf` if also its marks or a comment, else `basket`. A table
    is `list` if it has nothing but a list column (and owners), `onehot` if nothing but true and false, or 1
    and 0. A list column beside one called `multiplicity`, and nothing else, is what `publish` writes: each
    list stands for that number of transactions.

    Items are integers or text. In a text file they are integers if all of them look like one, which 007 does
    not. In a list that mixes both, all become text.

    Args:
        source: A path, "-" for standard input, a Polars, pandas or Arrow table, or a list of lists of items
            (any iterables will do). Files are text, Parquet or Arrow, gzip and Zstandard included; their
            first bytes tell.
        format: One of the formats above.
        owner: The column that tells whose a row is. If one owner can have several transactions, then the
            owner is the privacy unit, not the transaction.
        basket: The column that tells, in a long table, to which of its owner's transactions a row belongs.
        item: The column of items; if it holds lists, then each row is one transaction.
        separator: What stands between the cells of a CSV file: a comma (in `.tsv`, a tab) if not given.
        header: Whether a CSV file starts with column names; if not given, tables do and baskets do not.
            Columns without a name are called f0, f1, ...
        alphabet: The public items: a list, or the path of a file with one item on each line, or with lines
            of an item, a tab, and its name in releases. Other items are dropped. If not given, the items that
            the data holds stand for it, sorted, and each release says so.

    Raises:
        BadInput: The source cannot be read; the message tells where, and what to do.
        BadCall: The arguments make no sense together.

    >>> baskets = read([["milk", "bread"], ["milk"], []])
    >>> len(baskets), baskets.alphabet.names, baskets.alphabet.is_given
    (3, ('bread', 'milk'), False)
    """
    options = Options(format, owner, basket, item, separator, header)
    vocabulary = None if alphabet is None else vocabulary_of(alphabet)
    if isinstance(source, (str, os.PathLike)):
        with open_bytes(source) as file:
            return encode(_file_rows(file, options), vocabulary, name=file.name)
    return encode(_memory_rows(source, options), vocabulary, name="the data")


def _memory_rows(source: object, options: Options) -> TokenRows:
    options.refuse("separator", "header", where="data in memory")
    if options.format in LINE_FORMATS:
        options.refuse("format", where="data in memory")
    frame = frame_of(source)
    if frame is not None:
        return table_rows(frame, options.columns, layout=options.format, name="the table")
    options.refuse("format", "owner", "basket", "item", where="a list of lists")
    return list_rows(source)


def _file_rows(file: ByteFile, options: Options) -> TokenRows:
    if not file.head:
        raise BadInput(f"{file.name} is empty; give a file with one transaction on each line, or a table")
    if is_table_file(file):
        return _table_file_rows(file, options)
    if file.suffix in TABLE_SUFFIXES:
        raise BadInput(
            f"{file.name} is no {file.suffix[1:]} file, whatever its name says; check how it was made"
        )
    reading = options.format or _guess_format(file, options)
    if reading in LINE_FORMATS:
        return _line_file_rows(file, options, reading)
    return _csv_table_rows(file, options, reading)


def _table_file_rows(file: ByteFile, options: Options) -> TokenRows:
    options.refuse("separator", "header", where="a Parquet or Arrow file")
    if options.format in LINE_FORMATS:
        options.refuse("format", where="a Parquet or Arrow file")
    frame = read_table_file(file, options.columns)
    return table_rows(frame, options.columns, layout=options.format, name=file.name)


def _line_file_rows(file: ByteFile, options: Options, reading: str) -> TokenRows:
    options.refuse("owner", "basket", "item", where=f"{reading} files")
    if reading == "basket":
        return read_basket(file, separator=_separator(file, options), has_header=options.header or False)
    options.refuse("separator", "header", where=f"{reading} files")
    return read_fimi(file) if reading == "fimi" else read_spmf(file)


def _csv_table_rows(file: ByteFile, options: Options, layout: str) -> TokenRows:
    if layout == "list":
        options.refuse("format", where="a text file")
    frame = read_csv_file(
        file,
        options.columns,
        separator=_separator(file, options),
        has_header=options.header is not False,
        as_text=layout != "onehot",
    )
    rows = table_rows(frame, options.columns, layout=layout, name=file.name)
    return replace(rows, names=integers_if_all(rows.names)) if layout == "long" else rows


def _separator(file: ByteFile, options: Options) -> str:
    return options.separator or ("\t" if file.suffix == ".tsv" else ",")


def _guess_format(file: ByteFile, options: Options) -> str:
    """The format of a text file, by the rule that `read` tells."""
    if options.columns.given():
        return "long"
    if file.suffix in FORMAT_OF_SUFFIX:
        return FORMAT_OF_SUFFIX[file.suffix]
    if file.suffix not in SUFFIXES_THAT_TELL_NOTHING:
        known = ", ".join([*FORMAT_OF_SUFFIX, *TABLE_SUFFIXES])
        raise BadInput(
            f"{file.name} has a suffix that tells no format; known are {known}; or give the format: "
            f"{', '.join(FORMATS)}"
        )
    if ONLY_NUMBERS.fullmatch(file.first_line()):
        return "fimi"
    return "spmf" if SPMF_LINE.fullmatch(file.first_line()) else "basket"
