"""Excel files: the first sheet as a table of texts, cell by cell, as if it had been saved as CSV.

A cell is read without looking at others: a column has no type here, since one more row would change it.
"""

from typing import TYPE_CHECKING, Any

from veilset.deferred import Deferred
from veilset.errors import BadInput
from veilset.memory_room import raise_if_memory
from veilset.raw.read.csv_tables import CsvTable
from veilset.raw.read.files import ByteFile
from veilset.raw.read.options import Options
from veilset.raw.read.tables import check_names
from veilset.raw.read.text_columns import table_of_texts

if TYPE_CHECKING:
    import fastexcel
    import polars as pl
else:
    pl, fastexcel = Deferred("polars"), Deferred("fastexcel")


def read_sheet(file: ByteFile, options: Options, *, has_header: bool) -> CsvTable:
    """The first sheet of a workbook; the first row names the columns, or they are called f0, f1, ...

    A blank row is a basket without items, but no row of a table.
    """
    cells = _cells(file)
    if options.format != "basket":
        cells = cells.filter(~pl.all_horizontal(pl.all().is_null()))
    if not has_header:
        names = [f"f{number}" for number in range(cells.width)]
        check_names(names, options.columns, table=file.name)
        return table_of_texts(dict(zip(names, cells.to_arrow().columns, strict=True)))
    if cells.height == 0:
        raise BadInput(f"{file.name} does not start with the names of its columns; add such a row")
    named = ["" if name is None else str(name).strip() for name in cells.row(0)]
    check_names(named, options.columns, table=file.name)
    return table_of_texts(dict(zip(named, cells[1:].to_arrow().columns, strict=True)))


def _cells(file: ByteFile) -> "pl.DataFrame":
    """All cells of the first sheet as text."""
    try:
        book: Any = fastexcel.read_excel(file.read_all())
        sheet = book.load_sheet(0, header_row=None, skip_rows=0, dtypes="string")
        return pl.DataFrame(sheet.to_arrow())
    except ImportError:
        raise BadInput(
            f"{file.name} is a workbook, and reading it needs fastexcel; install it with "
            "pip install 'veilset[excel]', or save the sheet as CSV"
        ) from None
    except Exception as error:  # noqa: BLE001 - what the reader says of a cell can be from the data
        raise_if_memory(error)
        raise BadInput(
            f"{file.name} cannot be read as a workbook; open it, and save its first sheet as .xlsx or as CSV"
        ) from None
