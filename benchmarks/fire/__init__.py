"""Under fire: what hostile machines, files and moments do to veilset; see `python -m benchmarks.fire`."""
