"""What processes have used, from Linux's `/proc`."""

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def fields(pid):
    """The fields of `/proc/PID/stat` from the third on."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def parent(pid):
    return int(fields(pid)[1])


def tree(root):
    """A process, and those that come from it. Ended ones are counted with their parents."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = parent(folder.name)
        except (FileNotFoundError, ProcessLookupError):
            continue
    found = [root]
    for pid in found:
        found.extend(child for child, of in parents.items() if of == pid)
    return found


def processor_seconds(pids):
    """User and system time of processes, and that of all on the machine."""
    own = sum(int(value) for pid in pids for value in fields(pid)[11:15])
    user, nice, system, _, _, *interrupts = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
    return own / TICKS, (user + nice + system + sum(interrupts)) / TICKS


def written_bytes(pid):
    """What a process has written, to files for the most part."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["wchar"])
