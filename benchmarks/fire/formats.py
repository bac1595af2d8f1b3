"""A small file of every format, and the commands that read it. One item stands for what must not be told: CANARY."""

import gzip
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa
import xlsxwriter

import veilset as vs
from veilset.gate import Ledger

CANARY, CANARY_NUMBER = "QuokkaCanary", 918273645
"""An item that somebody has: in text it is a word that no message holds, in numbers one."""
BASKETS = [["bread", "milk", CANARY]] * 9 + [["milk", "beer"]] * 8 + [[CANARY]] * 3 + [[]]
NUMBERS = [[1, 2, CANARY_NUMBER]] * 9 + [[2, 3]] * 8 + [[CANARY_NUMBER]] * 3 + [[]]
PRIVATE = ("--epsilon", "1", "--k", "2", "--public-items", "--out", "OUT.json")
NAMED = ("--owner", "who", "--item", "what")
SETTINGS = b"[service]\nport = 8484\nrelease_every = 1.5\n"


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format: a whole file of it, by its name, and commands in which FILE stands for a mutated one."""

    name: str
    suffix: str
    make: Callable[[Path], None]
    commands: tuple[tuple[str, ...], ...]
    shell: Callable[[bytes], bytes] = bytes
    """What is put around the bytes when they are mutated inside, such as compression."""


def _text(rows: list[list[str]] | list[list[int]], separator: str) -> bytes:
    return "".join(separator.join(map(str, row)) + "\n" for row in rows).encode()


def _long(separator: str) -> bytes:
    rows = [f"p{place}{separator}{item}" for place, row in enumerate(BASKETS) for item in row]
    return "\n".join([f"who{separator}what", *rows, ""]).encode()


def _parquet_of_lists(path: Path) -> None:
    pl.DataFrame({"items": BASKETS}, schema={"items": pl.List(pl.String)}).write_parquet(path)


def _long_table(path: Path) -> None:
    rows = [(f"p{place}", item) for place, row in enumerate(BASKETS) for item in row]
    pl.DataFrame(rows, schema=["who", "what"], orient="row").write_parquet(path, compression="uncompressed")


def _arrow(path: Path) -> None:
    pl.DataFrame({"items": NUMBERS}).write_ipc(path)


def _encoded(path: Path) -> None:
    vs.write_encoded(vs.read(BASKETS), path)


def _workbook(path: Path) -> None:
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        for place, line in enumerate(_long(",").decode().splitlines()):
            sheet.write_row(place, 0, line.split(","))


def _release(path: Path) -> None:
    vs.mine(vs.read(BASKETS), k=3, epsilon=50, public_items=True, noise=vs.SeededNoise(1)).save(path)


def _published(path: Path) -> None:
    vs.publish(vs.read(NUMBERS), epsilon=50, public_items=True, noise=vs.SeededNoise(1)).write(path)


def _ledger(path: Path) -> None:
    ledger = Ledger(str(path))
    account = ledger.dataset("shop", epsilon=10)
    vs.items(vs.read(BASKETS), k=1, epsilon=1, public_items=True, account=account)
    del account, ledger
    with sqlite3.connect(path) as database:  # one file, without the log beside it
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("PRAGMA journal_mode = DELETE")
    database.close()


def _database(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE sales (who TEXT, what TEXT)")
        rows = [(f"p{place}", item) for place, row in enumerate(BASKETS) for item in row]
        database.executemany("INSERT INTO sales VALUES (?, ?)", rows)
    database.close()


def _bytes(content: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_bytes(content)

    return make


def _zstd(content: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(content, asbytes=True)) if content else b""


def _reading(*options: str) -> tuple[tuple[str, ...], ...]:
    """What is done with data of any format."""
    return (
        ("info", "FILE", *options, "--json"),
        ("items", "FILE", *options, *PRIVATE),
        ("exact", "FILE", *options, "--k", "2", "--json"),
        ("mine", "FILE", *options, "--skip-bad-rows", *PRIVATE),
    )


FIMI, SPMF = _text(NUMBERS, " "), b"@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n@ITEM=2=bread\n1 2\n2\n1 -1 2 -2\n"
RESULTS = (
    ("show", "FILE"),
    ("rules", "FILE", "--json"),
    ("compare", "FILE", "WHOLE"),
    ("show", "FILE", "--json"),
)
DATA = "DATA"

FORMATS = (
    FileFormat("FIMI", ".dat", _bytes(FIMI), _reading()),
    FileFormat("FIMI, gzip", ".dat.gz", _bytes(gzip.compress(FIMI, mtime=0)), _reading()),
    FileFormat(
        "FIMI within gzip", ".dat.gz", _bytes(FIMI), _reading(), lambda data: gzip.compress(data, mtime=0)
    ),
    FileFormat("FIMI, Zstandard", ".dat.zst", _bytes(_zstd(FIMI)), _reading()),
    FileFormat("SPMF", ".spmf", _bytes(SPMF), _reading()),
    FileFormat("baskets, CSV", ".csv", _bytes(_text(BASKETS, ",")), _reading()),
    FileFormat("long table, CSV", ".csv", _bytes(_long(",")), _reading(*NAMED)),
    FileFormat("long table, TSV", ".tsv", _bytes(_long("\t")), _reading(*NAMED)),
    FileFormat("long table as columns", ".csv", _bytes(_long(",")), _reading("--format", "table")),
    FileFormat("lists, Parquet", ".parquet", _parquet_of_lists, _reading()),
    FileFormat("long table, Parquet", ".parquet", _long_table, _reading(*NAMED)),
    FileFormat("lists, Arrow", ".arrow", _arrow, _reading()),
    FileFormat("encoded transactions", ".arrow", _encoded, _reading()),
    FileFormat("workbook", ".xlsx", _workbook, _reading(*NAMED)),
    FileFormat(
        "SQLite database",
        ".db",
        _database,
        tuple((*call, "--query", "SELECT who, what FROM sales") for call in _reading(*NAMED)),
    ),
    FileFormat("release, JSON", ".json", _release, RESULTS),
    FileFormat("release, Parquet", ".parquet", _release, RESULTS),
    FileFormat("release, CSV", ".csv", _release, RESULTS),
    FileFormat("published dataset", ".dat", _published, (("exact", "FILE", "--k", "2"), ("info", "FILE"))),
    FileFormat(
        "ledger",
        ".db",
        _ledger,
        (
            ("ledger", "show", "shop", "--ledger", "FILE"),
            ("ledger", "verify", "--ledger", "FILE"),
            ("ledger", "list", "--ledger", "FILE", "--json"),
            ("items", DATA, "--ledger", "FILE", "--dataset", "shop", *PRIVATE),
        ),
    ),
    FileFormat(
        "list of items",
        ".txt",
        _bytes(b"bread\nmilk\tMilk, 1 l\nbeer\n" * 3),
        (
            ("items", DATA, "--alphabet", "FILE", "--epsilon", "1", "--k", "1"),
            ("info", DATA, "--alphabet", "FILE"),
        ),
    ),
    FileFormat(
        "taxonomy",
        ".csv",
        _bytes(b"bread,food,all\nmilk,drink,all\nbeer,drink,all\n"),
        (
            (
                *("publish", DATA, "--taxonomy", "FILE", "--method", "diffpart", "--epsilon", "1"),
                *("--public-items", "--out", "OUT.dat"),
            ),
        ),
    ),
)
"""Every format that a command reads."""


def is_whole(path: Path) -> bool:
    """Whether a file that a command wrote can be read to its end."""
    if path.suffix == ".json":
        return isinstance(json.loads(path.read_text(encoding="utf-8")), dict)
    return len(vs.read(path)) >= 0
