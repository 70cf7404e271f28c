#!/usr/bin/env bash
# Threads on a real Restate server (npm `@restatedev/restate-server`, under its own licence) on loopback:
# 1. orders that ask, pack, and wait for a payment; in each of them the service or the server is killed with
#    SIGKILL, in every phase, once each. All ends are equal, and no item is taken off the shelf twice;
# 2. with `--long`: 100 such orders instead of 12.
# Needs Linux on x86-64, node 20 with npm, curl, python3, and a C compiler; the server (226 MB) stays in the target folder. It takes
# about half a minute after the build, and with `--long` about two.
set -euo pipefail
cd "$(dirname "$0")/../.."

orders=12
limit=170
if [ "${1:-}" = "--long" ]; then
    orders=100
    limit=1200
fi

target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
version=1.7.12
home="$target/peers/restate-$version"
server="$home/node_modules/@restatedev/restate-server-linux-x64/bin/restate-server"
if [ ! -x "$server" ]; then
    mkdir -p "$home"
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$home" "@restatedev/restate-server@$version"
fi
cargo build --quiet -p langgraph-restate --example orders

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -r ingress admin fabric service < <(python3 -c '
import socket
sockets = [socket.socket() for _ in range(4)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in sockets])')

export RESTATE_SERVER="$server" RESTATE_BASE_DIR="$work/restate" RESTATE_LISTEN_MODE=tcp RESTATE_BIND_IP=127.0.0.1
export RESTATE_BIND_PORT="$fabric" RESTATE_INGRESS__BIND_PORT="$ingress" RESTATE_ADMIN__BIND_PORT="$admin"
export RESTATE_DISABLE_TELEMETRY=true DO_NOT_TRACK=1 RESTATE_DEFAULT_NUM_PARTITIONS=4
export RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE=256MiB
export RESTATE_URL="http://127.0.0.1:$ingress" RESTATE_ADMIN_URL="http://127.0.0.1:$admin" SERVICE_PORT="$service"
export LEDGER="$work/ledger" UNKNOWN="$work/unknown" THREADS="$work/orders.sqlite"
export SERVER_LOG="$work/server.log" SERVICE_LOG="$work/service.log"

# The program starts the server and the service, and ends them when it ends.
timeout --signal INT "$limit" "$target/debug/examples/orders" kill "$orders" || {
    echo 'failed' >&2
    tail -n 20 "$work/service.log" "$work/server.log" >&2 || true
    exit 1
}
