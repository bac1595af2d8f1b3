"""DiffPart, basic and diffpart-chosen: budgets, what comes out without noise, accuracy, refusals."""

import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over
from reference import Basket, Baskets
from shared_data import DATA
from strategies import ALPHABET_SIZE, baskets, transactions_of
from veilset.datasets import quest
from veilset.errors import BadCall
from veilset.evaluate.metrics import fim_utility
from veilset.evaluate.published import transactions_of as transactions_in
from veilset.gate import PrivacyUnit, SeededNoise
from veilset.itemsets import Itemsets
from veilset.methods import METHODS
from veilset.methods.diffpart.hierarchy_cuts import Cuts
from veilset.methods.diffpart.level_tests import Purses, level_tests
from veilset.opening import open_curator
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.local import LocalEngine
from veilset.raw.read import read
from veilset.raw.transactions import Transactions
from veilset.request import PublishRequest
from veilset.results.published import Published
from veilset.taxonomy import Taxonomy

MSNBC = DATA / "MSNBC.dat.zst"

PUBLISHING = [name for name, method in METHODS.items() if method.task == "publish"]

SURE = Fraction(10**7)

trees = st.sampled_from(
    [
        Taxonomy.of([[0, 1], [2, 3], [4, 5]]),
        Taxonomy.of([0, [1, [2, 3]], [4, 5]]),
        Taxonomy.of([[[5, 4], [3, 2]], [1, 0]]),
        Taxonomy.of([0, 1, 2, 3, 4, 5]),
        Taxonomy.of([0, [1, [2, [3, [4, 5]]]]]),
    ]
)

targets = st.one_of(
    st.integers(2, 10).map(lambda fan_out: PublishRequest(fan_out=fan_out)),
    trees.map(lambda tree: PublishRequest(taxonomy=tree)),
)


def run(
    name: str, rows: Baskets | Transactions, request: PublishRequest, *, epsilon: Fraction, seed: int = 1
) -> Published:
    """One seeded run."""
    return METHODS[name].run(
        curator_over(rows, epsilon=epsilon, noise=SeededNoise(seed)), request, epsilon=epsilon
    )


def copies_in(published: Published) -> Counter[Basket]:
    """The records with their copies."""
    return Counter(
        {frozenset(r): n for r, n in zip(published.records, published.multiplicities.tolist(), strict=True)}
    )


@given(rows=baskets(), request=targets)
def test_without_noise_the_data_itself_is_published(rows: Baskets, request: PublishRequest) -> None:
    """Whatever the tree, by diffpart and by basic; a record without items is not one."""
    expected = Counter(row for row in rows if row)
    assert copies_in(run("diffpart", rows, request, epsilon=SURE)) == expected
    assert copies_in(run("basic", rows, request, epsilon=SURE)) == expected


@given(rows=baskets(max_rows=6).map(lambda rows: rows * 4))
def test_without_noise_the_chosen_items_are_published_as_they_are(rows: Baskets) -> None:
    """With few items all of them are chosen that occur in most of what truncation keeps; supports are right."""
    published = run("diffpart-chosen", rows, PublishRequest(), epsilon=SURE)
    held = {item for record in published.records for item in record}
    expected = Counter(row & held for row in rows if row & held)
    assert copies_in(published) == expected


@pytest.mark.parametrize("name", PUBLISHING)
@given(
    rows=baskets(),
    request=targets,
    epsilon=st.fractions(min_value=Fraction(1, 100), max_value=8),
    seed=st.integers(0, 10**6),
    public_number=st.none() | st.integers(0, 20),
)
@settings(max_examples=25)
def test_a_run_spends_epsilon_exactly_and_repeats(
    name: str, rows: Baskets, request: PublishRequest, epsilon: Fraction, seed: int, public_number: int | None
) -> None:
    """No chain more than its question was paid for; records are different, with copies, over the alphabet."""
    runs = []
    for _ in range(2):
        curator = open_curator(
            transactions_of(rows), epsilon=epsilon, noise=SeededNoise(seed), transactions=public_number
        )
        runs.append(METHODS[name].run(curator, request, epsilon=epsilon))
    one, two = runs
    assert one.spent == epsilon == sum((charge.mechanism.epsilon for charge in one.trace), Fraction(0))
    last = one.trace[-1].to_dict()
    assert sum(map(Fraction, last.get("largest_chain", []))) <= Fraction(last["epsilon"])
    assert copies_in(one) == copies_in(two)
    assert len(copies_in(one)) == len(one.records)
    assert np.all(one.multiplicities > 0)
    assert all(record and record[0] >= 0 and record[-1] < ALPHABET_SIZE for record in one.records)


