#!/usr/bin/env bash
# Runs the agent examples against a server that fails on purpose and judges how its clients behave, PyPI
# `llmock`, which speaks OpenAI's protocol: limits, outages, streams that break, calls that make no sense.
# Needs python3 with venv and pip. The server stays in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
venv=$(tests/peers/venv.sh llmock 'llmock==0.2.2')
cargo build --quiet -p langgraph-features -p langgraph-genai --example resilient
cargo build --quiet -p langgraph-features -p langgraph-examples --example agent
timeout 120 "$venv/bin/python" tests/peers/llmock.py "$venv/bin/llmock" "$target/debug/examples"
