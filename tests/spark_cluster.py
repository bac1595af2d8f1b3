"""A Spark cluster on this machine, with a master and two workers; a worker is killed in the middle of a release.

Run as a program of its own: `python tests/spark_cluster.py TABLE.parquet`. Prints the seeded release as JSON, with the
number of workers that were alive at the end.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark

import veilset as vs
from veilset.raw import clustered
from veilset.raw.engines import cluster_rows

KILLED_AT = 4
"""The fourth answer of the cluster is not waited for before a worker is killed."""


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def waits_for(port: int, *, seconds: int = 120) -> None:
    """Until somebody listens."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.2)
    raise TimeoutError


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a master, and its workers."""
    home = Path(pyspark.__file__).parent
    port = free_port()
    own = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    address, started = f"spark://127.0.0.1:{port}", []

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{words[0]}", *words[1:]]
        with (folder / "spark.log").open("ab") as log:
            process = subprocess.Popen(
                command, env={**os.environ, **own}, stdout=log, stderr=log, start_new_session=True
            )
        started.append(process)
        return process

    try:
        start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        waits_for(port)
        where = ("--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "700m")
        yield (
            address,
            [start("worker.Worker", *where, "--work-dir", str(folder / f"w{n}"), address) for n in range(2)],
        )
    finally:
        for process in started:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """The process and what it started, as a power cut would."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def session(address: str) -> Any:  # noqa: ANN401
    """A session whose executors run this interpreter, with these sources."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "700m",
        "spark.executor.memory": "512m",
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "spark.executorEnv.NUMBA_DISABLE_JIT": os.environ.get("NUMBA_DISABLE_JIT", "0"),
        "spark.sql.shuffle.partitions": "3",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(address).appName("veilset")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def release_of(data: Any) -> dict[str, Any]:  # noqa: ANN401
    """A release that samples and truncates at random, so that keys are wanted."""
    release = vs.mine(data, epsilon=2, k=6, public_items=True, noise=vs.SeededNoise(3), method="difffim")
    return release.to_dict()


def main(table: str) -> None:
    """Release, and kill a worker meanwhile."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    cluster_rows.LEAST_ROWS = 1
    answered, collect = 0, clustered.collected
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder)) as (address, workers):
        spark = session(address)
        spark.sparkContext.setLogLevel("OFF")

        def collected(frame: Any) -> list[Any]:  # noqa: ANN401
            nonlocal answered
            answered += 1
            if answered == KILLED_AT:
                end(workers[0])
            return collect(frame)

        vars(cluster_rows)["collected"] = collected
        found = release_of(vs.read(spark.read.parquet(table).repartition(4)))
        alive = sum(worker.poll() is None for worker in workers)
        spark.stop()
    sys.stdout.write(json.dumps({"release": found, "alive": alive, "answers": answered}, default=str))


if __name__ == "__main__":
    main(sys.argv[1])
