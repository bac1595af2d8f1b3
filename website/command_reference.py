"""The reference of the command line, made from the commands themselves, so it is never out of date."""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from veilset.cli.commands import app
from veilset.cli.man import EXIT_CODES

HIDDEN = {"install_completion", "show_completion", "help"}


def command_reference() -> str:
    """All commands with their arguments, options and examples, as one page of Markdown."""
    group: Any = get_command(app)
    lines = [
        "# Commands",
        "",
        f"{group.help} Made from the commands at every build of this site; `veilset COMMAND --help` tells the same.",
        "",
        *_table("Exit code", "Meaning", ((f"`{code}`", meaning) for code, meaning in EXIT_CODES.items())),
    ]
    for name, command in group.commands.items():
        lines += ["", *_command(f"veilset {name}", command)]
    return "\n".join(lines) + "\n"


def _command(name: str, command: Any) -> Iterator[str]:  # noqa: ANN401 - versions of typer differ in their classes
    """A command, or all commands of a group, each under a heading of its own."""
    if hasattr(command, "commands"):
        for below, each in command.commands.items():
            yield from _command(f"{name} {below}", each)
            yield ""
        return
    arguments = [_written(each) for each in command.params if each.param_type_name == "argument"]
    yield from (f"## {name}", "", "```text", " ".join([name, *arguments, "[OPTION]..."]), "```", "")
    yield from _safe(command.help or "").splitlines()
    rows = [(_names(each), _safe(each.help or "")) for each in command.params if each.name not in HIDDEN]
    if rows:
        yield from ("", *_table("Argument or option", "Meaning", rows))
    examples = [line[2:] for line in (command.epilog or "").splitlines() if line.startswith("  ")]
    if examples:
        yield from ("", "Examples:", "", "```text", *examples, "```")


def _written(argument: Any) -> str:  # noqa: ANN401
    return str(argument.metavar or argument.name.upper())


def _names(parameter: Any) -> str:  # noqa: ANN401
    """How a parameter is given, as code."""
    if parameter.param_type_name == "argument":
        return f"`{_written(parameter)}`"
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    return f"{names} `{parameter.metavar}`" if parameter.metavar else names


def _table(left: str, right: str, rows: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> Iterator[str]:
    """Two columns of Markdown."""
    yield f"| {left} | {right} |"
    yield "|---|---|"
    yield from (f"| {first} | {' '.join(second.split())} |" for first, second in rows)


def _safe(text: str) -> str:
    """Help as Markdown that shows it as it is."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
