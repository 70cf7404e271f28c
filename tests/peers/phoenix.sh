#!/usr/bin/env bash
# Exports the spans of an agent over OTLP to a real back end, PyPI `arize-phoenix`, and reads them back over
# its interface. Needs python3 with venv and pip; the back end stays in the target folder (850 MB).
set -euo pipefail
cd "$(dirname "$0")/../.."

target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
venv=$(tests/peers/venv.sh phoenix 'arize-phoenix==20.26.1')
cargo build --quiet -p langgraph-features -p langgraph-traces-example

work=$(mktemp -d)
server=""
finish() {
    local ended=$?
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    if [ "$ended" != 0 ]; then
        echo "FAILED with $ended; the end of what the back end and the agent said:" >&2
        tail -n 40 "$work"/*.log >&2
    fi
    rm -rf "$work"
}
trap finish EXIT

free() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
port=$(free)
PHOENIX_WORKING_DIR="$work" PHOENIX_HOST=127.0.0.1 PHOENIX_PORT="$port" PHOENIX_GRPC_PORT="$(free)" \
    PHOENIX_TELEMETRY_ENABLED=false timeout 600 "$venv/bin/phoenix" serve >"$work/server.log" 2>&1 &
server=$!
url="http://127.0.0.1:$port"
for _ in $(seq 360); do
    if curl --silent --fail --output /dev/null --max-time 5 "$url/healthz"; then break; fi
    kill -0 "$server" # It runs.
    sleep 0.5
done

# An exporter gives up after ten seconds by default, and its spans are lost. A back end that has just
# started on a busy machine may need longer.
export OTEL_EXPORTER_OTLP_ENDPOINT="$url" OTEL_EXPORTER_OTLP_TIMEOUT=60000
for content in "" --content; do
    timeout 150 "$target/debug/langgraph-traces-example" $content >"$work/agent.log" 2>&1
done
timeout 150 python3 tests/peers/phoenix.py "$url"
