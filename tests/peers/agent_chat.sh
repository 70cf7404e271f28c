#!/usr/bin/env bash
# Builds the Vite template of npm `create-agent-chat-app`, LangGraph's chat page, and drives it in a
# real Chromium against the server. Needs node 20 and npm; takes a Chromium that is there, or installs
# Debian's as root. The template and its packages (400 MB) stay in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/peers/node.sh

chat="$target/peers/agent-chat-0.1.6"
if [ ! -e "$chat/dist/index.html" ]; then
    rm -rf "$chat" && mkdir -p "$chat"
    (cd "$work" && npm pack --silent create-agent-chat-app@0.1.6 && tar -xzf create-agent-chat-app-0.1.6.tgz) >/dev/null
    cp -r "$work/package/templates/vite/." "$chat"
    # What the page itself does not use: a server of its own, and the tools of its authors.
    (cd "$chat" && npm pkg delete dependencies.@langchain/langgraph-api dependencies.@langchain/langgraph-cli \
        dependencies.prettier devDependencies.turbo devDependencies.eslint devDependencies.typescript-eslint \
        devDependencies.eslint-plugin-react-hooks devDependencies.eslint-plugin-react-refresh \
        devDependencies.@eslint/js devDependencies.globals) >/dev/null
    (cd "$chat" && npm install --silent --no-audit --no-fund --no-package-lock && npx --no-install vite build --logLevel error) >&2
    # The page is built: its packages are of no more use.
    rm -rf "$chat/node_modules"
fi

chromium=$(chromium_path)
packages=$(node_packages)
start_server
cp tests/peers/js/*.mjs "$packages"
CHROMIUM="$chromium" timeout 180 node "$packages/agent_chat.mjs" "http://127.0.0.1:$port" "$chat/dist" || {
    tail -20 "$work/server.log" >&2
    exit 1
}
