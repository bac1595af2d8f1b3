"""What it costs to find the items privately: `planned` with a public list, with public items, and with delta.

    python -m benchmarks.discovery [--quick]

Runs `planned` on the real datasets beside the repository (without them, on generated baskets), k = 100, and writes
docs/benchmarks/discovery.md and its plot; with --quick, two datasets and two runs to build/study.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

import veilset as vs
from benchmarks.page import made_with, section
from benchmarks.study import ROOT, SEED, datasets
from veilset.gate import Item, NamingLaw
from veilset.methods.planned import planned
from veilset.methods.shared.discovery import LAWS, SHARE_OF_DELTA, find_items
from veilset.opening import Access, ItemChoice
from veilset.request import Request
from veilset.results.release import Release

K, DELTA = 100, Fraction(1, 10**9)
EPSILONS = ("0.1", "0.25", "0.5", "1")
CHOICES = ("public list", "public items", "delta, Laplace", "delta")
"""A list of twice as many items as the data has; the items of the data; found with Laplace noise alone; found."""
QUICK_DATASETS = ("Groceries", "mushroom", "synthetic groceries")


@dataclass(frozen=True, slots=True)
class Cell:
    """One dataset at one epsilon, by one choice of items."""

    dataset: str
    epsilon: str
    choice: str


def main() -> None:
    """Measure every cell, then write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.discovery")
    parser.add_argument("--quick", action="store_true", help="two datasets, two runs, to build/study")
    is_quick = parser.parse_args().quick
    names = [name for name in held() if not is_quick or name in QUICK_DATASETS]
    repeats = 2 if is_quick else 10
    cells = [Cell(name, epsilon, choice) for name in names for epsilon in EPSILONS for choice in CHOICES]
    with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=get_context("spawn")) as pool:
        rows = list(pool.map(measured, cells, [repeats] * len(cells)))
    folder = ROOT / ("build/study" if is_quick else "docs/benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    write_page(pl.DataFrame(rows), folder, repeats=repeats)


@cache
def held() -> dict[str, vs.Transactions]:
    """All datasets, read once in every process."""
    return datasets(is_quick=False)


@cache
def right_answer(dataset: str) -> frozenset[tuple[Item, ...]]:
    """The k most frequent itemsets, and those that tie with the last of them."""
    exact = vs.mine_exact(held()[dataset], k=3 * K)
    least = sorted(exact.supports)[-K]
    return frozenset(
        items for items, support in zip(exact.itemsets, exact.supports, strict=True) if support >= least
    )


def measured(cell: Cell, repeats: int) -> dict[str, object]:
    """How much of the right answer is found, and how many items may be named, on average over seeded runs."""
    runs = [released(cell, seed) for seed in range(SEED, SEED + repeats)]
    found = [
        sum(each.items in right_answer(cell.dataset) for each in release.itemsets) / K for release, _ in runs
    ]
    return {
        "dataset": cell.dataset,
        "epsilon": float(cell.epsilon),
        "items": cell.choice,
        "F": sum(found) / repeats,
        "named": sum(named for _, named in runs) / repeats,
    }


def released(cell: Cell, seed: int) -> tuple[Release, int]:
    """A seeded release, and the number of items that it could name."""
    data, noise, request = held()[cell.dataset], vs.SeededNoise(seed), Request.of(k=K)
    if cell.choice.startswith("delta"):
        laws: tuple[NamingLaw, ...] = ("laplace",) if "Laplace" in cell.choice else LAWS
        access = Access(epsilon=cell.epsilon, noise=noise, items=ItemChoice(delta=DELTA))
        unnamed = access.unnamed_curator(data)
        share = Fraction(1) if laws == ("laplace",) else SHARE_OF_DELTA
        epsilon = unnamed.budget.total
        curator = find_items(unnamed, request, epsilon=epsilon, delta=DELTA, laws=laws, share_of_delta=share)
    else:
        access = Access(epsilon=cell.epsilon, noise=noise, items=choice_of(cell.choice, data))
        curator = access.curator(data)
    if curator.alphabet_size == 0:
        return vs.items([], k=1, epsilon=1, public_items=True, noise=noise), 0
    return planned(curator, request, epsilon=curator.budget.left), curator.alphabet_size


def choice_of(name: str, data: vs.Transactions) -> ItemChoice:
    """The items of the data, or a list of these and as many others that nobody holds."""
    if name == "public items":
        return ItemChoice(public_items=True)
    others = [f"never bought {number}" for number in range(len(data.alphabet))]
    return ItemChoice([*data.alphabet.names, *others])


def write_page(cells: pl.DataFrame, folder: Path, *, repeats: int) -> None:
    """The page, with a table by dataset and one of averages, and its plot."""
    average = wide(cells.group_by("epsilon", "items").agg(pl.col("F").mean()).sort("epsilon"), ["epsilon"])
    by_dataset = wide(cells, ["dataset", "epsilon"])
    named = cells.filter(pl.col("items") == "delta").select("dataset", "epsilon", named=pl.col("named"))
    about = (
        "# Finding items privately\n"
        f"`make discovery` wrote this page: `planned`, k = {K}, delta = 1e-9, {repeats} runs of every "
        f"cell with seeds from {SEED}. {made_with()}\n\n"
        "Which items may be named is a choice that every release demands. *public list*: the items of the data and as "
        "many again that nobody holds. *public items*: those of the data, declared public. *delta*: found privately, a "
        "part of epsilon; *Laplace*: with Laplace noise alone. F is the share of the 100 most frequent itemsets that "
        "was found; *named* is how many items were found.\n\n"
        "![Share found against epsilon, by how items are named](discovery.png)"
    )
    sections = [
        section("Average over all datasets.", average),
        section("By dataset.", by_dataset.join(named, on=["dataset", "epsilon"])),
    ]
    (folder / "discovery.md").write_text("\n\n".join([about, *sections]) + "\n", encoding="utf-8")
    write_plot(average, folder / "discovery.png")
    print(f"wrote discovery.md and its plot to {folder.relative_to(ROOT)}")


def wide(cells: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """A column for each choice of items."""
    return cells.pivot("items", index=by, values="F").select(*by, *CHOICES)


def write_plot(average: pl.DataFrame, path: Path) -> None:
    """Averages against epsilon."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for choice, style in zip(CHOICES, ("o-", "s--", "^:", "D-"), strict=True):
        axes.plot(average["epsilon"], average[choice], style, label=choice)
    axes.set(xscale="log", xlabel="epsilon", ylabel="share of the top 100 found", ylim=(0, 1))
    axes.set_xticks([float(epsilon) for epsilon in EPSILONS], EPSILONS)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
