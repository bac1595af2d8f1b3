"""Campaigns against veilset; each prints rows of the table of docs/reliability.md.

    python -m benchmarks.fire CAMPAIGN [--write] [OPTIONS]

With `--write` the rows go to the page. Without a campaign, all are run: an hour and more.
"""

import sys
from importlib import import_module

from benchmarks.fire.page import HEAD, machine, write_rows

CAMPAIGNS = {
    "fuzz": "benchmarks.fire.fuzz",
    "kills": "benchmarks.fire.kills",
}


def main(arguments: list[str]) -> None:
    """Run one campaign, or all."""
    writes = "--write" in arguments
    given = [argument for argument in arguments if argument != "--write"]
    if given and given[0] not in CAMPAIGNS:
        sys.exit(f"no campaign {given[0]}; there is: {', '.join(CAMPAIGNS)}")
    print(f"{machine()}\n\n{HEAD}\n|---|--:|--:|---|---|")
    for name in given[:1] or CAMPAIGNS:
        rows = import_module(CAMPAIGNS[name]).campaign(given[1:])
        print("\n".join(map(str, rows)), flush=True)
        if writes:
            write_rows(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
