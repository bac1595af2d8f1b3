"""Files, tables and lists in; transactions out.

Reading stands in front of the gate, so it must not tell what nobody paid for: one more transaction must not change
how the others are read. Formats come from names, options and headers; a row is parsed by itself, and no row at all
is data like any other. What is refused, a row that cannot be read or a file that looks misread, is refused before
anything is asked, for the eyes of whoever owns the data. A refusal is not a release and must not be published.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from veilset.deferred import Deferred
from veilset.errors import BadCall, BadInput
from veilset.raw.clustered import ClusteredTransactions
from veilset.raw.read import misread
from veilset.raw.read.csv_tables import CsvTable, read_csv_table
from veilset.raw.read.encode import TokenRows, encode, over_alphabet
from veilset.raw.read.encoded import read_encoded, write_encoded
from veilset.raw.read.files import ByteFile, open_bytes
from veilset.raw.read.frames import frame_of, is_table_file, read_table_file
from veilset.raw.read.lists import list_rows
from veilset.raw.read.tables import Columns, Table, table_rows
from veilset.raw.read.text import read_basket, read_fimi, read_spmf
from veilset.raw.read.vocabulary import AlphabetSource, vocabulary_of, written_integers
from veilset.raw.transactions import Item, Transactions

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Deferred("polars")

__all__ = ["FORMATS", "AlphabetSource", "Format", "over", "read", "write_encoded"]

Format = Literal["fimi", "spmf", "basket", "long", "list", "table", "onehot"]
FORMATS: tuple[str, ...] = get_args(Format)
EngineName = Literal["local", "spark"]
LINE_FORMATS = ("fimi", "spmf", "basket")
OF_COLUMNS = ("owner", "basket", "item", "multiplicity")

FORMAT_OF_SUFFIX = {
    ".dat": "fimi",
    ".fimi": "fimi",
    ".spmf": "spmf",
    ".csv": "basket",
    ".tsv": "basket",
    ".basket": "basket",
}
TABLE_SUFFIXES = (".parquet", ".arrow", ".feather", ".ipc")

SEPARATORS_BY_NAME = {"tab": "\t", "\\t": "\t"}


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller said about how to read; None where nothing was said."""

    format: str | None
    owner: str | None
    basket: str | None
    item: str | None
    separator: str | None
    header: bool | None
    multiplicity: str | None
    skip_bad_rows: bool

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise BadCall(f"there is no format {self.format!r}; give one of {', '.join(FORMATS)}")
        if self.separator is not None and not re.fullmatch(r'[^"\r\n\x80-\U0010ffff]', self.separator):
            raise BadCall(
                "a separator is one ASCII character, no quote and no newline; give such a one, or tab"
            )

    @property
    def columns(self) -> Columns:
        """The columns that are named."""
        return Columns(self.owner, self.basket, self.item, self.multiplicity)

    def refuse(self, *names: str, where: str) -> None:
        """BadCall if one of these was given where it has no meaning."""
        for name in names:
            if getattr(self, name) is not None:
                raise BadCall(f"{name} means nothing for {where}; leave it out, or give another format")


