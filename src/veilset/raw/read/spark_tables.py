"""Tables on a Spark cluster in; blocks of transactions on that cluster out.

A partition is read there as a table in memory is read here, by the same code (`raw.read.tables`), so that rows are
refused, skipped and encoded alike. Long tables are sent to partitions by their owners first. The driver learns the
names of the items, where no alphabet is given, and nothing else.
"""

import os
import pickle
import re
import socket
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import numpy as np
import polars as pl
import pyarrow as pa

from veilset.arrow_arrays import numpy_of
from veilset.deferred import Deferred
from veilset.errors import BadCall, BadInput, ClusterFailed
from veilset.raw.block_files import folder_of_blocks, write_block
from veilset.raw.clustered import (
    BLOCK_SCHEMA,
    Batches,
    ClusteredTransactions,
    Frame,
    RowBlock,
    batch_of_block,
    blocks_in,
    collected,
)
from veilset.raw.disk_arrays import mapped_file
from veilset.raw.kernels import parse
from veilset.raw.read.encode import TokenRows, encode, order_of_names
from veilset.raw.read.tables import Columns, Table, check_names, guess_layout, item_values, table_rows
from veilset.raw.read.vocabulary import AlphabetSource, Vocabulary, vocabulary_of
from veilset.raw.transactions import Alphabet, ArrowNames
from veilset.wording import shown

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = Deferred("pyarrow.compute")

NAME = "the table"
FORMATS_BY_SUFFIX = {".csv": "csv", ".json": "json", ".orc": "orc", ".parquet": "parquet"}
"""How a session reads a path of this suffix; any other is read as the session reads by default (Parquet, or Delta)."""

OWN_SCHEMA = "block binary, name string, names binary"
"""Blocks by codes of their own, with the names of their items."""

LISTS_OF_NAMES = 16
"""Up to 16 lists of names come to the driver, which makes one of them."""

LAYOUTS_ON_A_CLUSTER = ("list", "long")
KINDS_OF_CLUSTER = r"(spark|sc|k8s)://.+|yarn|local(-cluster)?(\[.*\])?"
"""Names of clusters as Spark knows them."""
USUAL_PORT = 15002
"""15002 is where a Connect server listens, unless it is told otherwise."""
SECONDS_TO_ANSWER = 10.0
"""10 seconds are enough for a machine that is there to answer."""


def frame_at(path: str | os.PathLike[str], *, master: str | None) -> Frame:
    """The table at a path, as the session of that cluster reads it."""
    session, text = session_at(master), os.fspath(path)
    reader = session.read
    kind = FORMATS_BY_SUFFIX.get(os.path.splitext(text)[1])  # noqa: PTH122 - may be a URL
    if kind == "csv":
        reader = reader.option("header", "true")
    try:
        frame = reader.load(text) if kind is None else reader.format(kind).load(text)
        is_there = bool(frame.columns)  # Connect looks at the path only now
    except Exception:  # noqa: BLE001 - each of the several Sparks has errors of its own
        is_there = False
    if not is_there:
        raise BadInput(
            f"Spark cannot read {text}; check the path and that executors reach it, or load it yourself and give "
            "the DataFrame"
        )
    return frame


def session_at(master: str | None) -> Any:  # noqa: ANN401 - classic or Connect
    """The session of a cluster; without a name, the one that is there, or all cores of this machine."""
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError:
        raise BadCall(
            "the Spark engine needs PySpark, which is not installed; pip install 'veilset[spark]'"
        ) from None
    builder = SparkSession.builder
    if master is not None:
        _check_answers(master)
    try:
        if master is not None and master.startswith("sc://"):
            return builder.remote(master).getOrCreate()
        return SparkSession.getActiveSession() or _started(
            builder if master is None else builder.master(master)
        )
    except Exception as error:  # noqa: BLE001
        raise _no_session(master, str(error)) from None


