"""Makes the table of compare.sh from its lines, and writes it into the README with `--write`."""

import argparse
import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

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

cpu = platform.machine()
if Path("/proc/cpuinfo").exists():
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    cpu = found[1] if found else cpu
rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
today = datetime.date.today().isoformat()
lines.append("")
lines.append(
    f"The fastest of several samples ({cpu.strip()}, {os.cpu_count()} cores, rustc {rustc}, "
    f"Python {platform.python_version()}, {today})."
)
table = "\n".join(lines)
print(table)
if arguments.write:
    readme = Path("README.md")
    text = readme.read_text()
    begin, end = "<!-- peers -->", "<!-- /peers -->"
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    readme.write_text(f"{before}{begin}\n{table}\n{end}{after}")
