"""How time and memory grow with rows, items, k and cores: up to a hundred million baskets, from a file to a release.

    python -m benchmarks.growth [rows] [items] [k] [cores] [--most-rows 10000000] [--folder FOLDER]

Generated baskets. Every measurement is a command in a process of its own, warm, with all that starting it takes: the
time of the clock, that of the processor on all cores together, the most memory that was resident, and the part of it
that no file stands behind. Files of rows are kept in the folder, if one is given. What is measured replaces that part
of docs/benchmarks/growth.parquet, and the tables and plots that docs/benchmarks/speed.md has of it.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib.figure import Figure

import veilset as vs
from benchmarks.page import section
from veilset.datasets import groceries
from veilset.writing import as_lists, write_lines

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "growth.parquet"

ROWS = tuple(10**power for power in range(5, 9))
ITEMS = tuple(10**power for power in range(2, 7))
KS = (10, 100, 1_000, 10_000)
CORES = (1, 2)

ROWS_AT_ONCE = 1_000_000
"""1,000,000 baskets are generated at a time, each time of other shoppers."""

SECONDS_BETWEEN_LOOKS = 0.01


@dataclass(frozen=True, slots=True)
class Measured:
    """One command: what grew, how large it was, and what the command took."""

    grows: str
    size: int
    way: str
    seconds: float
    processor: float
    resident: float
    anonymous: float


def rows(folder: Path, most: int) -> Iterator[Measured]:
    """From a file of baskets to 100 itemsets, at epsilon 1, by `planned`: as text, as Parquet, and encoded."""
    for number in ROWS:
        if number <= most:
            files = files_of(number, folder)
            for way, file in files.items():
                yield measured("rows", number, way, mining(file, 100, folder))
            encoding: list[str | Path] = [
                "encode",
                files["Parquet"],
                "--out",
                folder / "again.arrow",
                "--force",
            ]
            yield measured("rows", number, "Parquet, only encoded", encoding)
            yield measured(
                "rows", number, "encoded, exact", ["exact", files["encoded"], "--k", "100", "--json"]
            )


def items(folder: Path, _: int) -> Iterator[Measured]:
    """200,000 baskets of up to 10 of ever more items, encoded, to 100 itemsets."""
    for number in ITEMS:
        path = folder / f"items-{number}.arrow"
        vs.write_encoded(_baskets_over(number), path)
        yield measured("items", number, "encoded", mining(path, 100, folder))


def k(folder: Path, most: int) -> Iterator[Measured]:
    """A million baskets, encoded, to ever more itemsets."""
    path = files_of(min(10**6, most), folder)["encoded"]
    for number in KS:
        yield measured("k", number, "encoded", mining(path, number, folder))


def cores(folder: Path, most: int) -> Iterator[Measured]:
    """10 million baskets, encoded, to 100 itemsets, on one core and on two."""
    path = files_of(min(10**7, most), folder)["encoded"]
    for number in CORES:
        yield measured("cores", number, "encoded", mining(path, 100, folder), on_cores=number)


TITLES = {
    "rows": "Growth with rows, from a file to 100 itemsets at epsilon = 1",
    "items": "Growth with items: 200,000 baskets, encoded, to 100 itemsets",
    "k": "Growth with k: a million baskets, encoded",
    "cores": "One core and two: 10 million baskets, encoded, to 100 itemsets",
}
TEXTS = {
    "rows": (
        "Each row of the table is a command in a process of its own, start-up included: the time of the clock and of\n"
        "the processor, the most memory that was resident, and the part of it that no file stands behind. Text is\n"
        "FIMI; Parquet holds lists of names; encoded is what `veilset encode` wrote. `python -m benchmarks.growth`\n"
        "measured it; where other programs run beside it, the time of the processor means more than that of the clock."
        "\n\n![Time and memory against rows, items, k and cores](growth.png)"
    ),
    "items": "Up to ten of ever more items in a basket, the n-th in proportion to 1 / n.",
    "k": "Ever more itemsets.",
    "cores": "The process may use that many cores, which other programs may use, too.",
}

GROWING: dict[str, Callable[[Path, int], Iterator[Measured]]] = {
    each.__name__: each for each in (rows, items, k, cores)
}


def mining(path: Path, wanted: int, folder: Path) -> list[str | Path]:
    """The command that makes a release of a file."""
    release = ["--epsilon", "1", "--k", str(wanted), "--public-items", "--quiet"]
    return ["mine", path, *release, "--out", folder / "release.json", "--force"]


def files_of(number: int, folder: Path) -> dict[str, Path]:
    """The same baskets as lines of numbers, as lists of names in Parquet, and encoded; made where they are missing."""
    files = {
        "text": folder / f"rows-{number}.dat",
        "Parquet": folder / f"rows-{number}.parquet",
        "encoded": folder / f"rows-{number}.arrow",
    }
    if not all(path.exists() for path in files.values()):
        _write_rows(number, files["text"], files["Parquet"])
        subprocess.run(_call(["encode", files["Parquet"], "--out", files["encoded"], "--force"]), check=True)
    return files


def _baskets_over(number: int, rows: int = 200_000) -> vs.Transactions:
    """Baskets of up to ten of that many items, the n-th in proportion to 1 / n."""
    edges = np.cumsum(1 / np.arange(1, number + 1))
    drawn = np.searchsorted(edges, np.random.default_rng(7).random((rows, 10)) * edges[-1])
    drawn.sort(axis=1)
    is_first = np.diff(drawn, axis=1, prepend=-1) > 0
    offsets = np.append(0, np.cumsum(is_first.sum(axis=1)))
    alphabet = vs.Alphabet(range(number), is_given=False)
    return vs.Transactions(offsets, drawn[is_first].astype(np.int32), alphabet)


def _write_rows(number: int, text: Path, parquet: Path) -> None:
    """Chunk by chunk: neither form need fit in memory."""
    part = text.with_suffix(".part.dat")
    with text.open("wb") as lines, ExitStack() as stack:
        writer = None
        for seed, start in enumerate(range(0, number, ROWS_AT_ONCE)):
            baskets = groceries(min(ROWS_AT_ONCE, number - start), seed=7 + seed)
            codes = [str(code) for code in range(len(baskets.alphabet))]
            write_lines(part, baskets.offsets, baskets.items, words=codes, separator=" ")
            lines.write(part.read_bytes())
            names = pa.array([str(name) for name in baskets.alphabet.names])
            table = pa.table({"items": as_lists(baskets.offsets, baskets.items, names)})
            writer = writer or stack.enter_context(
                pq.ParquetWriter(parquet, table.schema, compression="zstd")
            )
            writer.write_table(table)
    part.unlink()


def measured(
    grows: str, size: int, way: str, command: Sequence[str | Path], *, on_cores: int | None = None
) -> Measured:
    """The better of two runs of a command; of one, where it takes longer than a minute."""
    found = _measured_once(grows, size, way, command, on_cores)
    if found.seconds < 60:
        again = _measured_once(grows, size, way, command, on_cores)
        found = min(found, again, key=lambda each: each.processor)
    print(
        f"{grows} {size:,}, {way}: {found.seconds:.2f} s, of the processor {found.processor:.2f} s, "
        f"{found.resident:,.0f} MB resident, {found.anonymous:,.0f} MB of it anonymous",
        flush=True,
    )
    return found


def _measured_once(
    grows: str, size: int, way: str, command: Sequence[str | Path], on_cores: int | None
) -> Measured:
    start = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(_call(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.sched_setaffinity(process.pid, sorted(os.sched_getaffinity(0))[:on_cores])
    resident, anonymous = 0.0, 0.0
    while process.poll() is None:
        resident = max(resident, _megabytes(process.pid, "VmHWM"))
        anonymous = max(anonymous, _megabytes(process.pid, "RssAnon"))
        time.sleep(SECONDS_BETWEEN_LOOKS)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        sys.exit(f"veilset {' '.join(map(str, command))} failed; try it by itself")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(grows, size, way, seconds, processor, resident, anonymous)


def _megabytes(process: int, name: str) -> float:
    """A line of what Linux tells of the memory of a process; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), 0.0)


