"""Synthetic baskets after IBM Quest, and writing baskets to files.

Baskets are filled from a pool of patterns (Agrawal and Srikant, "Fast Algorithms for Mining Association
Rules", 1994): a pick draws a pattern by its weight, loses some of its items, and goes into the basket that is
being filled. Nothing here is anybody's data; nothing is downloaded.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from veilset.arguments import finite_or_infinite
from veilset.arrays import FloatArray, Int32Array, Int64Array
from veilset.datasets.catalogue import DEPARTMENTS, OCCASIONS
from veilset.errors import BadCall
from veilset.integers import whole
from veilset.raw.transactions import Alphabet, Item, Transactions
from veilset.wording import shown
from veilset.writing import (
    as_lists,
    as_words,
    atomically,
    numbered,
    vocabulary_beside,
    write_fimi,
    write_lines,
    write_whole,
)

_LARGEST_SIZE = 10**9


@dataclass(frozen=True, slots=True, eq=False)
class PatternPool:
    """Sets of items bought together: pattern p is `items[offsets[p]:offsets[p + 1]]`.

    `weights[p]` is the share of picks that draw it. A pick loses one item with probability `corruption[p]`,
    then another one with the same probability, and so on.
    """

    offsets: Int64Array
    items: Int32Array
    weights: FloatArray
    corruption: FloatArray

    @property
    def sizes(self) -> Int64Array:
        """The number of items of each pattern."""
        return np.diff(self.offsets)

    @property
    def mean_kept(self) -> float:
        """The mean number of items that a pick brings: size - c - c^2 - ... - c^size for corruption c."""
        lost = self.corruption * (1 - self.corruption**self.sizes) / (1 - self.corruption)
        return float(self.weights @ (self.sizes - lost))


def groceries(rows: int = 10_000, *, seed: int = 7, length: float = 8) -> Transactions:
    """Baskets of a small supermarket, with named items.

    Shoppers come for occasions (a pasta night, the cat), take single items as popular as they are, and have
    habits of their own that the seed decides. `length` is the mean number of items put into a basket; putting
    one in twice leaves it there once, so the mean of what comes out is a little lower.

    >>> baskets = groceries(1000)
    >>> len(baskets), "spaghetti" in baskets.alphabet.names
    (1000, True)
    """
    _check_sizes(seed, rows=rows, length=length)
    rng = np.random.default_rng(seed)
    alphabet = Alphabet(list(_popularity()), is_given=True)
    # Purchases vary more than a Poisson law: some shop for the evening, some for the week.
    lengths = 1 + rng.negative_binomial(6, 6 / (6 + length - 1), size=rows)
    return _filled(rng, _grocery_patterns(rng, alphabet), lengths, alphabet)


def quest(
    rows: int,
    *,
    items: int = 1000,
    length: float = 10,
    pattern_length: float = 4,
    patterns: int = 2000,
    seed: int = 7,
) -> Transactions:
    """Baskets of integers as the Quest generator makes them; the defaults are those of T10I4D100K.

    `length` and `pattern_length` are the means of Poisson laws.
    """
    _check_sizes(
        seed, rows=rows, items=items, length=length, pattern_length=pattern_length, patterns=patterns
    )
    rng = np.random.default_rng(seed)
    sizes = np.clip(rng.poisson(pattern_length, size=patterns), 1, items)
    popularity = rng.exponential(size=items)
    pool = _pool(
        _correlated_patterns(rng, sizes, popularity),
        rng.exponential(size=patterns),
        np.clip(rng.normal(0.5, 0.1, size=patterns), 0.0, 0.9),
    )
    lengths = np.maximum(rng.poisson(length, size=rows), 1)
    return _filled(rng, pool, lengths, Alphabet(range(items), is_given=True))


def generate(
    rows: int = 10_000, *, quest_items: int | None = None, length: float = 8, seed: int = 7
) -> Transactions:
    """Synthetic baskets, nobody's data: groceries, or numbered items after IBM Quest where their number is given.

    >>> len(generate(100)), len(generate(100, quest_items=20).alphabet)
    (100, 20)
    """
    if quest_items is None:
        return groceries(rows, length=length, seed=seed)
    return quest(rows, items=quest_items, length=length, seed=seed)


def write(transactions: Transactions, path: str | Path) -> None:
    """Write baskets as they are, in the format that the file's name asks for.

    `.dat`, `.dat.gz`, `.dat.zst`: FIMI, one basket a line, item ids between single spaces. Named items are
    numbered from 0, and `NAME.vocab.tsv` beside the file says which id is which name.
    `.csv` (`.csv.gz`, `.csv.zst`): one basket a line, names between commas, quoted where needed, no header.
    `.parquet`: a list column `items`, and a column `owner` where baskets have owners.

    No noise is added: this is for synthetic data and for data already published.
    """
    path = Path(path)
    kind = _kind_of(path)
    if kind not in {".dat", ".csv", ".parquet"} or (kind == ".parquet" and path.suffix != kind):
        raise BadCall(
            f"cannot tell a format from the name {path.name!r}; end it with .dat, .dat.gz, .dat.zst, .csv, "
            ".csv.gz, .csv.zst or .parquet"
        )
    if transactions.owners is not None and kind != ".parquet":
        raise BadCall(f"a {kind} file has no place for the owners of baskets; write .parquet instead")
    names, offsets, items = transactions.alphabet.names, transactions.offsets, transactions.items
    if kind == ".parquet":
        _write_parquet(transactions, path)
    elif kind == ".csv":
        write_lines(path, offsets, items, words=[_csv_cell(name) for name in names], separator=",")
    else:
        write_fimi(path, offsets, items, names=names)


def write_with_items(transactions: Transactions, path: str | Path, *, replaces: bool = False) -> Path:
    """Write baskets, and the list of their items beside them: `NAME.items.txt`, which an alphabet is read from.

    It holds an item on each line, sold or not; with its number before it where the file holds numbers for names.
    Returns its path. Where it stands already and lists something else, nothing is written, unless it `replaces` that.
    """
    path = Path(path)
    names, kind = transactions.alphabet.names, _kind_of(path)
    are_numbered = kind == ".dat" and not all(isinstance(name, int) for name in names)
    text = numbered(names) if are_numbered else "".join(f"{name}\n" for name in names)
    listed = path.with_name(path.name.removesuffix(path.suffix).removesuffix(kind) + ".items.txt")
    for beside in () if replaces else (listed, *([vocabulary_beside(path)] if are_numbered else [])):
        if beside.exists() and beside.read_bytes() != text.encode():
            raise BadCall(f"{beside} is there and lists other items; move it away, or name another file")
    write(transactions, path)
    write_whole(listed, text)
    return listed


def _kind_of(path: Path) -> str:
    """The suffix of a file's name, less the one for compression."""
    return path.with_suffix("").suffix if path.suffix in {".gz", ".zst"} else path.suffix


