#!/usr/bin/env bash
# Does what docs/tutorial-team.md says: writes its files, runs its commands, starts its server, and runs its client,
# npm `@langchain/langgraph-sdk`, whose lines have to be those of the page, with the types that the graph has. Needs
# node 20 and npm, and a C compiler.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/peers/node.sh

page=docs/tutorial-team.md
packages=$(node_packages)
cargo run --quiet -p langgraph-page-tests --bin read-page -- "$page" teahouse "$work"

port=$(free_port)
cd "$work/teahouse"
PORT="$port" "$target/debug/teahouse" >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    if curl --silent --fail --output /dev/null "http://127.0.0.1:$port/ok"; then break; fi
    kill -0 "$server" # It runs.
    sleep 0.1
done
cd "$root"

# The client fits the types of the graph.
cargo build --quiet -p cargo-langgraph
# Its program goes to where the page's was built, with the same settings: most of what it needs is there.
mkdir -p "$work/built/langgraph"
ln -s "$target" "$work/built/langgraph/target"
(cd "$work/teahouse" && CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false CARGO_TARGET_DIR=$work/built \
    "$target/debug/cargo-langgraph" langgraph types --ts >types.ts)
compiler=$(node_packages "$root/crates/server/studio")
ln -s "$compiler/node_modules" "$work/teahouse/node_modules"
cat >"$work/teahouse/tsconfig.json" <<'END'
{
  "compilerOptions": {
    "target": "es2022", "module": "esnext", "moduleResolution": "bundler", "lib": ["es2022", "dom"],
    "strict": true, "noEmit": true, "skipLibCheck": true
  },
  "include": ["*.ts"]
}
END
echo 'declare const process: { env: Record<string, string | undefined> };' >"$work/teahouse/node.d.ts"
(cd "$work/teahouse" && npx --no-install tsc)

cp "$work/teahouse/client.ts" "$packages/tutorial.ts"
"$packages/node_modules/.bin/esbuild" "$packages/tutorial.ts" --log-level=warning --format=esm --outfile="$packages/tutorial.mjs"
SERVER="http://127.0.0.1:$port" timeout 60 node "$packages/tutorial.mjs" >"$work/printed" || {
    tail -20 "$work/server.log" >&2
    exit 1
}
# What the page says after its client.
sed -n '/^\/\/ client.ts$/,$p' "$page" | sed -n '/^```text$/,/^```$/p' | sed '/^```/d' | diff - "$work/printed"
echo "the client prints what the page says"
