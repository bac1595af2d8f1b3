"""Tasks of an executor are made light, and no other process is touched."""

import gc
import sys
import zipfile
import zipimport
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from veilset.raw.engines.executor_process import make_tasks_light


@pytest.mark.parametrize("name", ["pyspark.daemon", "pytest", None])
def test_importers_of_zip_files_are_forgotten_in_executors_alone(
    name: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in a zip file can be imported all the same."""
    archive = tmp_path / "some.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("found_in_a_zip_file.py", "NUMBER = 7")
    main = ModuleType("__main__")
    main.__spec__ = None if name is None else SimpleNamespace(name=name)  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setitem(sys.path_importer_cache, str(archive), zipimport.zipimporter(str(archive)))
    monkeypatch.syspath_prepend(str(archive))
    sys.path_importer_cache[str(archive)] = zipimport.zipimporter(str(archive))
    is_executor = name == "pyspark.daemon"
    frozen = gc.get_freeze_count()
    try:
        make_tasks_light()
        assert (str(archive) in sys.path_importer_cache) != is_executor
        assert (gc.get_freeze_count() > 0) == (is_executor or frozen > 0)
        assert __import__("found_in_a_zip_file").NUMBER == 7
    finally:
        sys.modules.pop("found_in_a_zip_file", None)
        gc.unfreeze()
