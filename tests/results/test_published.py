"""A published dataset: finished, written, read back, and known to be private."""

import json
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import veilset as vs
from curators import curator_over
from reference import Basket
from strategies import basket, transactions_of
from veilset import writing as baskets
from veilset.errors import BadCall, BadInput
from veilset.gate import Noise
from veilset.itemsets import Itemsets
from veilset.raw.transactions import Alphabet, Transactions
from veilset.results.published import Published, promise_beside

NAMED = Alphabet(["beer", "bread", "café au lait", "milk, fresh", "oil", "pie"], is_given=True)


def published_of(
    copies: dict[Basket, int], *, alphabet: Alphabet | None = None, noise: Noise | None = None
) -> Published:
    """A dataset of so many copies of each record, out of a curator that was asked one question."""
    held = transactions_of([])
    curator = curator_over(
        Transactions(held.offsets, held.items, alphabet or held.alphabet), noise=noise or vs.SeededNoise(1)
    )
    curator.ask_number(epsilon=Fraction(1, 3))
    records, numbers = Itemsets.of(copies), np.array(list(copies.values()), dtype=np.int64)
    return Published.of(curator, records, numbers, method="stand-in", notes=("a note",))


def copies_in(held: vs.Transactions) -> Counter[tuple[object, ...]]:
    """How often each record stands in some transactions, by the names of its items."""
    names, bounds = held.alphabet.names, held.offsets.tolist()
    rows = [held.items[start:end].tolist() for start, end in pairwise(bounds)]
    return Counter(tuple(names[code] for code in row) for row in rows)


def datasets() -> st.SearchStrategy[dict[Basket, int]]:
    """Records with their multiplicities; at least one item is in some copy of one."""
    some = st.dictionaries(basket(), st.integers(0, 4), max_size=8)
    return some.map(lambda copies: {**copies, frozenset({2}): 1})


