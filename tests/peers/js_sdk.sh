#!/usr/bin/env bash
# Drives the server with npm `@langchain/langgraph-sdk`, every method of every class; and, in a real Chromium,
# with its hook for React and those of `@langchain/react`. Needs node 20 and npm; takes a Chromium that is
# there, or installs Debian's as root. Packages stay in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/peers/node.sh

chromium=$(chromium_path)
packages=$(node_packages)
start_server
cp tests/peers/js/*.mjs tests/peers/js/*.tsx "$packages"
for script in sdk hooks react; do
    CHROMIUM="$chromium" timeout 120 node "$packages/$script.mjs" "http://127.0.0.1:$port" || {
        tail -20 "$work/server.log" >&2
        exit 1
    }
done
