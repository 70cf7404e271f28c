// Serves a folder of a built page; returns its address.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

export async function serve(folder) {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://x").pathname);
    const found = await readFile(join(folder, path)).catch(() => null);
    // Every other path is the page.
    const body = found ?? (await readFile(join(folder, "index.html")));
    response.setHeader("content-type", TYPES[found ? extname(path) : ".html"] ?? "application/octet-stream");
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
}
