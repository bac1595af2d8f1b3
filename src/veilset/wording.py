"""Words around numbers, for traces, notes and pages; and names as pages may show them."""

import re

_HIDDEN_CHARACTERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""Control characters, marks and overrides of the direction of text, line breaks, halves of characters: whatever could
make a name look like another one, or like none."""


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
    return _HIDDEN_CHARACTERS.sub(lambda found: ascii(found.group())[1:-1], str(name))
