"""The notebooks of the documentation run from the first cell to the last, in an empty folder, as they are stored."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))

# Jupyter and its messaging warn of their own changes to come; ours are errors in the cells.
pytestmark = pytest.mark.filterwarnings("ignore")


def executed(notebook: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - nbformat has no types
    """The notebook after all its cells ran in the folder; a cell that fails raises."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PLOTLY_RENDERER", "plotly_mimetype")  # figures without 4 MB of script in each of them
    resources = {"metadata": {"path": str(folder)}}
    client = nbclient.NotebookClient(notebook, kernel_name="python3", resources=resources, timeout=600)
    return client.execute()


def shown_kinds(notebook: Any) -> list[list[object]]:  # noqa: ANN401
    """For each cell of code, what kinds of output it has: names of streams, and types of what is displayed.

    What is printed may arrive in one piece or in several, as the kernel flushes.
    """
    return [_without_repeated_streams(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


def _without_repeated_streams(outputs: list[dict[str, Any]]) -> list[object]:
    kinds: list[object] = []
    for output in outputs:
        kind = output.get("name") or sorted(output.get("data", {}))
        if not (isinstance(kind, str) and kinds and kinds[-1] == kind):
            kinds.append(kind)
    return kinds


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_stored(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same kinds of output in every cell; figures differ, as noise does."""
    notebook = nbformat.read(path, as_version=4)
    stored = shown_kinds(notebook)
    assert any(stored)
    assert shown_kinds(executed(notebook, tmp_path, monkeypatch)) == stored


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_failures_and_traces_of_a_machine(path: Path) -> None:
    """No error, nothing on standard error, no folder of whoever ran it, no script."""
    text = path.read_text(encoding="utf-8")
    outputs = [output for cell in json.loads(text)["cells"] for output in cell.get("outputs", [])]
    assert {output["output_type"] for output in outputs} <= {"execute_result", "display_data", "stream"}
    assert "stderr" not in {output.get("name") for output in outputs}
    assert not any(trace in text for trace in ("/tmp/", "/home/", "/root/", str(ROOT), "<script"))  # noqa: S108


def test_a_cell_that_fails_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the tests above."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import veilset as vs; vs.mine()")])
    with pytest.raises(
        nbclient.exceptions.CellExecutionError, match="missing 1 required positional argument"
    ):
        executed(notebook, tmp_path, monkeypatch)


def test_there_are_the_notebooks_that_the_readme_names() -> None:
    """All of them, and no other."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 3
    assert all(f"docs/notebooks/{path.name}" in readme for path in NOTEBOOKS)
