"""Makes the table of compare.sh from its lines, and writes it into the README with `--write`."""

import argparse
import platform
import sys
from pathlib import Path

import tables

arguments = argparse.ArgumentParser()
arguments.add_argument("--write", action="store_true", help="put the table into README.md")
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
    """Two digits after the point, or one, or none: 1.48, 14.8, 1,480."""
    if microseconds == "–":
        return microseconds
    microseconds = float(microseconds)
    digits = 2 if microseconds < 10 else 1 if microseconds < 100 else 0
    return f"{microseconds:,.{digits}f}"


lines = ["| µs for a run of | " + " | ".join(LIBRARIES.values()) + " |", "|---|" + "--:|" * len(LIBRARIES)]
for row, title in ROWS.items():
    cells = [shown(times[(*row, library)]) for library in LIBRARIES]
    lines.append(f"| {title} | " + " | ".join(cells) + " |")

lines.append("")
lines.append(
    f"The fastest of several samples ({tables.machine()}, Python {platform.python_version()}, {tables.today()})."
)
table = "\n".join(lines)
print(table)
if arguments.write:
    tables.write(Path("README.md"), "peers", table)