def _check_sizes(seed: int, **sizes: float) -> None:
    """Refuse sizes that make no baskets, or more than any memory holds."""
    whole(seed, "the seed", least=0)
    for name, size in sizes.items():
        number = finite_or_infinite(size, name) if "length" in name else whole(size, name)
        if not 1 <= number <= _LARGEST_SIZE:
            raise BadCall(
                f"{name} = {shown(size)} makes no baskets; give at least 1, and at most {_LARGEST_SIZE}"
            )


def _popularity() -> dict[str, float]:
    """Each item of the catalogue with how often people reach for it: within a department, a Zipf-like law."""
    return {
        name: weight / place**0.8
        for weight, names in DEPARTMENTS.values()
        for place, name in enumerate(names, start=1)
    }


def _grocery_patterns(rng: np.random.Generator, alphabet: Alphabet) -> PatternPool:
    """Occasions, single items, and habits that only this seed's shoppers have."""
    popularity = np.array(list(_popularity().values()))
    occasions = [np.array([alphabet.code(name) for name in names]) for _, names in OCCASIONS.values()]
    singles = list(np.arange(len(alphabet)).reshape(-1, 1))
    habits = _correlated_patterns(rng, rng.integers(2, 4, size=100), popularity)
    weights = (
        0.46 * _shares(np.array([weight for weight, _ in OCCASIONS.values()])),
        0.46 * _shares(popularity),
        0.08 * _shares(rng.exponential(size=len(habits))),
    )
    corruption = (np.full(len(occasions), 0.4), np.zeros(len(singles)), np.full(len(habits), 0.5))
    return _pool([*occasions, *singles, *habits], np.concatenate(weights), np.concatenate(corruption))


