"""A session of Sail, which does what Spark does and needs no Java; one for each process of the test run."""

import os
from functools import cache
from typing import Any

import pyarrow as pa

from frames import blocks_of
from veilset.raw.clustered import ClusteredTransactions, batch_of_block
from veilset.raw.transactions import Transactions

_SERVERS: list[Any] = []
"""Servers run as long as somebody holds them."""


@cache
def session() -> Any:  # noqa: ANN401 - of Spark Connect
    """The session; it ends with the process."""
    os.environ.setdefault("RUST_LOG", "error")
    from pysail.spark import SparkConnectServer  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    _, port = server.listening_address
    started = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    _SERVERS.append(server)
    return started


def address() -> str:
    """Where others find it."""
    session()
    return f"sc://127.0.0.1:{_SERVERS[0].listening_address[1]}"


def on_sail(data: Transactions, partitions: int) -> ClusteredTransactions:
    """Transactions in blocks on Sail."""
    blocks = pa.Table.from_batches([batch_of_block(block) for block in blocks_of(data, partitions)])
    frame = session().createDataFrame(blocks).repartition(partitions)
    return ClusteredTransactions(frame, data.alphabet, data.has_owners, data.is_by_person)
