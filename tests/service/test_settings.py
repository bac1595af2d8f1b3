"""Settings: what a file says is checked, what is secret comes from the environment, and the documentation has all."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from veilset.errors import BadCall
from veilset.service import serve
from veilset.service.settings import ProviderSettings, ServiceSettings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "service.md"
PROVIDER = {
    "issuer": "https://id.example.org",
    "client_id": "veilset",
    "client_secret": "env:VEILSET_TEST_SECRET",
    "address": "https://curator.example.org",
    "roles": {"owner": "curators"},
}


def written(folder: Path, text: str) -> Path:
    """A file of settings."""
    path = folder / "veilset.toml"
    path.write_text(text)
    return path


def test_the_documentation_has_every_setting_with_its_default() -> None:
    """And no other; the sections that are commented out name every setting of a provider."""
    text = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)[0]
    told = tomllib.loads(text)["service"]
    assert ServiceSettings.of(told, beside=Path()) == ServiceSettings().complete()
    assert set(told) | {"oidc"} == {each.name for each in fields(ServiceSettings)}
    named = set(re.findall(r"^# (\w+) = ", text, flags=re.MULTILINE))
    assert {each.name for each in fields(ProviderSettings)} - {"scope"} <= named


def test_what_is_secret_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is not printed with the settings."""
    monkeypatch.setenv("VEILSET_TEST_SECRET", "postgresql://reader:hidden@db/shop")
    settings = ServiceSettings.read(
        written(tmp_path, '[service]\nport = 1234\n[service.connections]\nshop = "env:VEILSET_TEST_SECRET"\n')
    )
    assert settings.connections == {"shop": "postgresql://reader:hidden@db/shop"}
    assert settings.folder == tmp_path / "veilset-service"
    assert "hidden" not in repr(settings)
    assert "hidden" not in repr(ProviderSettings.of(PROVIDER))


@pytest.mark.parametrize(
    "told",
    [
        {"unknown": 1},
        {"port": "8484"},
        {"workers": 0},
        {"workers": True},
        {"release_every": -1},
        {"data_folders": "data"},
        {"connections": ["shop"]},
        {"connections": {"shop": "env:NOT_IN_THE_ENVIRONMENT"}},
        {"spark_paths": "s3a://lake"},
        {"oidc": {"issuer": "https://id.example.org"}},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(told: dict[str, Any]) -> None:
    """With what is allowed instead."""
    with pytest.raises(BadCall):
        ServiceSettings.of(told, beside=Path())


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    """Or is not there."""
    for path in (written(tmp_path, "[service"), tmp_path / "nothing.toml"):
        with pytest.raises(BadCall, match="cannot be read as TOML"):
            ServiceSettings.read(path)


def test_a_service_is_checked_before_it_starts(tmp_path: Path) -> None:
    """A line for each thing that works; a warning where passwords could be read; what is broken stops it."""
    settings = ServiceSettings(
        folder=tmp_path / "service",
        host="curator.example.org",
        connections={"shop": "sqlite:///shop.db"},
    ).complete()
    with patch.object(serve, "DRAWS_AT_START", 200):
        lines = serve.check_service(settings)
    for words in ("can be written", "as it was written", "a worker starts", "laws", "shop leads to sqlite"):
        assert any(words in line for line in lines), words
    assert lines[-1].startswith("WARNING")
    broken = ServiceSettings(folder=tmp_path / "service", connections={"shop": "mysql://x"}).complete()
    with (
        patch.object(serve, "DRAWS_AT_START", 200),
        patch.object(serve, "WorkerProcess"),
        pytest.raises(BadCall, match="no database"),
    ):
        serve.check_service(broken)
