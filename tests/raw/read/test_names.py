"""Names that are numbered on several cores."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.arrays import Int32Array
from veilset.raw.read.names import NameNumbers, NameTable

words = st.lists(st.text("abé", max_size=2), max_size=8)


def numbered(table: NameTable, texts: list[str]) -> Int32Array:
    """The numbers of these texts in a table."""
    encoded = [text.encode() for text in texts]
    starts = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return table.tokens_of(np.frombuffer(b"".join(encoded), dtype=np.uint8), starts)


@given(blocks=st.lists(st.tuples(st.integers(0, 2), words), max_size=6))
def test_it_does_not_matter_which_table_a_block_was_looked_up_in(blocks: list[tuple[int, list[str]]]) -> None:
    """The names of all tables are united, each once, and every token stands for the text it was made of."""
    numbers = NameNumbers()
    numbers._tables.extend(NameTable() for _ in range(3))
    found = [(place, numbered(numbers._tables[place], texts)) for place, texts in blocks]
    names, tokens = numbers.united(found)
    read = [text for _, texts in blocks for text in texts]
    assert names.take(tokens).to_pylist() == read
    assert sorted(names.to_pylist()) == sorted(set(read))
