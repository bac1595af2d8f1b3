"""The manual page, made from the help of the commands: `python -m veilset.cli.man docs/veilset.1` writes it."""

import sys
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from veilset._version import __version__
from veilset.cli.commands import app

EXIT_CODES = {
    0: "done",
    1: "an audit found a broken claim, or a ledger was changed behind its own back",
    2: "a bad call, or input that cannot be read: one line on standard error says what and where",
    3: "the budget does not allow it; nothing was looked at",
}
_COMPLETION = {"install_completion", "show_completion"}


def manual_page() -> str:
    """All commands with their arguments, options and examples, as troff."""
    group: Any = get_command(app)
    lines = [
        f'.TH VEILSET 1 "" "veilset {__version__}" "User Commands"',
        *(".SH NAME", "veilset \\- " + _escaped(group.help.rstrip("."))),
        *(".SH SYNOPSIS", ".B veilset", ".I COMMAND", "[\\fIARGUMENT\\fR]..."),
        *(".SH DESCRIPTION", _escaped(group.help), ".PP", _escaped(group.epilog)),
        *(".SH OPTIONS", *_options(group)),
        ".SH COMMANDS",
        *(line for name, command in group.commands.items() for line in _command(f"veilset {name}", command)),
        ".SH EXIT STATUS",
        *(line for code, meaning in EXIT_CODES.items() for line in (".TP", f".B {code}", _escaped(meaning))),
    ]
    return "\n".join(lines) + "\n"


def _command(name: str, command: Any) -> Iterator[str]:  # noqa: ANN401 - versions of typer differ in their classes
    """A command, or all commands of a group, each with what it takes."""
    if hasattr(command, "commands"):
        for below, each in command.commands.items():
            yield from _command(f"{name} {below}", each)
        return
    arguments = [
        each.metavar or each.name.upper() for each in command.params if each.param_type_name == "argument"
    ]
    yield f'.SS "{" ".join([name, *arguments])} [OPTION]..."'
    for number, paragraph in enumerate((command.help or "").split("\n\n")):
        yield from ([] if number == 0 else [".PP"])
        yield _escaped(" ".join(paragraph.split()))
    yield from _options(command)
    if command.epilog:
        yield from (".PP", "Examples:", ".nf")
        yield from (_escaped(line) for line in command.epilog.splitlines() if line.startswith("  "))
        yield ".fi"


def _options(command: Any) -> Iterator[str]:  # noqa: ANN401
    """What a command takes, an entry each."""
    for each in command.params:
        if each.name in _COMPLETION or getattr(each, "hidden", False):
            continue
        yield ".TP"
        if each.param_type_name == "argument":
            yield f".I {_escaped(each.metavar or each.name.upper())}"
        else:
            names = ", ".join([*each.opts, *each.secondary_opts])
            yield f".B {_escaped(names)}" + (f" \\fI{_escaped(each.metavar)}\\fR" if each.metavar else "")
        yield _escaped(each.help or "")
    if command.name == "veilset":
        yield from (".TP", ".B " + _escaped("--install-completion, --show-completion"))
        yield _escaped("Completion of commands and options by the shell: install it, or print its script.")


def _escaped(text: str) -> str:
    """Text that troff shows as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def main() -> None:
    """Write the page to the file that is named, or to standard output."""
    if len(sys.argv) > 1:
        from veilset.writing import write_whole  # noqa: PLC0415

        write_whole(sys.argv[1], manual_page())
    else:
        sys.stdout.write(manual_page())


if __name__ == "__main__":
    main()
