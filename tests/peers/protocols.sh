#!/usr/bin/env bash
# The server's other ways in, with the clients of the protocols' own people: PyPI `mcp` on `/mcp/`, PyPI
# `a2a-sdk` on `/a2a/{assistant}`, and npm `@langchain/langgraph-sdk` on the WebSocket of a thread. Needs
# python3 with venv and pip, and what `node.sh` needs; the clients stay in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/peers/node.sh

mcp=$(tests/peers/venv.sh mcp 'mcp==2.3.0' 'mcp-server-time==2026.10.19')
a2a=$(tests/peers/venv.sh a2a 'a2a-sdk[http-server]==1.3.0' 'uvicorn<1')
packages=$(node_packages)
start_server
cp tests/peers/js/*.mjs "$packages"
url="http://127.0.0.1:$port"
run() {
    timeout 120 "$@" || {
        tail -20 "$work/server.log" >&2
        exit 1
    }
}
run "$mcp/bin/python" tests/peers/server_mcp.py "$url"
run "$a2a/bin/python" tests/peers/server_a2a.py "$url"
run node --experimental-websocket "$packages/socket.mjs" "$url"
