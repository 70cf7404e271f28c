#!/usr/bin/env python3
"""Measures what `langgraph` costs to build, and writes it into docs/performance.md.

    python3 tests/build_cost.py            # print the tables
    python3 tests/build_cost.py --write    # and put them between the markers of docs/performance.md
    python3 tests/build_cost.py --check    # and fail where a budget is not kept

Three questions. What does `graph!` cost beside the builder? The same generated graph is written both
ways, over the same `#[node]`s, and checked by `cargo check`. What does a first program cost? A
crate with one node and the profile of `cargo langgraph new` is built in a folder of its own. What does
the README's first command cost? The example is built into an empty target folder.

Times are CPU seconds, user and system, of cargo and all that it starts, the least of several runs:
on a busy machine they say more than the clock. Needs Python 3.9, a Rust toolchain, and the
dependencies downloaded. It takes some minutes.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tables

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/performance.md"
TEMPLATE = ROOT / "crates/cargo-langgraph/templates/profile.template"
# The table of a manifest that says how dependencies are built; in a template, the last one.
DEPENDENCIES = 'profile.dev.package."*"'
EDGES = [10, 100, 500]
# What `graph!` may cost more than the builder at 500 edges, in seconds or, where everything is slower,
# as a part of what the builder costs; and what the macro itself may take.
MORE, PART, INSIDE = 0.1, 0.15, 0.05
# How large the debug binary of a first program may be, in bytes.
LARGE = 30e6
# A busy machine may make any measurement too long and none too short: so often it is tried again.
TRIES = 4

HEAD = """use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default)]
pub struct Work {
    pub count: u64,
}

pub enum Route {
    Left,
    Right,
    Done,
}

pub fn route(work: &Work) -> Route {
    match work.count % 3 {
        0 => Route::Left,
        1 => Route::Right,
        _ => Route::Done,
    }
}

"""

NODE = """#[node]
async fn {0}(work: &Work) -> WorkUpdate {{
    WorkUpdate::default().count(work.count + 1)
}}

"""


class Graph:
    """A graph of `edges` edges, written with the macro and with the builder.

    Seven edges a time: a decision between three ways, a group behind one of them, and a join; the
    rest is a chain.
    """

    def __init__(self, edges):
        self.nodes, self.macro, self.hand = ["n0"], [], ['.add_edge(START, "n0")']
        left, last = edges - 2, 0
        while left >= 7:
            at, to = f"n{last}", f"n{last + 1}"
            a, b, c = (f"{letter}{last}" for letter in "abc")
            self.nodes += [a, b, c, to]
            self.macro.append(
                f"{at} => match route {{ Route::Left => {a}, Route::Right => {to}, Route::Done => END }};"
            )
            self.macro.append(f"{a} => [{b}, {c}] => {to};")
            self.hand.append(
                f'.add_conditional_edges("{at}", |work: &Work| match route(work) '
                f'{{ Route::Left => "{a}", Route::Right => "{to}", Route::Done => END }}, '
                f'["{a}", "{to}", END])'
            )
            self.hand += [f'.add_edge("{a}", "{b}")', f'.add_edge("{a}", "{c}")']
            self.hand.append(f'.add_edge(["{b}", "{c}"], "{to}")')
            left, last = left - 7, last + 1
        chain = [f"n{last + step}" for step in range(left + 1)]
        self.nodes += chain[1:]
        self.macro.append(" => ".join([*chain, "END;"]))
        self.hand += [f'.add_edge("{a}", "{b}")' for a, b in zip(chain, chain[1:])]
        self.hand.append(f'.add_edge("{chain[-1]}", END)')

    def by_macro(self):
        lines = "\n".join(f"        {line}" for line in ["START => n0;", *self.macro])
        return self.program(f"    graph! {{\n        type State = Work;\n{lines}\n    }}")

    def by_hand(self):
        nodes = "".join(f'\n        .add_node("{node}", {node})' for node in self.nodes)
        edges = "".join(f"\n        {edge}" for edge in self.hand)
        return self.program(
            f"    let mut graph = StateGraph::<Work>::new();\n    graph{nodes}{edges};\n    graph"
        )

    def program(self, body):
        nodes = "".join(NODE.format(node) for node in self.nodes)
        return f"{HEAD}{nodes}pub fn graph() -> StateGraph<Work> {{\n{body}\n}}\n"


class Cargo:
    """Runs cargo in a folder, and says what it took."""

    def __init__(self, folder, target, **more):
        self.folder = folder
        # What the machine sets for its own builds is not what a user has.
        own = ("RUSTFLAGS", "CARGO_INCREMENTAL", "CARGO_PROFILE_")
        user = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        self.env = {**user, "CARGO_TARGET_DIR": str(target), **more}

    def run(self, *arguments):
        """CPU seconds, and what was printed."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            ["cargo", *arguments], cwd=self.folder, env=self.env, capture_output=True, text=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(done.stderr)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return spent, done.stdout + done.stderr