def _call(command: Sequence[str | Path]) -> list[str]:
    return [sys.executable, "-m", "veilset", *map(str, command)]


def growth_sections(path: Path = RESULTS) -> list[str]:
    """A table for each thing that grows; nothing where it was never measured."""
    if not path.exists():
        return []
    results = pl.read_parquet(path)
    return [
        section(f"{TITLES[grows]}\n\n{TEXTS[grows]}", _shown(results.filter(pl.col("grows") == grows)))
        for grows in GROWING
        if grows in results["grows"]
    ]


def replace_sections(page: Path, sections: list[str]) -> None:
    """Put the sections in front of the page's others, in the place of those that it had of them."""
    head, *others = page.read_text(encoding="utf-8").split("\n## ")
    headings = tuple(TITLES.values())
    kept = [f"## {other.strip()}" for other in others if not other.startswith(headings)]
    page.write_text("\n\n".join([head.strip(), *sections, *kept]) + "\n", encoding="utf-8")


def _shown(results: pl.DataFrame) -> pl.DataFrame:
    grows = results["grows"][0]
    return results.select(
        pl.col("size").alias(grows),
        pl.col("way").alias("from"),
        pl.col("seconds"),
        pl.col("processor").alias("processor (s)"),
        pl.col("resident").alias("resident (MB)"),
        pl.col("anonymous").alias("anonymous (MB)"),
    )


