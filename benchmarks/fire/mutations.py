"""Bytes that are changed as accidents and attackers change them; the same seed changes them in the same way."""

import random
from collections.abc import Callable, Sequence

Mutation = Callable[[bytes, random.Random], bytes]

NASTY = (
    b"\x00",
    b"\xff\xff\xff\xff",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x7f\xff\xff\xff\xff\xff\xff\xff",
    b"\x80\x00\x00\x00",
    b"9" * 30,
    b"9" * 5000,
    b"-1",
    b"-2",
    b"1e400",
    b"NaN",
    b'"',
    b"'",
    b",",
    b"\t",
    b"\r",
    b"\n\n\n",
    b"\x1b[31m",
    b"../../x",
    b"{",
    b"}" * 50,
    b"[" * 200,
    b"null",
    b"\xe2\x80\xae",
    b"\xe9",
)
"""What parsers stumble over: ends of number ranges, quotes, controls, half characters, deep brackets."""


def _place(data: bytes, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def _flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 2, 8, 40])):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _set(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 2, 4])):
        if changed:
            changed[chance.randrange(len(changed))] = chance.choice(
                [0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)]
            )
    return bytes(changed)


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: _place(data, chance)]


def _drop(data: bytes, chance: random.Random) -> bytes:
    start = _place(data, chance)
    return data[:start] + data[start + chance.choice([1, 4, 16, 200]) :]


def _repeat(data: bytes, chance: random.Random) -> bytes:
    start = _place(data, chance)
    piece = data[start : start + chance.choice([1, 8, 64, 500])]
    return data[:start] + piece * chance.choice([2, 3, 50]) + data[start:]


def _insert(data: bytes, chance: random.Random) -> bytes:
    start = _place(data, chance)
    return data[:start] + chance.choice(NASTY) + data[start:]


def _overwrite(data: bytes, chance: random.Random) -> bytes:
    start, nasty = _place(data, chance), chance.choice(NASTY)
    return data[:start] + nasty + data[start + len(nasty) :]


def _noise(data: bytes, chance: random.Random) -> bytes:
    start = _place(data, chance)
    return data[:start] + chance.randbytes(chance.choice([1, 16, 300])) + data[start:]


def _swap(data: bytes, chance: random.Random) -> bytes:
    first, second = sorted((_place(data, chance), _place(data, chance)))
    return data[second:] + data[first:second] + data[:first]


MUTATIONS: Sequence[Mutation] = (_flip, _set, _cut, _drop, _repeat, _insert, _overwrite, _noise, _swap)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The bytes after one to four changes."""
    for _ in range(chance.choice([1, 1, 2, 4])):
        data = chance.choice(MUTATIONS)(data, chance)
    return data


ODD_WORDS = (
    *(
        "",
        " ",
        "-",
        "--",
        "-1",
        "0",
        "1",
        "nan",
        "inf",
        "1e999",
        "1e-400",
        "1/0",
        "0x10",
        "9" * 400,
        "1,2,,3",
    ),
    *(
        "null",
        "..",
        "/",
        "/dev/null",
        "no-such-file.dat",
        "x.json",
        "é",
        "a\nb",
        "%s{0}",
        "'; DROP TABLE x",
        "$HOME",
    ),
    *("--k", "--epsilon", "--public-items", "--delta", "--alphabet", "--json", "--out", "--owner", "--item"),
    *(
        "--format",
        "--separator",
        "--header",
        "--min-support",
        "--max-size",
        "--method",
        "--per-owner",
        "--query",
    ),
    *(
        "--skip-bad-rows",
        "--public-count",
        "--quiet",
        "--verbose",
        "--force",
        "--report",
        "--dataset",
        "--help",
    ),
    *(
        "planned",
        "privbasis",
        "diffpart",
        "fimi",
        "long",
        "onehot",
        "table",
        "basket",
        "tab",
        ";",
        "auto",
        "1e-9",
    ),
)
"""Words of command lines that mean something elsewhere, or nothing."""


def mutated_words(words: Sequence[str], chance: random.Random) -> list[str]:
    """A command line after one to three changes; the first word, the command, stays."""
    changed = list(words)
    for _ in range(chance.choice([1, 1, 2, 3])):
        place = chance.randrange(1, len(changed) + 1)
        match chance.randrange(5):
            case 0:
                del changed[place : place + 1]
            case 1:
                changed.insert(place, chance.choice(ODD_WORDS))
            case 2:
                changed[place : place + 1] = [chance.choice(ODD_WORDS)]
            case 3:
                changed[place : place + 1] = [*changed[place : place + 1], chance.choice(ODD_WORDS)]
            case _:
                other = chance.randrange(1, len(changed)) if len(changed) > 1 else 0
                if 1 <= place < len(changed):
                    changed[place], changed[other] = changed[other], changed[place]
    return changed
