"""Settings of the whole test run."""

import os

from hypothesis import settings

# The first call of a kernel compiles it, so no deadline; the same examples everywhere where CI is set.
settings.register_profile("veilset", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("veilset")