def write_growth_plot(path: Path, results: pl.DataFrame) -> None:
    """Seconds of the processor, and memory, against what grows: a panel for each."""
    figure = Figure(figsize=(11.0, 3.2), layout="constrained")
    panels = figure.subplots(1, len(GROWING) + 1)
    for panel, (grows, column) in zip(panels, PANELS, strict=True):
        of_these = results.filter(pl.col("grows") == grows)
        for way in of_these["way"].unique(maintain_order=True):
            line = of_these.filter(pl.col("way") == way)
            panel.plot(line["size"], line[column], marker="o", label=way)
        if grows == "cores":
            panel.set_xticks(CORES)
            panel.set_ylim(bottom=0)
        else:
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.yaxis.set_minor_formatter("")
        panel.set_xlabel(grows)
        panel.set_title(NAMES_OF_COLUMNS[column], fontsize=9)
        panel.grid(visible=True, alpha=0.3)
    panels[0].legend(frameon=False, fontsize=7)
    figure.savefig(path, dpi=110)


NAMES_OF_COLUMNS = {
    "processor": "seconds of the processor",
    "seconds": "seconds",
    "anonymous": "MB that no file stands behind",
}
PANELS = (
    ("rows", "processor"),
    ("rows", "anonymous"),
    ("items", "processor"),
    ("k", "processor"),
    ("cores", "seconds"),
)
"""What each panel of the plot shows."""


def main() -> None:
    """Measure what is named, or all, and keep it beside what was measured before."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth")
    parser.add_argument("grows", nargs="*", metavar="|".join(GROWING), help="what grows; all, if not given")
    parser.add_argument("--most-rows", type=int, default=max(ROWS), help="the largest number of rows")
    parser.add_argument("--folder", type=Path, help="where files of rows are, or will be kept")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary)
        names = chosen.grows or list(GROWING)
        found = [each for name in names for each in GROWING[name](folder, chosen.most_rows)]
    results = pl.DataFrame([asdict(each) for each in found])
    if RESULTS.exists():
        results = pl.concat([pl.read_parquet(RESULTS).filter(~pl.col("grows").is_in(names)), results])
    results.write_parquet(RESULTS)
    write_growth_plot(RESULTS.with_suffix(".png"), results)
    replace_sections(RESULTS.with_name("speed.md"), growth_sections())


if __name__ == "__main__":
    main()
