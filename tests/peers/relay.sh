#!/usr/bin/env bash
# The relay under load and attack: the load example over each transport. With `--long`, also 100,000
# registrations by hostile clients, and 1,000 seeds of the simulated network, from a release build (about fifteen
# minutes on two cores).
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ "${1:-}" = "--long" ]; then
    echo '== 100,000 registrations by hostile clients'
    RELAY_HOSTILE=100000 cargo test --quiet --release -p langgraph-relay --test hostile -- --nocapture
    echo '== 1,000 seeds of a simulated network'
    RELAY_SEEDS=1000 cargo test --quiet --release -p langgraph-relay --test simulation -- --nocapture
    echo '== load'
    cargo run --quiet --release -p langgraph-relay --example load -- 20000
else
    echo '== load, for a moment'
    cargo build --quiet -p langgraph-features -p langgraph-relay --example load
    timeout 120 "${CARGO_TARGET_DIR:-target}/debug/examples/load" 500
fi
