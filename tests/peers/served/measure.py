"""Measures runs that are served over HTTP, and writes their row into the README's table with `--write`.

The clients are those of the bench `load` of `crates/server`, which is each server but LangGraph's, too. The servers
take turns, and the row has the median of the rounds.
"""

import argparse
import os
import socket
import statistics
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import tables

HERE = Path(__file__).parent
CLIENTS = "32"
ROUNDS = int(os.environ.get("ROUNDS", "3"))


def role(name, material=""):
    return os.environ | {"LOAD_ROLE": name, "LOAD_MATERIAL": material}


@contextmanager
def ours(bench, name, material=""):
    with subprocess.Popen(bench, env=role(name, material), stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


@contextmanager
def langgraph(command):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # A place for each client, which is its fastest: with ten, the default, most of them wait.
    options = ["--no-browser", "--no-reload", "--port", str(port), "--n-jobs-per-worker", CLIENTS]
    environment = os.environ | {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([command, "dev", *options], cwd=HERE, env=environment, **quiet) as server:
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for(f"{address}/ok")
            yield address
        finally:
            server.kill()


def wait_for(url):
    for _ in range(120):
        try:
            with urllib.request.urlopen(url):
                return
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"{url} does not answer")


def frames(bench):
    """What the server streams, for the bare one."""
    with ours(bench, "ours") as address:
        run = b'{"assistant_id":"report","input":{"events":10,"stays":false},"stream_mode":"custom"}'
        request = urllib.request.Request(f"{address}/runs/stream", run, {"content-type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()


def microseconds(bench, server):
    with server as address:
        client = subprocess.run(
            [bench], env=role("clients", f"{CLIENTS} {address}"), capture_output=True, text=True, check=True
        )
        return 1e6 / float(client.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="put the row into README.md")
    for name in ("bench", "langgraph", "version", "folder"):
        parser.add_argument(name)
    options = parser.parse_args()
    bench, body = options.bench, frames(options.bench)
    servers = {
        "by hand": lambda: ours(bench, "bare", body),
        "memory": lambda: ours(bench, "ours"),
        "file": lambda: ours(bench, "file", f"{options.folder}/threads"),
        "Python": lambda: langgraph(options.langgraph),
    }
    measured = {name: [] for name in servers}
    for _ in range(ROUNDS):
        for name, server in servers.items():
            measured[name].append(microseconds(bench, server()))
    middle = {name: tables.shown(statistics.median(times)) for name, times in measured.items()}
    rows = [
        f"| a run over HTTP, which streams ten events | {middle['by hand']} | {middle['memory']} | – | – | – | {middle['Python']} |",
        f"| the same, kept in a SQLite file | – | {middle['file']} | – | – | – | – |",
        f"Served: {CLIENTS} clients at once, beside a bare axum server and `langgraph dev` {options.version}; "
        f"the median of {ROUNDS} rounds ({tables.made()}).",
    ]
    print("\n".join(rows))
    if options.write:
        tables.put(Path("README.md"), "peers", rows)


main()
