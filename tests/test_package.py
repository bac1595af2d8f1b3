"""The package as it is imported: its public names, and what loading it costs."""

import subprocess
import sys
from pathlib import Path

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

    homes = [*package._HOMES, *package._VERBS_THAT_ARE_PACKAGES, "__version__"]
    assert sorted(package.__all__) == sorted(homes)
    assert all(getattr(package, name) is not None for name in package.__all__)
    assert set(package.__all__) <= set(dir(package))


VERBS = {
    "mine": "mine",
    "items": "items",
    "publish": "publish",
    "rules": "Release",
    "show": "Release",
    "compare": "compare",
    "evaluate": "evaluate",
    "exact": "exact",
    "info": "describe",
    "check": "check",
    "encode": "write_encoded",
    "plan": "plan",
    "audit": "audit",
    "generate": "generate",
    "demo": "generate",
    "ledger": "Ledger",
    "serve": "connect",
}
"""For every command, what does the same in Python: a verb, or the class whose methods do."""


def test_every_command_is_a_verb_of_the_package() -> None:
    """Whoever knows the command line knows the package."""
    import veilset as package  # noqa: PLC0415
    from veilset.cli.commands import app  # noqa: PLC0415

    commands = {command.name for command in app.registered_commands}
    groups = {group.typer_instance.info.name for group in app.registered_groups if group.typer_instance}
    assert commands | groups == set(VERBS)
    assert all(callable(getattr(package, name)) for name in VERBS.values())


def test_verbs_that_are_packages_are_called_and_keep_what_is_in_them() -> None:
    """Whether the package was imported before or not: the name is the same thing, and has the verb's signature."""
    program = (
        "import inspect, veilset as vs\n"
        "before = [vs.plan, vs.evaluate, vs.audit, vs.exact]\n"
        "import veilset.plan, veilset.evaluate, veilset.audit, veilset.exact\n"
        "from veilset import audit, evaluate, exact, plan\n"
        "assert before == [plan, evaluate, audit, exact] == [vs.plan, vs.evaluate, vs.audit, vs.exact]\n"
        "assert vs.plan.Facts is vs.Facts and vs.evaluate.Study is vs.Study\n"
        "print([list(inspect.signature(each).parameters)[0] for each in before])\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "['facts', 'data', 'subject', 'data']\n"


def test_verbs_that_are_packages_do_what_their_commands_do() -> None:
    """Each once, on a small scale."""
    import veilset as vs  # noqa: PLC0415

    baskets = vs.generate(300)
    assert vs.describe(baskets)["transactions"] == vs.describe([["a"]] * 300)["transactions"] == 300
    assert len(vs.exact(baskets, k=3)) == 3
    assert vs.plan(rows=1000, items=50, length=5, k=5).epsilon is not None
    assert vs.plan(vs.Facts(1000, 50, 5), k=5, epsilon=1, max_len=2).methods[0].forecast.method == "planned"
    study = vs.evaluate(baskets, methods="planned", epsilon=[1, 2], k=3, repeats=1)
    assert study["epsilon"].to_list() == [1.0, 2.0]
    assert vs.evaluate(baskets, methods=["planned"], epsilon=1, k=[3], repeats=2, runs=True).height == 2
    assert {verdict.verdict for verdict in vs.audit("em", samples=0)} == {"BROKEN", "holds"}  # a control, too
    release = vs.mine(baskets, epsilon=1, k=3, noise=vs.SeededNoise(7))
    assert len(vs.compare(release, release).in_both) == 3
    assert vs.METHODS["planned"].summary.startswith("itemsets by the strategy")
    assert vs.evaluate_methods is sys.modules["veilset.evaluate"].evaluate
