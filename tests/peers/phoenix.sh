#!/usr/bin/env bash
# Exports the spans of an agent over OTLP to a real back end, PyPI `arize-phoenix`, and reads them back over
# its interface. Needs python3 with venv and pip; the back end stays in the target folder (850 MB).
set -euo pipefail
cd "$(dirname "$0")/../.."

target="${CARGO_TARGET_DIR:-target}"
venv="$target/peers/phoenix-20.26.1"
if [ ! -x "$venv/bin/phoenix" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "arize-phoenix==20.26.1"
fi
cargo build --quiet -p langgraph-traces-example

work=$(mktemp -d)
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

free() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
port=$(free)
PHOENIX_WORKING_DIR="$work" PHOENIX_HOST=127.0.0.1 PHOENIX_PORT="$port" PHOENIX_GRPC_PORT="$(free)" \
    PHOENIX_TELEMETRY_ENABLED=false timeout 300 "$venv/bin/phoenix" serve >"$work/server.log" 2>&1 &
server=$!
url="http://127.0.0.1:$port"
for _ in $(seq 240); do
    if curl --silent --fail --output /dev/null "$url/healthz"; then break; fi
    sleep 0.5
done

for content in "" --content; do
    OTEL_EXPORTER_OTLP_ENDPOINT="$url" timeout 60 "$target/debug/langgraph-traces-example" $content >/dev/null
done
timeout 60 python3 tests/peers/phoenix.py "$url" || {
    tail -30 "$work/server.log" >&2
    exit 1
}
