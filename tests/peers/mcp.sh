#!/usr/bin/env bash
# MCP against programs of others: the protocol's own Python client (PyPI `mcp`) drives a graph behind our
# server, over standard input and output and over HTTP, by the protocol of today and the one before; our
# client drives npm `@modelcontextprotocol/server-everything` and PyPI `mcp-server-time`.
# Needs python3 with venv and pip, node and npm. What it installs stays in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
venv=$(tests/peers/venv.sh mcp 'mcp==2.3.0' 'mcp-server-time==2026.10.19')
node="$target/peers/mcp-node"
if [ ! -x "$node/node_modules/.bin/mcp-server-everything" ]; then
    mkdir -p "$node"
    npm install --prefix "$node" --no-audit --no-fund --silent "@modelcontextprotocol/server-everything@2026.8.31"
fi
cargo build --quiet -p langgraph-features -p langgraph-mcp --examples
unset OPENAI_API_KEY OPENAI_BASE_URL ANTHROPIC_API_KEY ANTHROPIC_BASE_URL GEMINI_API_KEY GOOGLE_GEMINI_BASE_URL OLLAMA_HOST MODEL

echo "== the official client drives our server"
timeout 120 "$venv/bin/python" tests/peers/mcp_client.py "$target/debug/examples/serve_agent"

echo "== our client drives the reference server"
MCP_EVERYTHING="$(realpath "$node/node_modules/.bin/mcp-server-everything")" \
    timeout 300 cargo test --quiet -p langgraph-features -p langgraph-mcp --test everything -- --ignored

echo "== a model reads the schemas of a server that it does not know"
ask() {
    MCP_COMMAND="$1" timeout 60 "$target/debug/examples/react_mcp" "$2" 2>/dev/null
}
time_server="$venv/bin/mcp-server-time"
told=$(ask "$time_server" "What time is it in Tokyo?")
echo "$told"
grep -q 'calls get_current_time(timezone: "Asia/Tokyo")' <<<"$told"
grep -q '^It is 20.*+09:00 in Asia/Tokyo\.$' <<<"$told"
# No place, no call: the tool insists on one that nobody has named.
told=$(ask "$time_server" "What time is it in Atlantis?")
echo "$told"
if grep -q 'calls' <<<"$told"; then exit 1; fi
told=$(ask "$node/node_modules/.bin/mcp-server-everything stdio" "Echo hello there")
echo "$told"
grep -q '^Echo: hello there$' <<<"$told"
echo "ok"
