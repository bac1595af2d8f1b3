"""The picture of a report on the README: `python -m website.report_picture` runs the demo and photographs its page.

It needs a browser that is there already (chromium), which playwright drives; nothing is downloaded.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "report.png"
WIDTH, HEIGHT = 1100, 900
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> None:
    """Run the demo, open its page, write the picture."""
    browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if browser is None:
        sys.exit(f"no browser: install one of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        subprocess.run([sys.executable, "-m", "veilset", "demo"], cwd=folder, check=True)
        with driver.chromium.launch(executable_path=browser) as opened:
            page = opened.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            page.goto((Path(folder) / "veilset-demo.html").as_uri())
            page.wait_for_timeout(1500)
            page.screenshot(path=PICTURE)


if __name__ == "__main__":
    main()
