#!/usr/bin/env bash
# Streams answers from a server that we did not write: the OpenAI-compatible `llmock` of PyPI, which
# calls the tools it is offered, breaks streams on demand, and judges how its clients behaved.
# Needs python3 with venv and pip. Everything it installs goes into a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "llmock==0.2.2"
cargo build --quiet -p langgraph-genai --example resilient
target="${CARGO_TARGET_DIR:-target}/debug/examples"

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url="http://127.0.0.1:$port"
"$work/venv/bin/llmock" serve --host 127.0.0.1 --port "$port" --log-level warning \
    --response-style echo --stream-chunk-delay-ms 20 >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    if curl --silent --fail --output /dev/null "$url/_llmock/verdict"; then break; fi
    sleep 0.1
done

export OPENAI_BASE_URL="$url/v1" OPENAI_API_KEY=test MODEL=gpt-4.1-mini
unset ANTHROPIC_API_KEY OLLAMA_HOST

fail() {
    echo "FAILED: $1" >&2
    shift
    cat "$@" "$work/server.log" >&2
    exit 1
}

judge() {
    "$work/venv/bin/llmock" report --url "$url" --strict || fail "the server's verdict" /dev/null
    curl --silent --fail --output /dev/null -X POST "$url/_llmock/reset"
}

break_next() {
    curl --silent --fail --output /dev/null -X POST "$url/_llmock/scenario" \
        -H 'content-type: application/json' -d "{\"behaviors\": [$1]}"
}

ask() {
    "$target/resilient" "$1" >"$work/resilient.txt" || fail "$1" "$work/resilient.txt"
    grep --quiet "1 tool calls: Hello! You said: You have a clock. $1 2024-01-01 12:00:00" "$work/resilient.txt" || fail "$1: no answer" "$work/resilient.txt"
    cat "$work/resilient.txt"
    judge
}

echo "== streams without faults"
ask "all is well"
echo "== limits and errors, with and without the time to wait"
break_next '{"type": "fail", "status": 429, "retry_after": 1, "times": 2}, {"type": "fail", "status": 503}'
ask "too many requests"
echo "== streams that break"
break_next '{"type": "stream_fault", "kind": "truncate", "after_chunks": 2}'
ask "a stream that ends early"
break_next '{"type": "stream_fault", "kind": "disconnect", "after_chunks": 1}'
ask "a connection that breaks"
break_next '{"type": "stream_fault", "kind": "malformed", "after_chunks": 2}'
ask "a piece that is broken"
echo "== what a model gets wrong"
break_next '{"type": "tool_fault", "kind": "malformed_arguments"}'
"$target/resilient" "arguments that are broken" || fail "broken arguments" /dev/null
judge
break_next '{"type": "tool_fault", "kind": "unknown_tool"}'
"$target/resilient" "a tool that does not exist" || fail "an unknown tool" /dev/null
judge
echo "ok"
