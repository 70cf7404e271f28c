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


def write(page, name, text):
    """Puts a table between the markers of that name in a page."""
    before = page.read_text()
    marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
    if not marked.search(before):
        sys.exit(f"{page} has no `<!-- {name} -->` markers")
    page.write_text(marked.sub(lambda found: f"{found[1]}{text}\n{found[2]}", before))
