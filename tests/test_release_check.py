"""What is checked before a release: each check passes what is right, and fails what is not."""

import shutil
from pathlib import Path

import pytest
from website import figures as figure_list
from website import release_check
from website.figures import digest_of, figured_files, figures, problems, without_docstrings

from veilset import __version__


def test_every_figure_is_listed_with_its_command() -> None:
    """Pictures, tables for programs, pages with numbers; whether any is stale is for `make release-check`."""
    assert [problem for problem in problems() if not problem.startswith("stale")] == []
    assert all(figure.command and figure.made for figure in figures())
    assert len(figured_files()) > 40


def test_a_figure_whose_code_changed_is_stale_until_it_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comments and docstrings change nothing; a number does."""
    (tmp_path / "docs").mkdir()
    code, page = tmp_path / "code.py", tmp_path / "docs" / "page.md"
    listed = tmp_path / "docs" / "figures.toml"
    code.write_text('"""Text."""\nSHARE = 1\n', encoding="utf-8")
    page.write_text("| a |\n|--:|\n| 1 |\n", encoding="utf-8")
    monkeypatch.setattr(figure_list, "ROOT", tmp_path)
    monkeypatch.setattr(figure_list, "LIST", listed)
    entry = '\n[one]\nfiles = ["docs/page.md"]\ncommand = "make one"\ndescribes = ["code.py"]\ncode = ""\nmade = ""\n'
    listed.write_text(entry, encoding="utf-8")
    assert problems() == ["stale: one (no date): run make one"]
    figure_list.write_down("one", code=figures()[0].digest(), made="2026-11-16")
    assert problems() == []
    code.write_text("# another comment\nSHARE   =   1\n", encoding="utf-8")
    assert problems() == []
    code.write_text("SHARE = 2\n", encoding="utf-8")
    assert problems() == ["stale: one (2026-11-16): run make one"]
    (tmp_path / "docs" / "new.png").touch()
    assert "docs/new.png is in no entry of docs/figures.toml" in problems()


def test_a_digest_is_of_what_code_does() -> None:
    """Two spellings of one program have the same digest."""
    texts = ('"""A."""\ndef f():\n    "B."\n    return  1', "def f():  # c\n    return 1")
    assert without_docstrings(texts[0]) == without_docstrings(texts[1])
    assert digest_of(iter([("a", texts[0])])) != digest_of(iter([("b", texts[0])]))


def test_all_places_tell_the_same_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that tells another is named."""
    assert list(release_check.version_problems()) == []
    for name in ("CITATION.cff", "CHANGELOG.md", "docs/veilset.1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(release_check.ROOT / name, tmp_path / name)
    citation = tmp_path / "CITATION.cff"
    version = __version__
    citation.write_text(citation.read_text("utf-8").replace(version, "9.9.9"), encoding="utf-8")
    monkeypatch.setattr(release_check, "ROOT", tmp_path)
    assert list(release_check.version_problems()) == [f"CITATION.cff does not say {version}"]
