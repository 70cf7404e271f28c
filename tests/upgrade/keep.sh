#!/usr/bin/env bash
# Keeps what a release stores, for the tests of later ones: once for each release, on the commit of its tag.
#
#     tests/upgrade/keep.sh v0.2.0
#
# It brings the threads, runs and rows of a server to the states in which a deploy may find them, kills the server, and
# writes a SQLite file and a dump of PostgreSQL into `tests/upgrade/v0.2.0`, which never change from then on.
# `tests/servers.sh` finds PostgreSQL, and `pg_dump` with it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if (($# != 1)); then
    echo 'usage: tests/upgrade/keep.sh RELEASE' >&2
    exit 2
fi
cargo build --quiet -p langgraph-features -p langgraph-upgrade
tests/servers.sh "${CARGO_TARGET_DIR:-target}/debug/langgraph-upgrade" keep "tests/upgrade/$1"
du -sh "tests/upgrade/$1"
