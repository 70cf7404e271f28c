"""Makes the table of compare.sh from its lines, and writes it into the README with `--write`."""

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

graph_flow, langgraph, *options = sys.argv[1:]
costs = {}
for line in sys.stdin:
    form, workload, size, nanoseconds = line.rstrip("\n").split("\t")
    costs.setdefault((workload, int(size)), {})[form] = float(nanoseconds)

WORKLOADS = {
    ("chain", 10): "a chain of 10 nodes, with the start of the run",
    ("chain", 1000): "a chain of 1,000 nodes",
    ("loop", 1000): "1,000 turns through a router",
}
FORMS = {
    "by hand": "by hand",
    "langgraph": "this crate",
    "graph-flow": f"`graph-flow` {graph_flow}",
    "Python LangGraph": f"LangGraph {langgraph} for Python",
}


def shown(nanoseconds):
    return f"{nanoseconds:,.0f} ns"


lines = ["| each node of | " + " | ".join(FORMS.values()) + " |", "|---|" + "--:|" * len(FORMS)]
for workload, title in WORKLOADS.items():
    cells = [shown(costs[workload][form]) for form in FORMS]
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
if "--write" in options:
    readme = Path("README.md")
    text = readme.read_text()
    begin, end = "<!-- peers -->", "<!-- /peers -->"
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    readme.write_text(f"{before}{begin}\n{table}\n{end}{after}")
