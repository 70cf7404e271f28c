#!/usr/bin/env bash
# Two server processes on one PostgreSQL, or with `--sqlite` on one SQLite file. One of them is told to
# end with SIGTERM, and later the other is killed with -9, while many runs are under way: every run ends
# once, and each client that comes again sees every event once. With `--power` there is one server on a
# SQLite file, whose power is cut CUTS times (10 unless set): what it has not synced may be gone.
#
# With `--before v0.1.0`, the server that is killed with -9 is of that tag: the new one joins it on its database,
# brings the tables to its version, hands runs over to it at SIGTERM, and takes them over when it is killed.
#
# Needs python3 with venv and pip, and PostgreSQL unless `--sqlite` or `--power` (`tests/servers.sh`, which
# this script calls, finds it). RUNS says how many runs; 200 unless set.
set -euo pipefail
cd "$(dirname "$0")/../.."
arguments=("$@")
power='' file='' before=''
while (($# > 0)); do
    case $1 in
        --sqlite) file=yes ;;
        --power) file=yes power=yes ;;
        --before) before=${2:?a tag} && shift ;;
        *) echo "two_servers.sh: unknown argument $1" >&2 && exit 2 ;;
    esac
    shift
done
if [ -n "$file" ]; then
    unset DATABASE_URL
elif [ -z "${DATABASE_URL:-}" ]; then
    exec tests/servers.sh "$0" ${arguments[@]+"${arguments[@]}"}
fi

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
venv=$(tests/peers/venv.sh two-servers 'langgraph-sdk==0.4.14')
programs=("$target/debug/examples/serve")
if [ -n "$before" ]; then
    # Two versions of a crate have the same name in one folder for what is built.
    rm -rf "$target/before/source"
    mkdir -p "$target/before/source"
    git archive "$before" | tar -x -C "$target/before/source"
    (cd "$target/before/source" &&
        CARGO_TARGET_DIR=$target/before cargo build --quiet -p langgraph-server --features postgres --example serve)
    programs+=("$target/before/debug/examples/serve")
fi
cargo build --quiet -p langgraph-features -p langgraph-server --example serve
if [ -n "$power" ]; then
    cargo build --quiet -p langgraph-features -p langgraph-attack
    export ATTACK_POWER=$target/debug/langgraph-attack
    export ATTACK_DISK_LIBRARY=$target/debug/libattack_disk.so
    tests/attack/disk.sh "$ATTACK_DISK_LIBRARY"
fi
timeout "${LIMIT:-240}" "$venv/bin/python" tests/peers/two_servers.py "${programs[@]}"
