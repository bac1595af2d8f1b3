"""What results offer that is made on higher floors: plots, pages, transactions.

A result must not import what shows it, or whoever handles one would depend on the whole house. So a method of a result
asks for its view by name, and the package itself, which stands above all floors, has said where views are made.
"""

from collections.abc import Callable
from typing import Any

_FINDERS: list[Callable[[str], Callable[..., Any]]] = []


def find_views_with(finder: Callable[[str], Callable[..., Any]]) -> None:
    """Say, once, who finds the maker of a view by its name; done by the package when it is imported."""
    _FINDERS[:] = [finder]


def view(name: str) -> Callable[..., Any]:
    """The function that makes a view of a result."""
    (finder,) = _FINDERS
    return finder(name)
