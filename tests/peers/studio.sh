#!/usr/bin/env bash
# Builds the Studio anew and compares it with the page in the repository; then a real Chromium drives
# it against the demo server. Needs node 20 and npm; takes a Chromium that is there, or installs
# Debian's as root. Packages stay in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/peers/node.sh

studio="$root/crates/server/studio"
modules=$(node_packages "$studio")
build="$work/studio"
mkdir "$build"
cp -r "$studio/src" "$studio/build.mjs" "$studio/index.html" "$studio/tsconfig.json" "$studio/package.json" "$build"
ln -s "$modules/node_modules" "$build/node_modules"
(cd "$build" && npx --no-install tsc --noEmit && node build.mjs "$work/dist" >/dev/null)
diff -r "$work/dist" "$studio/dist" >/dev/null || {
    echo "crates/server/studio/dist is not what its sources give: run 'npm ci && npm run build' there" >&2
    exit 1
}
size=$(du -sb "$studio/dist" | cut -f1)
echo "the page is as built, $size bytes"
((size <= 1048576)) || { echo "the page is larger than 1 MB" >&2; exit 1; }

chromium=$(chromium_path)
packages=$(node_packages)
start_server
cp tests/peers/js/*.mjs "$packages"
CHROMIUM="$chromium" timeout 240 node "$packages/studio.mjs" "http://127.0.0.1:$port" || {
    tail -20 "$work/server.log" >&2
    exit 1
}
