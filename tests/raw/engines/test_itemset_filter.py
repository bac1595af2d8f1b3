"""A filter that lets no itemset through by mistake of the caller is refused."""

from typing import Any

import pytest

from veilset.errors import BadCall
from veilset.raw.engines.itemset_filter import ItemsetFilter


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"min_count": 0}, "min_count is 0; give at least 1"),
        ({"min_size": 0}, "min_size is 0; give at least 1"),
        ({"min_size": 3, "max_size": 2}, "max_size is 2, below min_size 3; give at least 3"),
    ],
)
def test_numbers_out_of_range_are_refused(limits: dict[str, Any], message: str) -> None:
    """The message says what was given and what is allowed."""
    with pytest.raises(BadCall, match=message):
        ItemsetFilter(**{"max_size": None, **limits})
