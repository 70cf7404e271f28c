#!/usr/bin/env bash
# A2A 1.0 both ways: PyPI `a2a-sdk`, the protocol's own Python library, as the client of a graph, and as
# the agent that a graph asks. Needs python3 with venv and pip; the library stays in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
venv=$(tests/peers/venv.sh a2a 'a2a-sdk[http-server]==1.3.0' 'uvicorn<1')
cargo build --quiet -p langgraph-features -p langgraph-a2a --examples

work=$(mktemp -d)
pids=()
finish() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT

# Starts a program that prints its address in its first line; $address is then that line.
start() {
    local log="$work/$1.log"
    shift
    : >"$log"
    "$@" >>"$log" 2>&1 &
    pids+=($!)
    for _ in $(seq 200); do
        address=$(head -n 1 "$log")
        if [ -n "$address" ]; then return; fi
        sleep 0.05
    done
    cat "$log" >&2
    exit 1
}

start open "$target/debug/examples/a2a_agent" 127.0.0.1:0
open=$address
start closed env A2A_TOKEN=secret "$target/debug/examples/a2a_agent" 127.0.0.1:0
timeout 120 "$venv/bin/python" tests/peers/a2a_client.py "$open" "$address"

start python "$venv/bin/python" tests/peers/a2a_server.py
timeout 120 "$venv/bin/python" tests/peers/a2a_asked.py "$address" "$target/debug/examples/a2a_ask"
