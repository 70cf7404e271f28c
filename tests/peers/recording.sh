#!/usr/bin/env bash
# Records the Studio: the graph `essay` of the demo server as docs/studio.webp, and the agents that
# `cargo run -p langgraph-server --example serve_agents` serves as docs/recordings/*.webp. With names of graphs, only
# those. Needs node 20, npm, and python3 with venv and pip; takes a Chromium that is there, or installs Debian's as root.
# Packages stay in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/peers/node.sh

chromium=$(chromium_path)
packages=$(node_packages)
venv=$(tests/peers/venv.sh recording 'pillow==12.0.0')
cp tests/peers/js/*.mjs "$packages"

# Records a graph of the running server: `record GRAPH FILE WIDTH QUALITY LIMIT`, where LIMIT is in bytes.
record() {
    local frames="$work/frames-$1"
    mkdir "$frames"
    CHROMIUM="$chromium" timeout 240 node "$packages/recording.mjs" "http://127.0.0.1:$port" "$frames" "$1" || {
        tail -20 "$work/server.log" >&2
        exit 1
    }
    "$venv/bin/python" tests/peers/recording.py "$frames" "$2" "$3" "$4" "$5"
}

graphs=("$@")
if [[ $# == 0 ]]; then graphs=(essay research_agent support_agent coding_agent); fi
mkdir -p docs/recordings
for graph in "${graphs[@]}"; do
    if [[ $graph == essay ]]; then
        start_server
        record essay docs/studio.webp 960 60 1500000
    else
        PACE=90 start_server serve_agents
        record "$graph" "docs/recordings/$graph.webp" 800 45 300000
    fi
done
