"""A release that is nothing but noise says so, whatever method made it; one that finds what there is does not."""

import pytest

from veilset import Release, SeededNoise, Transactions, datasets, mine, mine_exact
from veilset.results.noise_check import is_mostly_noise, is_told_from_noise
from veilset.results.release import NumberOfTransactions, ReleasedItemset

METHODS = ("planned", "privbasis", "difffim", "f1m", "truncated-em", "dpfim")

NUMBER = NumberOfTransactions(1000, 900, 1100, is_public=False)
PUBLIC = NumberOfTransactions(1000, 1000, 1000, is_public=True)
UNKNOWN = NumberOfTransactions(400, 0, 30_000, is_public=False)


@pytest.fixture(scope="module")
def baskets() -> Transactions:
    """Few items, so that every method finds most of what there is at a large epsilon."""
    return datasets.quest(2000, items=40, length=6, seed=3)


def itemset(support: int, low: int, high: int) -> ReleasedItemset:
    """Of no matter which items."""
    return ReleasedItemset(("a",), support, low, high)


@pytest.mark.parametrize("request_of", [{"k": 20}, {"min_support": "0.15"}], ids=["top-k", "threshold"])
@pytest.mark.parametrize("method", METHODS)
def test_only_a_release_without_epsilon_to_speak_of_is_noise(
    baskets: Transactions, method: str, request_of: dict[str, object]
) -> None:
    """Epsilon 0.001 on 2,000 baskets, with several seeds, and epsilon 20."""

    def release(epsilon: str, seed: int) -> Release:
        return mine(baskets, epsilon=epsilon, method=method, noise=SeededNoise(seed), **request_of)  # type: ignore[arg-type]

    for seed in range(3):
        blurred = release("0.001", seed)
        assert blurred.is_mostly_noise or len(blurred) == 0
    clear = release("20", 1)
    exact = {frozenset(found) for found in mine_exact(baskets, **request_of).itemsets}  # type: ignore[arg-type]
    found = {frozenset(each.items) for each in clear.itemsets}
    assert len(found & exact) > len(found) / 2
    assert not clear.is_mostly_noise
    assert clear.noise_warning is None


def test_an_interval_from_0_or_1_is_not_told_from_noise() -> None:
    """Nor one that was cut off at the largest number of transactions; a public number cuts nothing off."""
    assert not is_told_from_noise(itemset(50, 0, 110), NUMBER)
    assert not is_told_from_noise(itemset(50, 1, 110), NUMBER)
    assert is_told_from_noise(itemset(50, 2, 110), NUMBER)
    assert not is_told_from_noise(itemset(1100, 1100, 1100), NUMBER)
    assert is_told_from_noise(itemset(1000, 1000, 1000), PUBLIC)


def test_a_fifth_of_the_itemsets_may_be_told_by_chance() -> None:
    """One more, and the release says something."""
    noise, told = itemset(50, 0, 110), itemset(200, 140, 260)
    assert is_mostly_noise((*[noise] * 8, *[told] * 2), NUMBER)
    assert not is_mostly_noise((*[noise] * 7, *[told] * 3), NUMBER)


def test_where_not_even_the_number_is_told_supports_must_be_known_well() -> None:
    """Within a half; a number that is public, or told from 0, demands nothing."""
    vague, clear = itemset(300, 100, 500), itemset(300, 280, 320)
    assert is_mostly_noise((vague,) * 5, UNKNOWN)
    assert not is_mostly_noise((vague,) * 5, NUMBER)
    assert not is_mostly_noise((vague,) * 5, PUBLIC)
    assert not is_mostly_noise((clear,) * 5, UNKNOWN)


def test_no_itemsets_are_no_noise() -> None:
    """They claim nothing."""
    assert not is_mostly_noise((), NUMBER)


def test_the_document_of_a_release_tells_whether_it_is_noise(baskets: Transactions) -> None:
    """Also after it was stored; a release of an older version, whose file does not tell, does."""
    for epsilon, is_noise in (("0.001", True), ("20", False)):
        release = mine(baskets, epsilon=epsilon, k=20, noise=SeededNoise(1))
        document = release.to_dict()
        assert document["is_mostly_noise"] is is_noise
        del document["is_mostly_noise"]
        assert Release.from_dict(document) == release
        assert (release.noise_warning is not None) == is_noise
