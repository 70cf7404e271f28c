"""The gallery of the examples, docs/gallery.md: what each program shows, its graph, its output and its cost.

    python3 tests/gallery.py            says whether the page is out of date, apart from times
    python3 tests/gallery.py --write    writes it and its pictures, with GraphViz' `dot`

The list is that of examples/README.md: its programs that need no `-p`, which run to their end without a server.
A picture is what the program prints with `--graph dot`, and keeps that text as its metadata. The pictures of
docs/concepts.md are drawn from `docs/pictures/*.dot` in the same way. The programs of `RECORDED` have recordings, too:
`tests/terminal.py` writes those in a terminal, and `tests/peers/recording.sh` those in the Studio.
"""

import html
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"
RECORDINGS = DOCS / "recordings"
ROW = re.compile(r"^\| `(cargo run --example ([a-z_0-9]+)(?: -- ([^`]*))?)` \| (.*) \|$")
# What these print changes with the clock, or with the files of the repository.
CHANGING = {"agent", "react_zhipu", "supervisor", "tool_agent"}
RECORDED = ("research_agent", "support_agent", "coding_agent")

HEAD = """# Gallery

The programs of `examples/`, which run without a key and without a network: what each shows, its graph, what it
prints, and what it costs. [The list](../examples/README.md) has those that need a server or a provider, too.
`tests/gallery.py` writes this page from the programs themselves; the time is that of a debug build on 2 busy cores,
from start to end.

The Studio runs the graph `essay` of the demo server: its nodes light up, a person answers twice, and an older
checkpoint runs on. `tests/peers/recording.sh` records it.

![The Studio: a run of the graph essay, the answers to its interrupts, and a fork](studio.webp)

| program | lines | ms |
|---|--:|--:|
"""


def target():
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")


def variables():
    """Returns the environment without the user's keys."""
    keys = re.compile(r"_API_KEY$|_BASE_URL$|^OLLAMA_HOST$|^MODEL$|^PACE$")
    return {key: value for key, value in os.environ.items() if not keys.search(key)}


def run(name, arguments):
    """Runs a program; returns what it prints, and its milliseconds."""
    program = target() / "debug" / "examples" / name
    start = time.monotonic()
    done = subprocess.run(
        [program, *arguments], cwd=ROOT, env=variables(), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{name} fails:\n{done.stderr}")
    return done.stdout.rstrip(), (time.monotonic() - start) * 1000


def source(name):
    for folder in ("examples/examples", "examples/agents/examples"):
        path = ROOT / folder / f"{name}.rs"
        if path.exists():
            return path
    sys.exit(f"examples/README.md lists `{name}`, which is no program")


def render(dot):
    """Returns the SVG of a graph, with its text as metadata."""
    font = "fontname=Helvetica"
    drawn = subprocess.run(
        ["dot", "-Tsvg", "-Gbgcolor=transparent", *(f"-{part}{font}" for part in "GNE"), "-Gfontsize=12", "-Nfontsize=12", "-Efontsize=11"],
        input=dot, capture_output=True, text=True, check=True,
    ).stdout
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<!--.*?-->\n?", "", drawn, flags=re.S)
    drawn = drawn.replace('font-family="Helvetica"', 'font-family="Helvetica,Arial,sans-serif"')
    end = drawn.index(">") + 1
    return f"{drawn[:end]}\n<metadata>{html.escape(dot, quote=False)}</metadata>{drawn[end:]}"


def drawn_from(path):
    """Returns the text that a picture was drawn from."""
    if not path.exists():
        return None
    found = re.search(r"<metadata>(.*?)</metadata>", path.read_text(), re.S)
    return found and html.unescape(found.group(1))


def block(language, text):
    return f"```{language}\n{text}\n```\n"


def section(name, command, arguments, purpose, pictures):
    path = source(name)
    printed, milliseconds = run(name, arguments)
    parts = [f"## {name}\n", f"{purpose[0].upper()}{purpose[1:]}.\n"]
    if "show::graph(" in path.read_text():
        pictures[name] = run(name, ["--graph", "dot"])[0] + "\n"
        parts.append(f"![The graph of {name}](pictures/{name}.svg)\n")
    parts += [block("console", command), block("text", printed)]
    if name in RECORDED:
        if drawn_from(RECORDINGS / f"{name}.svg") != printed:
            sys.exit(f"docs/recordings/{name}.svg is out of date: python3 tests/terminal.py {name}")
        parts.append("In a terminal and in the Studio, with models that take their time:\n")
        parts.append(f"![{name} in a terminal](recordings/{name}.svg)\n")
        parts.append(f"![{name} in the Studio](recordings/{name}.webp)\n")
    relative = path.relative_to(ROOT).as_posix()
    parts.append(f"The program: [`{relative}`](../{relative})\n")
    lines = len(path.read_text().splitlines())
    return f"| [{name}](#{name}) | {lines} | {milliseconds:.0f} |\n", "\n".join(parts)


def page():
    rows, sections, pictures = "", [], {}
    for line in (ROOT / "examples/README.md").read_text().splitlines():
        if found := ROW.match(line):
            command, name, arguments, purpose = found.groups()
            row, text = section(name, command, shlex.split(arguments or ""), purpose, pictures)
            rows += row
            sections.append(text)
    for path in PICTURES.glob("*.dot"):
        pictures[path.stem] = path.read_text()
    return f"{HEAD}{rows}\n" + "\n".join(sections), pictures


def comparable(text):
    """Returns the page without its times, and without the numbers and days of the programs that change."""
    text = re.sub(r"(\| \d+) \| \d+ \|", r"\1 |", text)
    head, *sections = re.split(r"(?m)^(?=## )", text)
    kept = [head]
    for part in sections:
        name = part.split("\n")[0][3:]
        # Which files a search finds first is not the matter either.
        changing = r'"files":\[.*|\d+|\w+day'
        kept.append(re.sub(changing, "0", part) if name in CHANGING else part)
    return "".join(kept)


def main():
    text, pictures = page()
    written = DOCS / "gallery.md"
    if sys.argv[1:] == ["--write"]:
        PICTURES.mkdir(exist_ok=True)
        for name, dot in pictures.items():
            if drawn_from(PICTURES / f"{name}.svg") != dot:
                (PICTURES / f"{name}.svg").write_text(render(dot))
        written.write_text(text)
        return
    old = written.read_text() if written.exists() else ""
    if comparable(old) != comparable(text):
        new = target() / "gallery.md"
        new.write_text(comparable(text))
        (target() / "gallery-old.md").write_text(comparable(old))
        subprocess.run(["diff", target() / "gallery-old.md", new])
        sys.exit("docs/gallery.md is out of date: python3 tests/gallery.py --write")
    for name, dot in pictures.items():
        if drawn_from(PICTURES / f"{name}.svg") != dot:
            sys.exit(f"docs/pictures/{name}.svg is out of date: python3 tests/gallery.py --write")
    print(f"{text.count(chr(10) + '## ')} programs, {len(pictures)} pictures")


if __name__ == "__main__":
    main()
