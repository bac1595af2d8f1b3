"""All that the gate hands out to whoever asks: every field of every answer, not only what an example looks at."""

import dataclasses
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from veilset.gate import Curator, Partitions, PersonCurator, UnnamedCurator

_DOORS = (Curator, UnnamedCurator, PersonCurator, Partitions)


class Watched:
    """A curator, or partitions, whose answers are kept as plain values; what it opens is watched as well."""

    def __init__(
        self, door: Curator | UnnamedCurator | PersonCurator | Partitions, answers: list[object]
    ) -> None:
        self._door, self._answers = door, answers

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the door has
        found = getattr(self._door, name)
        return self._kept(found) if name.startswith("ask_") or name == "on_sample" else found

    def _kept(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(ask)
        def call(*given: Any, **named: Any) -> Any:  # noqa: ANN401
            answer = ask(*given, **named)
            if isinstance(answer, _DOORS):
                return Watched(answer, self._answers)
            self._answers.append(plain(answer))
            return answer

        return call


def plain(answer: object) -> object:
    """An answer as values that can be compared: fields of dataclasses by name, arrays as lists.

    >>> from veilset.gate import NoisyCount
    >>> plain((NoisyCount(3, None), np.array([1, 2])))
    [['NoisyCount', [3, None]], [1, 2]]
    """
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        values = [getattr(answer, field.name) for field in dataclasses.fields(answer)]
        return [type(answer).__name__, plain(values)]
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if isinstance(answer, list | tuple):
        return [plain(each) for each in answer]
    if hasattr(answer, "__iter__") and not isinstance(answer, str):
        return [plain(each) for each in answer]
    return answer
