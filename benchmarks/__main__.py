"""All benchmarks, or those that are named.

    python -m benchmarks [start_up] [reading] [exact_mining] [methods] [items] [memory] [counting] [truncation]
        [splitting] [noisy_tree] [ledger]

Prints a table for each. Without names (`make bench`), it also writes `docs/benchmarks/speed.md` and its plot.
"""

import inspect
import sys
from pathlib import Path

from benchmarks.counting import counting
from benchmarks.exact_mining import exact_mining
from benchmarks.growth import growth_sections
from benchmarks.items import items
from benchmarks.ledger import ledger
from benchmarks.measure import plain_files
from benchmarks.memory import memory
from benchmarks.methods import methods
from benchmarks.noisy_tree import noisy_tree
from benchmarks.page import section, write_page
from benchmarks.plot import write_plot
from benchmarks.reading import reading
from benchmarks.splitting import splitting
from benchmarks.start_up import start_up
from benchmarks.truncation import truncation

BENCHMARKS = {
    each.__name__: each
    for each in (
        start_up,
        reading,
        exact_mining,
        methods,
        items,
        memory,
        counting,
        truncation,
        splitting,
        noisy_tree,
        ledger,
    )
}
FOLDER = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"


def main(names: list[str]) -> None:
    """Run the benchmarks of these names, or all, and then write the page."""
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there is: {', '.join(BENCHMARKS)}")
    frames, sections = {}, []
    with plain_files() as files:
        for name in names or BENCHMARKS:
            frames[name] = BENCHMARKS[name](files)
            sections.append(section(inspect.getdoc(BENCHMARKS[name]) or name, frames[name]))
            print(f"{sections[-1]}\n", flush=True)
    if not names:
        FOLDER.mkdir(parents=True, exist_ok=True)
        write_plot(FOLDER / "speed.png", exact=frames["exact_mining"], methods=frames["methods"])
        write_page(
            FOLDER / "speed.md", [*growth_sections(), *sections], command="make bench", plot="speed.png"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
