#!/usr/bin/env bash
# Threads on a real Restate server (npm `@restatedev/restate-server`, under its own licence) on loopback:
# 1. orders that ask, pack, and wait for a payment; in each of them the service or the server is killed with
#    SIGKILL, in every phase, once each. All ends are equal, and no item is taken off the shelf twice;
# 2. the parity cases with fan-outs, whose threads and tasks are on the server;
# 3. with `--long`: 600 orders, 100 kills in each phase, 100 with two processes of the service, all parity
#    cases, and the time that calls take;
# 4. with `--latency`: only the time that calls take, from a release build.
# Needs Linux on x86-64, node 20 with npm, curl, python3, and a C compiler; the server (226 MB) stays in the target folder. It takes
# one or two minutes after the build, with `--long` about twenty-five, and with `--latency` about two.
set -euo pipefail
cd "$(dirname "$0")/../.."

orders=12
limit=170
if [ "${1:-}" = "--long" ]; then
    orders=600
    limit=1800
fi

if [ "${1:-}" != "--latency" ]; then
    cargo build --quiet -p langgraph-features -p langgraph-restate --example orders
    cargo build --quiet -p langgraph-features -p langgraph-tests --bin parity
fi
if [ -n "${1:-}" ]; then cargo build --quiet --release -p langgraph-restate --example orders; fi

work=$(mktemp -d)
child=""
finish() {
    if [ -n "$child" ]; then kill -9 "$child" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT
source tests/peers/restate_server.sh
export LEDGER="$work/ledger" UNKNOWN="$work/unknown" PROCESSES="$work/processes" THREADS="$work/orders.sqlite"
export SERVER_LOG="$work/server.log" SERVICE_LOG="$work/service.log"

drill() { # seconds, program, its arguments. It starts the server and the service, and ends them when it ends.
    local limit=$1
    shift
    rm -rf "$RESTATE_BASE_DIR" "$THREADS"* "$LEDGER" "$UNKNOWN" "$PROCESSES"
    timeout --signal INT "$limit" "$@" || {
        echo 'failed' >&2
        tail -n 20 "$work/service.log" "$work/server.log" >&2 || true
        exit 1
    }
}

latencies() {
    for services in 1 2; do
        echo "== the time that calls take, with that many processes of the service: $services"
        SERVICES=$services drill 300 "$target/release/examples/orders" latency 200
    done
}
if [ "${1:-}" = "--latency" ]; then
    latencies
    exit
fi

echo '== orders, in which the service or the server is killed'
drill "$limit" "$target/debug/examples/orders" kill "$orders"
if [ "${1:-}" = "--long" ]; then
    echo '== the same with two processes of the service'
    SERVICES=2 drill "$limit" "$target/debug/examples/orders" kill 100
    latencies
fi

echo '== the parity cases on the server'
"$RESTATE_SERVER" --no-logo >"$work/server.log" 2>&1 &
child=$!
disown $child
for _ in $(seq 100); do
    if curl -sf "$RESTATE_ADMIN_URL/health" >/dev/null; then break; fi
    sleep 0.1
done
feature=(--feature send)
if [ "${1:-}" = "--long" ]; then feature=(); fi
timeout 900 "$target/debug/parity" --saver bytes --workplace restate "${feature[@]}" tests/parity/cases |
    grep -E '^FAIL|passed|Restate'
