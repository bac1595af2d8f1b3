"""Public itemsets: domains and their draws."""

import pytest

from veilset.errors import BadCall
from veilset.gate import SeededNoise
from veilset.itemsets import Domain


def test_domains_draw_every_itemset_equally_often() -> None:
    """A uniform draw over sizes 1 and 2 of four items hits each of the ten itemsets."""
    domain = Domain(items=(1, 3, 5, 7), max_size=2)
    noise = SeededNoise(4)
    drawn = [domain.draw(noise.below) for _ in range(5000)]
    counts = [drawn.count(itemset) for itemset in set(drawn)]
    assert len(counts) == domain.size == 10
    assert min(counts) > 400


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((1, 1), "items"),
        ((2, 2), "pairs of items"),
        ((1, 3), "itemsets of up to 3 items"),
        ((3, 3), "itemsets of 3 items"),
        ((2, 3), "itemsets of 2 to 3 items"),
    ],
)
def test_a_domain_says_what_its_members_are(sizes: tuple[int, int], words: str) -> None:
    """Both sizes, where both matter; the refusal of a k that is too large says the same."""
    domain = Domain(items=range(4), min_size=sizes[0], max_size=sizes[1])
    assert domain.sentence() == words
    with pytest.raises(
        BadCall, match=f"k = 15, but there are only {domain.size} {words} over an alphabet of 4; "
    ):
        domain.check_holds(15)
