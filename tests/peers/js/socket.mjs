// Drives a thread over its WebSocket with the JavaScript SDK: `node --experimental-websocket socket.mjs URL`.
import assert from "node:assert/strict";
import { Client } from "@langchain/langgraph-sdk";
import { check, report, until } from "./browser.mjs";

const client = new Client({ apiUrl: process.argv[2], apiKey: null });
const opened = [];
const options = (assistantId) => ({
  assistantId,
  transport: "websocket",
  webSocketFactory: (url) => {
    opened.push(url);
    return new WebSocket(url);
  },
});

await check("a run over a WebSocket: messages as they come, and the output", async () => {
  const thread = client.threads.stream(options("agent"));
  const texts = [];
  const reading = (async () => {
    for await (const message of thread.messages) {
      for await (const piece of message.text) texts.push(piece);
      if (texts.join("").endsWith("= 42.")) return;
    }
  })();
  await thread.run.start({ input: { messages: [{ role: "user", content: "What is 6 * 7?" }] } });
  const values = await thread.output;
  await reading;
  assert.match(JSON.stringify(values.messages.at(-1).content), /42/);
  assert.ok(texts.length > 4, `the answer came in ${texts.length} pieces`);
  await thread.close();
});

await check("an interrupt is answered over the same socket", async () => {
  const before = opened.length;
  const thread = client.threads.stream(options("review"));
  await thread.run.start({ input: { text: "hello" } });
  const [asked] = await until(() => thread.interrupts.length > 0 && thread.interrupts, "a question");
  assert.equal(asked.payload.question, "Is this right?");
  await thread.respondInput({ namespace: [], interrupt_id: asked.interruptId, response: "fine" });
  const state = () => client.threads.getState(thread.threadId);
  await until(async () => (await state()).next.length === 0, "the end");
  const { values } = await state();
  assert.ok(values.steps.includes("review: fine"), JSON.stringify(values));
  assert.equal(opened.length, before + 1, "one socket");
  assert.match(opened.at(-1), /^ws:.*\/threads\/.*\/stream\/events/);
  await thread.close();
});

await check("two threads at once do not mix", async () => {
  const seen = await Promise.all(
    [3, 5].map(async (to) => {
      const thread = client.threads.stream(options("count"));
      await thread.run.start({ input: { to } });
      const values = await thread.output;
      await thread.close();
      return values.seen.length;
    }),
  );
  assert.deepEqual(seen, [3, 5]);
});

process.exit(report());
