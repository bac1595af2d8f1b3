"""What commands have in common: which items may be named, reading the data, writing and showing a release.

A decorator adds the options of its part to those of the command, so that both stand in one place.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veilset.cli.options import (
    AsJsonOption,
    ForceOption,
    OutOption,
    QuietOption,
    ReportOption,
    VerboseOption,
    check_can_write,
    check_loudness,
)
from veilset.cli.paying import record_files
from veilset.cli.signatures import as_command, keyword_only, parameters_of
from veilset.errors import BadCall

if TYPE_CHECKING:
    from veilset import Published, Release, Transactions


def chooses_items(command: Callable[..., None]) -> Callable[..., None]:
    """Demand that a command which reads data is told which items may be named, before the data is read."""

    def with_choice(**options: object) -> None:
        from veilset.opening import ItemChoice  # noqa: PLC0415

        chosen = {name: options[name] for name in ("alphabet", "public_items", "delta")}
        ItemChoice(**chosen).check_for(str(options["data"]))  # type: ignore[arg-type]
        command(**options)

    return as_command(with_choice, command, parameters_of(command))


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `read_options`; what they read is its first argument, its path the second."""
    reading = parameters_of(read_options)
    own = parameters_of(command)[2:]

    def with_data(**options: object) -> None:
        from veilset.opening import files_read, shown_source  # noqa: PLC0415
        from veilset.render import terminal  # noqa: PLC0415

        given = {parameter.name: options.pop(parameter.name) for parameter in reading}
        data = str(given["data"])
        _check_inputs_stay([*files_read(data), given["alphabet"], options.get("taxonomy")], options)
        with terminal.quietly(options.get("quiet") is True):
            command(read_options(**given), Path(shown_source(data)), **options)  # type: ignore[arg-type]

    return as_command(with_data, command, [reading[0], *keyword_only([*own, *reading[1:]])])


def _check_inputs_stay(inputs: list[object], options: dict[str, object]) -> None:
    """Refuse to write to a file that is read, whatever else is allowed."""
    written = [path for name in ("out", "report") if isinstance(path := options.get(name), Path)]
    read = [path for path in (Path(str(each)) for each in inputs if each is not None) if path.is_file()]
    for path in written:
        if path.exists() and any(path.samefile(each) for each in read):
            raise BadCall(f"{path} is read by this command, and would be lost; name another file to write to")


def read_options(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A file, a folder, a pattern such as 'sales/*.csv', a database (with --query), or - for stdin.",
        ),
    ],
    *,
    format: Annotated[
        str | None, typer.Option(metavar="F", help="fimi, spmf, basket, long, list, table or onehot.")
    ] = None,
    owner: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Whose items: the person protected.")
    ] = None,
    basket: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Which of the owner's baskets; or whose nobody knows."),
    ] = None,
    item: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The item, or the list of items.")
    ] = None,
    header: Annotated[bool | None, typer.Option(help="Whether a CSV file starts with column names.")] = None,
    separator: Annotated[
        str | None, typer.Option(metavar="C", help="What separates the cells of a CSV file; or tab.")
    ] = None,
    multiplicity: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="How many transactions a row stands for.")
    ] = None,
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="Rows that cannot be read count as empty.")
    ] = False,
    alphabet: Annotated[
        str | None, typer.Option(metavar="FILE", help="The public list of possible items, one a line.")
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(metavar="SELECT", help="What to read of a database; nothing is written to it."),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(metavar="E", help="local, or spark: read and count on a cluster.")
    ] = None,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="The cluster: spark://HOST:7077, or sc://HOST:15002.")
    ] = None,
) -> "Transactions":
    """The options of every command that reads data."""
    from veilset import read  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    with terminal.stage("reading"):
        return read(
            data,
            format=format,  # type: ignore[arg-type]  # read checks it
            owner=owner,
            basket=basket,
            item=item,
            header=header,
            separator=separator,
            multiplicity=multiplicity,
            skip_bad_rows=skip_bad_rows,
            alphabet=alphabet,
            query=query,
            engine=engine,  # type: ignore[arg-type]  # read checks it
            master=master,
        )


