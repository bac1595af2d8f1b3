"""Synthetic baskets look like a supermarket's, depend on the seed alone, and survive being written."""

import csv
import gzip
import io
import itertools
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import fim
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset import datasets, read
from veilset import writing as baskets
from veilset.datasets.catalogue import DEPARTMENTS, OCCASIONS
from veilset.errors import BadCall
from veilset.raw.transactions import Alphabet, Item, Transactions

Rows = list[list[Item]]

AWKWARD = ["plain", "salt, coarse", 'the "good" jam', " padded ", "two\nlines", "crème fraîche", ""]


def rows_of(transactions: Transactions) -> Rows:
    """The rows as lists of names."""
    names = transactions.alphabet.names
    cells = [names[code] for code in transactions.items]
    return [cells[low:high] for low, high in itertools.pairwise(transactions.offsets)]


def transactions_of(rows: list[set[int]], names: list[Item]) -> Transactions:
    """Transactions from sets of codes."""
    return Transactions(
        offsets=np.cumsum([0, *map(len, rows)]),
        items=np.array([code for row in rows for code in sorted(row)], dtype=np.int32),
        alphabet=Alphabet(names, is_given=True),
    )


def text_of(path: Path) -> str:
    """What a text file holds, decompressed as its name says."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes()).decode()
    with pa.input_stream(str(path)) as stream:
        return bytes(stream.read()).decode()


def same_arrays(one: Transactions, other: Transactions) -> bool:
    """Whether both hold the same rows."""
    return np.array_equal(one.offsets, other.offsets) and np.array_equal(one.items, other.items)


@pytest.fixture(scope="module")
def shop() -> Transactions:
    """A shop large enough for shares to be steady."""
    return datasets.groceries(20_000)


def test_every_occasion_is_sold_in_a_department() -> None:
    """The catalogue names each item once, and occasions use only what it names."""
    names = [name for _, department in DEPARTMENTS.values() for name in department]
    assert len(names) == len(set(names))
    assert {name for _, occasion in OCCASIONS.values() for name in occasion} <= set(names)


@pytest.mark.parametrize("make", [datasets.groceries, datasets.quest])
def test_the_seed_decides_everything(make: Callable[..., Transactions]) -> None:
    """The same seed gives the same baskets, another seed others."""
    assert same_arrays(make(500, seed=1), make(500, seed=1))
    assert not same_arrays(make(500, seed=1), make(500, seed=2))


@given(rows=st.integers(1, 30), items=st.integers(1, 6), length=st.integers(1, 9), seed=st.integers(0, 99))
def test_quest_rows_are_ascending_sets_that_hold_something(
    rows: int, items: int, length: int, seed: int
) -> None:
    """As many rows as asked, none empty, codes ascending without repeats and inside the alphabet."""
    made = datasets.quest(rows, items=items, length=length, patterns=5, seed=seed)
    assert len(made) == rows
    assert len(made.alphabet) == items
    for row in rows_of(made):
        assert row
        assert row == sorted(set(row))
        assert set(row) <= set(range(items))


def test_groceries_have_the_shape_of_a_supermarket(shop: Transactions) -> None:
    """Baskets of 6 to 8 items on average and about 30 at most; the top item is in 15 to 30 % of them."""
    shares = np.bincount(shop.items, minlength=len(shop.alphabet)) / len(shop)
    assert 6 < shop.lengths.mean() < 8
    assert 22 < shop.lengths.max() < 40
    assert shop.lengths.min() == 1
    assert 0.15 < shares.max() < 0.30
    assert shares.min() > 0
    assert np.median(shares) < shares.max() / 5
    assert shop.alphabet.is_given


def test_occasions_are_among_the_most_frequent_itemsets(shop: Transactions) -> None:
    """Of the 100 most frequent itemsets a third or so are larger than one item, most of one occasion."""
    found = fim.fpgrowth(rows_of(shop), target="s", supp=1, report="a")
    top = sorted(found, key=lambda itemset: -itemset[1])[:100]
    together = [set(items) for items, _ in top if len(items) > 1]
    planned = [items for items in together if any(items <= set(names) for _, names in OCCASIONS.values())]
    assert 30 <= len(together) <= 60
    assert len(planned) >= 0.7 * len(together)
    assert {"spaghetti", "tomato sauce", "parmesan"} in together


def test_a_planted_occasion_is_far_more_frequent_than_chance(shop: Transactions) -> None:
    """Tomato sauce, spaghetti and parmesan meet ten times as often as they would by themselves."""
    rows = [set(row) for row in rows_of(shop)]
    single = Counter(name for row in rows for name in row)
    pasta = {"spaghetti", "tomato sauce", "parmesan"}
    expected = float(np.prod([single[name] / len(rows) for name in pasta])) * len(rows)
    assert sum(pasta <= row for row in rows) > 10 * expected


def test_quest_has_the_lengths_of_its_laws() -> None:
    """Mean length is near the one asked for, and most of the alphabet is sold."""
    made = datasets.quest(20_000, length=10, pattern_length=4)
    assert 9.5 < made.lengths.mean() < 10.5
    assert 24 < made.lengths.max() < 40
    assert 700 < np.unique(made.items).size < 1000


def test_a_pick_brings_what_the_formula_says() -> None:
    """`mean_kept` is the mean number of items that survive corruption."""
    patterns = datasets.PatternPool(
        offsets=np.array([0, 1, 4]),
        items=np.arange(4, dtype=np.int32),
        weights=np.array([0.25, 0.75]),
        corruption=np.array([0.0, 0.5]),
    )
    # Three items lose 0 with 1/2, 1 with 1/4, 2 with 1/8, all with 1/8: 7/8 on average.
    assert patterns.mean_kept == pytest.approx(0.25 * 1 + 0.75 * (3 - 7 / 8))


@pytest.mark.parametrize("suffix", [".dat", ".dat.gz", ".dat.zst"])
def test_integers_written_as_fimi_read_back_equal(tmp_path: Path, suffix: str) -> None:
    """One line a basket, the ids themselves, compressed as the name says, and no vocabulary."""
    made = datasets.quest(300, items=50)
    datasets.write(made, tmp_path / f"baskets{suffix}")
    lines = text_of(tmp_path / f"baskets{suffix}").splitlines()
    assert [[int(word) for word in line.split(" ")] for line in lines] == rows_of(made)
    assert [path.name for path in tmp_path.iterdir()] == [f"baskets{suffix}"]


@pytest.mark.parametrize("suffix", [".dat", ".dat.zst"])
def test_names_written_as_fimi_are_told_by_the_vocabulary(tmp_path: Path, suffix: str) -> None:
    """Ids are codes, and `shop.vocab.tsv` leads back to the names."""
    made = datasets.groceries(300)
    datasets.write(made, tmp_path / f"shop{suffix}")
    lines = (tmp_path / "shop.vocab.tsv").read_text(encoding="utf-8").splitlines()
    names = dict(line.split("\t") for line in lines)
    rows = text_of(tmp_path / f"shop{suffix}").splitlines()
    assert [[names[word] for word in row.split(" ")] for row in rows] == rows_of(made)


@given(rows=st.lists(st.sets(st.integers(0, len(AWKWARD) - 1), min_size=1), min_size=1))
def test_awkward_names_survive_csv_and_parquet(
    tmp_path_factory: pytest.TempPathFactory, rows: list[set[int]]
) -> None:
    """Commas, quotes, blanks at the ends, line breaks and accents come back as they were."""
    made = transactions_of(rows, list(AWKWARD))
    folder = tmp_path_factory.mktemp("awkward")
    datasets.write(made, folder / "rows.csv")
    datasets.write(made, folder / "rows.parquet")
    assert list(csv.reader(io.StringIO(text_of(folder / "rows.csv"), newline=""))) == rows_of(made)
    assert pq.read_table(folder / "rows.parquet")["items"].to_pylist() == rows_of(made)


def test_an_empty_basket_is_an_empty_line(tmp_path: Path) -> None:
    """An empty basket is a basket, also at the end of the file."""
    made = transactions_of([set(), {0, 1}, set()], ["beer", "bread"])
    datasets.write(made, tmp_path / "rows.csv")
    assert text_of(tmp_path / "rows.csv") == "\nbeer,bread\n\n"


def test_rows_are_the_same_whatever_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing in blocks of seven rows gives the file that one block gives."""
    made = datasets.groceries(100)
    datasets.write(made, tmp_path / "one.csv")
    monkeypatch.setattr(baskets, "FEW_RECORDS", -1)
    monkeypatch.setattr(baskets, "_ROWS_PER_BLOCK", 7)
    datasets.write(made, tmp_path / "many.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "many.csv").read_bytes()


def test_owners_are_written_to_parquet_and_nowhere_else(tmp_path: Path) -> None:
    """Parquet keeps the owners; a text file would lose them, so it is refused."""
    plain = transactions_of([{0}, {1}, {0, 1}], [10, 20])
    owned = Transactions(plain.offsets, plain.items, plain.alphabet, owners=np.array([0, 0, 1]))
    datasets.write(owned, tmp_path / "rows.parquet")
    table = pq.read_table(tmp_path / "rows.parquet")
    assert table.to_pydict() == {"items": [[10], [20], [10, 20]], "owner": [0, 0, 1]}
    with pytest.raises(BadCall, match=r"no place for the owners of baskets; write \.parquet instead"):
        datasets.write(owned, tmp_path / "rows.dat")


def test_a_name_that_breaks_the_vocabulary_is_refused(tmp_path: Path) -> None:
    """Nothing is written where a name would be torn in two."""
    made = transactions_of([{0}], ["two\nlines"])
    with pytest.raises(BadCall, match=r"a tab or a line break.*write \.parquet instead"):
        datasets.write(made, tmp_path / "rows.dat")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["shop.dat", "shop.dat.gz", "shop.csv", "shop.csv.zst", "shop.parquet"])
