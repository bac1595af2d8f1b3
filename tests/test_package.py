"""The package as it is imported: its public names, and what loading it costs."""

import subprocess
import sys
from pathlib import Path


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


def test_a_command_that_shows_no_frame_loads_none(fimi_file: Path) -> None:
    """Polars is for those who ask for a frame."""
    program = (
        "import sys; sys.argv = ['veilset', 'mine', *sys.argv[1:], '--epsilon', '1', '--k', '2', '--public-items']\n"
        "from veilset import cli\n"
        "try: cli.main()\n"
        "except SystemExit as ended: print(ended.code, 'polars' in sys.modules)\n"
    )
    call = [sys.executable, "-c", program, str(fimi_file)]
    run = subprocess.run(call, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "0 False"


def test_every_public_name_exists_and_is_listed_once() -> None:
    """`__all__`, the lazy homes and what really is there agree."""
    import veilset as package  # noqa: PLC0415

    assert sorted(package.__all__) == sorted([*package._HOMES, "__version__"])
    assert all(getattr(package, name) is not None for name in package.__all__)
