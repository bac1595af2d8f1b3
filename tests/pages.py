"""How tests look at an HTML page: its tags, its text, its data, and what a browser makes of it."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'"


class Page(HTMLParser):
    """The tags of a page, the visible text, and the data of its charts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.data: dict[str, Any] = {}
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the tag."""
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        """Keep text apart from code."""
        if self._inside == "script" and data.startswith("{"):
            self.data = json.loads(data)
        elif self._inside not in {"script", "style"}:
            self.text += data


def loads_nothing(html: str) -> bool:
    """No address outside of plotly's own code, none in a tag, and a policy that forbids loading any."""
    tags = Page(html).tags
    addresses = {attributes.get("src") or attributes.get("href") for _, attributes in tags} - {None}
    policies = [a["content"] or "" for _, a in tags if a.get("http-equiv") == "Content-Security-Policy"]
    return (
        html.count(get_plotlyjs()) == 1
        and not re.search("https?://", html.replace(get_plotlyjs(), ""))
        and addresses == {"data:,"}
        and [policy.startswith("default-src 'none'") for policy in policies] == [True]
    )


def drawn(path: Path) -> str:
    """The page after headless chromium ran its scripts, less plotly; a complaint on the console fails."""
    command = [
        *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
        *(
            "--enable-logging=stderr",
            "--virtual-time-budget=5000",
            f"--user-data-dir={path.parent / 'profile'}",
        ),
        *("--dump-dom", path.as_uri()),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "CONSOLE" not in run.stderr, run.stderr
    return run.stdout.replace(get_plotlyjs(), "")


def told_by(html: str, folder: Path) -> str:
    """What a page in headless chromium wrote into its title after the word "told"."""
    path = folder / "told.html"
    path.write_text(html, encoding="utf-8")
    found = re.search("<title>told (.*?)</title>", drawn(path))
    assert found is not None, "the page told nothing"
    return found.group(1)
