// Every method of every client class of `@langchain/langgraph-sdk`, with the answers that it must give: `node sdk.mjs http://127.0.0.1:2024`.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Client, ThreadStream } from "@langchain/langgraph-sdk";
import { check, report, until } from "./browser.mjs";

const client = new Client({ apiUrl: process.argv[2], apiKey: null, callerOptions: { maxRetries: 0 } });
const { assistants, threads, runs, crons, store } = client;

// A method that no check calls fails the test. The class behind `~ui` is for the library's own use.
const uncalled = new Set();
function watch(prototype, of) {
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name === "constructor" || name.startsWith("_") || typeof value !== "function") continue;
    const full = `${of}.${name}`;
    uncalled.add(full);
    prototype[name] = function (...given) {
      uncalled.delete(full);
      return value.apply(this, given);
    };
  }
}
for (const [of, part] of Object.entries(client)) {
  if (of !== "~ui" && typeof part === "object") watch(Object.getPrototypeOf(part), of);
}
watch(ThreadStream.prototype, "ThreadStream");

const HI = { messages: [{ role: "user", content: "What is 6 * 7?" }] };

async function refused(status, call) {
  try {
    await call();
  } catch (error) {
    assert.equal(error.status, status, error.message);
    assert.match(error.message, /detail/);
    return error.message;
  }
  assert.fail(`nothing was refused with ${status}`);
}

