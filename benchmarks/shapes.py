"""What intervals are worth on generated data whose shapes the datasets of the study do not have.

    python -m benchmarks.shapes [--repeats N] [--methods NAMES]

Writes a table on `planned` into its page, and prints a line for each miner but `difffim` and `difffim-naive`. Some
shapes are made to be hard: sessions of such different lengths that few of them hold most pairs, two kinds of
transactions that share nothing.
"""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import polars as pl

from benchmarks.claims import LEAST_COVERAGE, MOST_COVERAGE
from benchmarks.written_tables import beginning, write_table
from veilset import METHODS, read
from veilset.arrays import FloatArray, Int64Array
from veilset.evaluate import Study, evaluate
from veilset.raw.transactions import Transactions

PAGE = Path(__file__).resolve().parents[1] / "docs" / "methods" / "planned.md"
COMMAND = "python -m benchmarks.shapes"
DEFAULT, SLOW = "planned", ("difffim", "difffim-naive")
EPSILONS, K, SEED, SEED_OF_DATA = ("0.1", "0.3", "1"), 100, 11, 2026
Rows = Iterator[Int64Array]


def popularity(items: int, exponent: float, *, first: float = 2.0) -> FloatArray:
    """Chances of items that fall like a power of their rank; the larger the first rank, the more alike the top ones."""
    weights = 1 / (np.arange(items) + first) ** exponent
    chances: FloatArray = weights / weights.sum()
    return chances


def heavy_tailed(random: np.random.Generator, rows: int, exponent: float, *, most: int) -> Int64Array:
    """Lengths of which n or more have a share of 1 / n ** exponent."""
    lengths = (1 - random.random(rows)) ** (-1 / exponent)
    return np.minimum(np.floor(lengths), most).astype(np.int64)


def sessions(random: np.random.Generator) -> Rows:
    """Pages drawn one by one; lengths whose variance has no bound: few sessions hold most pairs."""
    chances = popularity(3000, 1.0)
    for length in heavy_tailed(random, 40_000, 1.3, most=800):
        yield random.choice(3000, length, p=chances)


