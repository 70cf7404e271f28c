"""Records programs of the gallery in a terminal, as docs/recordings/*.svg.

    python3 tests/terminal.py           records all of them
    python3 tests/terminal.py NAME ..   records these

A program runs once, with a pause for each word of its models. Each line of the picture appears when the program
printed it. The text is in the picture's metadata, which `tests/gallery.py` compares with what the program prints.
Build first: `cargo build -p langgraph-example-agents --examples`.
"""

import html
import re
import shlex
import subprocess
import sys
import textwrap
import time

import gallery

# Milliseconds for a word of a model.
PACE = "200"
COLUMNS = 92
CHARACTER, LINE, MARGIN = 7.83, 20, 18
# How long the last line stands before the recording starts anew, in seconds.
REST = 5
STYLE = (
    "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d6d9e0;white-space:pre}"
    ".command{fill:#7ee0a3}.call{fill:#8ab4ff}.user{fill:#f2c572}.tool{fill:#9aa3b2}"
)


def listed(name):
    """Returns the command of a program, and its arguments."""
    for line in (gallery.ROOT / "examples/README.md").read_text().splitlines():
        found = gallery.ROW.match(line)
        if found and found.group(2) == name:
            return found.group(1), shlex.split(found.group(3) or "")
    sys.exit(f"examples/README.md does not list `{name}`")


def lines_of(name, arguments):
    """Runs a program; returns its lines, each with the second at which it came."""
    program = gallery.target() / "debug" / "examples" / name
    start = time.monotonic()
    running = subprocess.Popen(
        [program, *arguments], cwd=gallery.ROOT, env=gallery.variables() | {"PACE": PACE},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )
    lines = [(time.monotonic() - start, line.rstrip("\n")) for line in running.stdout]
    if running.wait():
        sys.exit(f"{name} fails")
    return lines


def style_of(line, before):
    """Returns the style of a line. One without a word and a colon belongs to the message before it."""
    if line.startswith("-> "):
        return "call"
    word = re.match(r"(\w[\w ]*): ", line)
    if not word:
        return before
    return word.group(1) if word.group(1) in ("user", "tool") else "other"


def drawn(command, lines):
    """Returns the SVG, in which each line appears at its time."""
    rows = [(0, "command", f"$ {command}")]
    for second, line in lines:
        style = style_of(line, rows[-1][1])
        for part in textwrap.wrap(line, COLUMNS, subsequent_indent="   ") or [""]:
            rows.append((second, style, part))
    length = lines[-1][0] + REST
    width, height = COLUMNS * CHARACTER + 2 * MARGIN, len(rows) * LINE + 2 * MARGIN
    frames, texts = [], []
    for number, (second, style, text) in enumerate(rows):
        y = MARGIN + LINE * number + 14
        texts.append(f'<text id="l{number}" class="{style}" x="{MARGIN}" y="{y}">{html.escape(text, quote=False)}</text>')
        if number:
            frames.append(
                f"#l{number}{{animation:k{number} {length:.2f}s step-end infinite}}"
                f"@keyframes k{number}{{0%{{opacity:0}}{second / length * 100:.2f}%{{opacity:1}}}}"
            )
    printed = "\n".join(line for _, line in lines).rstrip()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}">\n'
        f"<metadata>{html.escape(printed, quote=False)}</metadata>\n"
        f"<style>{STYLE}@media (prefers-reduced-motion:no-preference){{{''.join(frames)}}}</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#14171f"/>\n' + "\n".join(texts) + "\n</svg>\n"
    )


def main():
    gallery.RECORDINGS.mkdir(exist_ok=True)
    for name in sys.argv[1:] or gallery.RECORDED:
        command, arguments = listed(name)
        lines = lines_of(name, arguments)
        path = gallery.RECORDINGS / f"{name}.svg"
        path.write_text(drawn(command, lines))
        print(f"{path.relative_to(gallery.ROOT)}: {len(lines)} lines, {lines[-1][0]:.0f} s, {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
