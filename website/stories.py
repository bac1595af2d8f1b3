"""What came out of the tutorial's stories, with repeatable noise: `python -m website.stories` writes it on their pages.

The data is made by the programs of the pages themselves, so what is told here is what a reader gets, but for the noise.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.written_tables import beginning, with_table

import veilset as vs

DOCS = Path(__file__).resolve().parents[1] / "docs"
START = beginning("what came out", "python -m website.stories")
PROGRAM = re.compile(r"```python\n(.*?)```", re.DOTALL)
SHOWN = 8
"""8 itemsets of a release stand on a page."""


def shop(_: Path) -> Iterator[str]:
    """Thirty itemsets of baskets, and the rules that are surely strong."""
    baskets = vs.generate(20_000)
    release = vs.mine(baskets, k=30, epsilon=1, noise=vs.SeededNoise(7))
    yield from _release_table(release, baskets, k=30)
    rules = release.rules(metric="lift", min_threshold=2, surely=True)
    first = rules.row(0, named=True)
    sides = f"{' and '.join(first['antecedents'])} buys {' and '.join(first['consequents'])}"
    interval = f"{first['confidence']:.2f} ({first['confidence_low']:.2f} to {first['confidence_high']:.2f})"
    yield ""
    yield f"{len(rules)} rules have a lift that is surely above 2."
    yield f"The first: whoever buys {sides} with a confidence of {interval}."


def hospital(folder: Path) -> Iterator[str]:
    """Twenty-five sets of diagnoses, with codes found privately."""
    held = vs.read(folder / "diagnoses.csv", owner="patient", item="code")
    release = vs.mine(held, k=25, epsilon=1, delta=1e-9, noise=vs.SeededNoise(7))
    yield from _release_table(release, held, k=25)
    named = {item for found in release.itemsets for item in found.items}
    rare = [item for item in named if str(item).startswith(("R", "see"))]
    yield ""
    yield f"The release names {len(named)} codes. Rare codes among them: {len(rare)}. The entry of patient 4711 is not."


def city(folder: Path) -> Iterator[str]:
    """A published dataset of visits beside the visits; five runs tell how far one can be off."""
    visits = vs.read(folder / "visits.csv", owner="person", basket="visit", item="page")
    names = (folder / "pages.txt").read_text(encoding="utf-8").split()
    runs = [
        vs.publish(
            visits, epsilon=1, alphabet=names, per_owner="auto", noise=vs.SeededNoise(seed)
        ).to_transactions()
        for seed in range(7, 12)
    ]
    made, k = runs[0], 10
    true, found = vs.exact(visits, k=k), vs.exact(made, k=k)
    supports = dict(zip(map(frozenset, true.itemsets), true.supports, strict=True))
    same = set(supports) & set(map(frozenset, found.itemsets))
    yield (
        f"{len(made):,} visits were published, of {len(visits):,}. {len(same)} of the {k} most frequent itemsets are"
        " the same in both:"
    )
    yield ""
    yield "| pages | share of the visits published | share of all visits |"
    yield "|---|--:|--:|"
    for items, support in zip(found.itemsets[:SHOWN], found.supports[:SHOWN], strict=True):
        exact = supports.get(frozenset(items))
        text = f"not among the {k}" if exact is None else f"{exact / len(visits):.1%}"
        yield f"| {', '.join(sorted(map(str, items)))} | {support / len(made):.1%} | {text} |"
    pair = next(items for items in map(frozenset, true.itemsets) if len(items) == 2)
    shares = ", ".join(f"{share:.1%}" for share in sorted(_share(run, pair, k) for run in runs))
    yield ""
    yield (
        f"The most frequent pair, {' and '.join(sorted(map(str, pair)))}, is in {supports[pair] / len(visits):.1%}"
        f" of all visits. In five runs with other noise it is in {shares} of those published: which way of asking is"
        " predicted to err least is decided by noisy answers, too, and the other way errs more here."
    )


def _share(published: vs.Transactions, itemset: frozenset[int | str], k: int) -> float:
    """The share of an itemset that is among the k most frequent."""
    found = vs.exact(published, k=k)
    supports = dict(zip(map(frozenset, found.itemsets), found.supports, strict=True))
    return supports[itemset] / len(published)


def _release_table(release: vs.Release, data: vs.Transactions, *, k: int) -> Iterator[str]:
    """The first itemsets of a release beside the truth, and how good all of them are."""
    exact = vs.exact(data, k=4 * k)
    supports = dict(zip(map(frozenset, exact.itemsets), exact.supports, strict=True))
    best = set(list(supports)[:k])
    pairs = [(found, supports.get(frozenset(found.items))) for found in release.itemsets]
    known = [(found, true) for found, true in pairs if true is not None]
    inside = sum(found.low <= true <= found.high for found, true in known)
    errors = sorted(abs(found.support - true) / true for found, true in known)
    right = sum(frozenset(found.items) in best for found in release.itemsets)
    delta = f" and delta {float(release.delta):g}" if release.delta else ""
    yield (
        f"Epsilon {release.spent}{delta} bought {len(release.itemsets)} itemsets; {right} are among the true {k}."
        f" Half of the supports are within {errors[len(errors) // 2]:.1%} of the truth, and {inside} of {len(known)}"
        " intervals hold it."
    )
    yield ""
    yield "| itemset | released | 95 % interval | exact |"
    yield "|---|--:|--:|--:|"
    for found, true in known[:SHOWN]:
        yield f"| {', '.join(map(str, found.items))} | {found.support:,} | {found.low:,} – {found.high:,} | {true:,} |"


STORIES: dict[str, Callable[[Path], Iterator[str]]] = {"shop": shop, "hospital": hospital, "city": city}


def made_page(name: str) -> str:
    """The page of a story with what came out today."""
    page = (DOCS / "tutorial" / f"{name}.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        program = PROGRAM.findall(page)[0]
        if "write_csv" in program:
            subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)
        return with_table(page, START, STORIES[name](Path(folder)))


def main() -> None:
    """Write what came out on the three pages."""
    for name in STORIES:
        (DOCS / "tutorial" / f"{name}.md").write_text(made_page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
