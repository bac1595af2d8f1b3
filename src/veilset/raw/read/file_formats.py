"""What one file gives, by its format: the name and what the caller says tell it; what the file holds does not."""

from typing import TYPE_CHECKING

from veilset.deferred import Deferred
from veilset.errors import BadCall, BadInput
from veilset.raw.read import misread
from veilset.raw.read.csv_tables import read_csv_table
from veilset.raw.read.encode import TokenRows
from veilset.raw.read.encoded import read_encoded
from veilset.raw.read.files import ByteFile
from veilset.raw.read.frames import is_table_file, read_table_file
from veilset.raw.read.options import FORMATS, LINE_FORMATS, OF_COLUMNS, Options
from veilset.raw.read.parts import SourcePart, TextTable, TypedTable
from veilset.raw.read.streamed import streamed_rows
from veilset.raw.read.text import read_basket, read_fimi, read_spmf
from veilset.raw.transactions import Transactions

if TYPE_CHECKING:
    from veilset.raw.read import spreadsheets
else:
    spreadsheets = Deferred("veilset.raw.read.spreadsheets")

FORMAT_OF_SUFFIX = {
    ".dat": "fimi",
    ".fimi": "fimi",
    ".spmf": "spmf",
    ".csv": "basket",
    ".tsv": "basket",
    ".basket": "basket",
}
TABLE_SUFFIXES = (".parquet", ".arrow", ".feather", ".ipc")
EXCEL_SUFFIXES = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
KNOWN_SUFFIXES = (*FORMAT_OF_SUFFIX, *TABLE_SUFFIXES, *EXCEL_SUFFIXES)

TEXT_KINDS = {"fimi": "a FIMI file", "spmf": "an SPMF file", "basket": "a file of baskets"}


def encoded_in(file: ByteFile, options: Options) -> Transactions | None:
    """The transactions of a file that `write_encoded` wrote; None if it is another one."""
    held = read_encoded(file) if may_be_table_file(file, options) else None
    if held is not None:
        options.refuse("format", *OF_COLUMNS, "separator", "header", where="encoded transactions")
        options.how.kind, options.how.layout = "a file that veilset encoded", "encoded"
    return held


def streamed_in(file: ByteFile, options: Options) -> TokenRows | None:
    """The rows of a large file of lists, which may not fit in memory; None if it is another one."""
    if not may_be_table_file(file, options) or not is_table_file(file):
        return None
    options.refuse("separator", "header", where="a Parquet or Arrow file")
    rows = streamed_rows(file, options.columns, layout=options.format, skips=options.skip_bad_rows)
    if rows is not None:
        options.how.kind, options.how.layout = "a Parquet or Arrow file", "list"
    return rows


def part_of_file(file: ByteFile, options: Options) -> SourcePart:
    """What one file gives."""
    if may_be_table_file(file, options) and is_table_file(file):
        return _table_file(file, options)
    if file.suffix in TABLE_SUFFIXES:
        raise BadInput(
            f"{file.name} is no {file.suffix[1:]} file, whatever its name says; check how it was made"
        )
    if file.suffix in EXCEL_SUFFIXES:
        return _sheet(file, options)
    reading = options.format or _told_format(file, options)
    if reading in LINE_FORMATS:
        return _line_file_rows(file, options, reading)
    return _csv_table(file, options, reading)


def may_be_table_file(file: ByteFile, options: Options) -> bool:
    """Whether the first bytes may tell: not where they can be those of a transaction."""
    if file.suffix in TABLE_SUFFIXES:
        return True
    is_text = options.separator is not None or options.header is not None or options.format in LINE_FORMATS
    return file.suffix not in {*FORMAT_OF_SUFFIX, *EXCEL_SUFFIXES} and not is_text


def _table_file(file: ByteFile, options: Options) -> TypedTable:
    options.refuse("separator", "header", where="a Parquet or Arrow file")
    if options.format in LINE_FORMATS:
        options.refuse("format", where="a Parquet or Arrow file")
    options.how.kind = "a Parquet or Arrow file"
    return TypedTable(*read_table_file(file, options.columns))


def _sheet(file: ByteFile, options: Options) -> TextTable:
    """The first sheet of a workbook; nothing but what is said tells its layout."""
    options.refuse("separator", where="a workbook")
    layout = "long" if options.columns.given() and options.format is None else options.format
    if layout not in {"long", "table", "onehot", "basket"}:
        raise BadCall(
            f"{file.name} is a workbook, which does not tell its layout; name the columns of owners and items "
            "(--owner, --item), or give --format basket, table or onehot"
        )
    if layout == "basket":
        options.refuse(*OF_COLUMNS, where="baskets in a workbook")
    has_header = layout != "basket" if options.header is None else options.header
    options.how.kind, options.how.has_header = "the first sheet of a workbook", has_header
    return TextTable(spreadsheets.read_sheet(file, options, has_header=has_header), layout, has_header)


def _line_file_rows(file: ByteFile, options: Options, reading: str) -> TokenRows:
    options.refuse(*OF_COLUMNS, where=f"{reading} files")
    options.how.kind, options.how.layout = TEXT_KINDS[reading], reading
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


def _csv_table(file: ByteFile, options: Options, layout: str) -> TextTable:
    if layout == "list":
        options.refuse("format", where="a text file")
    separator = _separator(file, options)
    _check_cells(file, options, separator)
    has_header = options.header is not False
    options.how.kind = "a CSV file"
    table = read_csv_table(
        file, options.columns, separator=separator, has_header=has_header, skips=options.skip_bad_rows
    )
    return TextTable(table, layout, has_header)


def _check_cells(file: ByteFile, options: Options, separator: str) -> None:
    if options.separator is None:
        misread.check_encoding(file, override="--separator")
        misread.check_separators(file, separator=separator)


def _separator(file: ByteFile, options: Options) -> str:
    separator = options.separator or ("\t" if file.suffix == ".tsv" else ",")
    options.how.separator, options.how.has_header = separator, options.header
    return separator


def _told_format(file: ByteFile, options: Options) -> str:
    """The format of a text file, by its name or by columns that are named; what it holds does not tell."""
    if options.columns.given():
        return "long"
    if file.suffix in FORMAT_OF_SUFFIX:
        return FORMAT_OF_SUFFIX[file.suffix]
    known = ", ".join([*FORMAT_OF_SUFFIX, *TABLE_SUFFIXES, EXCEL_SUFFIXES[0]])
    raise BadInput(
        f"{file.name} does not tell its format by its name; give --format, one of {', '.join(FORMATS)}; "
        f"or name the file {known}"
    )
