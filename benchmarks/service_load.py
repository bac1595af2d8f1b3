"""Status requests under load, and a long queue: `python -m benchmarks.service_load`.

50 clients ask for 500 states a second together, for a minute, of a server in a process of its own; then 200 requests
for releases are queued and waited for. The clients are plain sockets in one process, since they share two cores with
the server: what a library of HTTP takes would be measured as the server's delay.
"""

import argparse
import asyncio
import os
import signal
import time
from dataclasses import dataclass, field

import httpx
import psutil

from benchmarks.served_site import ServedSite


@dataclass(slots=True)
class Load:
    """What 50 clients saw: how long each answer took, in seconds from when it was due."""

    took: list[float] = field(default_factory=list)
    wrong: int = 0
    again: int = 0

    def line(self, seconds: float) -> str:
        """The figures."""
        took = sorted(self.took)
        p50, p99 = (1000 * took[int(share * len(took))] for share in (0.5, 0.99))
        return (
            f"{len(took) / seconds:.0f} answers a second, p50 {p50:.1f} ms, p99 {p99:.1f} ms, "
            f"worst {1000 * took[-1]:.0f} ms; {self.wrong} wrong, {self.again} connections opened again"
        )


async def one_client(load: Load, port: int, asked: bytes, *, first: float, step: float, end: float) -> None:
    """Ask on a clock of its own, over one connection that is kept."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    due = first
    while due < end:
        await asyncio.sleep(max(due - time.monotonic(), 0))
        try:
            writer.write(asked)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
        except (asyncio.IncompleteReadError, ConnectionError):
            load.again += 1
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        load.wrong += not head.startswith(b"HTTP/1.1 200")
        load.took.append(time.monotonic() - due)
        due += step
    writer.close()


async def held(site: ServedSite, job: str, *, clients: int, rate: float, seconds: float) -> Load:
    """All clients, spread over the step between two requests of one of them."""
    asked = (
        f"GET /api/v1/releases/{job} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {site.token}\r\n\r\n"
    ).encode()
    load, begin, step = Load(), time.monotonic() + 0.5, clients / rate
    await asyncio.gather(
        *(
            one_client(
                load, site.port, asked, first=begin + step * number / clients, step=step, end=begin + seconds
            )
            for number in range(clients)
        )
    )
    return load


def main() -> None:
    """Set up, hold the load, queue, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--queue", type=int, default=200)
    parser.add_argument("--port", type=int, default=8598)
    arguments = parser.parse_args()
    site = ServedSite.made(arguments.port, release_every=0.5)
    server = site.start()
    try:
        measure(site, server.pid, arguments)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def measure(site: ServedSite, server: int, arguments: argparse.Namespace) -> None:
    """Hold the load, then queue; print both, and how busy the machine was with other things."""
    site.wait_until_ready()
    service = site.service
    jobs = queued(site, 1)
    process = psutil.Process(server)
    before, busy = process.memory_info().rss, process.cpu_times()
    load = asyncio.run(
        held(
            site,
            jobs[0],
            clients=arguments.clients,
            rate=arguments.rate,
            seconds=arguments.seconds,
        )
    )
    after, then = process.memory_info().rss, process.cpu_times()
    cpu = then.user + then.system - busy.user - busy.system
    print(load.line(arguments.seconds))
    print(f"the server took {1000 * cpu / len(load.took):.2f} ms of a core for each; ", end="")
    print(f"memory {before >> 20} to {after >> 20} MB; load of the machine {os.getloadavg()[0]:.1f}")
    begin = time.monotonic()
    jobs = queued(site, arguments.queue)
    while any(service.state(service.jobs.get(job)) == "waiting" for job in jobs):
        time.sleep(0.5)
    states = [service.state(service.jobs.get(job)) for job in jobs]
    print(
        f"{states.count('done')} of {len(jobs)} queued releases done after {time.monotonic() - begin:.0f} s"
    )


def queued(site: ServedSite, number: int) -> list[str]:
    """Requests for releases, one after another."""
    heads = {"authorization": f"Bearer {site.token}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{site.port}", headers=heads, timeout=60) as client:
        answers = [
            client.post(
                "/api/v1/releases",
                json={"dataset": "stores", "epsilon": "1/10", "k": 10},
                headers={"idempotency-key": f"load-{number}-{place}"},
            ).raise_for_status()
            for place in range(number)
        ]
    return [answer.json()["id"] for answer in answers]


if __name__ == "__main__":
    main()