def read(  # noqa: PLR0913 - one word for each thing that a file does not say itself
    source: str | os.PathLike[str] | Iterable[Iterable[Item | None]] | Any,  # noqa: ANN401 - tables of other libraries
    *,
    format: Format | None = None,  # noqa: A002 - what everybody calls it, on the command line, too
    owner: str | None = None,
    basket: str | None = None,
    item: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    multiplicity: str | None = None,
    skip_bad_rows: bool = False,
    alphabet: AlphabetSource | None = None,
    engine: EngineName | None = None,
    master: str | None = None,
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

    Only names, options and headers tell the format, never what rows hold: one more transaction must not change how
    the others are read. If no format is given, `item` tells `long` or `list`, whichever type that column has. Then
    the file name tells, less `.gz` or `.zst`: `.dat` and `.fimi` are `fimi`, `.spmf` is `spmf`, `.csv`, `.tsv` and
    `.basket` are `basket`. A Parquet or Arrow file, or a table in memory, is `list` if it has nothing but a list
    column (and owners), `onehot` if all columns are of the type boolean. Where nothing tells, give the format.

    Items are integers or text. In a text file an item is an integer if it is written like one, which 007 is not;
    integers come first in the alphabet.

    A file that looks misread is refused, in one line that names the option to give: other separators inside items, a
    table read as baskets, a column of identifiers, hardly any item twice, UTF-16. What is given is not doubted:
    `format` turns the checks of what rows look like off, `separator` those of what stands within items. The checks, as
    every refusal, are for the eyes of whoever owns the data.

    Args:
        source: A path, "-" for standard input, a Polars, pandas or Arrow table, or a list of lists of items
            (any iterables will do). Files are text, Parquet or Arrow, gzip and Zstandard included; their
            first bytes tell. What `write_encoded` wrote is mapped into memory, neither parsed nor copied.
        format: One of the formats above.
        owner: The column that tells whose a row is. If one owner can have several transactions, then the
            owner is the privacy unit, not the transaction.
        basket: The column that tells, in a long table, to which of its owner's transactions a row belongs.
        item: The column of items; if it holds lists, then each row is one transaction.
        separator: What stands between the cells of a CSV file: a comma (in `.tsv`, a tab) if not given. One ASCII
            character, or "tab".
        header: Whether a CSV file starts with column names; if not given, tables do and baskets do not.
            Columns without a name are called f0, f1, ...
        multiplicity: The column that tells how many transactions a row stands for, in a table where a row is one.
            Then a row is what somebody owns, and its copies are transactions of one owner. What `publish` wrote to
            Parquet says so itself, and its records are nobody's.
        skip_bad_rows: Whether a row that cannot be read is a transaction without items, instead of refused with its
            file and line. Nothing tells how many there were. A row of which nobody knows the owner is left out.
            Compressed files must be named .gz or .zst.
        alphabet: The public items: a list, or the path of a file with one item on each line, or with lines
            of an item, a tab, and its name in releases. Other items are dropped. If not given, whoever makes a
            release of the data has to say which items may be named.
        engine: "spark" to read a path on a Spark cluster, and to count there; rows never reach this machine. A
            DataFrame of PySpark is read so without a word; it has a list column, or columns of owners and items.
        master: The cluster, such as spark://HOST:7077 or sc://HOST:15002; the session that is there, if left out.

    Raises:
        BadInput: The source cannot be read; the message tells where, and what to do.
        BadCall: The arguments make no sense together.

    >>> baskets = read([["milk", "bread"], ["milk"], []])
    >>> len(baskets), baskets.alphabet.names, baskets.alphabet.is_given
    (3, ('bread', 'milk'), False)
    """
    separator = SEPARATORS_BY_NAME.get(separator or "", separator)
    options = Options(format, owner, basket, item, separator, header, multiplicity, skip_bad_rows)
    if isinstance(source, ClusteredTransactions):
        raise BadCall(
            "transactions on a cluster are for mine, items and publish; read the data without engine spark"
        )
    if is_frame(source) or engine == "spark" or master is not None:
        return _on_cluster(source, options, alphabet, engine=engine, master=master)
    if engine not in {None, "local"}:
        raise BadCall(f"there is no engine {engine!r}; give local or spark")
    vocabulary = None if alphabet is None else vocabulary_of(alphabet)
    if isinstance(source, (str, os.PathLike)):
        with open_bytes(source, by_name=skip_bad_rows) as file:
            held = _encoded(file, options)
            if held is not None:
                return held if vocabulary is None else over_alphabet(held, vocabulary)
            return encode(_file_rows(file, options), vocabulary)
    return encode(_memory_rows(source, options), vocabulary)


def over(transactions: Transactions, alphabet: AlphabetSource) -> Transactions:
    """Transactions that were read, over a public alphabet; items that it does not hold are left out.

    >>> over(read([["milk", "bread"], ["beer"]]), ["bread", "milk"]).alphabet.names
    ('bread', 'milk')
    """
    if isinstance(transactions, ClusteredTransactions):
        from veilset.raw.read.spark_tables import over_on_cluster  # noqa: PLC0415

        return cast("Transactions", over_on_cluster(transactions, alphabet))
    return over_alphabet(transactions, vocabulary_of(alphabet))


def is_frame(source: object) -> bool:
    """Whether this is a DataFrame of a Spark session, of whichever kind; nothing is imported for that."""
    kind = type(source)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")


def _on_cluster(
    source: object,
    options: Options,
    alphabet: AlphabetSource | None,
    *,
    engine: str | None,
    master: str | None,
) -> Transactions:
    """The transactions of a table on a Spark cluster: whoever opens data takes them for what they are."""
    from veilset.raw.read import spark_tables  # noqa: PLC0415 - what most data does without

    options.refuse("separator", "header", where="a table on a cluster")
    if engine not in {None, "spark"}:
        raise BadCall(
            "a cluster is named, and another engine than spark; give --engine spark, or no --master"
        )
    if is_frame(source):
        frame = source
    elif isinstance(source, (str, os.PathLike)):
        frame = spark_tables.frame_at(source, master=master)
    else:
        raise BadCall("Spark reads paths and DataFrames of its own; give one of them, or no engine")
    skips = options.skip_bad_rows
    read_there = spark_tables.read_frame(
        frame, options.columns, layout=options.format, alphabet=alphabet, skips=skips
    )
    return cast("Transactions", read_there)


def _encoded(file: ByteFile, options: Options) -> Transactions | None:
    """The transactions of a file that `write_encoded` wrote; None if it is another one."""
    held = read_encoded(file) if _may_be_table_file(file, options) else None
    if held is not None:
        options.refuse("format", *OF_COLUMNS, "separator", "header", where="encoded transactions")
    return held


def _memory_rows(source: object, options: Options) -> TokenRows:
    options.refuse("separator", "header", where="data in memory")
    if options.format in LINE_FORMATS:
        options.refuse("format", where="data in memory")
    frame = frame_of(source)
    if frame is not None:
        table = Table(frame, "the table", options.skip_bad_rows)
        return table_rows(table, options.columns, layout=options.format)
    options.refuse("format", *OF_COLUMNS, where="a list of lists")
    return list_rows(source, skips=options.skip_bad_rows)


def _file_rows(file: ByteFile, options: Options) -> TokenRows:
    if _may_be_table_file(file, options) and is_table_file(file):
        return _table_file_rows(file, options)
    if file.suffix in TABLE_SUFFIXES:
        raise BadInput(
            f"{file.name} is no {file.suffix[1:]} file, whatever its name says; check how it was made"
        )
    reading = options.format or _told_format(file, options)
    if reading in LINE_FORMATS:
        return _line_file_rows(file, options, reading)
    return _csv_table_rows(file, options, reading)


def _may_be_table_file(file: ByteFile, options: Options) -> bool:
    """Whether the first bytes may tell: not where they can be those of a transaction."""
    if file.suffix in TABLE_SUFFIXES:
        return True
    is_text = options.separator is not None or options.header is not None or options.format in LINE_FORMATS
    return file.suffix not in FORMAT_OF_SUFFIX and not is_text


def _table_file_rows(file: ByteFile, options: Options) -> TokenRows:
    options.refuse("separator", "header", where="a Parquet or Arrow file")
    if options.format in LINE_FORMATS:
        options.refuse("format", where="a Parquet or Arrow file")
    columns = options.columns
    frame, published = read_table_file(file, columns)
    is_published = published is not None and columns.multiplicity in {None, published}
    if is_published:
        columns = replace(columns, multiplicity=published)
    table = Table(frame, file.name, options.skip_bad_rows, is_published)
    return table_rows(table, columns, layout=options.format)


def _line_file_rows(file: ByteFile, options: Options, reading: str) -> TokenRows:
    options.refuse(*OF_COLUMNS, where=f"{reading} files")
    if reading == "basket":
        separator = _separator(file, options)
        _check_cells(file, options, separator)
        if options.format is None:
            misread.check_baskets(file, separator=separator, has_header=options.header or False)
        return read_basket(
            file, separator=separator, has_header=options.header or False, skips=options.skip_bad_rows
        )
    options.refuse("separator", "header", where=f"{reading} files")
    if options.format is None:
        misread.check_encoding(file, override=f"--format {reading}")
    rows = (read_fimi if reading == "fimi" else read_spmf)(file, skips=options.skip_bad_rows)
    if options.format is None:
        misread.check_ids(rows, name=file.name, reading=reading)
    return rows


def _csv_table_rows(file: ByteFile, options: Options, layout: str) -> TokenRows:
    if layout == "list":
        options.refuse("format", where="a text file")
    separator = _separator(file, options)
    _check_cells(file, options, separator)
    has_header = options.header is not False
    table = read_csv_table(
        file, options.columns, separator=separator, has_header=has_header, skips=options.skip_bad_rows
    )
    if layout == "long":
        return _long_csv_rows(file, options, table.as_values())
    frame = table.as_text()
    if options.multiplicity is not None:
        frame = frame.with_columns(pl.col(options.multiplicity).cast(pl.Int64, strict=False))
    return table_rows(Table(frame, file.name, options.skip_bad_rows), options.columns, layout=layout)


def _long_csv_rows(file: ByteFile, options: Options, table: CsvTable) -> TokenRows:
    """The rows of a long table, put together by the numbers of its values."""
    numbered = Table(table.numbers, file.name, options.skip_bad_rows)
    rows = table_rows(numbered, options.columns, layout="long")
    names = table.texts.take(rows.names)
    return replace(rows, names=names, are_integers=written_integers(names))


def _check_cells(file: ByteFile, options: Options, separator: str) -> None:
    if options.separator is None:
        misread.check_encoding(file, override="--separator")
        misread.check_separators(file, separator=separator)


def _separator(file: ByteFile, options: Options) -> str:
    return options.separator or ("\t" if file.suffix == ".tsv" else ",")


def _told_format(file: ByteFile, options: Options) -> str:
    """The format of a text file, by its name or by columns that are named; what it holds does not tell."""
    if options.columns.given():
        return "long"
    if file.suffix in FORMAT_OF_SUFFIX:
        return FORMAT_OF_SUFFIX[file.suffix]
    known = ", ".join([*FORMAT_OF_SUFFIX, *TABLE_SUFFIXES])
    raise BadInput(
        f"{file.name} does not tell its format by its name; give --format, one of {', '.join(FORMATS)}; "
        f"or name the file {known}"
    )
