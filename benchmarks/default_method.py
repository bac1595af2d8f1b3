"""What a study says of the default method, in sentences and tables; `make study` writes them into the pages.

`docs/methods/planned.md` and `planned-items.md` have its figures, `docs/choosing.md` compares it with the others.
"""

from collections.abc import Iterable, Iterator

import polars as pl

from benchmarks.claims import FAILING_COVERAGE, LEAST_COVERAGE, MOST_COVERAGE
from benchmarks.overview import NEAR

DEFAULT = "planned"
CELL = ["dataset", "k", "epsilon"]
DENSE = ("mushroom", "chess", "accidents-15k", "pumsb_star-de")
MOST_BEHIND = 6
"""6 cells are listed in which it is most behind."""
SHOWN_K, SHOWN_EPSILONS = 100, (0.05, 0.25, 1.0)
"""Of items, what is shown dataset by dataset."""
NEAR_OF_ITEMS = 0.01
"""For items, 0.01 behind is as good as ahead."""
MEASURES = ["f_score", "relative_error", "mean_error", "coverage", "bias", "half_width"]


def cells_of(results: pl.DataFrame) -> pl.DataFrame:
    """The mean of each measure over the runs of a method in a cell."""
    return results.group_by("method", *CELL).agg(pl.col(MEASURES).mean()).sort("method", *CELL)


def against_best(cells: pl.DataFrame) -> pl.DataFrame:
    """The cells of the default method, each with that other method that finds most there."""
    others = cells.filter(pl.col("method") != DEFAULT).sort("f_score", "method", descending=[True, False])
    best = others.group_by(CELL, maintain_order=True).first()
    own = cells.filter(pl.col("method") == DEFAULT).join(best, on=CELL, suffix="_of_best")
    return own.with_columns(behind=pl.col("f_score_of_best") - pl.col("f_score")).sort(CELL)


def figures(results: pl.DataFrame) -> Iterator[str]:
    """For the page of the method: F-scores, who is better where, and how often intervals hold."""
    cells = cells_of(results)
    own = against_best(cells)
    yield from scores_by_epsilon(cells, digits=3, with_mean=True)
    yield ""
    errors = relative_errors(cells)
    yield f"{_near(own)}; [choosing](../choosing.md) lists those where it is most behind."
    yield errors[0].upper() + errors[1:]
    yield ""
    yield from _claims(own)


def comparison(results: pl.DataFrame) -> Iterator[str]:
    """For the page on choosing: dataset by dataset, the cells where it is most behind, dense and sparse data."""
    cells = cells_of(results)
    own = against_best(cells)
    yield f"`{DEFAULT}` against the best of all other methods in every cell (dataset, k, epsilon). {_near(own)}."
    yield ""
    yield "| dataset | `planned` | best other in each cell | largest lead | most behind |"
    yield "|---|--:|--:|--:|--:|"
    for (dataset,), here in own.group_by("dataset", maintain_order=True):
        means = [here[column].sum() / len(here) for column in ("f_score", "f_score_of_best")]
        lead, behind = -_number(here["behind"].min()), -_number(here["behind"].max())
        yield f"| {dataset} | {means[0]:.3f} | {means[1]:.3f} | {lead:+.2f} | {behind:+.2f} |"
    yield "\nThe cells where it is most behind:\n"
    yield "| dataset | k | epsilon | `planned` | best | by |"
    yield "|---|--:|--:|--:|--:|---|"
    for row in own.sort("behind", descending=True).head(MOST_BEHIND).iter_rows(named=True):
        scores = f"{row['f_score']:.3f} | {row['f_score_of_best']:.3f} | `{row['method_of_best']}`"
        yield f"| {row['dataset']} | {row['k']} | {row['epsilon']:g} | {scores} |"
    is_dense = pl.col("dataset").is_in(DENSE)
    yield f"\n**Dense data** ({', '.join(DENSE)}: a transaction holds much of the answer):\n"
    yield from scores_by_epsilon(cells.filter(is_dense), digits=2)
    yield "\n**Sparse data** (all others: baskets, clicks, page visits):\n"
    yield from scores_by_epsilon(cells.filter(~is_dense), digits=2)


def supports(results: pl.DataFrame) -> Iterator[str]:
    """For the page on choosing: how far supports are off."""
    yield f"* Supports: {relative_errors(cells_of(results))}"


def item_figures(results: pl.DataFrame) -> Iterator[str]:
    """For the page of the method for items: dataset by dataset at one k, and how far it is from the best of others."""
    own = against_best(cells_of(results))
    here = own.filter((pl.col("k") == SHOWN_K) & pl.col("epsilon").is_in(SHOWN_EPSILONS))
    near = int((own["behind"] <= NEAR_OF_ITEMS).sum())
    within = int(own["coverage"].is_between(LEAST_COVERAGE, MOST_COVERAGE).sum())
    epsilons = _listed(f"{epsilon:g}" for epsilon in SHOWN_EPSILONS)
    yield (
        f"F-score at k = {SHOWN_K}; beside it, the best of the other methods, which is another one in each cell; the "
        f"median relative error of supports, and the coverage of the 95 % intervals, at epsilon {epsilons}."
    )
    yield ""
    heads = " | ".join(f"{epsilon:g} | others" for epsilon in SHOWN_EPSILONS)
    yield f"| dataset | {heads} | relative error | coverage |"
    yield "|---|" + "--:|" * (2 * len(SHOWN_EPSILONS)) + "---|---|"
    for (dataset,), cells in here.group_by("dataset", maintain_order=True):
        yield _row_of_items(str(dataset), cells)
    yield _row_of_items("mean", here.group_by("epsilon").agg(pl.col(pl.Float64).mean()).sort("epsilon"))
    yield ""
    yield (
        f"Over all {len(own)} cells it is ahead of the best of the others, or no more than {NEAR_OF_ITEMS:g} behind, "
        f"in {near}, and {_number(own['behind'].max()):.2f} behind where it is most so; intervals hold in "
        f"{100 * LEAST_COVERAGE:.0f} to {100 * MOST_COVERAGE:.0f} % of cases in {within} cells, and in "
        f"{100 * _number(own['coverage'].min()):.0f} % where they are too short."
    )


