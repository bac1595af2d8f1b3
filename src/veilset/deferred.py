"""Libraries that take a tenth of a second and more to import, imported where they are first used."""

from importlib import import_module


class Deferred:
    """A module by its name, imported when something of it is asked for; threads may ask at once.

    >>> fractions = Deferred("fractions")
    >>> fractions.Fraction(1, 2)
    Fraction(1, 2)
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> object:
        return getattr(import_module(self._name), attribute)
