"""Kills servers and workers in the middle of 50 requests: `python -m benchmarks.service_kills [--write]`.

At the end every request has an end that is told, nothing was paid twice, and the ledger verifies. With `--write` the
row goes to docs/reliability.md.
"""

import argparse
import json
import os
import random
import signal
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

from benchmarks.fire.page import Row, write_rows
from benchmarks.served_site import ServedSite
from veilset.service.core import Service


def ask(site: ServedSite, key: str) -> str:
    """Ask until the server answers; the key makes it one request."""
    body = json.dumps({"dataset": "stores", "epsilon": "1/10", "k": 10}).encode()
    heads = {
        "authorization": f"Bearer {site.token}",
        "content-type": "application/json",
        "idempotency-key": key,
    }
    while True:
        try:
            address = f"http://127.0.0.1:{site.port}/api/v1/releases"
            with urlopen(Request(address, body, heads), timeout=30) as answer:
                return str(json.loads(answer.read())["id"])
        except (URLError, OSError):
            time.sleep(0.05)


def children_of(process: int) -> list[int]:
    """The workers of a server."""
    path = Path(f"/proc/{process}/task/{process}/children")
    threads = Path(f"/proc/{process}/task").glob("*/children") if path.exists() else []
    return [int(number) for each in threads for number in each.read_text().split()]


def main() -> None:
    """Ask, kill at random, ask again, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=50)
    parser.add_argument("--port", type=int, default=8599)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    site, chance = ServedSite.made(arguments.port, release_every=0.2), random.Random(7)  # noqa: S311
    server, kills = site.start(), {"server": 0, "worker": 0}
    site.wait_until_ready()
    jobs: dict[str, str] = {}
    for number in range(arguments.requests):
        jobs[f"request-{number}"] = ask(site, f"request-{number}")
        time.sleep(chance.random() * 0.5)
        if number % 2:
            kills["server"] += 1
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
            server = site.start()
        else:
            for worker in children_of(server.pid):
                kills["worker"] += 1
                os.kill(worker, signal.SIGKILL)
    row = report(site.service, jobs, {key: ask(site, key) for key in jobs}, kills)
    server.terminate()
    server.wait()
    print(row)
    if arguments.write:
        write_rows([row])


def report(service: Service, jobs: dict[str, str], again: dict[str, str], kills: dict[str, int]) -> Row:
    """What became of all requests."""
    while any(service.state(service.jobs.get(job)) == "waiting" for job in jobs.values()):
        time.sleep(0.2)
    ends = {job: service.state(service.jobs.get(job)) for job in jobs.values()}
    states, booked = list(ends.values()), service.ledger.balances()["stores"].booked
    lost = [
        job for job, end in ends.items() if end == "done" and not service.settings.result_file(job).exists()
    ]
    print(f"kills: {kills}")
    print(f"ends: { {state: states.count(state) for state in sorted(set(states))} }")
    print(
        f"requests {len(jobs)}, reservations {len(booked)}, retries that made another request {again != jobs}"
    )
    flaws = service.ledger.flaws()
    print(f"done without a result: {len(lost)}; flaws of the ledger: {flaws}")
    is_whole = again == jobs and not flaws and len(booked) <= len(jobs)
    held = sum(end in {"done", "failed"} for end in states) - len(lost)
    return Row(
        "SIGKILL of a server or of its workers, in the middle of a request",
        len(jobs),
        held if is_whole else 0,
        f"the budget of a request whose worker was killed, {states.count('failed')} of {len(jobs)}; its end is told",
        f"python -m benchmarks.service_kills --requests {len(jobs)}",
    )


if __name__ == "__main__":
    main()
