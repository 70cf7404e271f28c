#!/usr/bin/env bash
# Drives the server with npm `@langchain/langgraph-sdk`, every method whose route is there. Needs node
# 20 and npm; packages stay in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/peers/node.sh

packages=$(node_packages)
start_server
cp tests/peers/js/*.mjs "$packages"
timeout 120 node "$packages/sdk.mjs" "http://127.0.0.1:$port" || {
    tail -20 "$work/server.log" >&2
    exit 1
}