def package(folder, name, source, file):
    (folder / "src").mkdir(parents=True)
    (folder / "src" / file).write_text(source)
    tokio = 'tokio = { version = "1", features = ["macros", "rt"] }\n' if file == "main.rs" else ""
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "{name}"\nversion = "0.0.0"\nedition = "2024"\n\n[dependencies]\n'
        f'langgraph = {{ path = "{ROOT / "langgraph"}" }}\n{tokio}'
    )


def too_much(sizes):
    """What is over its budget, if anything is."""
    edges, macro, builder, inside = sizes[-1]
    may = max(MORE, PART * builder)
    if macro - builder > may:
        return f"at {edges} edges, `graph!` costs {macro - builder:.2f} s more than the builder; it may {may:.2f} s"
    if inside > INSIDE:
        return f"at {edges} edges, `graph!` itself takes {inside:.3f} s; it may {INSIDE} s"
    return None


def too_large(first):
    """What is over its budget of a first program, if anything is."""
    if first["debug"] > LARGE:
        return f"the debug binary of a first program has {first['debug'] / 1e6:.1f} MB; it may have {LARGE / 1e6:.0f} MB"
    return None


def graphs(folder, rounds, tries):
    """For each size: the CPU seconds of `graph!` and of the builder, and the macro's own part."""
    crates = {}
    for edges in EDGES:
        graph = Graph(edges)
        for way, source in [("macro", graph.by_macro()), ("builder", graph.by_hand())]:
            name = f"{way}-{edges}"
            package(folder / name, name, source, "lib.rs")
            crates[name] = folder / name / "src" / "lib.rs"
    members = ", ".join(f'"{name}"' for name in crates)
    (folder / "Cargo.toml").write_text(f'[workspace]\nresolver = "3"\nmembers = [{members}]\n')
    shutil.copy(ROOT / "Cargo.lock", folder)
    cargo = Cargo(folder, folder / "target", CARGO_INCREMENTAL="0", LANGGRAPH_MACROS_TIME="1")
    cargo.run("check", "--quiet")
    least, inside = {}, {}
    for _ in range(tries):
        # Side by side, so that a busy minute is not one candidate's alone.
        for _ in range(rounds):
            for name, source in crates.items():
                source.touch()
                spent, printed = cargo.run("check", "--package", name)
                least[name] = min(spent, least.get(name, spent))
                # The last one: the crates that were built before are of no interest.
                timed = re.findall(r"^graph! took (\d+) us$", printed, re.M)
                if timed:
                    inside[name] = min(int(timed[-1]) / 1e6, inside.get(name, 1.0))
        sizes = [
            (edges, least[f"macro-{edges}"], least[f"builder-{edges}"], inside[f"macro-{edges}"])
            for edges in EDGES
        ]
        if not too_much(sizes):
            break
    return sizes


HELLO = """use langgraph::prelude::*;

#[node]
async fn echo(text: &String) -> String {
    format!("you said: {text}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = graph! { START => echo => END }.compile()?;
    println!("{}", graph.invoke("hello".to_owned()).await?);
    Ok(())
}
"""


def debug_size(folder, target, *profile):
    """The size of the debug binary of a first program with another profile."""
    Cargo(folder, target).run("build", *(word for entry in profile for word in ("--config", entry)))
    return (target / "debug" / "hello-graph").stat().st_size


