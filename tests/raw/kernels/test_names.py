"""The kernels that number names, against a dictionary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.raw.kernels import names
from veilset.raw.read.names import NameTable

texts = st.lists(st.binary(max_size=3) | st.sampled_from([b"", b"milk", b"milk ", b"a" * 40]), max_size=30)


def joined(found: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Texts as kernels take them."""
    starts = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return np.frombuffer(b"".join(found), dtype=np.uint8), starts


@given(blocks=st.lists(texts, max_size=4))
def test_names_are_numbered_as_a_dictionary_numbers_them(blocks: list[list[bytes]]) -> None:
    """Whatever the blocks: equal texts have one number, others have others, in the order in which they come."""
    table = NameTable()
    number_of: dict[bytes, int] = {}
    for block in blocks:
        expected = [number_of.setdefault(text, len(number_of)) for text in block]
        assert table.tokens_of(*joined(block)).tolist() == expected
    stored = [name.as_buffer().to_pybytes() for name in table.names]
    assert stored == list(number_of)


@given(block=texts)
def test_names_with_one_hash_stay_apart(block: list[bytes]) -> None:
    """The hash only tells where to look: with one for all texts, the numbers are the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(names, "hash_texts", lambda _text, _starts, hashes: hashes.fill(7))
        collided = NameTable().tokens_of(*joined(block))
    assert collided.tolist() == NameTable().tokens_of(*joined(block)).tolist()


def test_many_names_make_the_table_grow() -> None:
    """A table that has grown several times still knows its first names."""
    table = NameTable()
    for start in range(0, 40_000, 1000):
        block = [str(number).encode() for number in range(start, start + 1000)]
        assert table.tokens_of(*joined(block)).tolist() == list(range(start, start + 1000))
    assert table.tokens_of(*joined([b"0", b"39999", b"new"])).tolist() == [0, 39_999, 40_000]
