"""Under fire: what hostile machines, files and moments do to veilset; see `python -m benchmarks.fire`."""

import os

# Campaigns fork, and a fork must not meet threads: numpy starts some where it may. Set before its first import.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
