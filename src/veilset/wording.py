"""Words around numbers, for traces, notes and pages; and text of others, made safe to print."""

import re
import unicodedata

_HARMLESS_FORMATS = "\u00ad\u200c\u200d"
"""Marks within words of some scripts, and within emoji: they move nothing but letters."""

_MAY_BE_UNSAFE = re.compile(r"[^\x20-\x7e]")


def printable(text: str, *, keeps: str = "") -> str:
    r"""Text of others for a terminal: what would move the cursor, colour it or turn its direction is written out.

    >>> printable("milk\x1b[2J"), printable("käse\u202e"), printable("two\nlines", keeps="\n")
    ('milk\\x1b[2J', 'käse\\u202e', 'two\nlines')
    """
    return _MAY_BE_UNSAFE.sub(
        lambda found: found[0] if found[0] in keeps or not _is_unsafe(found[0]) else _written_out(found[0]),
        text,
    )


def safe_json(text: str) -> str:
    r"""A JSON document that says the same, with escapes for what a terminal would take for orders.

    >>> safe_json('"a\x9bb"')
    '"a\\u009bb"'
    """
    return _MAY_BE_UNSAFE.sub(
        lambda found: found[0] if found[0] == "\n" or not _is_unsafe(found[0]) else _as_json(found[0]), text
    )


def _is_unsafe(letter: str) -> bool:
    """Whether it is a control character, or changes the direction of others, or shows as nothing at all."""
    kind = unicodedata.category(letter)
    return kind in {"Cc", "Cs", "Zl", "Zp"} or (kind == "Cf" and letter not in _HARMLESS_FORMATS)


def _written_out(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def _as_json(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))


_LONGEST_SHOWN = 60
"""60 characters of what was given are enough to recognise it."""


def shown(given: object) -> str:
    """What a caller handed in, as a message quotes it: short, on one line, whatever it is.

    >>> shown("5"), shown(1.5), shown("a" * 100) == repr("a" * 100)[:60] + "…"
    ("'5'", '1.5', True)
    """
    try:
        text = " ".join(repr(given).split())
    except Exception:  # noqa: BLE001 - an object whose repr fails, or a number that is too long to write
        return f"something of the type {type(given).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def counted(number: int, noun: str, plural: str | None = None, *, separator: str = "") -> str:
    """A number and what is counted, in the singular or the plural; `separator` stands between thousands.

    >>> counted(1, "item"), counted(0, "item"), counted(2, "sub-partition"), counted(2, "query", "queries")
    ('1 item', '0 items', '2 sub-partitions', '2 queries')
    >>> counted(1000, "run", separator=",")
    '1,000 runs'
    """
    return f"{number:{separator}} {noun if number == 1 else plural or noun + 's'}"


def ordinal(rank: int) -> str:
    """A rank as people write it.

    >>> [ordinal(rank) for rank in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '111th']
    """
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def shown_name(name: object) -> str:
    r"""What an item is called, with characters that nobody sees written out: they could turn a line round or end it.

    >>> print(shown_name("milk"), shown_name(7), shown_name("milk" + chr(0x202E)), shown_name(chr(0)))
    milk 7 milk\u202e \x00
    """
    return printable(str(name))