@given(request=targets)
def test_a_chain_down_to_the_items_spends_all(request: PublishRequest) -> None:
    """The account of the gate is the paper's proof: shares before the end and at the end sum to B."""
    published = run("diffpart", [frozenset(range(ALPHABET_SIZE))] * 10**4, request, epsilon=Fraction(2))
    assert sum(map(Fraction, published.trace[0].to_dict()["largest_chain"])) == 2
    assert copies_in(published)[frozenset(range(ALPHABET_SIZE))] == pytest.approx(10**4, abs=100)


@pytest.mark.parametrize("name", PUBLISHING)
def test_noise_and_thresholds_grow_with_the_transactions_of_one_owner(name: str) -> None:
    """Every sensitivity of the trace is a multiple of it."""
    rows = [frozenset({0, 1}), frozenset({2})] * 4000
    curator = curator_over(rows, unit=PrivacyUnit("owner", 5))
    published = METHODS[name].run(curator, PublishRequest(fan_out=2), epsilon=Fraction(1))
    assert all(charge.to_dict()["sensitivity"] % 5 == 0 for charge in published.trace)
    one, five = (
        level_tests(
            Cuts.root(Taxonomy.of([[0, 1], [2, 3]])),
            Purses.full(Fraction(1, 2)),
            c1=Fraction(1),
            for_items=Fraction(1, 2),
            noise_unit=unit,
        )
        .tests[0]
        .threshold
        for unit in (1, 5)
    )
    assert five >= 5 * one - 5


@pytest.mark.parametrize("fan_out", [2, 3, 10, 16])
def test_empty_data_gives_few_records(fan_out: int) -> None:
    """Partitions that only noise let pass die out, whatever the fan-out; nothing grows without end."""
    data = transactions_of([], 200)
    numbers = [
        len(run("diffpart", data, PublishRequest(fan_out=fan_out), epsilon=Fraction(1), seed=s).records)
        for s in range(5)
    ]
    assert np.mean(numbers) < 40


def test_more_items_than_the_data_holds_are_no_trouble() -> None:
    """An alphabet may name items that nobody has; records are found among them."""
    data = transactions_of([frozenset({0, 3})] * 5000 + [frozenset({90})] * 5000, 100)
    for name in ("diffpart", "diffpart-chosen"):
        copies = copies_in(run(name, data, PublishRequest(), epsilon=Fraction(2)))
        assert copies[frozenset({0, 3})] == pytest.approx(5000, rel=0.1)
        assert copies[frozenset({90})] == pytest.approx(5000, rel=0.1)


def test_basic_refuses_more_items_than_it_can_count() -> None:
    """2^21 records are too many; the way out is named. Nothing was spent."""
    curator = curator_over(transactions_of([frozenset({0})], 21))
    with pytest.raises(BadCall, match=r"for n up to 20, not for 21; take diffpart"):
        METHODS["basic"].run(curator, PublishRequest(), epsilon=Fraction(1))
    assert curator.budget.spent == 0


def test_no_exact_size_gets_out() -> None:
    """The numbers of planted records are in nothing that a run returns or that the curator shows."""
    rows = [frozenset({0, 1})] * 7919 + [frozenset({0})] * 5003 + [frozenset({2})] * 3001
    curator = open_curator(transactions_of(rows), epsilon=Fraction(1, 1000), noise=SeededNoise(3))
    published = METHODS["basic"].run(curator, PublishRequest(), epsilon=Fraction(1, 1000))
    texts = [str(published.to_dict()), str(published.multiplicities), repr(curator), str(vars(curator))]
    numbers = {int(digits) for text in texts for digits in re.findall(r"\d+", text)}
    assert not {7919, 5003, 3001, len(rows)} & numbers


def utility(data: Transactions, published: Published, k: int) -> float:
    """The top-k utility of Appendix E."""
    exact, mined = (
        LocalEngine(held).top(k, ItemsetFilter(max_size=None)) for held in (data, transactions_in(published))
    )
    tops = [
        dict(zip(Itemsets(top.offsets, top.items), top.supports.tolist(), strict=True))
        for top in (exact, mined)
    ]
    return fim_utility(*tops)


def test_chosen_items_lift_utility_where_most_items_are_rare() -> None:
    """Generated baskets of a thousand items: diffpart loses most of them, diffpart-chosen keeps what is frequent."""
    data = quest(20_000, items=1000, length=8, seed=4)
    plain, chosen = (
        utility(data, run(name, data, PublishRequest(), epsilon=Fraction(2)), 20)
        for name in ("diffpart", "diffpart-chosen")
    )
    assert plain < 0.3
    assert chosen > 0.7


@pytest.mark.skipif(not MSNBC.exists(), reason="needs the MSNBC dataset")
def test_diffpart_keeps_the_top_100_of_msnbc() -> None:
    """B = 1, fan-out 10: the paper loses up to 22 % at this point; at least 0.92 is kept on average."""
    data = read(MSNBC)
    found = [
        utility(data, run("diffpart", data, PublishRequest(), epsilon=Fraction(1), seed=s), 100)
        for s in range(5)
    ]
    assert np.mean(found) >= 0.92
