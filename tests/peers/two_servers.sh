#!/usr/bin/env bash
# Two server processes on one PostgreSQL, or with `--sqlite` on one SQLite file. One of them is killed
# with -9, and later one is told to end with SIGTERM, while many runs are under way: every run ends
# once, and each client that comes again sees every event once. With `--power` there is one server on a
# SQLite file, whose power is cut CUTS times (10 unless set): what it has not synced may be gone.
#
# Needs python3 with venv and pip, and PostgreSQL unless `--sqlite` or `--power` (`tests/servers.sh`, which
# this script calls, finds it). RUNS says how many runs; 200 unless set.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${1:-}" = --sqlite ] || [ "${1:-}" = --power ]; then
    unset DATABASE_URL
elif [ -z "${DATABASE_URL:-}" ]; then
    exec tests/servers.sh "$0" "$@"
fi

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
venv="$target/peers/python-sdk-0.4.14"
if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import langgraph_sdk' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "langgraph-sdk==0.4.14"
fi
cargo build --quiet -p langgraph-features -p langgraph-server --example serve
if [ "${1:-}" = --power ]; then
    cargo build --quiet -p langgraph-features -p langgraph-attack
    export ATTACK_POWER=$target/debug/langgraph-attack
    export ATTACK_DISK_LIBRARY=$target/debug/libattack_disk.so
    tests/attack/disk.sh "$ATTACK_DISK_LIBRARY"
fi
timeout "${LIMIT:-240}" "$venv/bin/python" tests/peers/two_servers.py "$target/debug/examples/serve"