def makes_release(command: Callable[..., "Release"]) -> Callable[..., None]:
    """Give a command that makes a release of data the options to write it; then it is written and shown.

    The command is asked when the files can be written, so that nothing is spent on what would be lost.
    """

    def and_shows(
        data: "Transactions",
        path: Path,
        *,
        out: OutOption = None,
        report: ReportOption = None,
        force: ForceOption = False,
        as_json: AsJsonOption = False,
        quiet: QuietOption = False,
        verbose: VerboseOption = False,
        **options: object,
    ) -> None:
        from veilset.render import terminal  # noqa: PLC0415

        check_loudness(quiet=quiet, verbose=verbose, is_kept=bool(out or report or as_json))
        _check_files(out, report, data=path, replaces=force)
        if is_published(path):
            terminal.warn(
                "this dataset is private already: `veilset exact` mines it as it is, at no further cost"
            )
        with asking("a private release"):
            found = command(data, **options)
            _write(found, out=out, report=report)
            record_files(options["account"], found, out, report)
        warn_if_conditional(found)
        with or_on_stderr(None if out else found.to_dict):
            if as_json:
                terminal.print_json(found.to_dict())
            elif not quiet:
                terminal.print_release(found, lists_questions=verbose)
        tell_more(verbose)

    data, path, *outputs, _ = parameters_of(and_shows)
    return as_command(and_shows, command, [data, path, *keyword_only(parameters_of(command)[1:]), *outputs])


def tell_more(is_verbose: bool) -> None:
    """With --verbose, what else is worth knowing of the machine that a command ran on."""
    from veilset.kernel_folder import about_kernel_folder  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    told = about_kernel_folder() if is_verbose else None
    if told is not None:
        terminal.warn(told)


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Tell what is going on; and what was spent, where the user has enough of it."""
    from veilset.render import terminal  # noqa: PLC0415

    try:
        with terminal.stage(f"asking for {what} (a first run compiles, once)"):
            yield
    except KeyboardInterrupt as stopped:
        for note in getattr(stopped, "__notes__", ()):
            terminal.warn(f"interrupted; {note}")
        raise


@contextmanager
def telling_spent(found: "Release | Published") -> Iterator[None]:
    """What cannot be written was paid for all the same."""
    from veilset.gate import tells_spent  # noqa: PLC0415

    with tells_spent(lambda: found.trace):
        yield


def warn_if_conditional(found: "Release | Published") -> None:
    """The first thing seen of a result, where its promise rests on the publisher's word."""
    from veilset.render import terminal  # noqa: PLC0415

    if found.promise.warning is not None:
        terminal.warn(found.promise.warning)


@contextmanager
def or_on_stdout(document: Callable[[], dict[str, Any]] | None) -> Iterator[None]:
    """What was paid for is not lost where it cannot be written: it is printed as JSON, and the error says so."""
    from veilset.render import terminal  # noqa: PLC0415

    try:
        yield
    except Exception as error:
        if document is not None:
            terminal.print_json(document())
            error.add_note("what was paid for stands on stdout, as JSON, and nowhere else: keep it")
        raise


@contextmanager
def or_on_stderr(document: Callable[[], dict[str, Any]] | None) -> Iterator[None]:
    """The same where stdout is what cannot be written to, and no file holds the result; a closed pipe is no failure."""
    from veilset.render import terminal  # noqa: PLC0415

    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what it still holds would fail again
        if document is not None:
            terminal.print_json(document(), to=sys.stderr)
            error.add_note("what was paid for stands on stderr, as JSON, and nowhere else: keep it")
        raise


def _check_files(out: Path | None, report: Path | None, *, data: Path, replaces: bool) -> None:
    """Whether the files of a release can be written, and nothing is lost by that."""
    from veilset.results.release import RELEASE_FILES, files_of_release  # noqa: PLC0415
    from veilset.results.workbooks import check_workbooks  # noqa: PLC0415

    also = () if out is None else files_of_release(out)[1:]
    check_can_write(out, suffixes=RELEASE_FILES, data=data, also=also, replaces=replaces)
    if out is not None and out.suffix == ".xlsx":
        check_workbooks()
    check_can_write(report, suffixes=(".html",), data=data, replaces=replaces)


def _write(found: "Release", *, out: Path | None, report: Path | None) -> None:
    """Write a release, and its page; where neither can be written, it is printed."""
    if out is not None:
        with or_on_stdout(found.to_dict), telling_spent(found):
            found.save(out)
    if report is not None:
        from veilset import write_report  # noqa: PLC0415

        with or_on_stdout(None if out else found.to_dict), telling_spent(found):
            write_report(found, report)


def is_published(path: Path) -> bool:
    """Whether a file is a dataset that was published with a promise that is kept."""
    from veilset.results.published import promise_beside  # noqa: PLC0415

    promise = promise_beside(path)
    return promise is not None and promise.is_kept
