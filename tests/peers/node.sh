# For the scripts beside it, which source it: packages for Node, a Chromium, and the demo server.
# Needs node 20 and npm; takes a Chromium that is there, or installs Debian's as root.

target="${CARGO_TARGET_DIR:-target}"
mkdir -p "$target/peers"
target=$(cd "$target" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

if ! command -v npm >/dev/null; then
    echo "npm is missing: install Node.js 20 or newer" >&2
    exit 1
fi

# Installs what `tests/peers/js` names, once per lock file, and prints where.
node_packages() {
    local from="${1:-$here/js}" name
    name="js-$(cat "$from/package.json" "$from/package-lock.json" | sha256sum | cut -c1-12)"
    local folder="$target/peers/$name"
    if [ ! -e "$folder/done" ]; then
        mkdir -p "$folder"
        cp "$from/package.json" "$from/package-lock.json" "$from/.npmrc" "$folder"
        (cd "$folder" && npm ci --silent --ignore-scripts --no-audit --no-fund >&2)
        touch "$folder/done"
    fi
    echo "$folder"
}

# Prints the path of a Chromium.
chromium_path() {
    local name
    for name in chromium chromium-browser google-chrome; do
        if command -v "$name"; then return; fi
    done
    (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core) >&2
    command -v chromium
}

free_port() {
    node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'
}

work=$(mktemp -d)
# What the programs put into temporary folders is removed with it.
export TMPDIR="$work"
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$work"
}
trap finish EXIT

# Starts the demo server on `$port`, with its threads in `$work`; or another example, with threads of its own.
start_server() {
    local example="${1:-serve}"
    if [ -n "$server" ]; then kill "$server" && wait "$server" || true; fi
    unset OPENAI_API_KEY OPENAI_BASE_URL ANTHROPIC_API_KEY ANTHROPIC_BASE_URL GEMINI_API_KEY GOOGLE_GEMINI_BASE_URL OLLAMA_HOST
    (cd "$root" && cargo build --quiet -p langgraph-features -p langgraph-server --example "$example")
    port="${port:-$(free_port)}"
    # The folder that the demo's tools search.
    cd "$root"
    PORT="$port" LANGGRAPH_DB="$work/$example.db" "$target/debug/examples/$example" >>"$work/server.log" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        if curl --silent --fail --output /dev/null "http://127.0.0.1:$port/ok"; then return; fi
        sleep 0.1
    done
    cat "$work/server.log" >&2
    exit 1
}
