"""Queries of owners: one that reads tables is taken, whatever else is refused before anybody connects."""

import gc
from collections.abc import Iterator

import pytest

from veilset.errors import BadCall
from veilset.service.queries import DIALECTS, LONGEST_QUERY, kind_of_address, only_reading


@pytest.fixture(autouse=True)
def _nothing_is_collected_in_a_recursion() -> Iterator[None]:
    """Some queries recurse as deep as Python lets them: what an earlier test left would have no room to end there."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


HARMLESS = (
    "SELECT owner, item FROM sales",
    "select item from s.sales as x join shops using (shop) where x.day > '2026-01-01' -- all of them",
    "with recent as (select * from sales) select item from recent union all select item from old",
    "(select item from sales)",
    "select 'drop table sales; --' as item from sales",
    "select item from sales where note = 'it''s; delete from sales'",
    "select lower(item), count(*), cast(a as text), coalesce(b, 'none') from sales group by 1 order by 2 limit 9",
    "select case when a then b else c end, row_number() over (partition by a order by b) from sales",
    'select * from "a table"',
    "select * from sales;",
)

HOSTILE = (
    "",
    "   ",
    ";",
    "no sql at all",
    "DROP TABLE sales",
    "SELECT 1; DROP TABLE sales",
    "SELECT 1 /* ; */ ; /* */ DELETE FROM sales",
    "BEGIN; DELETE FROM sales; COMMIT",
    "INSERT INTO sales VALUES (1)",
    "UPDATE sales SET item = 1",
    "MERGE INTO sales USING s ON sales.a = s.a WHEN MATCHED THEN DELETE",
    "WITH gone AS (DELETE FROM sales RETURNING *) SELECT * FROM gone",
    "WITH new AS (INSERT INTO sales VALUES (1) RETURNING *) SELECT * FROM new",
    "SELECT * INTO copied FROM sales",
    "SELECT * FROM sales FOR UPDATE",
    "CREATE TABLE copied AS SELECT * FROM sales",
    "ALTER TABLE sales ADD COLUMN x int",
    "TRUNCATE sales",
    "GRANT ALL ON sales TO anna",
    "COPY sales TO PROGRAM 'sh'",
    "COPY sales FROM '/etc/passwd'",
    "ATTACH 'other.db' AS other",
    "PRAGMA writable_schema = 1",
    "EXPLAIN ANALYZE DELETE FROM sales",
    "CALL something()",
    "DO $$ BEGIN DELETE FROM sales; END $$",
    "SET ROLE postgres",
    "VACUUM",
    "PREPARE x AS DELETE FROM sales",
    "EXECUTE x",
    "LOCK TABLE sales",
    "NOTIFY anna",
    "DECLARE c CURSOR FOR SELECT 1",
    "INSTALL httpfs",
    "LOAD httpfs",
    "EXPORT DATABASE 'copied'",
    "SHOW TABLES",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_sleep(1000)",
    "SELECT pg_terminate_backend(1)",
    "SELECT lo_import('/etc/passwd')",
    "SELECT dblink('host=elsewhere', 'SELECT 1')",
    "SELECT nextval('numbers')",
    "SELECT set_config('role', 'postgres', false)",
    "SELECT current_setting('data_directory')",
    "SELECT query_to_xml('DELETE FROM sales', true, true, '')",
    "SELECT load_extension('evil')",
    "SELECT writefile('a', 'b')",
    "SELECT getenv('HOME')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_parquet('s3://elsewhere/x')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM sqlite_scan('other.db', 'sales')",
    "FROM '/etc/passwd'",
    "SELECT * FROM 'sales.csv'",
    'SELECT * FROM "/etc/sales.csv"',
    "SELECT * FROM sales WHERE a = ?",
    "SELECT * FROM sales WHERE a = :x",
    "SELECT '\0'",
    "SELECT " + "(" * 3000 + "1" + ")" * 3000,
    "SELECT '" + "x" * LONGEST_QUERY + "'",
)


@pytest.mark.parametrize("kind", DIALECTS)
def test_a_query_that_only_reads_is_taken(kind: str) -> None:
    """And is the same when it is checked once more: what is run is what was understood."""
    for query in HARMLESS:
        run = only_reading(query, kind)
        assert only_reading(run, kind) == run
        assert "--" not in run.replace("; --'", "")


@pytest.mark.parametrize("kind", DIALECTS)
def test_whatever_does_more_than_read_is_refused(kind: str) -> None:
    """Statements, functions that read files or wait, files in the place of tables, what hides behind quotes."""
    for query in HOSTILE:
        with pytest.raises(BadCall) as refusal:
            pytest.fail(f"taken: {only_reading(query, kind)}")
        assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("address", ["mysql://x/y", "https://x", "", "file:///etc/passwd"])
def test_a_database_is_of_a_kind_that_is_known(address: str) -> None:
    """Others have SQL that nobody here checks."""
    with pytest.raises(BadCall, match="no database that is read by a query"):
        kind_of_address(address)
    assert kind_of_address("postgres://anna@host/shop") == "postgresql"
