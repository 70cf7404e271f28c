// Drives the hooks of `@langchain/react` in a real Chromium against the server:
// `node react.mjs http://127.0.0.1:2024`. They use version 2 of the streaming protocol.
import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { browser, check, page as open, report, until } from "./browser.mjs";
import { serve } from "./static.mjs";

const server = process.argv[2];
const folder = await mkdtemp(join(tmpdir(), "react-"));
await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ["react.tsx"],
  outfile: join(folder, "react.js"),
  bundle: true,
  format: "esm",
  jsx: "automatic",
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "error",
});
await writeFile(join(folder, "index.html"), '<div id="root"></div><script type="module" src="/react.js"></script>');
const site = await serve(folder);
const chromium = await browser();
const { page, errors } = await open(chromium);

const go = async (assistant) => {
  await page.goto(`${site}/?server=${encodeURIComponent(server)}&assistant=${assistant}`);
  await page.waitForFunction(() => window.hook);
};
const seen = () => page.evaluate(() => window.seen);
const call = (name, ...given) => page.evaluate(([name, given]) => void window.hook[name](...given), [name, given]);
const done = () => until(async () => !(await seen()).loading, "the run ends");
const asks = (content) => ({ messages: [{ type: "human", content }] });

await check("a question: messages grow, and tool calls have results", async () => {
  await go("agent");
  await call("submit", asks("What is 6 * 7?"));
  await until(async () => (await seen()).messages.at(-1)?.text === "6 * 7 = 42.", "the answer");
  await done();
  const { messages, toolCalls, values, threadId, effects, error } = await seen();
  assert.deepEqual(messages.map((one) => one.type), ["human", "ai", "tool", "ai"]);
  assert.equal(new Set(messages.map((one) => one.id)).size, 4);
  assert.deepEqual(toolCalls.map((one) => [one.name, one.status]), [["calculate", "finished"]]);
  assert.equal(values.messages.length, 4);
  assert.ok(threadId && effects > 0);
  assert.equal(error, null);
  assert.ok((await page.evaluate(() => window.texts.size)) > 4, "the answer grew");
});

await check("a second question, and another answer to it: a fork", async () => {
  await call("submit", asks("What is 5 * 5?"));
  await until(async () => (await seen()).messages.at(-1)?.text === "5 * 5 = 25.", "the second answer");
  await done();
  const before = (await seen()).messages;
  assert.equal(before.length, 8);
  // The checkpoint before the last answer: all but that are in it.
  await call("submit", null, { forkFrom: (await seen()).forkOfLast });
  await until(async () => (await seen()).messages.at(-1)?.id !== before.at(-1).id, "another answer");
  await until(async () => (await seen()).messages.at(-1)?.text === "5 * 5 = 25.", "the whole answer");
  await done();
  const after = (await seen()).messages;
  assert.deepEqual(after.slice(0, 7), before.slice(0, 7));
  assert.equal(after.length, 8);
});

await check("the thread is there after a reload", async () => {
  await page.reload();
  await page.waitForFunction(() => window.hook);
  await until(async () => (await seen()).messages.at(-1)?.text === "5 * 5 = 25.", "the conversation");
  assert.equal((await seen()).messages.length, 8);
});

await check("an interrupt, and its answer", async () => {
  await go("review");
  await call("submit", { text: "hello" });
  await until(async () => (await seen()).interrupt, "a question");
  assert.equal((await seen()).interrupt.question, "Is this right?");
  await done();
  await call("respond", "yes");
  await until(async () => (await seen()).values.steps?.length === 2, "the end");
  await done();
  assert.deepEqual((await seen()).values.steps, ["write", "review: yes"]);
  await until(async () => (await seen()).interrupts.length === 0, "no question is left");
});

await check("an approval, answered by its id, after a reload", async () => {
  await go("careful");
  await call("submit", asks("How many .toml files are in this folder?"));
  await until(async () => (await seen()).interrupt, "an approval");
  await done();
  await page.reload();
  await page.waitForFunction(() => window.hook);
  await until(async () => (await seen()).interrupt, "the approval again");
  const [{ id, value }] = (await seen()).interrupts;
  assert.equal(value.action_requests[0].name, "find_files");
  await call("respondAll", { [id]: { decisions: [{ type: "approve" }] } });
  await until(async () => /\.toml/.test((await seen()).messages.at(-1)?.text) && (await seen()).messages.at(-1).type === "ai", "the answer");
  await done();
});

await check("subgraphs, and custom events", async () => {
  await go("essay");
  await call("submit", { topic: "moss" });
  await until(async () => (await seen()).interrupt, "a draft");
  await done();
  const { custom, subgraphs } = await seen();
  assert.deepEqual(custom.map((one) => (one.payload ?? one).searching), ["the library", "the archive", "the field notes"]);
  assert.ok(subgraphs.some((one) => one.namespace[0].startsWith("research")), JSON.stringify(subgraphs));
});

await check("a run is stopped, and the thread goes on", async () => {
  await go("count");
  await call("submit", { to: 600 });
  await until(async () => (await seen()).custom.length >= 2, "two numbers");
  await call("stop");
  await done();
  await call("submit", { to: 2 });
  await until(async () => (await seen()).values.seen?.length === 2, "the next run");
  await done();
});

await check("what waits in line is seen, and can be taken back", async () => {
  await go("count");
  await call("submit", { to: 15 });
  await until(async () => (await seen()).loading, "the first run");
  await call("submit", { to: 1 }, { multitaskStrategy: "enqueue" });
  await call("submit", { to: 7 }, { multitaskStrategy: "enqueue" });
  await until(async () => (await seen()).queue.length === 2, "two wait");
  await call("cancel", (await seen()).queue[1].id);
  await until(async () => (await seen()).queue.length === 1, "one waits");
  await until(async () => (await seen()).values.seen?.length === 16, "both runs");
  await done();
  assert.equal((await seen()).queue.length, 0);
});

await check("a reload in the middle of a run: it goes on", async () => {
  await go("count");
  await call("submit", { to: 20 });
  await until(async () => (await seen()).custom.length >= 4, "four numbers");
  await page.reload();
  await page.waitForFunction(() => window.hook);
  await until(async () => (await seen()).loading, "the run is under way");
  await until(async () => (await seen()).values?.seen?.length === 20, "the end of the run");
  await done();
});

await check("an error of a node", async () => {
  await go("essay");
  await call("submit", { topic: " " });
  await until(async () => (await seen()).error, "an error");
  assert.match((await seen()).error, /an essay needs a topic/);
});

await check("the page had no error of the server", async () => {
  assert.deepEqual(errors.filter((error) => /status of (4|5)\d\d|Content Security/.test(error)), []);
});

await chromium.close();
process.exit(report());
