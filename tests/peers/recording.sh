#!/usr/bin/env bash
# Records the Studio on the graph `essay` of the demo server, and writes docs/studio.webp: a run whose nodes light up, an
# answer to its interrupt, a fork of an older checkpoint. Needs node 20, npm, and python3 with venv and pip; takes a
# Chromium that is there, or installs Debian's as root. Packages stay in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/peers/node.sh

chromium=$(chromium_path)
packages=$(node_packages)
venv=$target/peers/pillow-12.0.0
if [[ ! -x $venv/bin/python ]] || ! "$venv/bin/python" -c 'import PIL' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check 'pillow==12.0.0'
fi
start_server
cp tests/peers/js/*.mjs "$packages"
mkdir "$work/frames"
CHROMIUM="$chromium" timeout 240 node "$packages/recording.mjs" "http://127.0.0.1:$port" "$work/frames" || {
    tail -20 "$work/server.log" >&2
    exit 1
}
"$venv/bin/python" - "$work/frames" docs/studio.webp <<'END'
import os, pathlib, sys
from PIL import Image

folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
frames = sorted(folder.glob("*.png"), key=lambda path: int(path.stem))
frames = [path for path, before in zip(frames, [None, *frames]) if before is None or path.read_bytes() != before.read_bytes()]
times = [int(path.stem) for path in frames]
# A slow machine makes no slow recording; what stands still can be read.
shown = [min(max(after - time, 80), 1200) for time, after in zip(times, times[1:])] + [3000]
images = [Image.open(path).convert("RGB").resize((960, 600), Image.LANCZOS) for path in frames]
images[0].save(out, save_all=True, append_images=images[1:], duration=shown, loop=0, quality=60, method=4)
size = os.path.getsize(out)
print(f"{out}: {len(frames)} frames, {sum(shown) / 1000:.0f} s, {size // 1024} KB")
sys.exit(size > 1_500_000)
END
