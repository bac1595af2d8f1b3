"""Signatures of commands: typer reads its options from them, so a decorator that adds options rewrites one."""

import inspect
from collections.abc import Callable, Iterable
from functools import update_wrapper


def parameters_of(function: Callable[..., object]) -> list[inspect.Parameter]:
    """What a function takes."""
    return list(inspect.signature(function).parameters.values())


def keyword_only(parameters: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """The same, to be named by whoever calls."""
    return [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]


def as_command(
    function: Callable[..., None], command: Callable[..., object], parameters: list[inspect.Parameter]
) -> Callable[..., None]:
    """The function with a command's name and docstring, and with the options that typer shall see."""
    update_wrapper(function, command)
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return function
