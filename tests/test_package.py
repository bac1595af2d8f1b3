"""The package as it is imported: its public names, and what loading it costs."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest


def test_heavy_modules_wait_until_they_are_needed() -> None:
    """`veilset --version` imports neither the compiler nor frames nor noise."""
    program = (
        "import sys; sys.argv = ['veilset', '--version']\n"
        "from veilset import cli\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numba', 'polars', 'pyarrow', 'opendp', 'plotly', 'numpy'} & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "command", [["mine", "--k", "2", "--json"], ["publish", "--out", "published.dat", "--method", "diffpart"]]
)
def test_a_command_loads_no_library_that_it_can_do_without(
    fimi_file: Path, tmp_path: Path, command: list[str]
) -> None:
    """Frames, plots and Parquet are for those who ask for them; pandas is there only because tests need it."""
    program = (
        "import sys; sys.argv = ['veilset', *sys.argv[1:], '--epsilon', '1', '--public-items']\n"
        "from veilset import cli\n"
        "try: cli.main()\n"
        "except SystemExit as ended: print(ended.code, sorted({'polars', 'pandas', 'plotly', 'pyarrow.parquet'}"
        " & set(sys.modules)))\n"
    )
    name, *options = command
    call = [sys.executable, "-c", program, name, str(fimi_file), *options]
    run = subprocess.run(call, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout.splitlines()[-1] == "0 []"


def test_every_public_name_exists_and_is_listed_once() -> None:
    """`__all__`, the lazy homes and what really is there agree."""
    import veilset as package  # noqa: PLC0415

    assert sorted(package.__all__) == sorted([*package._HOMES, "__version__"])
    assert all(getattr(package, name) is not None for name in package.__all__)


def test_every_verb_of_the_command_line_is_a_function_of_the_package() -> None:
    """Also when a module of a similar name was imported before: what is exported is never a module."""
    import veilset as package  # noqa: PLC0415
    import veilset.evaluate  # noqa: PLC0415
    import veilset.exact  # noqa: PLC0415

    assert package.evaluate_methods is veilset.evaluate.evaluate
    assert package.describe(package.generate(20))["transactions"] == 20
    assert not [name for name in package.__all__ if isinstance(getattr(package, name), ModuleType)]
    assert package.METHODS["planned"].summary.startswith("itemsets by the strategy")