def topics(random: np.random.Generator) -> Rows:
    """Sessions of heavy-tailed lengths that stay with one or two of 40 topics."""
    pages = [random.permutation(2000)[:60] for _ in range(40)]
    of_topics, of_pages = popularity(40, 0.7), popularity(60, 0.9, first=1)
    for length in heavy_tailed(random, 40_000, 1.6, most=800):
        chosen = random.choice(40, min(2, length), p=of_topics, replace=False)
        yield np.concatenate(
            [pages[each][random.choice(60, max(1, length // 2), p=of_pages)] for each in chosen]
        )


def walks(random: np.random.Generator) -> Rows:
    """Walks from page to page: each of 400 links to 8 others."""
    links = [random.permutation(400)[:8] for _ in range(400)]
    start = popularity(400, 1.1)
    for length in np.minimum(2 * heavy_tailed(random, 30_000, 1.8, most=150), 300):
        pages = [int(random.choice(400, p=start))]
        for jumps, link in zip(
            random.random(length - 1) < 0.15, random.geometric(0.4, length - 1), strict=True
        ):
            pages.append(int(random.choice(400, p=start) if jumps else links[pages[-1]][min(7, link - 1)]))
        yield np.array(pages)


def explorers(random: np.random.Generator) -> Rows:
    """Who looks at more looks at rarer things: popular items first, any of 4,000 then."""
    popular = popularity(4000, 1.3, first=1)
    for length in heavy_tailed(random, 30_000, 1.4, most=500):
        usual = max(1, int(length**0.6))
        yield np.append(random.choice(4000, usual, p=popular), random.choice(4000, length - usual))


def short(random: np.random.Generator) -> Rows:
    """Two or three of 8,000 items."""
    chances = popularity(8000, 0.9, first=3)
    for length in random.geometric(0.4, 60_000):
        yield random.choice(8000, length, p=chances)


def long(random: np.random.Generator) -> Rows:
    """Thirty of 1,500 items, or many more."""
    chances = popularity(1500, 0.9, first=5)
    for length in np.clip(random.lognormal(3.3, 0.7, 8000), 1, 600).astype(np.int64):
        yield random.choice(1500, length, p=chances)


def fixed(random: np.random.Generator) -> Rows:
    """Ten different of 500 items in each."""
    chances = popularity(500, 0.8)
    for _ in range(15_000):
        yield random.choice(500, 10, p=chances, replace=False)


def bundles(random: np.random.Generator) -> Rows:
    """Some of 80 bundles of three to six items, and single items beside."""
    contents = [random.permutation(600)[: random.integers(3, 7)] for _ in range(80)]
    of_bundles, of_items = popularity(80, 1.0), popularity(600, 0.7)
    for number in 1 + random.poisson(0.7, 15_000):
        bought = [contents[each] for each in random.choice(80, number, p=of_bundles)]
        yield np.concatenate([*bought, random.choice(600, 1 + random.poisson(2), p=of_items)])


def two_kinds(random: np.random.Generator) -> Rows:
    """Seven in ten are short, the others long; what is popular with the ones is not with the others."""
    of_short = popularity(300, 1.0)
    of_long = np.roll(of_short, 150)
    for is_short in random.random(20_000) < 0.7:
        length = 1 + random.poisson(1.5) if is_short else 8 + random.poisson(15)
        yield random.choice(300, length, p=of_short if is_short else of_long)


def few(random: np.random.Generator) -> Rows:
    """No more than 2,000 baskets."""
    chances = popularity(200, 0.8)
    for length in 1 + random.poisson(6, 2000):
        yield random.choice(200, length, p=chances)


def records(random: np.random.Generator) -> Rows:
    """Rows of a table of 15 columns, of six hidden classes."""
    values = random.integers(2, 6, 15)
    chances = [[random.dirichlet(np.full(number, 0.5)) for number in values] for _ in range(6)]
    first = np.append(0, values.cumsum()[:-1])
    for each in random.choice(6, 12_000, p=popularity(6, 0.7)):
        yield np.array(
            [start + random.choice(law.size, p=law) for start, law in zip(first, chances[each], strict=True)]
        )


def survey(random: np.random.Generator) -> Rows:
    """Sixty questions with yes or no, of which one trait explains a part."""
    usual, says = random.beta(0.7, 1.5, 60), random.normal(0, 1, 60)
    for trait in random.normal(0, 1, 10_000):
        chances = 1 / (1 + (1 / usual - 1) * np.exp(-trait * says))
        yield np.flatnonzero(random.random(60) < chances)


SHAPES: Mapping[str, Callable[[np.random.Generator], Rows]] = MappingProxyType(
    {
        "heavy-tailed sessions": sessions,
        "sessions of topics": topics,
        "walks": walks,
        "explorers": explorers,
        "short baskets": short,
        "long lists": long,
        "ten items each": fixed,
        "bundles": bundles,
        "two kinds": two_kinds,
        "2,000 baskets": few,
        "a table": records,
        "a survey": survey,
    }
)


def generated() -> dict[str, Transactions]:
    """All of them, each from a seed of its own."""
    made = {}
    for place, (name, shape) in enumerate(SHAPES.items()):
        random = np.random.default_rng([SEED_OF_DATA, place])
        rows = [[f"{item}" for item in np.unique(row).tolist()] for row in shape(random)]
        made[name] = read(rows, alphabet=sorted({item for row in rows for item in row}))
    return made


def cells_of(runs: pl.DataFrame) -> pl.DataFrame:
    """The mean of each measure over the runs of a cell."""
    measures = pl.col("f_score", "coverage", "bias", "mean_error", "half_width").mean()
    return runs.group_by("method", "dataset", "epsilon").agg(measures)


def table(cells: pl.DataFrame) -> Iterator[str]:
    """Of the default method: F-score, coverage and bias by shape and epsilon."""
    own = cells.filter(pl.col("method") == DEFAULT)
    coverage = own["coverage"].to_numpy()
    in_band = ((coverage >= LEAST_COVERAGE) & (coverage <= MOST_COVERAGE)).sum()
    ratio = float(own["half_width"].sum()) / float(own["mean_error"].sum())
    yield (
        f"95 % intervals hold in {100 * coverage.mean():.1f} % of cases on average, in 93 to 98 % in {in_band} of "
        f"{len(own)} cells; half widths are {ratio:.1f} times the mean error. At epsilon {', '.join(EPSILONS)}:"
    )
    yield ""
    yield "| shape | F-score | coverage | bias | mean error |"
    yield "|---|---|---|---|---|"
    for name in SHAPES:
        here = own.filter(pl.col("dataset") == name).sort("epsilon")
        columns = [
            ", ".join(f"{value:.2f}" for value in here["f_score"]),
            ", ".join(f"{value:.2f}" for value in here["coverage"]),
            ", ".join(f"{100 * value:+.0f} %" for value in here["bias"]),
            ", ".join(f"{100 * value:.0f} %" for value in here["mean_error"]),
        ]
        yield f"| {name} | {' | '.join(columns)} |"


def main() -> None:
    """Run the methods, write the table and print a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=20, help="runs of each cell (default: %(default)s)")
    parser.add_argument("--methods", help="names, with commas (default: all miners but the slow ones)")
    arguments = parser.parse_args()
    miners = [method.name for method in METHODS.values() if method.task == "mine" and method.name not in SLOW]
    methods = arguments.methods.split(",") if arguments.methods else miners
    study = Study.of(methods=methods, ks=[K], epsilons=EPSILONS, seed=SEED, repeats=arguments.repeats)
    cells = cells_of(evaluate(generated(), study, workers=os.cpu_count() or 1))
    for (method,), own in cells.group_by("method", maintain_order=True):
        coverage = own["coverage"].to_numpy()
        in_band = ((coverage >= LEAST_COVERAGE) & (coverage <= MOST_COVERAGE)).sum()
        print(f"{method}: in 93 to 98 % in {in_band} of {len(own)} cells, lowest {coverage.min():.3f}")
    if DEFAULT in methods:
        write_table(PAGE, beginning("shapes", COMMAND), table(cells))


if __name__ == "__main__":
    main()
