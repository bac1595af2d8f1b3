"""Slow, obvious twins of the readers, and transactions as plain lists to compare them with."""

import io
import re
from itertools import pairwise

from veilset.raw.read.files import ByteFile
from veilset.raw.transactions import Item, Transactions

CELL = re.compile(r'[ \t]*"((?:[^"]|"")*)"[ \t]*|([^,]*)')


def baskets(transactions: Transactions) -> list[list[Item]]:
    """The names in each row, in the order of their codes."""
    names, offsets = transactions.alphabet.names, transactions.offsets.tolist()
    codes = transactions.items.tolist()
    return [[names[code] for code in codes[a:b]] for a, b in pairwise(offsets)]


def lines_of_numbers(text: str) -> list[list[int]]:
    """The numbers on each line."""
    return [[int(number) for number in line.split()] for line in text.removesuffix("\n").split("\n")]


def lines_of_names(text: str) -> list[list[str]]:
    """The names on each line of a basket file with commas."""
    return [names_on_line(line) for line in text.removesuffix("\n").split("\n")]


def names_on_line(line: str) -> list[str]:
    """The cells of one line that are not empty; ValueError where a quote is broken."""
    names, position = [], 0
    while position <= len(line):
        cell = CELL.match(line, position)
        if cell is None or line[cell.end() : cell.end() + 1] not in {"", ","}:
            raise ValueError(line)
        if cell[1] is None and cell[2].strip(" \t").startswith('"'):
            raise ValueError(line)
        names.append((cell[2] if cell[1] is None else cell[1].replace('""', '"')).strip(" \t"))
        position = cell.end() + 1
    return [name for name in names if name]


def byte_file(data: bytes) -> ByteFile:
    """An open file with these bytes."""
    return ByteFile(io.BytesIO(data), name="data")
