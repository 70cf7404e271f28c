#!/usr/bin/env bash
# Runs over HTTP that stream ten events: this crate's server, in memory and on a SQLite file, a bare axum server that
# streams the same bytes, and LangGraph's own server for development (PyPI), which keeps its runs in memory. `--write`
# puts the rows into the README's table. The versions below are the newest of 2026-11-27.
#
# Needs python3 with venv and pip, and a calm machine. It measures for two minutes, after a build of a few minutes the
# first time. It is not part of `.ci/run`: seconds say nothing on a busy machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
langgraph=1.2.24
server=0.16.7
command=0.4.40

mkdir -p "${CARGO_TARGET_DIR:-target}/peers"
bench=$(cargo bench -p langgraph-server --bench load --no-run --message-format=json-render-diagnostics |
    sed -n 's/.*"name":"load".*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
venv=$(tests/peers/venv.sh served "langgraph==$langgraph" "langgraph-api==$server" "langgraph-cli[inmem]==$command")
work=$(mktemp -d)
trap 'rm -rf "$work" tests/peers/served/.langgraph_api' EXIT
PYTHONPATH=tests python3 tests/peers/served/measure.py "$bench" "$venv/bin/langgraph" "$server" "$work" "$@"
