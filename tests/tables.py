"""Tables of measurements: where they were made, and where they are written."""

import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path


def machine():
    """The processor, its cores, and the compiler."""
    cpu = platform.processor() or platform.machine()
    try:
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
        cpu = found.group(1).strip() if found else cpu
    except OSError:
        pass
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    return f"{cpu}, {os.cpu_count()} cores, rustc {rustc}"


def today():
    return datetime.date.today().isoformat()


def made():
    """Where and when a table is made."""
    return f"{machine()}, {today()}"


def shown(microseconds):
    """Two digits after the point, or one, or none: 1.48, 14.8, 1,480."""
    digits = 2 if microseconds < 10 else 1 if microseconds < 100 else 0
    return f"{microseconds:,.{digits}f}"


def write(page, name, text):
    """Puts a table between the markers of that name in a page."""
    change(page, name, lambda _: text)


def put(page, name, lines):
    """Puts lines into the table of that name, each in the place of the one that begins like it: with the same first
    cell, or the same words before a colon."""

    def first(line):
        return line.split(" | ")[0] if line.startswith("|") else line.split(":")[0]

    new = {first(line): line for line in lines}

    def changed(text):
        known = {first(line) for line in text.splitlines()}
        if missing := new.keys() - known:
            sys.exit(f"{page} has no line `{missing.pop()}`")
        return "\n".join(new.get(first(line), line) for line in text.splitlines())

    change(page, name, changed)


def change(page, name, changed):
    before = page.read_text()
    marked = re.compile(rf"(<!-- {name} -->\n)(.*?)\n(<!-- /{name} -->)", re.S)
    if not marked.search(before):
        sys.exit(f"{page} has no `<!-- {name} -->` markers")
    page.write_text(marked.sub(lambda found: f"{found[1]}{changed(found[2])}\n{found[3]}", before))
