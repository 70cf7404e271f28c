#!/usr/bin/env bash
# Sends requests that PyPI `schemathesis` makes of the server's own OpenAPI document to the demo server: no answer is a
# server error, and each has a documented status and content type. EXAMPLES is the number of requests per operation.
# Needs python3 with venv and pip. What it installs stays in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
venv=$(tests/peers/venv.sh schemathesis 'schemathesis==4.32.5')
cargo build --quiet -p langgraph-features -p langgraph-server --example serve

work=$(mktemp -d)
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT
unset OPENAI_API_KEY OPENAI_BASE_URL ANTHROPIC_API_KEY ANTHROPIC_BASE_URL GEMINI_API_KEY GOOGLE_GEMINI_BASE_URL OLLAMA_HOST
port=$("$venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
PORT="$port" LANGGRAPH_DB="$work/threads.db" "$target/debug/examples/serve" >"$work/server.log" 2>&1 &
server=$!
url="http://127.0.0.1:$port"
for _ in $(seq 100); do
    if curl --silent --fail --output /dev/null "$url/ok"; then break; fi
    sleep 0.1
done

# The events of a thread do not end.
checks=not_a_server_error,status_code_conformance,content_type_conformance
# It leaves a cache where it runs.
cd "$work"
if ! timeout 280 "$venv/bin/schemathesis" run "$url/openapi.json" --checks "$checks" --phases examples,fuzzing \
    --max-examples "${EXAMPLES:-15}" --seed 1 --request-timeout 20 --no-color \
    --exclude-path-regex '/threads/\{thread\}/stream' >"$work/report.txt" 2>&1; then
    cat "$work/report.txt"
    tail -20 "$work/server.log" >&2
    exit 1
fi
tail -15 "$work/report.txt"
