"""`python -m veilset`."""

from veilset.cli import main

main()
