#!/usr/bin/env bash
# The same work in this crate, in `graph-flow`, `synaptic-graph` and `cognis-graph` (crates.io), in LangGraph
# for Python (PyPI), and as a loop by hand: the microseconds that a run takes, as a table. `--write` puts it into
# the README. The versions below are the newest of 2026-11-26. Of the Rust crates for such graphs, these three
# were the fastest in some workload.
#
# Needs python3 with venv and pip, a C compiler (one of the libraries brings TLS along), and a calm machine.
# It measures for a minute, after a build of a few minutes the first time. What it installs stays in the
# target folder. It is not part of `.ci/run`: seconds say nothing on a busy machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
graph_flow=0.8.1
synaptic=0.4.0
cognis=0.3.2
langgraph=1.2.24

mkdir -p "${CARGO_TARGET_DIR:-target}/peers/compare"
target=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
project="$target/peers/compare"
cat >"$project/Cargo.toml" <<END
[package]
name = "compare"
version = "0.0.0"
edition = "2024"

[[bin]]
name = "compare"
path = "$root/tests/peers/compare/main.rs"

[dependencies]
async-trait = "0.1"
cognis-graph = { version = "=$cognis", default-features = false }
futures = "0.3"
graph-flow = { version = "=$graph_flow", default-features = false }
langgraph = { path = "$root/langgraph" }
serde = { version = "1", features = ["derive"] }
serde_json = "1"
synaptic-graph = { version = "=$synaptic", default-features = false }
tokio = { version = "1", features = ["rt-multi-thread", "time"] }

[workspace]
END
(cd "$project" && CARGO_TARGET_DIR="$project/target" cargo build --quiet --release)

venv=$(tests/peers/venv.sh python-langgraph "langgraph==$langgraph")

{
    "$project/target/release/compare"
    timeout 120 "$venv/bin/python" tests/peers/compare/graphs.py
} | PYTHONPATH=tests python3 tests/peers/compare/table.py "$graph_flow" "$synaptic" "$cognis" "$langgraph" "$@"
