"""Tables on a cluster are read as tables in memory are: the same rows, the same names, the same refusals."""

import os
import socket
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from unittest.mock import MagicMock

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import veilset as vs
from sail import session
from veilset.errors import BadCall, BadInput, ClusterFailed
from veilset.raw import disk_arrays
from veilset.raw.block_files import folder_of_blocks
from veilset.raw.clustered import ClusteredTransactions, RowBlock
from veilset.raw.read import spark_tables
from veilset.raw.read.tables import Columns
from veilset.raw.transactions import Transactions

LISTS = pa.table({"items": pa.array([["milk", "beer", "milk"], [], None, ["beer"], ["ale", None]])})
SALES = pa.table(
    {
        "who": ["b", "a", "b", "b", "a", "c", "c"],
        "receipt": [1, 1, 1, 2, 1, 1, 2],
        "what": [3, 1, 3, 2, 10, None, 1],
        "price": [1.0] * 7,
    }
)


@pytest.fixture(autouse=True)
def a_disk_with_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """However full the disk of this machine is."""
    monkeypatch.setattr(disk_arrays, "SHARE_LEFT_FREE", 10**9)


def on_cluster(table: Any, **columns: Any) -> ClusteredTransactions:  # noqa: ANN401
    """The table, read there in two partitions."""
    return cast("ClusteredTransactions", vs.read(session().createDataFrame(table).repartition(2), **columns))


def rows_in(data: ClusteredTransactions) -> list[tuple[Any, ...]]:
    """What the blocks hold, by names, in no order; with owners, what each has."""
    rows: list[tuple[Any, ...]] = []
    for place, (value, *_) in enumerate(data.blocks.collect()):
        block = RowBlock.from_buffer(pa.py_buffer(bytes(value)))
        rows += _named(block.offsets, block.items, data.alphabet.names, block.owners, str(place))
    return _by_owner(rows)


def rows_here(data: Transactions) -> list[tuple[Any, ...]]:
    """The same of transactions in memory."""
    return _by_owner(_named(data.offsets, data.items, data.alphabet.names, data.owners, ""))


def _named(offsets: Any, items: Any, names: Any, owners: Any, place: str) -> list[tuple[Any, ...]]:  # noqa: ANN401
    whose = np.arange(offsets.size - 1) if owners is None else owners
    bounds = pairwise(offsets.tolist())
    return [
        (f"{place} {owner}", tuple(names[code] for code in items[start:end]))
        for owner, (start, end) in zip(whose.tolist(), bounds, strict=True)
    ]


def _by_owner(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    owners = {owner for owner, _ in rows}
    return sorted(tuple(sorted(str(row) for whose, row in rows if whose == owner)) for owner in owners)


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (LISTS, {}),
        (LISTS, {"alphabet": ["beer", "cider"]}),
        (SALES, {"owner": "who", "item": "what"}),
        (SALES, {"owner": "who", "basket": "receipt", "item": "what"}),
        (SALES, {"basket": "receipt", "item": "what"}),
    ],
    ids=["lists", "over an alphabet", "long", "baskets", "baskets of nobody"],
)
def test_a_table_on_a_cluster_holds_what_it_holds_in_memory(table: Any, columns: dict[str, Any]) -> None:  # noqa: ANN401
    """Repeats, empty rows, missing items, owners and the order of names."""
    here, there = vs.read(table, **columns), on_cluster(table, **columns)
    assert there.alphabet.names == here.alphabet.names
    assert (there.alphabet.is_given, there.has_owners) == (here.alphabet.is_given, here.has_owners)
    assert (there.is_by_person, there.is_by_basket) == (here.is_by_person, here.is_by_basket)
    assert rows_in(there) == rows_here(here)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder such as Spark gives to the Python processes of an executor."""
    given = tmp_path / "blockmgr-1"
    given.mkdir()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(given))
    folder_of_blocks.cache_clear()
    yield given / "veilset"
    monkeypatch.undo()
    folder_of_blocks.cache_clear()


@pytest.mark.parametrize("sends", [True, False])
def test_a_block_waits_in_a_file_until_the_names_of_all_items_are_known(sends: bool, folder: Path) -> None:
    """It does not travel; the file is removed then, and who does not find it says so."""
    table = pa.table({"items": pa.array([[7, 3], [], [3]])})
    reading = spark_tables.Reading(Columns(), "list", skips=False)
    encode = spark_tables.EncodeOwnItems(reading, pa.int64(), sends=sends)
    made = list(encode(iter(table.to_batches())))
    assert (made[0].column("block")[0].as_py() == b"") != sends
    assert len(list(folder.iterdir())) == (not sends)
    names = next(spark_tables.NamesOfBlocks(pa.int64())(iter(made)))
    assert sorted(names.column("name").to_pylist()) == [3, 7]
    recode = spark_tables.RecodeOwnItems(pa.array([3, 5, 7]))
    block = RowBlock.from_buffer(next(recode(iter(made))).column("block")[0].as_buffer())
    assert block.offsets.tolist() == [0, 2, 2, 3]
    assert block.items.tolist() == [0, 2, 0]
    if not sends:
        for path in folder.iterdir():
            path.unlink()
        with pytest.raises(LookupError, match="another executor"):
            list(recode(iter(made)))


def test_where_another_executor_goes_on_blocks_travel(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are the same."""
    sent, read_own = [], spark_tables._own_blocks_and_names

    def noted(table: Any, encode_own: spark_tables.EncodeOwnItems) -> Any:  # noqa: ANN401
        sent.append(encode_own.sends)
        return read_own(table, encode_own)

    monkeypatch.setattr(spark_tables, "_own_blocks_and_names", noted)
    assert rows_in(on_cluster(LISTS)) == rows_here(vs.read(LISTS))
    assert any(folder.iterdir())
    monkeypatch.setattr(spark_tables, "mapped_file", lambda _: None)
    assert rows_in(on_cluster(LISTS)) == rows_here(vs.read(LISTS))
    assert sent == [False, False, True]


