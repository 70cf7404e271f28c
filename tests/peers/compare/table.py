"""Makes the rows of compare.sh from its lines, and puts them into the README's table with `--write`."""

import argparse
import platform
import sys
from pathlib import Path

import tables

arguments = argparse.ArgumentParser()
arguments.add_argument("--write", action="store_true", help="put the rows into README.md")
for library in ("graph_flow", "synaptic", "cognis", "langgraph"):
    arguments.add_argument(library, help="version")
arguments = arguments.parse_args()

times = {}
for line in sys.stdin:
    library, *row, microseconds = line.rstrip("\n").split("\t")
    times[(*row, library)] = microseconds

ROWS = {
    ("chain", "10", "1"): "a chain of 10 nodes",
    ("chain", "10", "1000"): "1,000 of these runs at once",
    ("chain", "1000", "1"): "a chain of 1,000 nodes",
    ("loop", "1000", "1"): "1,000 turns through a router",
    ("fan-out", "100", "1"): "a fan-out of 100 nodes, and a join",
    ("react", "100", "1"): "100 ReAct turns: a model and a tool",
    ("observed", "100", "1"): "the same, with a stream of updates",
    ("stored", "100", "1"): "the same, kept in memory step by step",
}
LIBRARIES = {
    "by hand": "by hand",
    "langgraph": "this crate",
    "graph-flow": f"`graph-flow` {arguments.graph_flow}",
    "synaptic": f"`synaptic-graph` {arguments.synaptic}",
    "cognis": f"`cognis-graph` {arguments.cognis}",
    "Python": f"LangGraph {arguments.langgraph} for Python",
}


def shown(microseconds):
    return microseconds if microseconds == "–" else tables.shown(float(microseconds))


rows = [f"| µs for | {' | '.join(LIBRARIES.values())} |"]
for row, title in ROWS.items():
    cells = [shown(times[(*row, library)]) for library in LIBRARIES]
    rows.append(f"| {title} | {' | '.join(cells)} |")
rows.append(
    f"Up to what is kept in memory: the fastest of several samples ({tables.made()}, Python {platform.python_version()})."
)
print("\n".join(rows))
if arguments.write:
    tables.put(Path("README.md"), "peers", rows)
