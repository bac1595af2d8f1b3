"""Which engine answers for data, by where the data is; and the digest of it, by which a ledger knows it again."""

from typing import TYPE_CHECKING

import numpy as np

from veilset.raw import digest
from veilset.raw.clustered import ClusteredTransactions
from veilset.raw.engines import Engine
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Transactions

if TYPE_CHECKING:
    from veilset.raw.engines.spark import SparkEngine


def engine_over(held: Transactions | ClusteredTransactions, *, threads: int | None = None) -> Engine:
    """The engine over data in this machine's memory, on that many threads; or over data on a cluster."""
    if isinstance(held, ClusteredTransactions):
        return _spark_engine(held)
    return LocalEngine(held, threads=threads)


def digest_of_held(held: Transactions | ClusteredTransactions, key: bytes) -> str:
    """The keyed digest of data, the same wherever it is."""
    if not isinstance(held, ClusteredTransactions):
        return digest.digest_of(held, key)
    engine = _spark_engine(held)
    words = digest.words_of(held.alphabet, np.arange(len(held.alphabet)))
    return digest.digest_from(engine.rows(), engine.row_sums(words), key)


def _spark_engine(held: ClusteredTransactions) -> "SparkEngine":
    """The engine over data on a cluster, which most commands do without."""
    from veilset.raw.engines.spark import SparkEngine  # noqa: PLC0415

    return SparkEngine.over(held)