def test_a_person_counts_on_a_cluster_as_in_memory() -> None:
    """A seeded release of a long table, two baskets of each person; over an alphabet that comes with the request."""
    rng = np.random.default_rng(2)
    sales = pa.table(
        {
            "who": rng.integers(0, 60, 900),
            "receipt": rng.integers(0, 6, 900),
            "what": np.char.add("item ", rng.integers(0, 8, 900).astype(str)),
        }
    )
    columns = {"owner": "who", "basket": "receipt", "item": "what"}
    releases = [
        vs.mine(
            read,
            epsilon=4,
            k=6,
            per_owner=2,
            noise=vs.SeededNoise(5),
            method="difffim",
            alphabet=[f"item {n}" for n in range(7)],
        )
        for read in (vs.read(sales, **columns), on_cluster(sales, **columns))  # type: ignore[arg-type]
    ]
    assert releases[0].to_dict() == releases[1].to_dict()


def test_a_path_is_read_by_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet, by its name."""
    monkeypatch.setattr(spark_tables, "session_at", lambda master: session())  # noqa: ARG005
    path = tmp_path / "sales.parquet"
    pyarrow.parquet.write_table(SALES, path)
    there = cast("ClusteredTransactions", vs.read(path, engine="spark", owner="who", item="what"))
    assert rows_in(there) == rows_here(vs.read(path, owner="who", item="what"))
    with pytest.raises(BadInput, match="Spark cannot read"):
        vs.read(tmp_path / "nothing.parquet", engine="spark")


@pytest.mark.parametrize(
    ("table", "columns", "message"),
    [
        (SALES, {}, "can be read in several ways"),
        (SALES, {"owner": "whom", "item": "what"}, "has no column 'whom'; name one of its columns"),
        (SALES, {"owner": "who", "item": "what", "format": "list"}, "has no lists in the column 'what'"),
        (
            SALES,
            {"format": "table"},
            "format table is not read on a cluster; give a DataFrame with a list column",
        ),
        (LISTS, {"separator": ";"}, "separator means nothing for a table on a cluster"),
        (LISTS, {"engine": "local", "master": "sc://x"}, "another engine than spark"),
        (
            pa.table({"who": ["a", None], "what": ["x", "y"]}),
            {"owner": "who", "item": "what"},
            "no value in the column 'who', so nobody knows whose it is",
        ),
    ],
)
def test_what_cannot_be_read_on_a_cluster_is_refused_in_one_line(
    table: Any,  # noqa: ANN401
    columns: dict[str, Any],
    message: str,
) -> None:
    """Wrong columns before any row is looked at; wrong rows in the words of a table in memory."""
    with pytest.raises((BadCall, BadInput), match=message):
        rows_in(on_cluster(table, **columns))


def test_an_engine_that_nobody_knows_is_refused() -> None:
    """There are two."""
    with pytest.raises(BadCall, match="there is no engine 'flink'; give local or spark"):
        vs.read([["a"]], engine="flink")  # type: ignore[arg-type]
    with pytest.raises(BadCall, match="Spark reads paths and DataFrames"):
        vs.read([["a"]], engine="spark")


def test_where_there_is_no_java_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, and a way without it."""
    told = spark_tables._no_session("local[*]", "[JAVA_GATEWAY_EXITED] Java gateway process exited")
    assert type(told) is ClusterFailed
    assert "install Java 17" in str(told)
    assert "sc://" in str(told)
    assert "there is no Spark session at spark://x" in str(spark_tables._no_session("spark://x", "refused"))
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    with pytest.raises(BadCall, match=r"pip install 'veilset\[spark\]'"):
        spark_tables.session_at(None)


@pytest.mark.parametrize("master", ["nonsense", "spark:", "http://host", "locally", "yarn2"])
def test_what_names_no_cluster_is_refused_before_spark_is_asked(master: str) -> None:
    """Spark would answer with the trace of a Java program."""
    with pytest.raises(BadCall, match="names no cluster; give --master spark://HOST:7077"):
        spark_tables.session_at(master)


@pytest.mark.parametrize(
    "master", ["sc://127.0.0.1:{}", "spark://127.0.0.1:{0},127.0.0.1:{0}", "sc://127.0.0.1:x"]
)
def test_a_cluster_that_is_not_there_is_told_at_once(master: str) -> None:
    """Spark would try for minutes. The port was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ClusterFailed, match=r"there is no Spark session at .*check that it runs"):
        spark_tables.session_at(master.format(port))


def test_a_machine_that_listens_is_told_from_one_that_does_not() -> None:
    """The control: with somebody there, nothing is refused."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert spark_tables._listens(f"127.0.0.1:{server.getsockname()[1]}")


def test_a_session_that_is_started_here_uses_this_interpreter_and_keeps_quiet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Executors on this machine else take the first python of the path, which may not hold the package."""
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    started = spark_tables._started(MagicMock())
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    started.sparkContext.setLogLevel.assert_called_once_with("OFF")
    monkeypatch.setenv("PYSPARK_PYTHON", "another")
    spark_tables._started(MagicMock())
    assert os.environ["PYSPARK_PYTHON"] == "another"