def _started(builder: Any) -> Any:  # noqa: ANN401
    """A session that is started here: with this interpreter unless another is named, and without Spark's own log.

    What goes wrong is told in one line; Spark would print the traces of Java programs before it, which may quote rows.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _check_answers(master: str) -> None:
    """That the name is one of a cluster, and that somebody listens there: Spark itself would try for minutes."""
    if re.fullmatch(KINDS_OF_CLUSTER, master) is None:
        raise BadCall(
            f"{shown(master)} names no cluster; give --master spark://HOST:7077, sc://HOST:15002, k8s://..., yarn "
            "or local[*]"
        )
    hosts = re.match(r"(?:spark|sc)://([^/;]+)", master)
    if hosts is not None and not any(_listens(host) for host in hosts[1].split(",")):
        raise _no_session(master, "nobody listens")


def _listens(host: str) -> bool:
    """Whether a connection to HOST:PORT can be made."""
    name, _, port = host.partition(":")
    try:
        with socket.create_connection((name, int(port or USUAL_PORT)), timeout=SECONDS_TO_ANSWER):
            return True
    except (OSError, ValueError):
        return False


def _no_session(master: str | None, text: str) -> ClusterFailed:
    if "JAVA" in text.upper():
        return ClusterFailed(
            "Spark needs Java, and none was found or it is too old; install Java 17 and set JAVA_HOME, or name a "
            "Spark Connect server (--master sc://HOST:15002), which needs none here"
        )
    return ClusterFailed(
        f"there is no Spark session at {master or 'this machine'}; give --master spark://HOST:7077, "
        "sc://HOST:15002 or local[*], and check that it runs"
    )


def read_frame(
    frame: Frame, columns: Columns, *, layout: str | None, alphabet: AlphabetSource | None, skips: bool
) -> ClusteredTransactions:
    """The transactions of a table on a cluster, in blocks that the cluster keeps."""
    layout = _checked_layout(frame, columns, layout)
    reading = Reading(columns, layout, skips)
    table = frame if columns.item is None else frame.select(*columns.given())
    together = columns.owner or columns.basket
    if (
        together is not None
    ):  # all that is one person's goes to one place, or all of one basket where nobody owns it
        table = table.repartition(together)
    if alphabet is None:
        blocks, named = _over_own_items(table, reading)
    else:
        vocabulary = vocabulary_of(alphabet)
        named = Alphabet(vocabulary.names, is_given=True)
        blocks = table.mapInArrow(EncodeTable(reading, vocabulary.keys), BLOCK_SCHEMA).persist()
        collected(blocks.select("rows"))  # what is refused is refused now, before anything is asked
    return ClusteredTransactions(
        blocks,
        named,
        has_owners=columns.owner is not None and (layout == "list" or columns.basket is not None),
        is_by_person=layout == "long" and columns.basket is None,
        is_by_basket=layout == "long" and columns.owner is None,
    )


def over_on_cluster(data: ClusteredTransactions, alphabet: AlphabetSource) -> ClusteredTransactions:
    """Transactions that were read, over a public alphabet; items that it does not hold are left out."""
    vocabulary = vocabulary_of(alphabet)
    place_of = {key: place for place, key in enumerate(vocabulary.keys.to_pylist())}
    codes = np.array([place_of.get(str(name), -1) for name in data.alphabet.names], np.int32)
    blocks = data.blocks.mapInArrow(RecodeBlocks(codes), BLOCK_SCHEMA).persist()
    named = Alphabet(vocabulary.names, is_given=True)
    return replace(data, blocks=blocks, alphabet=named)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a partition is read."""

    columns: Columns
    layout: str
    skips: bool

    def rows(self, batches: Batches) -> TokenRows | None:
        """The rows of a partition; None where it is empty."""
        held = [batch for batch in batches if batch.num_rows]
        if not held:
            return None
        frame = pl.DataFrame(pa.Table.from_batches(held))
        return table_rows(Table(frame, NAME, self.skips), self.columns, layout=self.layout)


@dataclass(frozen=True, slots=True, eq=False)
class EncodeOwnItems:
    """The block of a partition by codes of its own, and what its items are called in the order of these codes."""

    reading: Reading
    kind: pa.DataType
    sends: bool
    """Whether the block travels, even where there is a file of it."""

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """One block, or nothing in its place where a file of its name holds it; none where there is no row."""
        rows = self.reading.rows(batches)
        if rows is None:
            return
        held = encode(rows, None)
        names = cast("ArrowNames", held.alphabet.stored).array.cast(self.kind)
        block, name, folder = (
            RowBlock(held.offsets, held.items, None, held.owners),
            uuid4().hex,
            folder_of_blocks(),
        )
        is_in_file = not self.sends and folder is not None and write_block(folder, name, block.parts())
        columns = [b"" if is_in_file else block.to_bytes(), name, pickle.dumps(names)]
        kinds = [pa.binary(), pa.string(), pa.binary()]
        yield pa.RecordBatch.from_arrays(
            [pa.array([value], kind) for value, kind in zip(columns, kinds, strict=True)],
            ["block", "name", "names"],
        )


@dataclass(frozen=True, slots=True, eq=False)
class NamesOfBlocks:
    """The different names of the items of a partition's blocks."""

    kind: pa.DataType

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """A column of names, each once."""
        names = pa.chunked_array(_names_in(batches), self.kind).unique()
        if len(names):
            yield pa.RecordBatch.from_arrays([names], ["name"])


@dataclass(frozen=True, slots=True, eq=False)
class RecodeOwnItems:
    """Blocks with the codes of all items in the place of codes of their own."""

    names: pa.Array

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """One block for each."""
        for batch in batches:
            for block, names in zip(_own_blocks(batch), _names_in([batch]), strict=True):
                codes = numpy_of(pc.index_in(names, self.names)).astype(np.int32)
                if np.any(np.diff(codes) < 0):
                    raise AssertionError("names of a block are in another order than all names")
                yield batch_of_block(replace(block, items=codes[block.items]))


