"""Where steps are stored: empty for each measurement, on this machine."""

import contextlib
import os
import re
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from processes import parent, written_bytes


@dataclass
class Store:
    # Variables of the program.
    variables: dict
    # The process whose time is counted with that of the program, together with its children.
    server: int | None
    # The bytes that are written, given the program's process.
    written: Callable[[int], int]


def psql(sql):
    command = ["psql", os.environ["DATABASE_URL"], "-qAtX", "-v", "ON_ERROR_STOP=1", "-c", sql]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@contextlib.contextmanager
def postgres():
    """A new database of the server. What is written is its write-ahead log."""
    psql("DROP DATABASE IF EXISTS durable")
    psql("CREATE DATABASE durable")
    psql("CHECKPOINT")
    checkpointer = int(psql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"))
    url = os.environ["DATABASE_URL"].rsplit("/", 1)[0] + "/durable"
    log = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"
    yield Store({"DATABASE_URL": url}, parent(checkpointer), lambda _: int(psql(log)))


@contextlib.contextmanager
def sqlite():
    """A new file. What is written are the writes of the program: to the file and its write-ahead log."""
    with tempfile.TemporaryDirectory() as folder:
        yield Store({"FILE": f"{folder}/threads.sqlite"}, None, written_bytes)


@contextlib.contextmanager
def restate():
    """A new server. What is written is what its databases count: their write-ahead logs, flushes and compactions."""

    def get(port, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{os.environ[port]}{path}") as answer:
            return answer.read().decode()

    counter = re.compile(r"^restate_rocksdb_(?:wal|flush_write|compact_write)_bytes_total\{.*\} (\d+)", re.M)

    def written(_):
        return sum(int(value) for value in counter.findall(get("RESTATE_BIND_PORT", "/metrics")))

    with tempfile.TemporaryDirectory() as folder, open(Path(folder, "log"), "w") as log:
        variables = os.environ | {"RESTATE_BASE_DIR": f"{folder}/data"}
        command = [os.environ["RESTATE_SERVER"], "--no-logo"]
        with subprocess.Popen(command, env=variables, stdout=log, stderr=log, cwd=folder) as server:
            try:
                for _ in range(600):
                    with contextlib.suppress(OSError):
                        get("RESTATE_ADMIN__BIND_PORT", "/health")
                        break
                    time.sleep(0.1)
                yield Store({}, server.pid, written)
            finally:
                server.kill()