def _row_of_items(name: str, cells: pl.DataFrame) -> str:
    scores = [
        f"{own:.2f} | {best:.2f}" for own, best in cells.select("f_score", "f_score_of_best").iter_rows()
    ]
    errors, shares = (
        ", ".join(f"{each:.2f}" for each in cells[column]) for column in ("relative_error", "coverage")
    )
    return f"| {name} | {' | '.join(scores)} | {errors} | {shares} |"


def scores_by_epsilon(cells: pl.DataFrame, *, digits: int, with_mean: bool = False) -> Iterator[str]:
    """A table of mean F-scores, the best method first."""
    epsilons = cells["epsilon"].unique().sort().to_list()
    heads = [f"{epsilon:g}" for epsilon in epsilons] + ["all"] * with_mean
    yield f"| method | {' | '.join(heads)} |"
    yield "|---|" + "--:|" * len(heads)
    order = cells.group_by("method").agg(pl.col("f_score").mean()).sort("f_score", descending=True)
    for method, mean in order.iter_rows():
        of_method = cells.filter(pl.col("method") == method)
        scores = of_method.group_by("epsilon").agg(pl.col("f_score").mean()).sort("epsilon")["f_score"]
        texts = [f"{score:.{digits}f}" for score in [*scores, *[mean] * with_mean]]
        yield f"| `{method}` | {' | '.join(texts)} |"


def relative_errors(cells: pl.DataFrame) -> str:
    """The median relative error of supports, beside that of those who find most and of those who err least."""
    own = against_best(cells)
    no_worse = int((own["relative_error"] <= own["relative_error_of_best"]).sum())
    means = cells.group_by("method").agg(pl.col("relative_error").mean()).sort("relative_error")
    errors = dict(means.iter_rows())
    (next_one, error), (third, of_third) = [each for each in errors.items() if each[0] != DEFAULT][:2]
    return (
        f"the median relative error of `{DEFAULT}` over all cells is {_median(own['relative_error']):.1%}; that of the "
        "method with the best F-score among the others, cell by cell, is "
        f"{_median(own['relative_error_of_best']):.1%}, over fewer itemsets that are right; `{DEFAULT}` is no worse in "
        f"{no_worse} of {len(own)} cells. Averaged over all cells it is {errors[DEFAULT]:.1%} for `{DEFAULT}`, "
        f"{error:.1%} for `{next_one}` and {of_third:.1%} for `{third}`, over far fewer itemsets."
    ).replace("%", " %")


def _near(own: pl.DataFrame) -> str:
    near = int((own["behind"] <= NEAR).sum())
    return f"It is no more than {NEAR:g} behind the best of all other methods in {near} of {len(own)} cells"


def _claims(own: pl.DataFrame) -> Iterator[str]:
    by_epsilon = own.group_by("epsilon").agg(pl.col("bias", "coverage").mean() * 100).sort("epsilon")
    epsilons = _listed(f"{epsilon:g}" for epsilon in by_epsilon["epsilon"])
    biases = _listed(f"{bias:.1f}" for bias in by_epsilon["bias"])
    shares = _listed(f"{share:.0f}" for share in by_epsilon["coverage"])
    ratio = _number(own["half_width"].sum()) / _number(own["mean_error"].sum())
    is_within = own["coverage"].is_between(LEAST_COVERAGE, MOST_COVERAGE)
    failing = int((own["coverage"] < FAILING_COVERAGE).sum())
    lowest = own.sort("coverage").row(0, named=True)
    yield (
        f"Supports are too high by {biases} % on average at epsilon {epsilons}; half widths are {ratio:.1f} times the "
        f"mean error. Of all released itemsets, {shares} % have their true support inside the interval; cell by cell "
        f"that is {100 * LEAST_COVERAGE:.0f} to {100 * MOST_COVERAGE:.0f} % in "
        f"{100 * int(is_within.sum()) / len(own):.0f} % of {len(own)} cells, and below {100 * FAILING_COVERAGE:.0f} % "
        f"in {failing or 'none'}. It is lowest on {lowest['dataset']} (k = {lowest['k']}, epsilon "
        f"{lowest['epsilon']:g}: {100 * lowest['coverage']:.1f} %)."
    )


def _listed(texts: Iterable[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}"


def _number(value: object) -> float:
    return float(str(value))


def _median(values: pl.Series) -> float:
    return _number(values.median())