def hello(folder, rounds):
    """What a first program costs, with the profile that `cargo langgraph new` gives it."""
    package(folder, "hello-graph", HELLO, "main.rs")
    profile = TEMPLATE.read_text()
    # Its last table is that of the dependencies.
    assert profile.rpartition("[")[2].startswith(DEPENDENCIES), profile
    # Crates from a registry are not built incrementally; by their paths they would be, and have more
    # debug information.
    with (folder / "Cargo.toml").open("a") as manifest:
        manifest.write(f"\n{profile}incremental = false\n")
    shutil.copy(ROOT / "Cargo.lock", folder)
    main, target = folder / "src" / "main.rs", folder / "target"
    cargo = Cargo(folder, target)
    # Writes the lock file, and downloads what is missing.
    tree = cargo.run("tree", "--edges", "normal", "--prefix", "none")[1]
    cold = cargo.run("build")[0]
    again = []
    for turn in range(rounds):
        # Another text each time: for a file that is only touched, nothing is compiled.
        main.write_text(HELLO.replace("you said", f"in turn {turn} you said"))
        again.append(cargo.run("build")[0])
    full = debug_size(folder, target / "full", f"{DEPENDENCIES}.debug=true")
    packed = debug_size(
        folder, target / "packed", f"{DEPENDENCIES}.debug=true", 'profile.dev.split-debuginfo="off"'
    )
    lines = debug_size(folder, target / "lines", 'profile.dev.debug="line-tables-only"')
    cargo.run("build", "--release")
    program = target / "release" / "hello-graph"
    release = program.stat().st_size
    main.touch()
    # Of the last crate only, so that nothing else is built again.
    cargo.run("rustc", "--release", "--", "-C", "strip=symbols")
    return {
        "crates": len(set(re.findall(r"^(\S+) v\S+", tree, re.M)) - {"hello-graph"}),
        "cold": cold,
        "again": min(again),
        "debug": (target / "debug" / "hello-graph").stat().st_size,
        "full": full,
        "packed": packed,
        "lines": lines,
        "release": release,
        "stripped": program.stat().st_size,
    }


def first_command(folder):
    """What the README's first command builds, from nothing: CPU seconds, and the size of the program."""
    cargo = Cargo(ROOT, folder)
    cargo.run("fetch", "--locked")
    spent = cargo.run("build", "--locked", "-p", "langgraph-examples", "--example", "agent")[0]
    return {"cold": spent, "size": (folder / "debug" / "examples" / "agent").stat().st_size}


def user_crates():
    """How many crates `langgraph` brings along, itself included."""
    tree = Cargo(ROOT, ROOT / "target").run(
        "tree", "--package", "langgraph", "--edges", "normal", "--prefix", "none"
    )[1]
    return len(set(re.findall(r"^\S+ v[\d.]\S*", tree, re.M)))


def table(crates, command, first, sizes):
    megabytes = lambda size: f"{size / 1e6:.1f} MB"  # noqa: E731
    rows = [
        f"| `cargo build -p langgraph-examples --example agent` in this repository, the first time | seconds; size | "
        f"{command['cold']:.0f} s; {megabytes(command['size'])} |",
        f"| a program of one node and `tokio`, with the profile of `cargo langgraph new` | crates | {first['crates']} |",
        f"| | of its crates, `langgraph` and what it pulls in | {crates} |",
        f"| | first `cargo build` | {first['cold']:.0f} s |",
        f"| | `cargo build` after a change of its node | {first['again']:.2f} s |",
        f"| | binary: debug | {megabytes(first['debug'])} |",
        f"| | binary: debug with full debug information, with line tables only | {megabytes(first['full'])}, "
        f"{megabytes(first['lines'])} |",
        f"| | binary: debug with full debug information in the binary, as cargo builds it without a profile | "
        f"{megabytes(first['packed'])} |",
        f"| | binary: release, release without symbols | {megabytes(first['release'])}, {megabytes(first['stripped'])} |",
    ]
    for edges, macro, builder, inside in sizes:
        rows.append(
            f"| `cargo check` of a graph of {edges} edges | by `graph!`; by the builder | "
            f"{macro:.2f} s; {builder:.2f} s |"
        )
        rows.append(f"| | of which in `graph!` itself | {inside * 1000:.0f} ms |")
    lines = "\n".join(rows)
    return (
        f"| what | | |\n|---|---|---|\n{lines}\n\n"
        f"Seconds are those of the processor, user and system, the least of several runs "
        f"({tables.machine()})."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the tables into docs/performance.md")
    parser.add_argument("--check", action="store_true", help="fail where a budget is not kept")
    parser.add_argument("--rounds", type=int, default=7, help="runs of what is run several times")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tries = TRIES if options.check else 1
        sizes = graphs(Path(folder) / "graphs", options.rounds, tries)
        print(sizes, file=sys.stderr)
        first = hello(Path(folder) / "hello", options.rounds)
        print(first, file=sys.stderr)
        command = first_command(Path(folder) / "first")
        print(command, file=sys.stderr)
    text = table(user_crates(), command, first, sizes)
    print(text)
    if options.write:
        tables.write(PAGE, "build-cost", text)
    over = too_much(sizes) or too_large(first)
    if options.check and over:
        sys.exit(over)


if __name__ == "__main__":
    main()
