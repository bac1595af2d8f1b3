"""Status requests under load, and a long queue: `python -m benchmarks.service_load`.

50 clients ask for 500 states a second together, for a minute, of a server in a process of its own; then 200 requests
for releases are queued and waited for.
"""

import argparse
import asyncio
import signal
import tempfile
import time
from pathlib import Path

import httpx
import psutil

from benchmarks.service_kills import OWNER, start
from veilset.service.catalogue import Registration
from veilset.service.core import Service
from veilset.service.settings import ServiceSettings


async def held(url: str, token: str, job: str, *, clients: int, rate: float, seconds: float) -> list[float]:
    """How long each answer took, in seconds; each client asks on its own clock."""
    took: list[float] = []
    heads = {"authorization": f"Bearer {token}"}

    async def one(client: httpx.AsyncClient, number: int) -> None:
        end, step = time.monotonic() + seconds, clients / rate
        due = time.monotonic() + step * number / clients
        while due < end:
            await asyncio.sleep(max(due - time.monotonic(), 0))
            answer = await client.get(f"{url}/api/v1/releases/{job}")
            answer.raise_for_status()
            took.append(time.monotonic() - due)
            due += step

    async with httpx.AsyncClient(headers=heads, timeout=60) as client:
        await asyncio.gather(*(one(client, number) for number in range(clients)))
    return took


def main() -> None:
    """Set up, hold the load, queue, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--queue", type=int, default=200)
    parser.add_argument("--port", type=int, default=8598)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="veilset-load-"))
    config = folder / "veilset.toml"
    config.write_text(f'[service]\nfolder = "service"\nport = {arguments.port}\nrelease_every = 0.5\n')
    settings = ServiceSettings.read(config)
    service = Service(settings)
    service.people.first_password()
    token = service.people.make_token("admin", label="load", scope="full", days=1)
    (settings.uploads / "baskets.dat").write_text("1 2 3\n" * 9000 + "2 3\n" * 8000 + "7\n" * 3000)
    told = Registration(file="baskets.dat", items="public", unit="transaction")
    service.register(OWNER, "stores", told, epsilon="1000", delta="0")
    server = start(config, arguments.port)
    try:
        measure(service, f"http://127.0.0.1:{arguments.port}", token, server.pid, arguments)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def measure(service: Service, url: str, token: str, server: int, arguments: argparse.Namespace) -> None:
    """Hold the load, then queue; print both."""
    while service.catalogue.get("stores").state != "ready":
        time.sleep(0.2)
    jobs = queued(url, token, 1)
    before = psutil.Process(server).memory_info().rss
    took = sorted(
        asyncio.run(
            held(
                url,
                token,
                jobs[0],
                clients=arguments.clients,
                rate=arguments.rate,
                seconds=arguments.seconds,
            )
        )
    )
    after = psutil.Process(server).memory_info().rss
    print(
        f"{len(took) / arguments.seconds:.0f} answers a second, p50 {1000 * took[len(took) // 2]:.1f} ms, ",
        end="",
    )
    print(f"p99 {1000 * took[int(0.99 * len(took))]:.1f} ms; memory {before >> 20} to {after >> 20} MB")
    begin = time.monotonic()
    jobs = queued(url, token, arguments.queue)
    while any(service.state(service.jobs.get(job)) == "waiting" for job in jobs):
        time.sleep(0.5)
    states = [service.state(service.jobs.get(job)) for job in jobs]
    print(
        f"{states.count('done')} of {len(jobs)} queued releases done after {time.monotonic() - begin:.0f} s"
    )


def queued(url: str, token: str, number: int) -> list[str]:
    """Requests for releases, one after another."""
    heads = {"authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url, headers=heads, timeout=60) as client:
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
