// Drives `useStream` of `@langchain/langgraph-sdk/react` in a real Chromium against the server:
// `node hooks.mjs http://127.0.0.1:2024`.
import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { browser, check, page as open, report, until } from "./browser.mjs";
import { serve } from "./static.mjs";

const server = process.argv[2];
const folder = await mkdtemp(join(tmpdir(), "hooks-"));
await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ["hooks.tsx"],
  outfile: join(folder, "hooks.js"),
  bundle: true,
  format: "esm",
  jsx: "automatic",
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "error",
});
await writeFile(join(folder, "index.html"), '<div id="root"></div><script type="module" src="/hooks.js"></script>');
const site = await serve(folder);
const chromium = await browser();
const { page, errors } = await open(chromium);

const go = async (assistant) => {
  await page.goto(`${site}/?server=${encodeURIComponent(server)}&assistant=${assistant}`);
  await page.waitForFunction(() => window.hook);
};
const seen = () => page.evaluate(() => window.seen);
const submit = (input, options) => page.evaluate(([input, options]) => void window.hook.submit(input ?? undefined, options), [input, options]);
const done = () => until(async () => !(await seen()).loading, "the run ends");
const asks = (content) => ({ messages: [{ type: "human", content }] });
const last = async () => (await seen()).messages.at(-1);

await check("a question: messages grow, tool calls have results, the hooks of a run are called", async () => {
  await go("agent");
  await submit(asks("What is 6 * 7?"));
  await until(async () => (await last())?.content === "6 * 7 = 42.", "the answer");
  await done();
  const { messages, ended, history, toolCalls } = await seen();
  assert.deepEqual(messages.map((one) => one.type), ["human", "ai", "tool", "ai"]);
  assert.deepEqual(ended, ["created true", "finished"]);
  assert.ok(history >= 5, `${history} states`);
  assert.deepEqual(toolCalls, [{ name: "calculate", state: "completed" }]);
  assert.ok((await page.evaluate(() => window.contents.size)) > 4, "the answer grew");
});

await check("a branch: the same question again, from where it was asked", async () => {
  const meta = await until(() => page.evaluate(() => window.hook.meta(3)), "the place of the answer");
  await submit(null, { checkpoint: meta.parent });
  await until(async () => (await page.evaluate(() => window.hook.meta(3)?.branchOptions?.length)) === 2, "two branches");
  await done();
  const { branchOptions } = await page.evaluate(() => window.hook.meta(3));
  await page.evaluate((branch) => window.hook.setBranch(branch), branchOptions[0]);
  assert.equal((await last()).content, "6 * 7 = 42.");
});

await check("an interrupt, and its answer", async () => {
  await go("review");
  await submit({ text: "hello" });
  await until(async () => (await seen()).interrupt, "a question");
  await done();
  assert.equal((await seen()).interrupt.question, "Is this right?");
  await submit(null, { command: { resume: "yes" } });
  await until(async () => (await seen()).values.steps?.length === 2, "the end");
  await done();
  assert.equal((await seen()).interrupt, null);
});

await check("an approval in the form of LangChain's middleware", async () => {
  await go("careful");
  await submit(asks("How many .toml files are in this folder?"));
  await until(async () => (await seen()).interrupt, "an approval");
  await done();
  const { interrupt } = await seen();
  assert.equal(interrupt.action_requests[0].name, "find_files");
  assert.deepEqual(interrupt.review_configs[0].allowed_decisions, ["approve", "edit", "reject", "respond"]);
  const args = { ...interrupt.action_requests[0].args, extension: "lock" };
  await submit(null, { command: { resume: { decisions: [{ type: "edit", edited_action: { name: "find_files", args } }] } } });
  await until(async () => (await last())?.type === "ai" && (await last()).content, "the answer");
  await done();
  assert.match((await seen()).messages.find((one) => one.type === "tool").content, /\.lock/);
});

await check("custom events, of subgraphs too", async () => {
  await go("essay");
  await submit({ topic: "moss" });
  await until(async () => (await seen()).interrupt, "a draft");
  await done();
  assert.deepEqual((await seen()).custom.map((one) => one.searching), ["the library", "the archive", "the field notes"]);
});

await check("a run is stopped", async () => {
  await go("count");
  await submit({ to: 600 });
  await until(async () => (await seen()).custom.length >= 2, "two numbers");
  await page.evaluate(() => void window.hook.stop());
  await done();
  assert.ok((await seen()).ended.includes("stopped"));
});

await check("a reload in the middle of a stream: the hook joins again and misses nothing", async () => {
  await go("count");
  await submit({ to: 20 });
  await until(async () => (await seen()).custom.length >= 4, "four numbers");
  await page.reload();
  await page.waitForFunction(() => window.hook);
  await until(async () => (await seen()).values?.seen?.length === 20, "the end of the run");
  await done();
  const numbers = (await seen()).custom.map((one) => one.number);
  assert.equal(numbers.at(-1), 20);
  assert.deepEqual(numbers, [...new Set(numbers)], "a number came twice");
});

await check("an error of a node", async () => {
  await go("essay");
  await submit({ topic: " " });
  await until(async () => (await seen()).error, "an error");
  assert.match((await seen()).error, /an essay needs a topic/);
});

await check("the page had no error of the server", async () => {
  assert.deepEqual(errors.filter((error) => /status of (4|5)\d\d|Content Security/.test(error)), []);
});

await chromium.close();
process.exit(report());