async function all(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

const last = (values) => values.messages.at(-1);

await check("assistants", async () => {
  const [found] = await assistants.search({ graphId: "agent" });
  assert.equal(found.name, "agent");
  assert.equal((await assistants.get("agent")).assistant_id, found.assistant_id);
  const page = await assistants.search({ limit: 1, includePagination: true });
  assert.equal(page.assistants.length, 1);
  assert.ok(page.next !== null, "there is a next page");
  const graph = await assistants.getGraph("essay", { xray: true });
  assert.ok(graph.nodes.some((node) => node.id === "research:search"));
  assert.ok("messages" in (await assistants.getSchemas("agent")).input_schema.properties);
  assert.deepEqual(Object.keys(await assistants.getSubgraphs("essay", { recurse: true })), ["research"]);
  assert.deepEqual(Object.keys(await assistants.getSubgraphs("essay", { namespace: "research" })), ["research"]);
  const count = await assistants.count();

  const made = await assistants.create({ graphId: "agent", config: { configurable: { k: 1 } }, metadata: { of: "sdk" }, name: "mine" });
  assert.deepEqual([made.version, made.context, made.name], [1, { k: 1 }, "mine"]);
  const same = await assistants.create({ graphId: "agent", assistantId: made.assistant_id, ifExists: "do_nothing" });
  assert.equal(same.assistant_id, made.assistant_id);
  await refused(409, () => assistants.create({ graphId: "agent", assistantId: made.assistant_id }));
  assert.equal(await assistants.count(), count + 1);
  assert.equal(await assistants.count({ metadata: { of: "sdk" } }), 1);
  assert.equal((await assistants.update(made.assistant_id, { metadata: { x: 1 } })).version, 2);
  assert.deepEqual((await assistants.getVersions(made.assistant_id)).map((one) => one.version), [2, 1]);
  assert.equal((await assistants.setLatest(made.assistant_id, 1)).version, 1);
  await assistants.delete(made.assistant_id);
  await refused(404, () => assistants.get(made.assistant_id));
  await refused(422, () => assistants.create({ graphId: "nothing" }));
});

await check("threads", async () => {
  const id = randomUUID();
  const made = await threads.create({ threadId: id, metadata: { of: id }, graphId: "agent" });
  assert.deepEqual([made.thread_id, made.status, made.metadata.graph_id], [id, "idle", "agent"]);
  assert.equal((await threads.create({ threadId: id, ifExists: "do_nothing" })).thread_id, id);
  await refused(409, () => threads.create({ threadId: id }));
  assert.deepEqual((await threads.update(id, { metadata: { more: 1 } })).metadata.more, 1);
  assert.equal((await threads.search({ metadata: { of: id } })).length, 1);
  assert.equal((await threads.search({ ids: [id] })).length, 1);
  assert.deepEqual(Object.keys((await threads.search({ ids: [id], select: ["thread_id"] }))[0]), ["thread_id"]);
  assert.equal(await threads.count({ metadata: { of: id } }), 1);
  await runs.wait(id, "agent", { input: HI });
  const copy = await threads.copy(id);
  assert.equal(last((await threads.getState(copy.thread_id)).values).content, "6 * 7 = 42.");
  assert.equal((await threads.get(id)).values.messages.length, 4);
  await threads.delete(copy.thread_id);
  await refused(404, () => threads.get(copy.thread_id));
  await refused(404, () => threads.get(randomUUID()));
  await refused(422, () => threads.get("no-uuid"));
  await threads.delete(id);
});

await check("a thread is made of supersteps", async () => {
  const { thread_id } = await threads.create({
    graphId: "agent",
    supersteps: [{ updates: [{ values: HI, asNode: "__start__" }] }, { updates: [{ values: { messages: [{ role: "assistant", content: "42" }] }, asNode: "think" }] }],
  });
  assert.deepEqual((await threads.getState(thread_id)).values.messages.map((one) => one.content), ["What is 6 * 7?", "42"]);
});

await check("threads are pruned, and live for a while", async () => {
  const { thread_id } = await threads.create({ ttl: 60 });
  assert.equal((await threads.get(thread_id, { include: ["ttl"] })).ttl.ttl_minutes, 60);
  await threads.update(thread_id, { ttl: { ttl: 90, strategy: "keep_latest" } });
  assert.equal((await threads.get(thread_id, { include: ["ttl"] })).ttl.strategy, "keep_latest");
  await runs.wait(thread_id, "agent", { input: HI });
  assert.deepEqual(await threads.prune([thread_id], { strategy: "keep_latest" }), { pruned_count: 1 });
  assert.equal((await threads.getHistory(thread_id)).length, 1);
  await threads.patchState(thread_id, { noted: true });
  assert.equal((await threads.get(thread_id)).metadata.noted, true);
  assert.deepEqual(Object.keys(await threads.getState(thread_id, undefined, { select: ["next"] })), ["next"]);
  const [found] = await threads.search({ ids: [thread_id], extract: { text: "values.messages[-1].content" } });
  assert.equal(found.extracted.text, "6 * 7 = 42.");
  await threads.prune([thread_id]);
  await refused(404, () => threads.get(thread_id));
});

await check("states, their history, and forks", async () => {
  const { thread_id } = await threads.create();
  await runs.wait(thread_id, "agent", { input: HI });
  const state = await threads.getState(thread_id);
  assert.deepEqual(state.next, []);
  const history = await threads.getHistory(thread_id, { limit: 100 });
  assert.equal(history.length, 5);
  assert.equal((await threads.getHistory(thread_id, { limit: 2 })).length, 2);
  const before = history.find((one) => one.next[0] === "act");
  assert.equal((await threads.getState(thread_id, before.checkpoint)).values.messages.length, 2);
  assert.equal((await threads.getState(thread_id, before.checkpoint.checkpoint_id)).values.messages.length, 2);
  assert.equal((await threads.getHistory(thread_id, { limit: 100, before: { configurable: before.checkpoint } })).length, 2);

  const question = history.at(-2).values.messages[0];
  const changed = await threads.updateState(thread_id, {
    values: { messages: [{ ...question, content: "What is 7 * 7?" }] },
    checkpoint: history.at(-2).checkpoint,
    asNode: "__start__",
  });
  const forked = await runs.wait(thread_id, "agent", { input: null, checkpoint: changed.checkpoint });
  assert.equal(last(forked).content, "7 * 7 = 49.");
  const again = await runs.wait(thread_id, "agent", { input: null, checkpointId: before.checkpoint.checkpoint_id });
  assert.equal(last(again).content, "6 * 7 = 42.");
});

await check("streams in every mode", async () => {
  const { thread_id } = await threads.create();
  const modes = ["values", "updates", "messages-tuple", "custom", "tasks", "checkpoints", "debug"];
  const seen = [];
  const parts = await all(runs.stream(thread_id, "agent", { input: HI, streamMode: modes, onRunCreated: (run) => seen.push(run.run_id) }));
  assert.equal(parts[0].event, "metadata");
  assert.deepEqual(seen, [parts[0].data.run_id]);
  const names = new Set(parts.map((part) => part.event));
  for (const name of ["values", "updates", "messages", "tasks", "checkpoints", "debug"]) assert.ok(names.has(name), name);
  const text = parts.filter((part) => part.event === "messages" && part.data[0].type === "AIMessageChunk").map((part) => part.data[0].content);
  assert.ok(text.length > 4 && text.join("").endsWith("6 * 7 = 42."), text.join("|"));

  const count = await all(runs.stream(null, "count", { input: { to: 2 }, streamMode: "custom" }));
  assert.deepEqual(count.filter((part) => part.event === "custom").map((part) => part.data.number), [1, 2]);
  const old = await all(runs.stream(null, "agent", { input: HI, streamMode: "messages" }));
  assert.ok(old.some((part) => part.event === "messages/partial"));

  const inner = await all(runs.stream(null, "essay", { input: { topic: "moss" }, streamMode: ["updates", "custom"], streamSubgraphs: true }));
  assert.ok(inner.some((part) => /^updates\|research:/.test(part.event)), "events of a subgraph");
  assert.ok(inner.some((part) => part.event === "updates" && part.data.__interrupt__));
});

await check("runs in the background: create, list, get, join, delete", async () => {
  const { thread_id } = await threads.create();
  const run = await runs.create(thread_id, "count", { input: { to: 3 }, metadata: { of: "sdk" } });
  assert.equal((await runs.get(thread_id, run.run_id)).run_id, run.run_id);
  assert.deepEqual((await runs.join(thread_id, run.run_id)).seen, [1, 2, 3]);
  assert.equal((await runs.list(thread_id)).length, 1);
  assert.equal((await runs.list(thread_id, { status: "error" })).length, 0);
  assert.equal((await runs.get(thread_id, run.run_id)).status, "success");
  await runs.delete(thread_id, run.run_id);
  await refused(404, () => runs.get(thread_id, run.run_id));
  const batch = await runs.createBatch([{ assistantId: "count", input: { to: 1 } }, { assistantId: "count", input: { to: 1 } }]);
  assert.equal(batch.length, 2);
});

await check("a stream is joined again: nothing is missed, nothing comes twice", async () => {
  const { thread_id } = await threads.create();
  const options = { input: { to: 10 }, streamMode: ["custom", "values"], streamResumable: true, onDisconnect: "continue" };
  const aborter = new AbortController();
  const first = [];
  let run;
  try {
    for await (const part of runs.stream(thread_id, "count", { ...options, signal: aborter.signal })) {
      if (part.event === "metadata") run = part.data.run_id;
      first.push(part);
      if (first.length === 5) aborter.abort();
    }
  } catch (error) {
    assert.equal(error.name, "AbortError");
  }
  const rest = await all(runs.joinStream(thread_id, run, { lastEventId: first.at(-1).id }));
  const ids = [...first, ...rest].map((part) => part.id);
  assert.equal(new Set(ids).size, ids.length, "an id came twice");
  const numbers = [...first, ...rest].filter((part) => part.event === "custom").map((part) => part.data.number);
  assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const replay = await all(runs.joinStream(thread_id, run, { lastEventId: "-1", cancelOnDisconnect: false }));
  assert.deepEqual(replay.map((part) => part.id), ids);
  const some = await all(runs.joinStream(thread_id, run, { lastEventId: "-1", streamMode: ["custom", "values"] }));
  assert.deepEqual(some.map((part) => part.id), ids, "the metadata of the run is in every mode");
});

await check("cancelling: one, several, with rollback", async () => {
  const { thread_id } = await threads.create();
  const one = await runs.create(thread_id, "count", { input: { to: 500 } });
  await runs.cancel(thread_id, one.run_id, true);
  assert.equal((await runs.get(thread_id, one.run_id)).status, "interrupted");
  const two = await runs.create(thread_id, "count", { input: { to: 500 } });
  await runs.cancelMany({ threadId: thread_id, runIds: [two.run_id] });
  await until(async () => (await runs.get(thread_id, two.run_id)).status === "interrupted", "it is cancelled");
  const three = await runs.create(thread_id, "count", { input: { to: 500 } });
  await runs.cancel(thread_id, three.run_id, true, "rollback");
  await refused(404, () => runs.get(thread_id, three.run_id));
});

await check("several runs on one thread", async () => {
  const { thread_id } = await threads.create();
  await runs.create(thread_id, "count", { input: { to: 5 } });
  await refused(409, () => runs.create(thread_id, "count", { input: { to: 1 }, multitaskStrategy: "reject" }));
  const next = await runs.create(thread_id, "count", { input: { to: 1 }, multitaskStrategy: "enqueue" });
  assert.deepEqual((await runs.join(thread_id, next.run_id)).seen, [1, 2, 3, 4, 5, 1]);
  const long = await runs.create(thread_id, "count", { input: { to: 500 } });
  await runs.wait(thread_id, "count", { input: { to: 1 }, multitaskStrategy: "interrupt" });
  assert.equal((await runs.get(thread_id, long.run_id)).status, "interrupted");
});

await check("interrupts and their answers", async () => {
  const { thread_id } = await threads.create();
  const asked = await runs.wait(thread_id, "review", { input: { text: "hello" } });
  assert.equal(asked.__interrupt__[0].value.question, "Is this right?");
  const thread = await threads.get(thread_id);
  assert.equal(thread.status, "interrupted");
  assert.equal(Object.values(thread.interrupts).flat().length, 1);
  const done = await runs.wait(thread_id, "review", { command: { resume: "yes" } });
  assert.deepEqual(done.steps, ["write", "review: yes"]);
  const failing = (await threads.create()).thread_id;
  await runs.wait(failing, "review", { input: { text: "hello" } });
  await assert.rejects(runs.wait(failing, "review", { command: { resume: "fail" } }), /the reviewer was not pleased/);
  assert.equal((await threads.get(failing)).status, "error");
  const paused = await runs.wait((await threads.create()).thread_id, "agent", { input: HI, interruptBefore: ["act"] });
  assert.equal(paused.messages.length, 2);
});

await check("the store", async () => {
  await store.putItem(["sdk", "a"], "one", { n: 1 });
  await store.putItem(["sdk", "b"], "two", { n: 2 });
  assert.deepEqual((await store.getItem(["sdk", "a"], "one")).value, { n: 1 });
  assert.equal((await store.searchItems(["sdk"], { filter: { n: 2 } })).items[0].key, "two");
  assert.equal((await store.searchItems(["sdk"], { limit: 1, offset: 1 })).items.length, 1);
  assert.deepEqual((await store.listNamespaces({ prefix: ["sdk"] })).namespaces, [["sdk", "a"], ["sdk", "b"]]);
  await store.deleteItem(["sdk", "a"], "one");
  assert.equal(await store.getItem(["sdk", "a"], "one").catch(() => null), null);
});

await check("crons: create, search, count, update, delete", async () => {
  const metadata = { of: randomUUID() };
  const { thread_id } = await threads.create();
  const on = await crons.createForThread(thread_id, "count", { schedule: "27 15 * * *", input: { to: 1 }, metadata });
  const off = await crons.create("count", { schedule: "0 0 1 1 *", input: { to: 1 }, metadata });
  assert.deepEqual([on.thread_id, off.thread_id], [thread_id, null]);
  assert.equal(await crons.count({ metadata }), 2);
  assert.equal((await crons.search({ threadId: thread_id }))[0].cron_id, on.cron_id);
  assert.equal((await crons.update(off.cron_id, { enabled: false })).next_run_date, null);
  await crons.delete(off.cron_id);
  await threads.delete(thread_id);
  assert.equal(await crons.count({ metadata }), 0, "a thread takes its crons along");
});

await check("a thread by its events: questions, answers, and a fork", async () => {
  const thread = threads.stream(randomUUID(), { assistantId: "review" });
  const heard = [];
  const errors = [];
  const off = [thread.onEvent((event) => heard.push(event.event_id)), thread.onError((error) => errors.push(error))];
  thread.startLifecycleWatcher();
  const { run_id } = await thread.submitRun({ input: { text: "events" } });
  assert.ok(run_id);
  const [asked] = await until(() => thread.interrupts.length > 0 && thread.interrupts, "a question");
  assert.equal(asked.payload.question, "Is this right?");
  await thread.respondInput({ namespace: [], interrupt_id: asked.interruptId, response: "fine" });
  const state = () => threads.getState(thread.threadId);
  await until(async () => (await state()).values.steps?.length === 2, "the end");
  assert.deepEqual((await state()).values.steps, ["write", "review: fine"]);
  const history = await threads.getHistory(thread.threadId);
  const before = history.find((one) => one.next[0] === "write");
  await thread.submitRun({ input: null, forkFrom: before.checkpoint.checkpoint_id });
  await until(async () => (await state()).next[0] === "review", "the question again");
  assert.deepEqual((await state()).values.steps, ["write"]);
  assert.equal(new Set(heard).size, heard.length, "an event came twice");
  assert.deepEqual(errors, []);
  off.forEach((one) => one());
  await thread.close();
});

await check("a thread by its events: values, messages, tools", async () => {
  const thread = threads.stream({ assistantId: "agent" });
  const values = await thread.subscribe("values");
  await thread.run.start({ input: HI });
  const seen = [];
  for await (const event of values) {
    seen.push(event);
    if (event.messages?.length === 4 || event.params?.data?.messages?.length === 4) break;
  }
  assert.ok(seen.length >= 4, `${seen.length} values`);
  assert.match(JSON.stringify(last(await thread.output).content), /42/);
  await thread.close();
});

await check("the runs of a thread, one after another", async () => {
  const { thread_id } = await threads.create();
  const aborter = new AbortController();
  const numbers = [];
  const listening = (async () => {
    for await (const part of threads.joinStream(thread_id, { streamMode: ["run_modes"], signal: aborter.signal })) {
      if (part.event === "custom") numbers.push(part.data.number);
      if (numbers.length === 4) return;
    }
  })();
  for (let run = 0; run < 2; run += 1) {
    await runs.create(thread_id, "count", { input: { to: 2 }, streamMode: "custom", streamResumable: true });
  }
  await listening;
  aborter.abort();
  assert.deepEqual(numbers, [1, 2, 1, 2]);
});

await check("no method is left out", async () => assert.deepEqual([...uncalled], []));

process.exit(report());
