#!/usr/bin/env bash
# The same small graphs in this crate, in `graph-flow` (crates.io), in LangGraph for Python (PyPI), and as
# a loop by hand: nanoseconds for each node, as a table. `--write` puts it into the README.
#
# Needs python3 with venv and pip, and a calm machine. What it installs stays in the target folder. It is
# not part of `.ci/run`: seconds say nothing on a busy machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
graph_flow=0.8.1
langgraph=1.2.22

mkdir -p "${CARGO_TARGET_DIR:-target}/peers/compare/src"
target=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
project="$target/peers/compare"
cp tests/peers/compare/main.rs "$project/src/main.rs"
cat >"$project/Cargo.toml" <<END
[package]
name = "compare"
version = "0.0.0"
edition = "2024"

[dependencies]
async-trait = "0.1"
graph-flow = { version = "=$graph_flow", default-features = false }
langgraph = { path = "$root/langgraph" }
tokio = { version = "1", features = ["rt-multi-thread", "time"] }

[workspace]
END
(cd "$project" && CARGO_TARGET_DIR="$project/target" cargo build --quiet --release)

venv="$target/peers/python-langgraph-$langgraph"
if ! "$venv/bin/python" -c 'import langgraph' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "langgraph==$langgraph"
fi

{
    "$project/target/release/compare"
    "$venv/bin/python" tests/peers/compare/graphs.py
} | python3 tests/peers/compare/table.py "$graph_flow" "$langgraph" "$@"
