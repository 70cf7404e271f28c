#!/usr/bin/env bash
# Durable supersteps a second, and the time of one, in this crate and in what else stores steps: `dbos` (crates.io and
# PyPI), Restate (npm), `graph-flow` (crates.io) and LangGraph for Python with its savers, with 1, 16 and 64 threads at
# once. Each runs chains of 20 steps of which each returns 500 bytes, with `fsync`. `--write` puts the table into
# docs/performance.md. The versions below, and that in `restate_server.sh`, are the newest of 2026-11-26.
#
# Needs Linux on x86-64, python3 with venv and pip, node 20 with npm, a C compiler (two of the libraries bring TLS
# along), and a calm machine; PostgreSQL as `tests/servers.sh`. It measures for ten minutes, after a build of some
# minutes the first time: `SECONDS_EACH=2 ROUNDS=1` shortens that, and `--only Restate` measures the rows with that in
# their titles. What it installs stays in the target folder. It is not part of `.ci/run`: seconds say nothing on a
# busy machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${DATABASE_URL:-}" ]; then
    POSTGRES_DURABLE=yes exec tests/servers.sh tests/peers/durable.sh "$@"
fi
root=$PWD
dbos=0.5.0
dbos_python=3.4.0
graph_flow=0.8.1
langgraph=1.2.24
langgraph_postgres=3.2.0
langgraph_sqlite=3.1.2
psycopg=3.3.9
restate_sdk=0.13.0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source tests/peers/restate_server.sh
projects="$target/peers/durable"

# Builds a program with the dependencies on standard input. Each is a package of its own: together they would ask for
# several versions of SQLite.
program() {
    mkdir -p "$projects/$1"
    {
        cat <<END
[package]
name = "durable-$1"
version = "0.0.0"
edition = "2024"

[[bin]]
name = "$1"
path = "$root/tests/peers/durable/$1.rs"

[workspace]

[dependencies]
tokio = { version = "1", features = ["rt-multi-thread", "net", "time"] }
END
        cat
    } >"$projects/$1/Cargo.toml"
    (cd "$projects/$1" && CARGO_TARGET_DIR="$projects/target" cargo build --quiet --release)
}
program ours <<END
langgraph = { path = "$root/langgraph" }
langgraph-postgres = { path = "$root/crates/postgres" }
langgraph-sqlite = { path = "$root/crates/sqlite" }
END
program dbos <<END
dbos = "=$dbos"
END
program graph_flow <<END
async-trait = "0.1"
graph-flow = "=$graph_flow"
sqlx = { version = "0.8", default-features = false }
END
program restate <<END
reqwest = { version = "0.13", default-features = false }
restate-sdk = { version = "=$restate_sdk", default-features = false, features = ["http_server", "rust_crypto"] }
serde_json = "1"
END

venv=$(tests/peers/venv.sh durable-python "langgraph==$langgraph" "langgraph-checkpoint-postgres==$langgraph_postgres" \
    "langgraph-checkpoint-sqlite==$langgraph_sqlite" "psycopg[binary,pool]==$psycopg" "dbos==$dbos_python")

PYTHONPATH=tests python3 tests/peers/durable/measure.py "$projects/target" "$venv/bin/python" \
    "$dbos" "$dbos_python" "$RESTATE_VERSION" "$langgraph" "$graph_flow" "$@"