@pytest.mark.parametrize("make", [datasets.groceries, datasets.quest])
def test_the_list_of_items_is_an_alphabet_for_the_file(
    tmp_path: Path, name: str, make: Callable[..., Transactions]
) -> None:
    """One item a line, those that nobody bought too, in the order of the catalogue; it leads back to the same rows."""
    made = make(50)
    listed = datasets.write_with_items(made, tmp_path / name)
    assert listed == tmp_path / "shop.items.txt"
    assert len(listed.read_text(encoding="utf-8").splitlines()) == len(made.alphabet)
    back = read(tmp_path / name, alphabet=listed)
    assert back.alphabet.names == made.alphabet.names
    assert same_arrays(back, made)


@pytest.mark.parametrize("there", ["shop.items.txt", "shop.vocab.tsv"])
def test_no_list_of_other_items_is_overwritten(tmp_path: Path, there: str) -> None:
    """Nothing is written then, not even the baskets; the same list may be written again."""
    (tmp_path / there).write_text("something else\n")
    with pytest.raises(BadCall, match=f"{there} is there and lists other items; move it away"):
        datasets.write_with_items(datasets.groceries(5), tmp_path / "shop.dat")
    assert [path.name for path in tmp_path.iterdir()] == [there]
    (tmp_path / there).unlink()
    for seed in (1, 2):
        datasets.write_with_items(datasets.groceries(5, seed=seed), tmp_path / "shop.dat")


@pytest.mark.parametrize("name", ["rows.xlsx", "rows", "rows.parquet.gz", "rows.gz"])
def test_a_file_name_without_a_format_is_refused(tmp_path: Path, name: str) -> None:
    """The message names the endings that would do."""
    with pytest.raises(BadCall, match=r"cannot tell a format from the name .*; end it with \.dat"):
        datasets.write(datasets.groceries(5), tmp_path / name)


def test_sizes_out_of_range_are_refused() -> None:
    """The message names the argument and what it may be."""
    for length in (math.nan, math.inf, 1e18):
        with pytest.raises(BadCall, match=r"length = .* makes no baskets|length is nan; give a number"):
            datasets.groceries(10, length=length)
    with pytest.raises(BadCall, match="the seed is -1; give a whole number, at least 0"):
        datasets.groceries(10, seed=-1)
    with pytest.raises(BadCall, match=r"rows = 0 makes no baskets; give at least 1"):
        datasets.groceries(0)
    with pytest.raises(BadCall, match=r"pattern_length = 0\.5 makes no baskets; give at least 1"):
        datasets.quest(10, pattern_length=0.5)
