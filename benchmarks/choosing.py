"""The tables of `docs/choosing.md` that compare all methods of a study; `make study` writes them."""

from collections.abc import Iterator

import polars as pl

from benchmarks.claims import claims
from benchmarks.overview import means
from veilset.evaluate import summary


def methods_table(results: pl.DataFrame) -> Iterator[str]:
    """Mean F-score of each method by epsilon, the best first, and the mean coverage of its 95 % intervals."""
    per_method = means(summary(results))
    epsilons = per_method.get_column("epsilon").unique().sort().to_list()
    scores = {(method, epsilon): score for method, epsilon, score, _ in per_method.iter_rows()}
    order = per_method.group_by("method").agg(pl.col("f_score").mean()).sort("f_score", descending=True)
    covered = coverage_of_methods(results)
    yield "| method | " + " | ".join(f"{epsilon:g}" for epsilon in epsilons) + " | all | coverage |"
    yield "|---|" + "--:|" * (len(epsilons) + 2)
    for method, mean in order.iter_rows():
        of_method = [scores.get((method, epsilon)) for epsilon in epsilons]
        texts = " | ".join("–" if score is None else f"{score:.3f}" for score in of_method)
        yield f"| `{method}` | {texts} | {mean:.3f} | {covered.get(method, '–')} |"


def coverage_of_methods(results: pl.DataFrame) -> dict[str, str]:
    """The mean coverage of each method over all cells that measured it, and its range over epsilon."""
    rows = claims(results)
    weighed = (pl.col("coverage") * pl.col("cells")).sum() / pl.col("cells").sum()
    of_methods = rows.group_by("method").agg(
        weighed.alias("mean"), pl.col("coverage").min().alias("least"), pl.col("coverage").max().alias("most")
    )
    return {
        method: f"{mean:.2f} ({least:.2f} to {most:.2f})"
        for method, mean, least, most in of_methods.iter_rows()
    }