def _own_blocks(batch: Any) -> Iterator[RowBlock]:  # noqa: ANN401 - Arrow has no types
    """The blocks of a batch, which travel with it or are in files of their names; such a file is removed then."""
    for value, name in zip(batch.column("block"), batch.column("name").to_pylist(), strict=True):
        folder, buffer = folder_of_blocks(), value.as_buffer()
        if buffer.size:
            yield RowBlock.from_buffer(buffer)
        elif folder is not None and (mapped := mapped_file(folder / name)) is not None:
            yield RowBlock.from_buffer(mapped)
            (folder / name).unlink(missing_ok=True)
        else:
            raise LookupError("a block is in a file of another executor")


def _names_in(batches: Iterable[Any]) -> Iterator[Any]:
    """What the items of each block are called."""
    for batch in batches:
        for value in batch.column("names"):
            yield pickle.loads(value.as_buffer())  # noqa: S301 - our own bytes


@dataclass(frozen=True, slots=True, eq=False)
class EncodeTable:
    """The block of a partition: its transactions by the codes of the alphabet."""

    reading: Reading
    keys: pa.Array

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """One block; none where there is no row."""
        rows = self.reading.rows(batches)
        if rows is not None:
            held = encode(rows, Vocabulary(self.keys, ()))
            yield batch_of_block(RowBlock(held.offsets, held.items, None, held.owners))


@dataclass(frozen=True, slots=True, eq=False)
class RecodeBlocks:
    """Blocks with other codes in the place of items, ascending again; an item of code -1 is left out."""

    codes: Any

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """One block for each."""
        for block in blocks_in(batches):
            offsets, items = block.offsets.copy(), block.items.copy()
            parse.encode_rows(offsets, items, self.codes)
            made = replace(block, offsets=offsets, items=items[: offsets[-1]], numbers=None)
            yield batch_of_block(made)


def _checked_layout(frame: Frame, columns: Columns, layout: str | None) -> str:
    """The layout by the types of the columns, as of a table in memory; BadInput or BadCall where it does not fit."""
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415

    try:
        empty = pl.DataFrame(to_arrow_schema(frame.schema).empty_table())
    except Exception:  # noqa: BLE001
        raise BadInput(
            "the DataFrame has a column of a type that Arrow does not know; select owner, basket and item"
        ) from None
    check_names(empty.columns, columns, table=NAME)
    found = layout or guess_layout(empty, columns, name=NAME)
    if found not in LAYOUTS_ON_A_CLUSTER:
        raise BadCall(
            f"format {found} is not read on a cluster; give a DataFrame with a list column, or one with columns of "
            "owners and items (owner, item)"
        )
    if columns.multiplicity is not None:
        raise BadCall("multiplicity means nothing on a cluster; leave it out, and repeat the rows")
    reading = Reading(columns, found, skips=False)
    table_rows(
        Table(empty, NAME), reading.columns, layout=found
    )  # raises where columns do not fit, before any row
    return found


def _over_own_items(table: Frame, reading: Reading) -> tuple[Frame, Alphabet]:
    """The blocks of a table over the items that it holds, sorted; the table is read once.

    Blocks have codes of their own at first, and those of all items once the names of all are known. In between they
    wait in files of their executors; where another executor is to go on with one, all is done again and blocks travel.
    """
    kind = _kind_of_names(table, reading)
    own, names = _own_blocks_and_names(table, EncodeOwnItems(reading, kind, sends=False))
    recode = RecodeOwnItems(names)
    blocks = own.mapInArrow(recode, BLOCK_SCHEMA).persist()
    try:
        collected(blocks.select("rows"))
    except ClusterFailed:
        for frame in (blocks, own):
            frame.unpersist()
        own, _ = _own_blocks_and_names(table, EncodeOwnItems(reading, kind, sends=True))
        blocks = own.mapInArrow(recode, BLOCK_SCHEMA).persist()
        collected(blocks.select("rows"))
    own.unpersist()
    return blocks, Alphabet(ArrowNames(names), is_given=False)


def _own_blocks_and_names(table: Frame, encode_own: EncodeOwnItems) -> tuple[Frame, pa.Array]:
    """Blocks by codes of their own, and the names of all items, sorted; what is refused is refused here."""
    own = table.mapInArrow(encode_own, OWN_SCHEMA).persist()
    number = len(collected(own.select("name")))
    gathered = own.select("names").coalesce(max(1, min(number, LISTS_OF_NAMES)))
    spark_kind = "long" if pa.types.is_integer(encode_own.kind) else "string"
    found = collected(gathered.mapInArrow(NamesOfBlocks(encode_own.kind), f"name {spark_kind}"))
    names = pa.array([row[0] for row in found], encode_own.kind).unique()
    return own, names.take(pa.array(order_of_names(names)))


def _kind_of_names(table: Frame, reading: Reading) -> pa.DataType:
    """Whether items are integers or text, by the type of their column alone."""
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415

    schema = to_arrow_schema(table.schema)
    items = reading.columns.item or next(name for name in schema.names if name not in reading.columns.given())
    column = schema.field(items).type
    values = column.value_type if pa.types.is_nested(column) else column
    found, _ = item_values(pa.array([], values), name=NAME)
    return pa.int64() if pa.types.is_integer(found.type) else pa.string()
