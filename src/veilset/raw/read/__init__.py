"""Files, tables and lists in; transactions out.

Reading stands in front of the gate, so it must not tell what nobody paid for: one more transaction must not change
how the others are read. Formats come from names, options and headers; a row is parsed by itself, and no row at all
is data like any other. What is refused, a row that cannot be read or a file that looks misread, is refused before
anything is asked, for the eyes of whoever owns the data. A refusal is not a release and must not be published.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from veilset.arguments import a_path, path_or_items
from veilset.deferred import Deferred
from veilset.errors import BadCall, BadInput, MemoryTooSmall
from veilset.memory_room import no_room_for
from veilset.raw.clustered import ClusteredTransactions
from veilset.raw.read.encode import TokenRows, encode, over_alphabet
from veilset.raw.read.encoded import read_encoded, write_encoded
from veilset.raw.read.file_formats import (
    KNOWN_SUFFIXES,
    encoded_in,
    may_be_table_file,
    part_of_file,
    streamed_in,
)
from veilset.raw.read.files import open_bytes
from veilset.raw.read.folders import files_in
from veilset.raw.read.frames import frame_of
from veilset.raw.read.lists import list_rows
from veilset.raw.read.matrices import check_alphabet, is_matrix, matrix_rows
from veilset.raw.read.options import FORMATS, LINE_FORMATS, OF_COLUMNS, Format, HowRead, Options
from veilset.raw.read.parts import SourcePart, TypedTable, rows_of_parts
from veilset.raw.read.vocabulary import AlphabetSource, Vocabulary, vocabulary_of
from veilset.raw.transactions import Alphabet, Item, Transactions
from veilset.wording import shown

if TYPE_CHECKING:
    from veilset.raw.read import databases
else:
    databases = Deferred("veilset.raw.read.databases")

__all__ = [
    "FORMATS",
    "AlphabetSource",
    "Format",
    "HowRead",
    "check_alphabet",
    "files_of_source",
    "over",
    "read",
    "read_and_tell",
    "write_encoded",
]

EngineName = Literal["local", "spark"]


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
    query: str | None = None,
    columns: Sequence[Item] | None = None,
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
    | `long` | all rows of a table with the same owner (and the same basket), or with the same basket alone |
    | `list` | the list in a row of a table |
    | `table` | a row of a table; its items are `column=value`, but for missing values |
    | `onehot` | a row of a table; its items are the columns that are true or 1 |

    Only names, options and headers tell the format, never what rows hold: one more transaction must not change how
    the others are read. If no format is given, `item` tells `long` or `list`, whichever type that column has. Then
    the file name tells, less `.gz` or `.zst`: `.dat` and `.fimi` are `fimi`, `.spmf` is `spmf`, `.csv`, `.tsv` and
    `.basket` are `basket`. A Parquet or Arrow file, or a table in memory, is `list` if it has nothing but a list
    column (and owners), `onehot` if all columns are truth values or floats. A matrix of numbers, NumPy's or sparse, is
    `onehot`. What a query returns is `long`. Where nothing tells, give the format.

    Items are integers or text. In a text file an item is an integer if it is written like one, which 007 is not;
    integers come first in the alphabet.

    A file that looks misread is refused, in one line that names the option to give: other separators inside items, a
    table read as baskets, a column of identifiers, hardly any item twice, UTF-16. What is given is not doubted:
    `format` turns the checks of what rows look like off, `separator` those of what stands within items. The checks, as
    every refusal, are for the eyes of whoever owns the data.

    Args:
        source: A path, "-" for standard input, a table in memory, a matrix of 0 and 1, or a list of lists of items
            (any iterables will do). Files are text, Parquet, Arrow or Excel, gzip and Zstandard included. A folder, or
            a pattern such as "sales/*.parquet", stands for all its files. What `write_encoded` wrote is mapped into
            memory, neither parsed nor copied. Tables are those of Polars, pandas and Arrow, and of whatever offers
            `__arrow_c_stream__` or `__dataframe__`, as DuckDB and Ibis do. The address of a database, such as
            "postgresql://user@host/name" or "sqlite:///shop.db", goes with a query.
        format: One of the formats above.
        owner: The column that tells whose a row is. If one owner can have several transactions, then the
            owner is the privacy unit, not the transaction.
        basket: The column that tells, in a long table, to which of its owner's transactions a row belongs. Without
            an owner, every basket is a transaction, and the basket is the privacy unit: nobody knows whose it is.
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
        query: One SELECT for a database; it is read only. Its columns are named by `owner`, `basket` and `item`.
        columns: What the columns of a matrix without names are called, if not 0, 1, 2, ...
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
    options = Options(
        format, owner, basket, item, separator, header, multiplicity, skip_bad_rows, query, columns
    )
    if isinstance(source, ClusteredTransactions):
        raise BadCall(
            "transactions on a cluster are for mine, items and publish; read the data without engine spark"
        )
    if is_frame(source) or engine == "spark" or master is not None:
        return _on_cluster(source, options, alphabet, engine=engine, master=master)
    if engine not in {None, "local"}:
        raise BadCall(f"there is no engine {shown(engine)}; give local or spark")
    return read_and_tell(source, options, alphabet)


def read_and_tell(source: object, options: Options, alphabet: AlphabetSource | None = None) -> Transactions:
    """Read transactions; how that was done stands in `options.how` afterwards."""
    vocabulary = None if alphabet is None else vocabulary_of(_checked_alphabet(alphabet))
    if databases.is_address(source):
        return encode(_query_rows(databases.SourceDatabase.of_address(str(source)), options), vocabulary)
    if isinstance(source, (str, os.PathLike)):
        return _read_files(source, options, vocabulary)
    options.refuse("query", where="data in memory")
    if alphabet is not None and options.names is None:
        check_alphabet(source, alphabet)
    return encode(_memory_rows(source, options), vocabulary)


def _checked_alphabet(alphabet: AlphabetSource) -> AlphabetSource:
    return alphabet if isinstance(alphabet, Alphabet) else path_or_items(alphabet, "alphabet")  # type: ignore[return-value]


def over(transactions: Transactions, alphabet: AlphabetSource) -> Transactions:
    """Transactions that were read, over a public alphabet; items that it does not hold are left out.

    >>> over(read([["milk", "bread"], ["beer"]]), ["bread", "milk"]).alphabet.names
    ('bread', 'milk')
    """
    if isinstance(transactions, ClusteredTransactions):
        from veilset.raw.read.spark_tables import over_on_cluster  # noqa: PLC0415

        return cast("Transactions", over_on_cluster(transactions, alphabet))
    return over_alphabet(transactions, vocabulary_of(alphabet))


def files_of_source(source: str) -> list[Path]:
    """The files that a source stands for: those of a folder or a pattern, a file of a database, or itself."""
    if databases.is_address(source):
        return [Path(databases.SourceDatabase.of_address(source).address)]
    return files_in(source, KNOWN_SUFFIXES) or [Path(source)]


def _read_files(
    source: str | os.PathLike[str], options: Options, vocabulary: Vocabulary | None
) -> Transactions:
    path = a_path(source, "the path of the data")
    options.refuse("names", where="files")
    files = files_in(path, KNOWN_SUFFIXES)
    if files is not None:
        return encode(_rows_of_files(files, os.fspath(path), options), vocabulary)
    kind = databases.database_file(Path(path))
    if kind is not None:
        database = databases.SourceDatabase(kind, os.fspath(path), os.fspath(path))
        return encode(_query_rows(database, options), vocabulary)
    options.refuse("query", where="files")
    try:
        return _read_file(path, options, vocabulary)
    except MemoryTooSmall:
        raise
    except MemoryError:
        raise no_room_for(os.fspath(path), _size_of(path)) from None


def _read_file(path: str | os.PathLike[str], options: Options, vocabulary: Vocabulary | None) -> Transactions:
    with open_bytes(path, by_name=options.skip_bad_rows) as file:
        held = encoded_in(file, options)
        if held is not None:
            return held if vocabulary is None else over_alphabet(held, vocabulary)
        rows = streamed_in(file, options) or rows_of_parts(
            [part_of_file(file, options)], options, name=file.name
        )
        return encode(rows, vocabulary)


def _size_of(path: str | os.PathLike[str]) -> int:
    """The bytes of a file; none for a pipe."""
    return Path(path).stat().st_size if Path(path).is_file() else 0


def _query_rows(database: "databases.SourceDatabase", options: Options) -> TokenRows:
    options.refuse("separator", "header", "names", where="a query")
    if options.format in {"list", *LINE_FORMATS} and not (
        options.format == "list" and database.kind == "duckdb"
    ):
        options.refuse("format", where="a query")
    options.how.kind = f"a query to {database.kind}"
    return rows_of_parts([databases.read_query(database, options)], options, name="the query's result")


def _rows_of_files(files: list[Path], name: str, options: Options) -> TokenRows:
    """All files of a folder or a pattern, one after another."""
    options.refuse("query", where="files")
    parts: list[SourcePart] = []
    for path in files:
        with open_bytes(path, by_name=options.skip_bad_rows) as file:
            if may_be_table_file(file, options) and read_encoded(file) is not None:
                raise BadInput(f"{path} holds encoded transactions, which are read alone; name that file")
            parts.append(part_of_file(file, options))
    options.how.files = len(files)
    return rows_of_parts(parts, options, name=name)


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

    options.refuse("separator", "header", "query", "names", where="a table on a cluster")
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


def _memory_rows(source: object, options: Options) -> TokenRows:
    options.refuse("separator", "header", where="data in memory")
    if options.format in LINE_FORMATS:
        options.refuse("format", where="data in memory")
    if is_matrix(source) and options.format in {None, "onehot"} and not options.columns.given():
        return _matrix_rows(source, options)
    options.refuse("names", where="data whose columns have names, or that has none")
    frame = frame_of(source)
    if frame is not None:
        options.how.kind = f"a table in memory ({type(source).__name__})"
        return rows_of_parts([TypedTable(frame)], options, name="the table")
    is_told = is_matrix(source) and options.format == "list"
    options.refuse(*([] if is_told else ["format"]), *OF_COLUMNS, where="a list of lists")
    return list_rows(source, skips=options.skip_bad_rows)


def _matrix_rows(source: Any, options: Options) -> TokenRows:  # noqa: ANN401 - of any library
    options.how.kind, options.how.layout = f"a matrix ({type(source).__name__})", "onehot"
    return matrix_rows(source, options.names, skips=options.skip_bad_rows)
