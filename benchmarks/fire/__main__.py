"""Campaigns against veilset; each prints rows of the table of docs/reliability.md.

    python -m benchmarks.fire CAMPAIGN [--write] [OPTIONS]

With `--write` the rows go to the page. Without a campaign, all are run: an hour and more. The exit code is 1 where
something did not hold.
"""

import sys
from importlib import import_module

from benchmarks.fire.page import HEAD, machine, write_rows

CAMPAIGNS = {
    "fuzz": "benchmarks.fire.fuzz",
    "calls": "benchmarks.fire.fuzz:calls_campaign",
    "kills": "benchmarks.fire.kills",
    "disk": "benchmarks.fire.disk",
    "long": "benchmarks.fire.long_runs",
    "soak": "benchmarks.fire.soak",
    "side-channels": "benchmarks.fire.side_channels",
    "hardened": "benchmarks.fire.hardened",
    "memory": "benchmarks.fire.hardened:memory_campaign",
}


def main(arguments: list[str]) -> None:
    """Run one campaign, or all."""
    writes = "--write" in arguments
    given = [argument for argument in arguments if argument != "--write"]
    if given and given[0] not in CAMPAIGNS:
        sys.exit(f"no campaign {given[0]}; there is: {', '.join(CAMPAIGNS)}")
    print(f"{machine()}\n\n{HEAD}\n|---|--:|--:|---|---|")
    is_held = True
    for name in given[:1] or CAMPAIGNS:
        home, _, function = CAMPAIGNS[name].partition(":")
        rows = getattr(import_module(home), function or "campaign")(given[1:])
        print("\n".join(map(str, rows)), flush=True)
        is_held &= all(row.held == row.tried for row in rows)
        if writes:
            write_rows(rows)
    if not is_held:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
