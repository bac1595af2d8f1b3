"""The documentation site: `python -m website` puts its pages together and builds them, strictly."""

import shutil
import subprocess
import sys
from pathlib import Path

from website.command_reference import command_reference
from website.notebook_pages import notebook_page
from website.python_reference import python_reference

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "build" / "website" / "pages"
COPIED = {".md", ".png", ".svg", ".css"}
"""What of docs/ belongs on the site; notebooks and tables of figures are for programs."""
TOP_PAGES = ("CHANGELOG", "CODE_OF_CONDUCT", "CONTRIBUTING")
"""Pages of the site that stand at the top of the repository."""
MADE_BY_THE_BUILD = ("reference/", "notebooks/", *(f"{name.lower()}.md" for name in TOP_PAGES))
"""What pages of docs/ may link to although it is not there."""


def assemble(pages: Path) -> None:
    """Put all pages into a folder: those of docs/, those at the top of the repository, those made from code."""
    shutil.rmtree(pages, ignore_errors=True)
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.suffix in COPIED:
            target = pages / path.relative_to(ROOT / "docs")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    for name in TOP_PAGES:
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
        for other in TOP_PAGES:
            text = text.replace(f"]({other}.md", f"]({other.lower()}.md")
        (pages / f"{name.lower()}.md").write_text(text.replace("](docs/", "]("), encoding="utf-8")
    notebooks = pages / "notebooks"
    notebooks.mkdir()
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        (notebooks / f"{path.stem}.md").write_text(notebook_page(path), encoding="utf-8")
    reference = pages / "reference"
    reference.mkdir(exist_ok=True)
    (reference / "commands.md").write_text(command_reference(), encoding="utf-8")
    for name, text in python_reference().items():
        (reference / f"{name}.md").write_text(text, encoding="utf-8")


def build(settings: Path) -> subprocess.CompletedProcess[str]:
    """Build what was put together; a broken link, an anchor that is missing or a warning is an error."""
    call = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "--config-file", str(settings)]
    return subprocess.run(call, cwd=settings.parent, check=False, capture_output=True, text=True)


def main() -> int:
    """Put together and build; say what is wrong, or where the site is."""
    assemble(PAGES)
    done = build(ROOT / "zensical.toml")
    sys.stdout.write(done.stdout.partition("Traceback")[0])
    if done.returncode != 0:
        sys.stderr.write(done.stderr.partition("Traceback")[0] + "the site was not built: see above\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
