#!/usr/bin/env bash
# Drives the server with PyPI `openai`. Needs python3 with venv and pip, and what `node.sh` needs to
# start the server; the client stays in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/peers/node.sh

venv=$(tests/peers/venv.sh openai 'openai==3.54.0')
start_server
timeout 120 "$venv/bin/python" tests/peers/openai_client.py "http://127.0.0.1:$port/v1" || {
    tail -20 "$work/server.log" >&2
    exit 1
}
