// Drives the server with npm `@ag-ui/client`: `node ag_ui.mjs http://127.0.0.1:2024`.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { HttpAgent } from "@ag-ui/client";
import { check, report } from "./browser.mjs";

const server = process.argv[2];

function agent(graph, options = {}) {
  return new HttpAgent({ url: `${server}/ag-ui/${graph}`, threadId: randomUUID(), ...options });
}

/** Runs, and returns the events. */
async function run(agent, parameters = {}) {
  const events = [];
  await agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) });
  return events;
}

const types = (events) => events.map((event) => event.type);
const ask = (agent, content) => agent.addMessage({ id: randomUUID(), role: "user", content });

await check("a question: text in pieces, tool calls with results, steps, the messages at the end", async () => {
  const one = agent("agent");
  ask(one, "What is 6 * 7?");
  const events = await run(one);
  const seen = types(events);
  assert.equal(seen[0], "RUN_STARTED");
  assert.equal(seen.at(-1), "RUN_FINISHED");
  assert.equal(events.at(-1).outcome.type, "success");
  for (const type of ["STEP_STARTED", "STEP_FINISHED", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT", "TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"]) {
    assert.ok(seen.includes(type), `${type} in ${seen}`);
  }
  assert.ok(seen.filter((type) => type === "TEXT_MESSAGE_CONTENT").length > 2, "the text comes in pieces");
  assert.deepEqual(one.messages.map((message) => message.role), ["user", "assistant", "tool", "assistant"]);
  assert.equal(one.messages.at(-1).content, "6 * 7 = 42.");
  assert.equal(one.messages[1].toolCalls[0].function.name, "calculate");
});

await check("a conversation goes on: the thread keeps what was said", async () => {
  const threadId = `not-a-uuid-${randomUUID()}`;
  const one = agent("agent", { threadId });
  ask(one, "What is 2 + 2?");
  await run(one);
  ask(one, "What is 3 + 3?");
  await run(one);
  assert.equal(one.messages.length, 8);
  assert.equal(one.messages.at(-1).content, "3 + 3 = 6.");
  // A client that has only its new message joins in.
  const other = agent("agent", { threadId });
  ask(other, "What is 4 + 4?");
  await run(other);
  assert.equal(other.messages.length, 12);
});

await check("an approval is an interrupt, and its answer resumes the run", async () => {
  const one = agent("careful");
  ask(one, "How many .toml files are in this folder?");
  const events = await run(one);
  const { outcome } = events.at(-1);
  assert.equal(outcome.type, "interrupt");
  assert.equal(outcome.interrupts[0].reason, "tool_call");
  assert.equal(outcome.interrupts[0].toolCallId, one.messages[1].toolCalls[0].id);
  assert.equal(one.pendingInterrupts.length, 1);
  const resume = [{ interruptId: outcome.interrupts[0].id, status: "resolved", payload: { type: "approve" } }];
  const rest = await run(one, { resume });
  assert.equal(rest.at(-1).outcome.type, "success");
  assert.match(one.messages.at(-1).content, /\.toml/);
});

await check("a question brings the schema of its answer; a cancelled approval is a refusal", async () => {
  const one = agent("essay", { initialState: { topic: "moss" } });
  const events = await run(one);
  const [open] = events.at(-1).outcome.interrupts;
  assert.match(open.message, /Draft 1/);
  assert.ok(open.responseSchema.properties.publish);
  assert.equal(one.state.topic, "moss");
  assert.equal(one.state.drafts, 1);
  assert.ok(types(events).includes("STATE_DELTA"));
  assert.ok(types(events).includes("CUSTOM"));
  await run(one, { resume: [{ interruptId: open.id, status: "resolved", payload: { publish: true } }] });
  assert.equal(one.state.published, true);
  assert.equal(one.state.facts.length, 3, "the state that comes back is no second input");

  const two = agent("careful");
  ask(two, "How many .toml files are in this folder?");
  const [asked] = (await run(two)).at(-1).outcome.interrupts;
  await run(two, { resume: [{ interruptId: asked.id, status: "cancelled" }] });
  assert.equal(two.pendingInterrupts.length, 0);
});

await check("what cannot run is an error event", async () => {
  const failing = agent("essay", { initialState: { topic: " " } });
  const failed = (await run(failing)).at(-1);
  assert.deepEqual([failed.type, /an essay needs a topic/.test(failed.message)], ["RUN_ERROR", true]);
  const waiting = agent("careful");
  ask(waiting, "How many .toml files are in this folder?");
  await run(waiting);
  const again = agent("careful", { threadId: waiting.threadId });
  ask(again, "And now?");
  const refused = (await run(again)).at(-1);
  assert.deepEqual([refused.type, /waits for answers/.test(refused.message)], ["RUN_ERROR", true]);
  // The client tells the console of it as well.
  const loud = console.error;
  console.error = () => {};
  await assert.rejects(run(agent("nothing")), /422|Invalid assistant/);
  console.error = loud;
});

await check("a client that stops takes its run with it", async () => {
  const one = agent("count", { initialState: { to: 600 } });
  const began = Date.now();
  const running = run(one).catch(() => null);
  setTimeout(() => one.abortRun(), 400);
  await running;
  assert.ok(Date.now() - began < 5000);
});

process.exit(report());
