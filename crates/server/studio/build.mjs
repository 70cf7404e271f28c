// Builds the page into `dist/`, or into the folder that is named. The same sources give the same bytes.
import { context, build } from "esbuild";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const watch = process.argv.includes("--watch");
const named = process.argv.slice(2).find((word) => !word.startsWith("--"));
const out = named ? resolve(named) : join(here, "dist");

const options = {
  absWorkingDir: here,
  entryPoints: { studio: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: !watch,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  charset: "utf8",
  legalComments: "none",
  define: { "process.env.NODE_ENV": '"production"' },
  // The SDK's streaming protocol of version 2 wraps messages in classes of `@langchain/core`, which
  // brings a tracing client along: a third of the page, for code that the page does not run.
  alias: {
    "@langchain/core/messages": "./src/sdk/messages.ts",
    "@langchain/core/utils/uuid": "./src/sdk/uuid.ts",
  },
  logLevel: watch ? "info" : "warning",
};

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await copyFile(join(here, "index.html"), join(out, "index.html"));
if (watch) {
  await (await context(options)).watch();
} else {
  await build(options);
}
