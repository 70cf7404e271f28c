#!/usr/bin/env bash
# Drives the server with LangGraph's own Python clients: PyPI `langgraph-sdk`, every method of
# every class, and the `RemoteGraph` of `langgraph`. Needs python3 with venv and pip; the client stays in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
venv=$(tests/peers/venv.sh python-sdk 'langgraph-sdk==0.4.14' 'langgraph==1.2.24')
cargo build --quiet -p langgraph-features -p langgraph-server --example serve

work=$(mktemp -d)
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start() {
    PORT="$port" LANGGRAPH_DB="$work/threads.db" "$target/debug/examples/serve" >>"$work/server.log" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        if curl --silent --fail --output /dev/null "http://127.0.0.1:$port/ok"; then return; fi
        sleep 0.1
    done
    cat "$work/server.log" >&2
    exit 1
}

unset OPENAI_API_KEY OPENAI_BASE_URL ANTHROPIC_API_KEY ANTHROPIC_BASE_URL GEMINI_API_KEY GOOGLE_GEMINI_BASE_URL OLLAMA_HOST
start
timeout 120 "$venv/bin/python" tests/peers/python_sdk.py "http://127.0.0.1:$port" "$work/threads.json" || {
    cat "$work/server.log" >&2
    exit 1
}
# What was written is there after a restart.
kill -9 "$server"
wait "$server" 2>/dev/null || true
start
timeout 120 "$venv/bin/python" tests/peers/python_sdk.py "http://127.0.0.1:$port" "$work/threads.json" again
