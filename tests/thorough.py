"""Some checks gain power with time: `make test` gives them little of it, `make test-thorough` all they need."""

import os

THOROUGH = "VEILSET_THOROUGH" in os.environ
"""Whether time matters less than power."""
