#!/usr/bin/env bash
# Runs the agent examples against a server that speaks the protocols of three providers, npm
# `@copilotkit/aimock`: OpenAI, Anthropic and Gemini, in one piece and streamed, with tools called side by
# side, a limit that is waited for, and a stream that breaks.
# Needs node with npm, and python3. The server stays in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
peer="$target/peers/aimock-1.43.0"
server="$peer/node_modules/@copilotkit/aimock/dist/cli.js"
if [ ! -f "$server" ]; then
    mkdir -p "$peer"
    npm install --prefix "$peer" --no-audit --no-fund --silent "@copilotkit/aimock@1.43.0"
fi
cargo build --quiet -p langgraph-features -p langgraph-genai --example resilient
cargo build --quiet -p langgraph-features -p langgraph-examples --example agent
timeout 120 python3 tests/peers/aimock.py "$server" "$target/debug/examples"
