#!/usr/bin/env python3
"""Measures what `langgraph` costs to build, and writes it into README.md.

    python3 tests/build_cost.py            # print the tables
    python3 tests/build_cost.py --write    # and put them between README.md's markers
    python3 tests/build_cost.py --check    # and fail where a budget is not kept

Two questions. What does `graph!` cost beside the builder? The same generated graph is written both
ways, over the same `#[node]`s, and checked by `cargo check`. What does a first program cost? A
crate with one node is built in a folder of its own.

Times are CPU seconds, user and system, of cargo and all that it starts, the least of several runs:
on a busy machine they say more than the clock. Needs Python 3.9, a Rust toolchain, and the
dependencies downloaded. It takes some minutes.
"""

import argparse
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
EDGES = [10, 100, 500]
# What `graph!` may cost more than the builder at 500 edges, and what the macro itself may take.
MORE, INSIDE = 0.1, 0.05

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
