"""Transactions as compressed rows of item codes, over a public alphabet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from veilset.arrays import BoolArray, Int32Array, Int64Array
from veilset.errors import BadInput

Item = int | str
"""What an item is called: an integer of up to 64 bits, or a name."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ArrowNames:
    """Distinct names in an Arrow array of integers or of text: a tenth of the memory that Python objects take.

    Of text, `are_integers` tells which stand for an integer; None if none does.
    """

    array: Any  # Arrow has no types
    are_integers: BoolArray | None = None

    def __len__(self) -> int:
        return len(self.array)

    def to_tuple(self) -> tuple[Item, ...]:
        """The names as Python objects."""
        names = self.array.to_pylist()
        if self.are_integers is not None:
            for place in np.flatnonzero(self.are_integers).tolist():
                names[place] = int(names[place])
        return tuple(names)


class Alphabet:
    """The public list of items; item code i stands for `names[i]`.

    `is_given` tells whether the caller handed it in. If not, it is the items that the file holds, and every
    release states that as an assumption.

    >>> alphabet = Alphabet(["beer", "bread", "milk"], is_given=True)
    >>> len(alphabet), alphabet.code("milk"), alphabet.names[0]
    (3, 2, 'beer')
    """

    def __init__(self, names: Sequence[Item] | ArrowNames, *, is_given: bool) -> None:
        if not isinstance(names, ArrowNames | Iterable) or isinstance(names, str | bytes):  # type: ignore[redundant-expr]
            raise BadInput("an alphabet is a list of names; give one, in the order of their codes")
        self.stored: ArrowNames | tuple[Item, ...] = names if isinstance(names, ArrowNames) else tuple(names)
        self.is_given = is_given
        if is_given and isinstance(self.stored, tuple) and len(self._codes) != len(self.stored):
            raise BadInput("the alphabet names an item twice; every item may stand in it once")

    def __len__(self) -> int:
        return len(self.stored)

    @cached_property
    def names(self) -> tuple[Item, ...]:
        """The items in the order of their codes; made when first asked for, since a million of them takes 0.1 GB."""
        return self.stored.to_tuple() if isinstance(self.stored, ArrowNames) else self.stored

    def code(self, name: Item) -> int:
        """The code of a name; KeyError where the alphabet does not hold it."""
        return self._codes[name]

    @cached_property
    def _codes(self) -> dict[Item, int]:
        return {name: code for code, name in enumerate(self.names)}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Transactions:
    """One set of items for each row: row r is `items[offsets[r]:offsets[r + 1]]`, ascending, no repeats.

    `owners` is None where a row is one privacy unit. Otherwise `owners[r]` numbers the person row r belongs
    to, rows of one person stand together (owners ascend), and the person is the privacy unit. `is_by_person` tells
    that every row is all that one person has; `is_by_basket`, that rows are baskets of nobody knows whom.
    """

    offsets: Int64Array
    items: Int32Array
    alphabet: Alphabet
    owners: Int64Array | None = None
    is_by_person: bool = False
    is_by_basket: bool = False

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def has_owners(self) -> bool:
        """Whether one person may own several of them."""
        return self.owners is not None

    def __repr__(self) -> str:
        about = f"over {len(self.alphabet)} items" if self.alphabet.is_given else "over items of its own"
        return f"Transactions(private, {about})"

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        owners = 0 if self.owners is None else self.owners.nbytes
        return self.offsets.nbytes + self.items.nbytes + owners

    @property
    def lengths(self) -> Int64Array:
        """The number of items in each row."""
        return np.diff(self.offsets)
