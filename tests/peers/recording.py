"""Makes an animated WebP of frames: `recording.py FOLDER FILE WIDTH QUALITY LIMIT`, where LIMIT is in bytes.

A frame is a PNG that is named for its millisecond; its height is five eighths of its width.
"""

import os
import pathlib
import sys

from PIL import Image

folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
width, quality, limit = map(int, sys.argv[3:])
frames = sorted(folder.glob("*.png"), key=lambda path: int(path.stem))
frames = [path for path, before in zip(frames, [None, *frames]) if before is None or path.read_bytes() != before.read_bytes()]
times = [int(path.stem) for path in frames]
# A slow machine makes no slow recording; what stands still can be read.
shown = [min(max(after - time, 80), 1200) for time, after in zip(times, times[1:])] + [3000]
images = [Image.open(path).convert("RGB").resize((width, width * 5 // 8), Image.LANCZOS) for path in frames]
images[0].save(out, save_all=True, append_images=images[1:], duration=shown, loop=0, quality=quality, method=4)
size = os.path.getsize(out)
print(f"{out}: {len(frames)} frames, {sum(shown) / 1000:.0f} s, {size // 1024} KB")
sys.exit(size > limit)
