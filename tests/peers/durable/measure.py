"""Measures each row of durable.sh in turn, and prints the table; `--write` puts it into docs/performance.md, and some
of it into the README.

Every measurement has an empty store and processes of its own, and no other runs meanwhile. The rows change their
order from round to round, and the table has the median of the rounds.
"""

import argparse
import os
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import tables
from processes import processor_seconds, tree
from stores import postgres, restate, sqlite

HERE = Path(__file__).parent
PAGE = Path("docs/performance.md")
THREADS = (1, 16, 64)
# As the titles of rows begin, in the order of the README's columns.
LIBRARIES = ("by hand", "this crate", "`graph-flow`", "`synaptic-graph`", "`cognis-graph`", "LangGraph")
SECONDS = int(os.environ.get("SECONDS_EACH", "4"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))


@dataclass
class Row:
    title: str
    store: Callable
    command: list
    variables: dict = field(default_factory=dict)
    # For each number of threads, the figures of the rounds.
    measured: dict = field(default_factory=lambda: {threads: [] for threads in THREADS})

    def measure(self, threads):
        with self.store() as store:
            with subprocess.Popen(
                [*self.command, str(threads), str(SECONDS)],
                env=os.environ | store.variables | self.variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            ) as client:
                try:
                    self.measured[threads].append(figures(client, store))
                finally:
                    client.kill()

    def medians(self):
        """For each number of threads, the median of each figure."""
        return [[statistics.median(figure) for figure in zip(*self.measured[threads])] for threads in THREADS]


def figures(client, store):
    """Supersteps a second; milliseconds of one (p50, p99); of each, the processor's µs and the bytes written; and the
    part of the processors that other programs have taken meanwhile."""

    def answer():
        line = client.stdout.readline()
        if not line:
            raise SystemExit(f"{client.args} has ended")
        return line

    def go():
        client.stdin.write("\n")
        client.stdin.flush()

    def used():
        processes = tree(client.pid) + (tree(store.server) if store.server else [])
        return *processor_seconds(processes), store.written(client.pid)

    answer()
    os.sync()
    before = used()
    go()
    steps, seconds, p50, p99 = map(float, answer().split())
    core, machine, written = (later - earlier for earlier, later in zip(before, used()))
    go()
    others = (machine - core) / seconds / os.cpu_count()
    return steps / seconds, p50 / 1e3, p99 / 1e3, core / steps * 1e6, written / steps, others


def rows(options):
    def rust(name):
        return [f"{options.programs}/release/{name}"]

    def python(name):
        return [options.python, str(HERE / name)]

    def pool(connections):
        return {"CONNECTIONS": str(connections)}

    langgraph = f"LangGraph {options.langgraph} for Python"
    return [
        Row("this crate, SQLite", sqlite, rust("ours")),
        Row("this crate, PostgreSQL", postgres, rust("ours")),
        Row(f"crate `dbos` {options.dbos}, PostgreSQL", postgres, rust("dbos"), pool(20)),
        Row(f"Restate {options.restate}, its SDK for Rust", restate, rust("restate")),
        Row(f"`graph-flow` {options.graph_flow}, PostgreSQL", postgres, rust("graph_flow"), pool(20)),
        Row(f"DBOS {options.dbos_python} for Python, PostgreSQL", postgres, python("chain_dbos.py"), pool(20)),
        Row(f"{langgraph}, PostgreSQL", postgres, python("chain_langgraph.py"), pool(8)),
        Row(f"{langgraph}, SQLite", sqlite, python("chain_langgraph.py")),
    ]


def table(rows):
    threads = " | ".join(f"{threads}: a second | p50, p99 ms" for threads in THREADS)
    lines = [f"| | {threads} | core µs | KiB written |", "|---|" + "--:|" * (2 * len(THREADS) + 2)]
    for row in rows:
        cells = []
        for rate, p50, p99, *_ in row.medians():
            cells += [f"{rate:,.0f}", f"{p50:.2f}, {p99:.1f}"]
        for figure, scale, digits in ((3, 1, 0), (4, 1024, 1)):
            cells.append(", ".join(f"{figures[figure] / scale:,.{digits}f}" for figures in row.medians()))
        lines.append(f"| {row.title} | " + " | ".join(cells) + " |")
    others = statistics.mean(figures[5] for row in rows for figures in row.medians())
    how = f"The median of {ROUNDS} rounds of {SECONDS} seconds each ({tables.made()})."
    return "\n".join([*lines, "", how, f"Other programs took {others:.0%} of the processors meanwhile."])


def short(rows):
    """The README's rows: microseconds between steps, of one run and of many at once."""

    def cell(library, store, threads):
        for row in rows:
            if row.title.startswith(library) and row.title.endswith(f", {store}"):
                return tables.shown(1e6 / row.medians()[THREADS.index(threads)][0])
        return "–"

    lines = []
    for store in ("SQLite", "PostgreSQL"):
        for threads, title in ((1, f"a step that is kept in {store}"), (64, f"the same in 64 runs at once, {store}")):
            cells = [cell(library, store, threads) for library in LIBRARIES]
            lines.append(f"| {title} | {' | '.join(cells)} |")
    return [*lines, f"On a disk: each step waits for it; the median of {ROUNDS} rounds ({tables.made()})."]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md, and its rows into the README")
    parser.add_argument("--only", default="", help="only rows with this in their titles")
    for name in ("programs", "python", "dbos", "dbos_python", "restate", "langgraph", "graph_flow"):
        parser.add_argument(name)
    options = parser.parse_args()
    all_rows = rows(options)
    chosen = [row for row in all_rows if options.only in row.title]
    for turn in range(ROUNDS):
        for row in chosen if turn % 2 == 0 else reversed(chosen):
            for threads in THREADS:
                row.measure(threads)
    text = table(chosen)
    print(text)
    if options.write:
        tables.write(PAGE, "durable", text)
        if chosen == all_rows:
            tables.put(Path("README.md"), "peers", short(chosen))


main()
