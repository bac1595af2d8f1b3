"""How much memory reading, mining and every method take."""

import tempfile
from pathlib import Path

import polars as pl

import veilset as vs
from benchmarks.measure import MILLION, Files, peak_bytes
from benchmarks.methods import METHODS

MEASURED = ("retail", MILLION)

LIMIT = 20
"""Seconds that a process may take."""

MINE = "import veilset as vs; release = vs.mine({path!r}, method={method!r}, k=100, epsilon=1)"
PEERS = "import pathlib, benchmarks.peers as peers; path = pathlib.Path({path!r}); "
PROGRAMS = {
    "Polars reads lists": PEERS + "kept = peers.split_by_polars(path)",
    "veilset reads": "import veilset as vs; kept = vs.read({path!r})",
    "veilset, exact": "import veilset as vs; found = vs.mine_exact({path!r}, k=100)",
    "pyfim, FP-growth": PEERS
    + "peers.mine_by_pyfim(peers.baskets_of(path), min_count={min_count}, algorithm='fpgrowth')",
    "mlxtend, FP-growth": PEERS + "peers.time_mlxtend(path, min_count={min_count})",
}
"""Each goes from a file to what it makes of it: the names are explained on the page."""


def memory(files: Files) -> pl.DataFrame:
    """Peak memory, from a file to the top 100 itemsets.

    Of a fresh process, less that of one that does the same with a tiny file; also as a multiple of the
    arrays that hold the transactions. The peers mine at the support of the 100th itemset. A dash: more than
    twenty seconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.dat"
        tiny.write_text("1 2 3 4 5 6 7 8\n", encoding="ascii")
        idle = _peaks(tiny, min_count=1)
    return pl.DataFrame(
        [row for name in MEASURED if name in files for row in _measured(name, files[name], idle)]
    )


def _measured(name: str, path: Path, idle: dict[str, int | None]) -> list[dict[str, object]]:
    transactions = vs.read(path)
    peaks = _peaks(path, min_count=vs.mine_exact(transactions, k=100).supports[-1])
    rows: list[dict[str, object]] = []
    for way, peak in peaks.items():
        at_rest = idle[way]
        taken = None if peak is None or at_rest is None else peak - at_rest
        rows.append(
            {
                "dataset": name,
                "what": way,
                "MB": None if taken is None else taken / 1e6,
                "multiple of the arrays": None if taken is None else taken / transactions.nbytes,
            }
        )
    return rows


def _peaks(path: Path, *, min_count: int) -> dict[str, int | None]:
    """The peak memory of every program."""
    programs = {way: program.format(path=str(path), min_count=min_count) for way, program in PROGRAMS.items()}
    releases = {method: MINE.format(path=str(path), method=method) for method in METHODS}
    return {way: peak_bytes(program, limit=LIMIT) for way, program in {**programs, **releases}.items()}