@given(datasets(), st.randoms())
def test_a_dataset_does_not_tell_in_which_order_it_was_found(
    copies: dict[Basket, int], random: object
) -> None:
    """Records come sorted, each with its copies; those that noise left without one are gone."""
    shuffled = list(copies.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    made = published_of(dict(shuffled))
    kept = {tuple(sorted(record)): number for record, number in copies.items() if number > 0}
    assert list(made.records) == sorted(kept)
    assert dict(zip(made.records, made.multiplicities.tolist(), strict=True)) == kept
    assert len(made) == sum(kept.values())


def test_records_that_noise_left_with_less_than_nothing_are_left_out() -> None:
    """A noisy size can be below 0, the number of copies cannot."""
    made = published_of({frozenset({1}): -3, frozenset({0, 4}): 2})
    assert list(made.records) == [(0, 4)]


@pytest.mark.parametrize("name", ["out.dat", "out.dat.gz", "out.dat.zst", "out.parquet"])
@pytest.mark.parametrize("alphabet", [None, NAMED], ids=["numbers", "names"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str, alphabet: Alphabet | None) -> None:
    """Every copy is a transaction again, the empty record too, and items have their names."""
    made = published_of({frozenset({0, 2, 3}): 3, frozenset(): 2, frozenset({5}): 1}, alphabet=alphabet)
    made.write(tmp_path / name)
    vocabulary = tmp_path / "out.vocab.tsv"
    held = vs.read(tmp_path / name, alphabet=vocabulary if vocabulary.exists() else None)
    names = made.names
    assert copies_in(held) == {(names[0], names[2], names[3]): 3, (): 2, (names[5],): 1}
    assert vocabulary.exists() == (alphabet is NAMED and name != "out.parquet")


@pytest.mark.parametrize("name", ["out.dat", "out.parquet"])
def test_a_dataset_of_no_records_can_be_written(tmp_path: Path, name: str) -> None:
    """Noise can drown everything; the file is then empty, and so is what is read from it."""
    made = published_of({})
    made.write(tmp_path / name)
    assert json.loads((tmp_path / f"{name}.json").read_text())["transactions"] == len(made) == 0
    assert len(vs.read(tmp_path / name)) == 0


@given(datasets())
def test_a_frame_of_a_dataset_is_read_as_its_copies(copies: dict[Basket, int]) -> None:
    """In memory as in a file."""
    made = published_of(copies)
    found = vs.read(made.to_frame(), multiplicity="multiplicity")
    assert copies_in(found) == +Counter({tuple(sorted(r)): n for r, n in copies.items()})


def test_lines_are_the_same_whatever_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of seven lines, although one record alone makes more."""
    made = published_of({frozenset({code}): 5 * code + 1 for code in range(6)})
    made.write(tmp_path / "one.dat")
    monkeypatch.setattr(baskets, "FEW_RECORDS", -1)
    monkeypatch.setattr(baskets, "_ROWS_PER_BLOCK", 7)
    made.write(tmp_path / "many.dat")
    assert (tmp_path / "one.dat").read_bytes() == (tmp_path / "many.dat").read_bytes()
    assert (tmp_path / "one.dat").read_text().count("\n") == len(made)


def test_the_sidecar_carries_trace_and_promise(tmp_path: Path) -> None:
    """All that is known of a dataset but its records, and which file it is about."""
    made = published_of({frozenset({1}): 4, frozenset({1, 2}): 2})
    made.write(tmp_path / "out.dat")
    about = json.loads((tmp_path / "out.dat.json").read_text())
    assert {key: value for key, value in about.items() if key not in {"file", "sha256"}} == made.to_dict()
    assert (about["file"], about["transactions"], about["distinct_records"]) == ("out.dat", 6, 2)
    assert (about["method"], about["notes"], about["is_private"]) == ("stand-in", ["a note"], False)
    assert sum(Fraction(row["epsilon"]) for row in about["trace"]) == Fraction(about["spent"]) == made.spent
    assert promise_beside(tmp_path / "out.dat") == made.promise


def test_a_file_that_changed_has_no_promise(tmp_path: Path) -> None:
    """Nor has one without a sidecar, or with a broken one."""
    made = published_of({frozenset({1}): 4}, noise=vs.SecureNoise())
    path = tmp_path / "out.dat"
    made.write(path)
    assert promise_beside(path) == made.promise
    assert made.promise.is_kept
    path.write_text(path.read_text() + "1 2\n")
    assert promise_beside(path) is None
    for broken in ("", "[]", "{}", '{"sha256": "x"}'):
        (tmp_path / "out.dat.json").write_text(broken)
        assert promise_beside(path) is None
    (tmp_path / "out.dat.json").unlink()
    assert promise_beside(path) is None


@pytest.mark.parametrize("noise", [vs.SecureNoise(), vs.SeededNoise(1)], ids=["private", "repeatable"])
def test_mining_a_published_dataset_keeps_its_promise(tmp_path: Path, noise: Noise) -> None:
    """From memory and from a file; exact mining of other data has none."""
    made = published_of({frozenset({1, 2}): 5, frozenset({1}): 4}, noise=noise)
    made.write(tmp_path / "out.parquet")
    for source in (made, tmp_path / "out.parquet", str(tmp_path / "out.parquet")):
        found = vs.mine_exact(source, k=3)
        assert dict(zip(found.itemsets, found.supports, strict=True)) == {(1,): 9, (2,): 5, (1, 2): 5}
        assert found.promise == made.promise
        assert found.is_private is made.is_private is found.to_dict()["is_private"] is noise.is_private
    assert not vs.mine_exact(vs.read(made.to_frame(), multiplicity="multiplicity"), k=3).is_private


@pytest.mark.parametrize("multiplicities", [[1, -1], [1.5, 1], [1, None], ["1", "2"], [2**62, 2**62]])
def test_multiplicities_that_are_no_numbers_of_transactions_are_refused(multiplicities: list[object]) -> None:
    """One line, without a value from the table."""
    with pytest.raises(BadInput, match="whole numbers from 0 up") as refused:
        vs.read(
            pl.DataFrame({"items": [[1], [2]], "multiplicity": multiplicities}), multiplicity="multiplicity"
        )
    assert "\n" not in str(refused.value)


def test_a_published_file_needs_no_word_about_its_multiplicities(tmp_path: Path) -> None:
    """The file that `write` makes is marked; its records are nobody's, so copies have no owner."""
    made = published_of({frozenset({1, 2}): 5, frozenset({1}): 4})
    made.write(tmp_path / "out.parquet")
    path = tmp_path / "out.parquet"
    for found in (vs.read(path), vs.read(path, item="items"), vs.read(path, multiplicity="multiplicity")):
        assert len(found) == 9
        assert found.owners is None


def test_a_file_that_cannot_hold_a_dataset_is_refused(tmp_path: Path) -> None:
    """An unknown suffix, and names that a vocabulary cannot tell; Parquet can."""
    torn = Alphabet(["two\nlines", *"bcdef"], is_given=True)
    made = published_of({frozenset({0}): 1}, alphabet=torn)
    with pytest.raises(BadCall, match=r"cannot write a dataset to 'out\.txt'; end it with \.dat"):
        made.write(tmp_path / "out.txt")
    with pytest.raises(BadCall, match="a tab or a line break"):
        made.write(tmp_path / "out.dat")
    assert not list(tmp_path.iterdir())
    made.write(tmp_path / "out.parquet")
    assert copies_in(vs.read(tmp_path / "out.parquet")) == {("two\nlines",): 1}


def test_a_vocabulary_of_an_older_dataset_does_not_stay_beside_a_new_one(tmp_path: Path) -> None:
    """It may name what this one must not: here all items, where the new one found none."""
    path = tmp_path / "published.dat"
    rows = [["milk", f"patient {number}"] for number in range(40)]
    vs.publish(rows, epsilon=1, public_items=True, noise=vs.SeededNoise(1)).write(path)
    vocabulary = tmp_path / "published.vocab.tsv"
    assert "patient 7" in vocabulary.read_text(encoding="utf-8")
    vs.publish(rows, epsilon=1, delta=1e-9, noise=vs.SeededNoise(1)).write(path)
    assert not vocabulary.exists()


@pytest.mark.parametrize("name", ["d.dat", "d.parquet"])
def test_a_dataset_is_never_there_without_its_promise(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is killed before the promise is written has written nothing; the control is the whole of it."""
    published = vs.publish([[1, 2]] * 50, epsilon=1, public_items=True, noise=vs.SeededNoise(1))
    with monkeypatch.context() as patched:
        patched.setattr("veilset.results.published.write_whole", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            published.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    published.write(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, f"{name}.json"]
