"""Where the real datasets are, for tests that skip without them."""

from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
