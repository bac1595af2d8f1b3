"""What must hold before a version is released: `make release-check`. Goes on after a failure, and tells all of them."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from veilset._version import __version__
from website.figures import problems as figure_problems

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "README.md",
    "docs/index.md",
    "docs/tutorial/shop.md",
    "docs/tutorial/hospital.md",
    "docs/tutorial/city.md",
)
"""What a newcomer reads and tries."""
BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)
FOR_NOTEBOOKS = ("pandas", "ipykernel", "nbclient", "nbformat", "mlxtend", "scikit-learn")


def run(call: Sequence[str | Path], cwd: Path) -> str | None:
    """What a command that failed said last; nothing where it did not."""
    done = subprocess.run([str(part) for part in call], cwd=cwd, check=False, capture_output=True, text=True)
    return (
        None
        if done.returncode == 0
        else f"{' '.join(map(str, call))[:200]}: {(done.stderr or done.stdout)[-400:]}"
    )


def version_problems() -> Iterator[str]:
    """Places that tell another version than the package."""
    places = {
        "CITATION.cff": f"version: {__version__}\n",
        "docs/veilset.1": f'"veilset {__version__}"',
        "CHANGELOG.md": f"\n## {__version__} ",
    }
    for name, text in places.items():
        if text not in (ROOT / name).read_text(encoding="utf-8"):
            yield f"{name} does not say {__version__}"
    headings = re.findall(r"(?m)^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if headings[:1] != [__version__]:
        yield f"the newest version in CHANGELOG.md is {', '.join(headings[:1]) or 'missing'}, not {__version__}"


def tag_problems() -> Iterator[str]:
    """A tag of this version on another commit; files that are in no commit."""

    def git(*arguments: str) -> str:
        call = [shutil.which("git") or "git", *arguments]
        return subprocess.run(call, cwd=ROOT, check=False, capture_output=True, text=True).stdout.strip()

    tagged = git("rev-list", "-n", "1", f"v{__version__}") if git("tag", "--list", f"v{__version__}") else ""
    if tagged and tagged != git("rev-parse", "HEAD"):
        yield f"v{__version__} is the tag of another commit already"
    if git("status", "--porcelain"):
        yield "there are changes that are in no commit"


def docs_problems() -> Iterator[str]:
    """What the strict build of the site complains of."""
    failure = run([sys.executable, "-m", "website"], ROOT)
    if failure:
        yield failure


def package_problems() -> Iterator[str]:
    """Whatever keeps wheel and sdist from being built, or from being shown by an index."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    failure = run([sys.executable, "-m", "build"], ROOT)
    if failure:
        yield failure
        return
    failure = run(
        [sys.executable, "-m", "twine", "check", "--strict", *sorted((ROOT / "dist").iterdir())], ROOT
    )
    if failure:
        yield failure


def newcomer_problems() -> Iterator[str]:
    """What fails in a new environment that has the wheel and nothing else of ours: README, tutorial, notebooks."""
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if not wheels:
        yield "there is no wheel to try"
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "new", with_pip=True)
        python = place / "new" / "bin" / "python"
        install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        failure = run([*install, wheels[-1]], place)
        if failure:
            yield failure
            return
        for page in PAGES:
            yield from _page_problems(page, python, place)
        yield from _notebook_problems(install, python, place)


def _page_problems(page: str, python: Path, place: Path) -> Iterator[str]:
    """Commands and programs of a page, one after another in a folder of its own."""
    folder = place / page.replace("/", "-")
    folder.mkdir()
    for language, code in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        lines = [line.split()[2:] for line in code.splitlines() if line.startswith("$ veilset ")]
        calls = (
            [[python, "-m", "veilset", *line] for line in lines]
            if language == "console"
            else [[python, "-c", code]]
        )
        for call in calls:
            failure = run(call, folder)
            if failure:
                yield f"{page}: {failure}"


def _notebook_problems(install: Sequence[str | Path], python: Path, place: Path) -> Iterator[str]:
    """Cells of the notebooks, run as programs: what they show is compared by the tests."""
    failure = run([*install, *FOR_NOTEBOOKS], place)
    if failure:
        yield failure
        return
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        program = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        folder = place / path.stem
        folder.mkdir()
        failure = run([python, "-c", f"from IPython.display import display\n{program}"], folder)
        if failure:
            yield f"{path.name}: {failure}"


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "version": version_problems,
    "tag": tag_problems,
    "figures": lambda: iter(figure_problems()),
    "docs": docs_problems,
    "package": package_problems,
    "clean environment": newcomer_problems,
}


def main() -> int:
    """Run the checks that are named, or all; print each with its time and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(CHECKS), default=list(CHECKS))
    failed = 0
    for name in parser.parse_args().only:
        start = time.monotonic()
        found = list(CHECKS[name]())
        failed += bool(found)
        print(f"{'FAILED' if found else 'passed'}  {name} ({time.monotonic() - start:.0f} s)", flush=True)
        print("".join(f"        {problem}\n" for problem in found), end="", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
