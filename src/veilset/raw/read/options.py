"""What a caller says about how to read, checked at the door; and what reading found out, for the owner's eyes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from veilset.arguments import instance, truth
from veilset.errors import BadCall
from veilset.raw.read.tables import Columns
from veilset.raw.transactions import Item
from veilset.wording import shown

Format = Literal["fimi", "spmf", "basket", "long", "list", "table", "onehot"]
FORMATS: tuple[str, ...] = get_args(Format)
LINE_FORMATS = ("fimi", "spmf", "basket")
OF_COLUMNS = ("owner", "basket", "item", "multiplicity")

SEPARATORS_BY_NAME = {"tab": "\t", "\\t": "\t"}


@dataclass(slots=True)
class HowRead:
    """How a source was read, filled in on the way: what it is, which layout, which columns of which types.

    Not private: names of columns and numbers of rows are the data's.
    """

    kind: str = "lists in Python"
    layout: str = "list"
    files: int = 1
    columns: dict[str, str] = field(default_factory=dict)
    table_rows: int | None = None
    separator: str | None = None
    has_header: bool | None = None


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
    query: str | None = None
    names: Sequence[Item] | None = None
    how: HowRead = field(default_factory=HowRead, compare=False)

    def __post_init__(self) -> None:
        self._check_types()
        if self.format is not None and self.format not in FORMATS:
            raise BadCall(f"there is no format {shown(self.format)}; give one of {', '.join(FORMATS)}")
        object.__setattr__(self, "separator", SEPARATORS_BY_NAME.get(self.separator or "", self.separator))
        if self.separator is not None and not re.fullmatch(r'[^"\r\n\x80-\U0010ffff]', self.separator):
            raise BadCall(
                "a separator is one ASCII character, no quote and no newline; give such a one, or tab"
            )

    def _check_types(self) -> None:
        for name in (*OF_COLUMNS, "format", "separator", "query"):
            if getattr(self, name) is not None:
                instance(getattr(self, name), str, name, give="text, or leave it out")
        if self.header is not None:
            truth(self.header, "header")
        truth(self.skip_bad_rows, "skip_bad_rows")
        names = self.names
        if names is not None and (isinstance(names, str | bytes) or not hasattr(names, "__iter__")):
            raise BadCall(f"columns is {shown(names)}; give a list with the name of each column of a matrix")

    @property
    def columns(self) -> Columns:
        """The columns that are named."""
        return Columns(self.owner, self.basket, self.item, self.multiplicity)

    def refuse(self, *names: str, where: str) -> None:
        """BadCall if one of these was given where it has no meaning."""
        for name in names:
            if getattr(self, name) is not None:
                called = "columns" if name == "names" else name
                raise BadCall(f"{called} means nothing for {where}; leave it out, or give another format")
