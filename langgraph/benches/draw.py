#!/usr/bin/env python3
"""Draws what langgraph costs beside the same work by hand, as two SVGs: for light pages and dark ones.

    python3 langgraph/benches/draw.py                 # instructions: the same on every machine
    cargo bench -p langgraph-benches --bench workloads
    python3 langgraph/benches/draw.py --seconds       # what was just measured, on an idle machine

Instructions come from `instructions/expected.tsv`, seconds from the table that `cargo bench` leaves.
A bar is the ratio of the two forms of one workload at one size. Needs Python 3.9 and nothing else.
"""

import argparse
import math
import os
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))

# Text, faint text, lines, a bar, and the bar's part beyond the baseline.
COLOURS = {
    "light": ("#1f2328", "#59636e", "#d1d9e0", "#8b7fe8", "#6a5acd"),
    "dark": ("#f0f6fc", "#9198a1", "#3d444d", "#8b7fe8", "#b3a9ff"),
}
WIDTH, LEFT, RIGHT, TOP, ROW, GAP, BAR = 760, 250, 150, 58, 22, 12, 12
FONT = "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"


# What the workloads of `instructions/main.rs` are called in the table of `cargo bench`.
NAMES = {
    "chain": "chain",
    "loop": "loop through a router",
    "bounded": "loop with a bound",
    "nodes": "fan-out of nodes",
    "sends": "fan-out of sends",
    "react": "ReAct turns",
}
# Their twins do less, or are graphs themselves.
OTHER_TWINS = ("react-memory", "streamed", "subgraph", "subgraphs")


def results(file):
    """Of each workload, of each size: what both forms cost."""
    found = {}
    for line in file.read_text().splitlines():
        cells = line.split("\t")
        # The first line says what the columns are.
        if len(cells) >= 4 and cells[1].isdigit() and cells[0] not in OTHER_TWINS:
            name, size, ours, by_hand = cells[:4]
            costs = {"langgraph": float(ours), "baseline": float(by_hand)}
            found.setdefault(NAMES.get(name, name), {})[size] = costs
    return found


def by_size(size):
    """Numbers in their order, before words."""
    digits = size.replace(",", "").replace("_", "")
    return (0, int(digits), "") if digits.isdigit() else (1, 0, size)


def duration(seconds):
    for unit, factor in [("s", 1), ("ms", 1e-3), ("µs", 1e-6)]:
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def count(instructions):
    return f"{instructions:,.0f}"


def number(size):
    return f"{int(size):,}" if size.isdigit() else size


def draw(workloads, colours, what, show):
    text, faint, line, bar, beyond = colours
    rows = sum(len(sizes) for sizes in workloads.values())
    height = TOP + rows * ROW + len(workloads) * GAP + 8
    ratios = [both["langgraph"] / both["baseline"] for sizes in workloads.values() for both in sizes.values()]
    most = max(2, math.ceil(max(ratios)))
    wide = WIDTH - LEFT - RIGHT

    def x(ratio):
        return LEFT + wide * ratio / most

    def write(left, top, content, colour=text, anchor="start", size=12, weight="normal"):
        return (
            f'<text x="{left:.1f}" y="{top:.1f}" fill="{colour}" text-anchor="{anchor}" '
            f'font-size="{size}" font-weight="{weight}">{escape(content)}</text>'
        )

    title = f"{what} of langgraph as a multiple of the same work written by hand"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-label="{title}" font-family="{FONT}">',
        f"<title>{title}</title>",
        write(8, 20, title, size=14, weight="600"),
    ]
    step = max(1, math.ceil(most / 6))
    for ratio in range(0, most + 1, step):
        parts.append(
            f'<line x1="{x(ratio):.1f}" x2="{x(ratio):.1f}" y1="{TOP - 10}" y2="{height - 8}" stroke="{line}"/>'
        )
        parts.append(write(x(ratio), TOP - 16, f"{ratio} ×", faint, "middle", 11))
    top = TOP
    for workload, sizes in workloads.items():
        top += GAP / 2
        for place, size in enumerate(sorted(sizes, key=by_size)):
            both = sizes[size]
            ratio = both["langgraph"] / both["baseline"]
            middle = top + ROW / 2 + 4
            if place == 0:
                parts.append(write(8, middle, workload, weight="600"))
            parts.append(write(LEFT - 8, middle, number(size), faint, "end"))
            up = top + (ROW - BAR) / 2
            parts.append(
                f'<rect x="{x(0):.1f}" y="{up:.1f}" width="{x(min(ratio, 1)) - x(0):.1f}" height="{BAR}" fill="{bar}"/>'
            )
            if ratio > 1:
                parts.append(
                    f'<rect x="{x(1):.1f}" y="{up:.1f}" width="{x(ratio) - x(1):.1f}" height="{BAR}" fill="{beyond}"/>'
                )
            spent = f"{show(both['langgraph'])} : {show(both['baseline'])}"
            parts.append(write(x(ratio) + 6, middle, f"{ratio:.2f}", weight="600", size=11))
            parts.append(write(WIDTH - 8, middle, spent, faint, "end", 11))
            top += ROW
        top += GAP / 2
    # Last, so that it stands over the bars: this is where the two are equal.
    parts.append(
        f'<line x1="{x(1):.1f}" x2="{x(1):.1f}" y1="{TOP - 10}" y2="{height - 8}" stroke="{text}" stroke-dasharray="3 3"/>'
    )
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", action="store_true", help="what `cargo bench` has measured")
    parser.add_argument("--into", type=Path, default=ROOT / "docs", help="where the pictures go")
    parser.add_argument("workloads", nargs="*", help="only these, in this order")
    options = parser.parse_args()
    if options.seconds:
        file, what, show = TARGET / "tmp" / "workloads.tsv", "Time", duration
    else:
        file = ROOT / "langgraph" / "benches" / "instructions" / "expected.tsv"
        what, show = "Instructions", count
    if not file.exists():
        sys.exit(f"there is no {file}: cargo bench -p langgraph-benches --bench workloads")
    found = results(file)
    missing = [workload for workload in options.workloads if workload not in found]
    if missing or not found:
        sys.exit(f"no results of {', '.join(missing) or 'any workload'} in {file}")
    chosen = {workload: found[workload] for workload in options.workloads or found}
    for theme, colours in COLOURS.items():
        picture = options.into / f"performance-{theme}.svg"
        picture.write_text(draw(chosen, colours, what, show))
        print(picture)


if __name__ == "__main__":
    main()
