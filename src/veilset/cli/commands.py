"""The commands: each parses, makes one library call and shows what comes of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veilset._version import __version__
from veilset.cli.auditing import audit_command
from veilset.cli.checking import check_command
from veilset.cli.decorators import (
    asking,
    chooses_items,
    is_published,
    makes_release,
    or_on_stderr,
    or_on_stdout,
    reads_data,
    tell_more,
    telling_spent,
    warn_if_conditional,
)
from veilset.cli.evaluating import evaluate_command
from veilset.cli.help_texts import examples
from veilset.cli.ledger import ledger_app
from veilset.cli.options import (
    AsJsonOption,
    DeltaOption,
    EpsilonOption,
    ForceOption,
    ItemsMethodOption,
    KOption,
    MaxSizeOption,
    MineMethodOption,
    MinSupportOption,
    PerOwnerOption,
    PublicItemsOption,
    PublicNumberOption,
    PublishMethodOption,
    QuietOption,
    ReleaseEpsilonOption,
    VerboseOption,
    check_can_write,
    check_loudness,
    free_name,
    limit_of,
)
from veilset.cli.paying import pays_from_ledger, record_files
from veilset.cli.planning import plan_command
from veilset.cli.releases import compare_command, show_release_command
from veilset.cli.rules import rules_command
from veilset.cli.serving import serve_command
from veilset.wording import counted

if TYPE_CHECKING:
    from veilset import Release, Transactions
    from veilset.gate import DatasetAccount

app = typer.Typer(
    name="veilset",
    help="Publish which sets of items are common, under differential privacy.",
    epilog="Start with `veilset demo`; then `veilset mine FILE --epsilon 1 --k 100 --delta 1e-9`.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"veilset {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _veilset(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback acts
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(name="demo")
def demo_command(
    epsilon: EpsilonOption = "1",
    k: Annotated[int, typer.Option("--k", metavar="K", help="How many itemsets.")] = 60,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="F.html", help="Where to write the page; veilset-demo.html if left out."
        ),
    ] = None,
    force: ForceOption = False,
    verbose: VerboseOption = False,
) -> None:
    """A first release, on built-in synthetic baskets: a table, and a page with plots."""
    from veilset import (  # noqa: PLC0415
        datasets,
        mine,
        write_report,
    )
    from veilset.render import terminal  # noqa: PLC0415

    page = report or free_name(Path("veilset-demo.html"))
    check_can_write(page, suffixes=(".html",), replaces=force)
    with terminal.stage("filling 100,000 synthetic baskets"):
        baskets = datasets.groceries(100_000)
    with asking("a private release"):
        found = mine(baskets, epsilon=epsilon, k=k)
    terminal.print_release(found, most=20, lists_questions=verbose)
    tell_more(verbose)
    write_report(found, page)
    terminal.print_line(f"All of it with plots, in a page that works offline: {page}")


@app.command(
    name="mine",
    epilog=examples(
        "veilset mine baskets.csv --alphabet items.txt --epsilon 1 --k 100 --out release.json",
        "veilset mine baskets.csv --delta 1e-9 --epsilon 1 --min-support 0.01 --report page.html",
        "veilset mine sales.csv --owner who --basket receipt --item what --per-owner 3 --delta 1e-9 --epsilon 1 --k 9",
        "veilset mine postgresql://me@host/shop --query 'SELECT who, what FROM sales' --owner who --item what "
        "--delta 1e-9 --epsilon 1 --k 9",
    ),
)
@pays_from_ledger
@chooses_items
@reads_data
@makes_release
def mine_command(
    data: "Transactions",
    epsilon: ReleaseEpsilonOption = None,
    k: KOption = None,
    min_support: MinSupportOption = None,
    method: MineMethodOption = None,
    max_size: MaxSizeOption = None,
    public_items: PublicItemsOption = False,
    delta: DeltaOption = None,
    per_owner: PerOwnerOption = None,
    transactions: PublicNumberOption = None,
    account: "DatasetAccount | None" = None,
) -> "Release":
    """Private frequent itemsets, with 95 % intervals."""
    from veilset import mine  # noqa: PLC0415

    return mine(
        data,
        epsilon=epsilon,
        k=k,
        min_support=min_support,
        method=method,
        max_size=max_size,
        public_items=public_items,
        delta=delta,
        per_owner=limit_of(per_owner),
        transactions=transactions,
        account=account,
    )


@app.command(
    name="items", epilog=examples("veilset items baskets.csv --alphabet items.txt --epsilon 0.5 --k 20")
)
@pays_from_ledger
@chooses_items
@reads_data
@makes_release
def items_command(
    data: "Transactions",
    epsilon: ReleaseEpsilonOption = None,
    *,
    k: Annotated[int, typer.Option("--k", metavar="K", help="How many items.")],
    method: ItemsMethodOption = None,
    public_items: PublicItemsOption = False,
    delta: DeltaOption = None,
    per_owner: PerOwnerOption = None,
    transactions: PublicNumberOption = None,
    account: "DatasetAccount | None" = None,
) -> "Release":
    """The most frequent items, privately, with 95 % intervals."""
    from veilset import items  # noqa: PLC0415

    return items(
        data,
        epsilon=epsilon,
        k=k,
        method=method,
        public_items=public_items,
        delta=delta,
        per_owner=limit_of(per_owner),
        transactions=transactions,
        account=account,
    )


@app.command(
    name="publish",
    epilog=examples("veilset publish baskets.csv --alphabet items.txt --epsilon 1 --out published.parquet"),
)
@pays_from_ledger
@chooses_items
@reads_data
def publish_command(
    data: "Transactions",
    path: Path,
    epsilon: ReleaseEpsilonOption = None,
    *,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="F", help="Write the dataset: .dat, .dat.gz, .dat.zst or .parquet."),
    ],
    method: PublishMethodOption = None,
    fan_out: Annotated[
        int, typer.Option("--fanout", metavar="N", help="For diffpart: items, or groups, in one group.")
    ] = 10,
    taxonomy: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="For diffpart: a public hierarchy; item, category, ... in each line."
        ),
    ] = None,
    public_items: PublicItemsOption = False,
    delta: DeltaOption = None,
    per_owner: PerOwnerOption = None,
    force: ForceOption = False,
    as_json: AsJsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    account: "DatasetAccount | None" = None,
) -> None:
    """A whole private dataset, with its promise in a file beside it. Mining it costs nothing more."""
    from veilset import publish  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415
    from veilset.results.published import check_can_hold, files_of_dataset  # noqa: PLC0415

    check_loudness(quiet=quiet, verbose=verbose)
    # Names that are still to be found are private: whether a file can hold them must not decide whether there is one.
    check_can_hold(out, data.alphabet.names if delta is None else ())
    check_can_write(out, data=path, also=files_of_dataset(out)[1:], replaces=force)
    with asking("a private dataset"):
        published = publish(
            data,
            epsilon=epsilon,
            method=method,
            fan_out=fan_out,
            taxonomy=taxonomy,
            public_items=public_items,
            delta=delta,
            per_owner=limit_of(per_owner),
            account=account,
        )
        with or_on_stdout(published.with_records), telling_spent(published):
            published.write(out)
        record_files(account, published, out)
    warn_if_conditional(published)
    with or_on_stderr(None):
        if as_json:
            terminal.print_json(published.to_dict())
        elif not quiet:
            terminal.print_published(published, out, lists_questions=verbose)
    tell_more(verbose)


app.command(name="show", epilog=examples("veilset show release.json", "veilset show release.json --verbose"))(
    show_release_command
)
app.command(name="compare", epilog=examples("veilset compare week45.json week46.json"))(compare_command)
app.command(
    name="rules",
    epilog=examples("veilset rules release.json --metric lift --min-threshold 2 --surely"),
)(rules_command)
app.add_typer(ledger_app)


app.command(
    name="evaluate",
    epilog=examples(
        "veilset evaluate public.dat --methods planned,privbasis --epsilon 0.1,1 --k 50,100 --repeats 5"
    ),
)(reads_data(evaluate_command))


@app.command(name="exact", epilog=examples("veilset exact published.parquet --k 20"))
@reads_data
def exact_command(
    data: "Transactions",
    path: Path,
    k: KOption = None,
    min_support: MinSupportOption = None,
    max_size: MaxSizeOption = None,
    maximal: Annotated[
        bool, typer.Option("--maximal", help="Only itemsets without a frequent superset.")
    ] = False,
    as_json: AsJsonOption = False,
) -> None:
    """Exact frequent itemsets. NOT private."""
    from veilset import mine_exact  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    with terminal.stage("mining (a first run compiles, once)"):
        found = mine_exact(data, k=k, min_support=min_support, max_size=max_size, maximal=maximal)
    is_private = is_published(path)
    if not is_private:
        terminal.warn("NOT PRIVATE: these are exact supports; do not publish them unless the data is public")
    document = {**found.to_dict(), "is_private": is_private}
    terminal.print_json(document) if as_json else terminal.print_exact(found)


@app.command(name="info")
@reads_data
def info_command(data: "Transactions", path: Path, as_json: AsJsonOption = False) -> None:
    """What a file holds: rows, items, lengths. NOT private."""
    from veilset.exact import describe  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    is_private = is_published(path)
    if not is_private:
        terminal.warn("NOT PRIVATE: these are exact figures of the data")
    facts = describe(data)
    terminal.print_json({**facts, "is_private": is_private}) if as_json else terminal.print_facts(facts)


app.command(
    name="check",
    epilog=examples(
        "veilset check sales.parquet",
        "veilset check sales.csv --owner who --item what",
        "veilset check sqlite:///shop.db --query 'SELECT who, what FROM sales' --owner who --item what",
    ),
)(check_command)


@app.command(name="encode")
@reads_data
def encode_command(
    data: "Transactions",
    path: Path,
    out: Annotated[
        Path, typer.Option("--out", metavar="F.arrow", help="Where to write it; as private as the data.")
    ],
    force: ForceOption = False,
) -> None:
    """The data in a form that later commands map into memory instead of parsing it. NOT private."""
    from veilset import write_encoded  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    check_can_write(out, suffixes=(".arrow",), data=path, replaces=force)
    with terminal.stage("writing"):
        write_encoded(data, out)
    terminal.warn(f"NOT PRIVATE: {out} holds the data themselves; keep it as safe as them")
    terminal.print_line(f"Read it like any other file: veilset mine {out} ...")


app.command(name="plan")(plan_command)
app.command(name="audit")(audit_command)
app.command(name="serve")(serve_command)


@app.command(name="generate", epilog=examples("veilset generate baskets.csv --rows 20000"))
def generate_command(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A .dat, .csv or .parquet file.")],
    rows: Annotated[int, typer.Option("--rows", metavar="N", help="How many baskets.")] = 10_000,
    quest: Annotated[
        bool, typer.Option("--quest", help="Numbered items after IBM Quest, not groceries.")
    ] = False,
    items: Annotated[int, typer.Option("--items", metavar="N", help="How many items (with --quest).")] = 1000,
    length: Annotated[float, typer.Option("--length", metavar="L", help="Items in a basket, about.")] = 8,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The same seed makes the same data.")] = 7,
    force: ForceOption = False,
) -> None:
    """Synthetic baskets and the list of their items: nobody's data, to try things on."""
    from veilset import datasets  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    check_can_write(out, replaces=force)
    with terminal.stage("filling baskets"):
        baskets = datasets.generate(rows, quest_items=items if quest else None, length=length, seed=seed)
        listed = datasets.write_with_items(baskets, out, replaces=force)
    written = counted(rows, "basket", separator=",")
    terminal.print_line(f"{written} in {out}; the items there are, for --alphabet, in {listed}")
