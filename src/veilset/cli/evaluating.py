"""The command that compares methods with the exact answer, on public data."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veilset.cli.options import (
    AsJsonOption,
    ForceOption,
    MaxSizeOption,
    ReportOption,
    SeedOption,
    check_can_write,
    parts_of,
    per_owner_of,
    whole_number,
)

if TYPE_CHECKING:
    from veilset import Transactions


def evaluate_command(
    data: "Transactions",
    path: Path,
    methods: Annotated[str, typer.Option("--methods", metavar="A,B", help="Methods, separated by commas.")],
    epsilon: Annotated[str, typer.Option("--epsilon", metavar="E,E", help="Privacy budgets, such as 0.1,1.")],
    k: Annotated[str, typer.Option("--k", metavar="K,K", help="Numbers of itemsets, such as 50,100.")] = "",
    min_support: Annotated[str, typer.Option("--min-support", metavar="S,S", help="Thresholds.")] = "",
    max_size: MaxSizeOption = None,
    task: Annotated[str, typer.Option("--task", metavar="T", help="mine, items or publish.")] = "mine",
    per_owner: Annotated[
        str, typer.Option("--per-owner", metavar="N,N", help="Baskets of one owner that count: 1,3,auto.")
    ] = "",
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="D", help="Let every run find the items privately.")
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", help="Runs of each combination.")] = 10,
    seed: SeedOption = 7,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="How many processes; all cores if left out.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", metavar="F.parquet", help="Append the runs to it; skip those it holds."),
    ] = None,
    report: ReportOption = None,
    force: ForceOption = False,
    as_json: AsJsonOption = False,
) -> None:
    """How accurate methods are on PUBLIC data, against the exact answer. NOT private."""
    import veilset.evaluate as evaluation  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415
    from veilset.render.study_report import write_study_report  # noqa: PLC0415

    check_can_write(results, suffixes=(".parquet",), data=path, replaces=True)  # runs are appended to it
    check_can_write(report, suffixes=(".html",), data=path, replaces=force)
    study = evaluation.Study.of(
        methods=parts_of(methods),
        epsilons=parts_of(epsilon),
        ks=[whole_number(part) for part in parts_of(k)],
        min_supports=parts_of(min_support),
        max_size=max_size,
        task=task,
        repeats=repeats,
        seed=seed,
        per_owner=[per_owner_of(part) for part in parts_of(per_owner)] or None,
        delta=delta,
    )
    with terminal.progress("runs") as progress:
        found = evaluation.evaluate(
            {path.name.partition(".")[0]: data},
            study,
            workers=(os.cpu_count() or 1) if workers is None else workers,
            results=results,
            progress=progress,
        )
    terminal.warn("NOT PRIVATE: this compares with exact answers; use it on public data only")
    if report is not None:
        write_study_report(found, report)
    if as_json:
        terminal.print_json(evaluation.documents(found))
    else:
        terminal.print_study(evaluation.summary(found))
