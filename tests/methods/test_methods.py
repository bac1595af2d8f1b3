"""The registry: variants, and a forecast for what mines."""

import re
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from veilset import methods
from veilset.errors import BadCall
from veilset.methods import METHODS, find_method


def test_variants_are_named_and_unknown_ones_refused() -> None:
    """The heuristics can be switched off one by one."""
    assert find_method("difffim:only-smart", task="mine").options == {"has_double_standards": False}
    with pytest.raises(BadCall, match="there is: only-smart, only-double, plain, by-length"):
        find_method("difffim:magic", task="mine")
    with pytest.raises(BadCall, match="there is: none"):
        find_method("privbasis:magic", task="mine")


@pytest.mark.parametrize("name", METHODS)
def test_what_mines_has_a_forecast_and_nothing_else_has_one_yet(name: str) -> None:
    """One row names a method and its forecast, which forecasts under the method's name."""
    method = METHODS[name]
    forecaster = method.forecaster()
    assert (forecaster is not None) == (method.task == "mine")
    if forecaster is not None:
        assert forecaster.largest_size(None) >= 1
        assert callable(forecaster.forecast)


@pytest.mark.parametrize("name", METHODS)
def test_a_row_names_a_function_of_its_folder(name: str) -> None:
    """The function has the method's name; variants run the same one with other settings."""
    method = METHODS[name]
    function = getattr(import_module(method.module), name.replace("-", "_"))
    for variant in method.variants:
        assert find_method(f"{method.name}:{variant}", task=method.task).options == method.variants[variant]
        signature(function).bind_partial(
            **method.variants[variant]
        )  # refuses what the function does not take


def test_no_folder_of_a_paper_imports_that_of_another() -> None:
    """What two papers need is in `methods.shared`."""
    folders = [path for path in Path(methods.__file__).parent.iterdir() if (path / "__init__.py").exists()]
    for folder in folders:
        others = "|".join(other.name for other in folders if other.name not in (folder.name, "shared"))
        for module in folder.glob("*.py"):
            assert not re.search(rf"from veilset\.methods\.({others})\b", module.read_text()), module