def _correlated_patterns(
    rng: np.random.Generator, sizes: Int64Array, popularity: FloatArray
) -> list[Int64Array]:
    """Random sets of items of the given sizes; each takes a part of its items from the one before."""
    patterns = []
    before = np.empty(0, dtype=np.int64)
    for size in sizes:
        shared = rng.permutation(before)[: round(rng.exponential(0.5) * size)]
        # The items that win a race of exponential clocks are a draw by popularity without repeats.
        drawn = np.argsort(rng.exponential(size=popularity.size) / popularity)
        before = np.concatenate([shared, drawn[~np.isin(drawn, shared)]])[:size]
        patterns.append(before)
    return patterns


def _pool(patterns: list[Int64Array], weights: FloatArray, corruption: FloatArray) -> PatternPool:
    sizes = [pattern.size for pattern in patterns]
    return PatternPool(
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        items=np.concatenate(patterns).astype(np.int32),
        weights=_shares(weights),
        corruption=corruption,
    )


def _shares(weights: FloatArray) -> FloatArray:
    shares: FloatArray = weights / weights.sum()
    return shares


def _filled(
    rng: np.random.Generator, patterns: PatternPool, lengths: Int64Array, alphabet: Alphabet
) -> Transactions:
    """Fill baskets of the wanted lengths from a stream of picks.

    Lay the picks end to end, and the baskets as well: a pick goes where it lies. One that lies across the end
    of a basket goes whole into that basket or into the next, with even odds.
    """
    basket_ends = np.cumsum(lengths)
    picks = rng.choice(
        patterns.weights.size, size=100 + int(1.05 * basket_ends[-1] / patterns.mean_kept), p=patterns.weights
    )
    sizes = patterns.sizes[picks]
    lost = np.minimum(rng.geometric(1 - patterns.corruption[picks]) - 1, sizes)
    kept = sizes - lost
    ends = np.cumsum(kept)
    lies = np.where(rng.random(picks.size) < 0.5, ends - kept, ends - 1)
    basket_of_pick = np.searchsorted(basket_ends, lies, side="right")

    # What is kept is a run of the pattern, seen as a ring: every item is lost equally often.
    begin = rng.integers(0, sizes)
    place = np.arange(ends[-1]) - np.repeat(ends - kept - begin, kept)
    place %= np.repeat(sizes, kept)
    items = patterns.items[np.repeat(patterns.offsets[picks], kept) + place]
    return _sorted_into_rows(rng, np.repeat(basket_of_pick, kept), items, lengths.size, alphabet)


def _sorted_into_rows(
    rng: np.random.Generator, rows: Int64Array, items: Int32Array, number: int, alphabet: Alphabet
) -> Transactions:
    """Sort items into rows, each once; a row that got none takes one out of all that was sold."""
    empty = np.flatnonzero(np.bincount(rows, minlength=number)[:number] == 0)
    rows = np.concatenate([rows, empty])
    items = np.concatenate([items, rng.choice(items, size=empty.size)])
    keys = rows * len(alphabet) + items
    keys = keys[rows < number]
    keys.sort()
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    rows, codes = np.divmod(keys, len(alphabet))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=number))])
    return Transactions(offsets, codes.astype(np.int32), alphabet)


def _csv_cell(name: Item) -> str:
    """A name in quotes if it could be misread without."""
    text = str(name)
    is_plain = text and text == text.strip() and not any(mark in text for mark in ',"\r\n')
    return text if is_plain else '"' + text.replace('"', '""') + '"'


def _write_parquet(transactions: Transactions, path: Path) -> None:
    words = as_words(transactions.alphabet.names)
    columns = {"items": as_lists(transactions.offsets, transactions.items, words)}
    if transactions.owners is not None:
        columns["owner"] = pa.array(transactions.owners)
    with atomically(path) as part:
        pq.write_table(pa.table(columns), part, compression="zstd")
