"""The walls of the house: a forbidden import of each kind, added to a copy of it, breaks a contract."""

import importlib
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parents[1]

FLOORS = "Floors of the house"
RAW_DATA = "Raw data leaves only through the gate"
ONE_DOOR = "The gate has one door"
PAPERS = "Papers are independent of each other"
KERNELS = "Kernels are arrays in, arrays out"
WORKERS = "Only workers of the service look at data"

FORBIDDEN = [
    ("methods/tps/__init__", "from veilset.raw.engines.local import LocalEngine", RAW_DATA),
    ("methods/shared/bases", "from veilset.raw.counts import ExactItemsets", RAW_DATA),
    ("methods/tps/__init__", "from veilset.exact import mine_exact", FLOORS),
    ("methods/tps/__init__", "from veilset import mine_exact", FLOORS),
    ("methods/tps/__init__", "from veilset.evaluate.published import supports_in", FLOORS),
    ("methods/tps/__init__", "from veilset.datasets import groceries", FLOORS),
    ("methods/tps/__init__", "from veilset.opening import open_curator", FLOORS),
    ("methods/tps/__init__", "from veilset.gate.selection import floored_supports", ONE_DOOR),
    ("methods/tps/__init__", "from veilset.gate.questions.base import Questions", ONE_DOOR),
    ("methods/tps/__init__", "from veilset.methods.truncated_em import truncated_em", PAPERS),
    ("methods/shared/bases", "from veilset.methods.truncated_em import truncated_em", PAPERS),
    ("forecast/curve", "from veilset.gate.noise import SecureNoise", ONE_DOOR),
    ("forecast/curve", "from veilset.raw.read import read", RAW_DATA),
    ("forecast/curve", "from veilset.methods.tps import frefirst", FLOORS),
    ("plan/bounds", "from veilset.raw.read import read", RAW_DATA),
    ("results/rules", "from veilset.raw.transactions import Transactions", RAW_DATA),
    ("results/promise", "from veilset.gate.accounting.budget import Budget", ONE_DOOR),
    ("results/promise", "from veilset import METHODS", FLOORS),
    ("results/release", "from veilset.render.report import write_report", FLOORS),
    ("results/published", "from veilset.raw.transactions import Transactions", RAW_DATA),
    ("estimator", "from veilset.raw.transactions import Transactions", RAW_DATA),
    ("request", "from veilset.raw.transactions import Transactions", RAW_DATA),
    ("request", "from veilset.gate import Curator", FLOORS),
    ("writing", "from veilset.raw.transactions import Transactions", RAW_DATA),
    ("taxonomy", "from veilset.raw.transactions import Transactions", RAW_DATA),
    ("itemsets", "from veilset.raw.transactions import Transactions", RAW_DATA),
    ("render/terminal/__init__", "from veilset.raw.transactions import Transactions", RAW_DATA),
    ("cli/commands", "from veilset.raw.engines.local import LocalEngine", RAW_DATA),
    ("service/web/pages/releases", "from veilset.raw.read import read", RAW_DATA),
    ("service/core", "from veilset.api import mine", WORKERS),
    ("service/jobs", "from veilset.service.web import api", "Floors of the service"),
    ("render/report", "from veilset.service.core import Service", FLOORS),
    ("raw/read/text", "from veilset.gate import Curator", FLOORS),
    ("raw/transactions", "from veilset.raw.engines.local import LocalEngine", "Floors of raw"),
    ("raw/kernels/scans", "from veilset.raw.counts import ExactCounts", "Floors of raw"),
    ("raw/kernels/scans", "from veilset.errors import BadCall", KERNELS),
    ("raw/kernels/scans", "import pyarrow", KERNELS),
    ("public_kernels/bit_rows", "from veilset.raw.transactions import Transactions", RAW_DATA),
    ("public_kernels/bit_rows", "from veilset.raw.kernels.scans import add_items", RAW_DATA),
    ("public_kernels/bit_rows", "from veilset.errors import BadCall", KERNELS),
    ("gate/mechanisms", "from veilset.gate.curator import Curator", "Floors of the gate"),
    ("newcomer", "'On no floor.'", FLOORS),
    ("raw/newcomer", "'On no floor.'", "Floors of raw"),
    ("gate/newcomer", "'On no floor.'", "Floors of the gate"),
    ("methods/newcomer/__init__", "'On no floor.'", PAPERS),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources and the contracts in a folder of their own."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture
def broken(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[], set[str]]:
    """Tells which contracts are broken in the copy."""
    monkeypatch.delitem(
        sys.modules, "veilset", raising=False
    )  # the linter looks for the copy, not for this one
    monkeypatch.syspath_prepend(copy / "src")

    def names() -> set[str]:
        importlib.invalidate_caches()
        code = lint_imports(config_filename=str(copy / "pyproject.toml"), no_cache=True)
        found = set(re.findall(r"^(.*) BROKEN", capsys.readouterr().out, flags=re.MULTILINE))
        assert (code == 0) == (found == set())
        return found

    return names


def test_the_house_keeps_its_contracts(broken: Callable[[], set[str]]) -> None:
    """As it is, nothing is imported through a wall."""
    assert broken() == set()


@pytest.mark.parametrize(("module", "line", "contract"), FORBIDDEN)
def test_a_forbidden_import_breaks_a_contract(
    copy: Path, broken: Callable[[], set[str]], module: str, line: str, contract: str
) -> None:
    """One line is enough, wherever it stands."""
    path = copy / "src" / "veilset" / f"{module}.py"
    assert path.exists() != ("newcomer" in module)
    before = path.read_text(encoding="utf-8") if path.exists() else None
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{before or ''}\n{line}\n", encoding="utf-8")
    try:
        assert contract in broken()
    finally:
        if before is None:
            path.unlink()
            if path.stem == "__init__":
                path.parent.rmdir()
        else:
            path.write_text(before, encoding="utf-8")
