// Drives the Studio in a real Chromium, as a person would: `node studio.mjs http://127.0.0.1:2024`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { browser, check, page as open, report, until } from "./browser.mjs";

const server = process.argv[2];
const shots = process.env.SHOTS;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const chromium = await browser();
const { page, errors } = await open(chromium, { colorScheme: "light" });

const shot = async (name) => {
  if (shots) await page.screenshot({ path: `${shots}/${name}.png` });
};
const light = (node) => page.locator(`[data-node="${node}"]`).getAttribute("data-light");
const stops = () => page.locator("[data-checkpoint]").count();
const at = () => page.locator('[data-checkpoint][aria-checked="true"]').getAttribute("data-checkpoint");
const head = () => page.locator(".timeline .where").textContent();
const idle = () => until(async () => (await page.getByRole("button", { name: /^Stop/ }).count()) === 0, "the run ends");
const go = async (graph) => {
  await page.goto(`${server}/#/${graph}`);
  await page.reload();
  await page.locator(".react-flow__node").first().waitFor();
};
const say = async (text) => {
  await page.getByLabel("Message").fill(text);
  await page.getByLabel("Message").press("Enter");
};

const JSON_BODY = { "content-type": "application/json" };
const post = async (path, body) => {
  const answer = await fetch(`${server}${path}`, { method: "POST", headers: JSON_BODY, body: JSON.stringify(body) });
  assert.equal(answer.status, 200, path);
  return answer.json();
};

/** Notes every change of the nodes' lights, and how long the answer is each time it grows. */
const watch = () =>
  page.evaluate(() => {
    const seen = { lights: [], lengths: [] };
    const look = () => {
      for (const node of document.querySelectorAll("[data-light]")) {
        const now = `${node.dataset.node} ${node.dataset.light}`;
        if (!seen.lights.includes(now)) seen.lights.push(now);
      }
      const texts = [...document.querySelectorAll(".bubble.streaming .prose, [data-typed]")];
      const length = texts.at(-1)?.textContent.length ?? 0;
      if (length && !seen.lengths.includes(length)) seen.lengths.push(length);
    };
    window.seen = seen;
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  });
const seen = () => page.evaluate(() => window.seen);

const accessible = async (what) => {
  // Colours on their way from one theme to the other are no colours of the page.
  await page.evaluate(async () => {
    const short = (animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime);
    await Promise.allSettled(document.getAnimations().filter(short).map((animation) => animation.finished));
  });
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }));
  const told = found.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.map((node) => node.target.join(" ")).slice(0, 4).join("; ")}`);
  assert.deepEqual(told, [], what);
};

await check("the page shows the graph of the agent", async () => {
  await page.goto(server);
  await page.locator('[data-node="think"]').waitFor();
  assert.equal(await light("act"), "idle");
  assert.equal(await page.title(), "agent · Studio");
  const moved = await page.locator('[data-node="act"]').evaluate((node) => {
    const { top, left } = node.getBoundingClientRect();
    node.scrollIntoView({ block: "start", inline: "start" });
    const now = node.getBoundingClientRect();
    return [now.top - top, now.left - left];
  });
  assert.deepEqual(moved, [0, 0], "the frame of the picture scrolls, although it is zoomed and moved otherwise");
  await accessible("an empty page");
});

await check("a question: tokens come one by one, the graph lights up, the tools answer", async () => {
  await watch();
  await say("What is 37 * 21, and how many .toml files are in this folder?");
  await idle();
  await until(async () => (await page.locator(".chat").textContent()).includes("37 * 21 = 777"), "the answer");
  const { lights, lengths } = await seen();
  for (const wanted of ["think running", "act running", "think done", "act done"]) assert.ok(lights.includes(wanted), `${wanted} in ${lights}`);
  assert.ok(lengths.length >= 2, `the answer grew ${lengths.length} times`);
  assert.equal(await page.locator(".call").count(), 2);
  await until(async () => (await stops()) === 5, "five checkpoints");
  await shot("chat");
  await accessible("a conversation");
});

await check("each step, the run and the thread say which tokens they took and what those cost", async () => {
  const total = () => page.locator("[data-total]").textContent();
  const count = (text) => Number(/([\d,]+) tokens, cost 0\.0*[1-9]\d?$/.exec(text)?.[1].replaceAll(",", ""));
  await page.getByRole("tab", { name: "Steps" }).click();
  const steps = await page.locator('[data-step="think"] [data-usage]').allTextContents();
  assert.equal(steps.length, 2);
  assert.equal(await page.locator('[data-step="act"] [data-usage]').count(), 0, "tools take no tokens");
  const all = await total();
  assert.equal(count(all), count(steps[0]) + count(steps[1]), `${steps} ${all}`);
  await until(async () => `In all: ${await page.locator("[data-used]").textContent()}` === all, "the run's row says the same");
  await shot("cost");
  await accessible("steps with their cost");
  // Now from the history, without the events of the run.
  await page.reload();
  await until(async () => (await stops()) === 5, "the same line");
  await page.getByRole("tab", { name: "Steps" }).click();
  assert.equal(await total(), all);
  await page.getByRole("tab", { name: "Chat" }).click();
});

await check("the state is a tree that shows what each superstep changed", async () => {
  await page.getByRole("tab", { name: "State" }).click();
  const tree = page.getByRole("tree", { name: "State" });
  await tree.waitFor();
  assert.equal(await tree.locator(".mark.added").count(), 1, "a new message is marked once");
  assert.equal(await tree.locator(".row.added[aria-level='2']").count(), 1, "the last step added one message");
  await tree.getByRole("treeitem").first().focus();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await tree.getByRole("treeitem").first().getAttribute("aria-expanded"), "false");
  await page.keyboard.press("ArrowRight");
  assert.equal(await tree.getByRole("treeitem").first().getAttribute("aria-expanded"), "true");
  await shot("state");
  await accessible("a state");
});

await check("the line of checkpoints is walked with the keyboard, and the picture follows", async () => {
  const before = await at();
  await page.locator("body").click({ position: { x: 720, y: 20 } });
  await page.keyboard.press("h");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.notEqual(await at(), before);
  await until(async () => (await light("act")) === "next", "act is next");
  await page.keyboard.press("End");
  assert.equal(await at(), before);
});

await check("an older checkpoint runs on: a fork", async () => {
  await page.locator('[data-label="act"]').click();
  await page.getByRole("button", { name: "Run on" }).click();
  await idle();
  await until(async () => (await page.locator('[data-label="fork"]').count()) === 1, "a fork on the line");
  await until(async () => (await light("think")) === "done", "think ran again");
  await shot("fork");
});

await check("after a reload, everything is where it was", async () => {
  const [stand, count] = [await head(), await stops()];
  await page.reload();
  await until(async () => (await stops()) === count, "the same line");
  assert.equal(await head(), stand);
  assert.ok((await page.locator(".chat").textContent()).includes("777"));
});

await check("a test is made of a thread: its files, without the secrets", async () => {
  await page.getByRole("button", { name: "Make a test of the thread" }).click();
  const dialog = page.getByRole("dialog", { name: "Make a test of this thread" });
  await dialog.getByLabel("Rust code that makes the graph").fill("my_agent::graph()?");
  // A text that no id and no time has by chance.
  await dialog.getByLabel("Texts to take out, one a line").fill("37 * 21");
  await dialog.getByRole("button", { name: "Make the test" }).click();
  const links = dialog.getByRole("list", { name: "Files" }).getByRole("link");
  await until(async () => (await links.count()) === 3, "three files");
  const files = await links.evaluateAll((all) => all.map((link) => [link.download, decodeURIComponent(link.href)]));
  const [, source] = files.find(([name]) => name.endsWith(".rs"));
  assert.ok(source.includes("my_agent::graph()?"), source);
  for (const [name, text] of files) assert.ok(!text.includes("37 * 21"), `${name} has a text that is to be taken out`);
  await accessible("the files of a test");
  await shot("test");
  await dialog.getByRole("button", { name: "Make it again" }).waitFor();
  // One that says which superstep went wrong.
  await dialog.getByLabel("The thread").selectOption({ index: 1 });
  await dialog.getByRole("button", { name: "Make it again" }).click();
  await until(async () => {
    const now = await links.evaluateAll((all) => all.map((link) => decodeURIComponent(link.href)));
    return now.some((text) => !files.some(([, before]) => before === text));
  }, "another test");
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "hidden" });
});

await check("a breakpoint pauses the run, which goes on by hand", async () => {
  await page.getByRole("button", { name: "New thread" }).click();
  await page.locator('[data-node="act"]').hover();
  await page.getByRole("button", { name: "Pause before act" }).click();
  await say("What is 6 * 7?");
  await until(async () => (await light("act")) === "next" && (await page.getByRole("button", { name: "Run on" }).isEnabled()), "act is next");
  await page.getByRole("button", { name: "Pause before act" }).click();
  await page.getByRole("button", { name: "Run on" }).click();
  await until(async () => (await page.locator(".chat").textContent()).includes("6 * 7 = 42"), "the answer");
  await idle();
});

await check("a tool call waits for approval, with edited arguments", async () => {
  await go("careful");
  await say("How many .toml files are in this folder?");
  const approval = page.getByRole("region", { name: "Question" });
  await approval.waitFor();
  assert.equal(await light("tools"), "waiting");
  await accessible("an approval");
  await shot("approval");
  await approval.getByRole("button", { name: "Edit" }).click();
  await approval.getByLabel("extension").fill("lock");
  await approval.getByRole("button", { name: "Run with these" }).click();
  await until(async () => (await page.locator(".bubble.ai").count()) === 2, "the answer");
  await idle();
  assert.ok((await page.locator(".result").textContent()).includes(".lock"));
});

await check("an approval says until when it waits, and is answered in a name", async () => {
  await go("payment");
  await say("Pay the invoice.");
  const approval = page.getByRole("region", { name: "Question" });
  await approval.waitFor();
  assert.match(await approval.locator("[data-expires]").textContent(), /^Expires .*: then reject$/);
  await approval.getByText("Decide in a name").click();
  await approval.getByLabel("Name").fill("mallory");
  await approval.getByRole("button", { name: "Approve" }).click();
  await idle();
  await until(async () => (await approval.count()) === 1, "it waits for another person");
  const name = approval.getByLabel("Name");
  if (!(await name.isVisible())) await approval.getByText("Decide in a name").click();
  await name.fill("ada");
  await accessible("an approval in a name");
  await approval.getByRole("button", { name: "Approve" }).click();
  await until(async () => (await page.locator(".chat").textContent()).includes("paid 400"), "it is paid");
  await idle();
});

/** Waits until all nodes of the picture are in its frame. */
const fits = (what) => {
  const inside = (frame) => {
    const around = frame.getBoundingClientRect();
    return [...frame.querySelectorAll(".react-flow__node")].every((node) => {
      const own = node.getBoundingClientRect();
      return own.top >= around.top && own.bottom <= around.bottom && own.left >= around.left && own.right <= around.right;
    });
  };
  return until(() => page.locator(".react-flow").evaluate(inside), `all of the picture is in its frame, ${what}`, 3000);
};

await check("a graph with a form for its input: the subgraph lights up, the draft is typed", async () => {
  await go("essay");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  assert.equal(await page.locator(".hint.wrong").textContent(), "is needed");
  await page.getByLabel("Topic").fill("moss");
  await watch();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("region", { name: "Question" }).waitFor();
  const { lights, lengths } = await seen();
  for (const wanted of ["research running", "research:search running", "research:check done", "figures done", "write running", "review waiting"]) {
    assert.ok(lights.includes(wanted), `${wanted} in ${lights}`);
  }
  assert.ok(lengths.length >= 3, `the draft grew ${lengths.length} times`);
  await page.getByRole("button", { name: "Close the subgraph research" }).click();
  assert.equal(await page.locator('[data-node="research:search"]').count(), 0);
  await page.getByRole("button", { name: "Open the subgraph research" }).click();
  await page.locator('[data-node="research:search"]').waitFor();
  await fits("when a subgraph is opened");
  await shot("essay");
  await accessible("a form from a schema");
});

await check("the question's form comes from its schema, and its answer decides the way", async () => {
  const form = page.getByRole("region", { name: "Question" });
  await form.getByLabel("Note for the writer").fill("warmer, please");
  await form.getByText("warm", { exact: true }).click();
  await form.getByRole("button", { name: "Answer" }).click();
  await until(async () => (await page.locator(".interrupt").textContent()).includes("Draft 2"), "a second draft");
  await form.getByLabel("Publish it").check();
  await form.getByRole("button", { name: "Answer" }).click();
  await until(async () => (await light("publish")) === "done", "it is published");
  await idle();
});

await check("a run pauses in a subgraph, and goes on by hand", async () => {
  await page.getByRole("button", { name: "New thread" }).click();
  await page.locator('[data-node="research:check"]').hover();
  await page.getByRole("button", { name: "Pause before check" }).click();
  await page.getByLabel("Topic").fill("fern");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await idle();
  await until(async () => (await light("research:check")) === "next", "check is next");
  assert.equal(await light("research"), "next");
  assert.equal(await light("figures"), "done");
  assert.equal(await page.locator('[data-step="research"]').getAttribute("data-status"), "stopped");
  assert.equal(await light("research:search"), "done");
  assert.equal(await light("write"), "idle");
  await shot("paused");
  await page.getByRole("tab", { name: "State" }).click();
  await page.getByText("Subgraphs", { exact: true }).click();
  await page.locator('[data-subgraph="research"]').getByRole("tree", { name: "State of research" }).waitFor();
  await page.getByRole("button", { name: "Pause before check" }).click();
  await page.getByRole("button", { name: "Run on" }).click();
  await page.getByRole("region", { name: "Question" }).waitFor();
  assert.equal(await light("research:check"), "done");
});

await check("the state is edited at an older checkpoint, and the run goes on from there", async () => {
  const before = await stops();
  await page.getByRole("tab", { name: "State" }).click();
  await page.locator('[data-label="plan"]').click();
  await page.getByRole("button", { name: "Edit topic" }).click({ force: true });
  await page.getByLabel("New value of topic").fill('"lichen"');
  await page.getByRole("button", { name: "Save" }).click();
  await until(async () => (await page.locator('[data-label="edited"]').count()) === 1, "an edited checkpoint");
  assert.ok((await page.locator(".row.changed").first().textContent()).includes("lichen"));
  await page.getByRole("button", { name: "Run on" }).click();
  await page.getByRole("region", { name: "Question" }).waitFor();
  assert.ok((await page.locator(".interrupt").textContent()).includes("About lichen"));
  assert.ok((await stops()) > before + 1);
  await shot("edited");
});

await check("the store shows what was published, and is written to", async () => {
  await page.getByRole("button", { name: "Store" }).click();
  await page.locator(".card", { hasText: "moss" }).click();
  await page.getByRole("tree", { name: "moss" }).waitFor();
  await page.getByRole("button", { name: "New item" }).click();
  await page.getByRole("textbox", { name: "Namespace" }).fill("users / ada");
  await page.getByRole("textbox", { name: "Key" }).fill("likes");
  await page.getByRole("textbox", { name: "Value" }).fill('{"food": "figs"}');
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".card", { hasText: "likes" }).waitFor();
  await accessible("the store");
  await shot("store");
});

await check("a reload in the middle of a run misses nothing", async () => {
  await go("count");
  await page.getByLabel("to", { exact: true }).fill("60");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await until(async () => (await page.locator(".custom li").count()) >= 5, "five numbers");
  await page.reload();
  await until(async () => (await page.locator(".custom li").count()) >= 8, "the run is followed again");
  await idle();
  const numbers = await page.locator(".custom li").allTextContents();
  assert.deepEqual(numbers, Array.from({ length: 60 }, (_, index) => `number: ${index + 1}`));
});

await check("a run is stopped", async () => {
  await page.getByRole("button", { name: "New thread" }).click();
  await page.getByLabel("to", { exact: true }).fill("600");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await until(async () => (await light("count")) === "running", "it runs");
  await page.getByRole("button", { name: "Stop" }).click();
  await idle();
  await until(async () => (await page.locator(".runs .quiet").first().textContent()).startsWith("interrupted"), "the run is interrupted");
});

await check("a node that sleeps asks nothing, and is woken by hand", async () => {
  await go("later");
  await page.getByLabel("text", { exact: true }).fill("tea");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const sleep = page.getByRole("region", { name: "Sleep" });
  await sleep.getByText("Goes on by itself").waitFor();
  assert.equal(await page.getByRole("region", { name: "Question" }).count(), 0);
  await sleep.getByRole("button", { name: "Wake now" }).click();
  await until(async () => (await light("remind")) === "done", "it goes on");
  await idle();
});

await check("the tasks of an entrypoint appear in the picture as they run", async () => {
  await go("book");
  assert.equal(await page.locator('[data-node="book:outline"]').count(), 0);
  await page.getByLabel("Topic").fill("moss");
  await watch();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("region", { name: "Question" }).waitFor();
  const { lights } = await seen();
  for (const wanted of ["book running", "book:outline running", "book:outline done", "book:chapter running", "book:chapter done", "book waiting"]) {
    assert.ok(lights.includes(wanted), `${wanted} in ${lights}`);
  }
  assert.equal(await page.locator('[data-node="book:bind"]').count(), 0, "it has not run");
  assert.equal(await page.locator('[data-step="book:chapter"]').count(), 2);
  const edges = await page.locator(".react-flow__edge").evaluateAll((edges) => edges.map((edge) => edge.dataset.id ?? ""));
  assert.ok(edges.length >= 4, `${edges}`);
  assert.equal(await page.getByRole("button", { name: "Pause before chapter" }).count(), 0);
  await fits("with the tasks that have run");
  await accessible("tasks in the picture");
  await shot("tasks");
  await page.getByRole("button", { name: "Close the subgraph book" }).click();
  assert.equal(await page.locator('[data-node="book:outline"]').count(), 0);
  await page.getByRole("button", { name: "Open the subgraph book" }).click();
  await page.locator('[data-node="book:chapter"]').waitFor();
  await fits("when a subgraph is opened");
});

await check("a node that fails is shown with its error", async () => {
  await go("review");
  await page.getByLabel("text", { exact: true }).fill("hello");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const form = page.getByRole("region", { name: "Question" });
  await form.getByLabel("Answer").fill("fail");
  await form.getByRole("button", { name: "Answer" }).click();
  await until(async () => (await light("review")) === "failed", "review fails");
  assert.ok((await page.locator(".steps").textContent()).includes("the reviewer was not pleased"));
});

await check("items of a list are added and removed in a form", async () => {
  await go("review");
  const steps = page.locator("fieldset.group", { hasText: "steps" });
  for (const word of ["one", "two"]) {
    await steps.getByRole("button", { name: "Add" }).click();
    await steps.locator(".item input, .item textarea").last().fill(word);
  }
  await steps.getByRole("button", { name: "Remove steps 1" }).click();
  await page.getByLabel("text", { exact: true }).fill("a list");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("region", { name: "Question" }).waitFor();
  const [thread] = await post("/threads/search", { metadata: { graph_id: "review" }, sort_by: "created_at", sort_order: "desc", limit: 1 });
  assert.deepEqual(thread.values.steps, ["two", "write"]);
});

await check("threads and items of the store beyond the first page are shown", async () => {
  const make = async () => {
    const { thread_id } = await post("/threads", {});
    await post(`/threads/${thread_id}/runs/wait`, { assistant_id: "count", input: { to: 0 } });
  };
  for (let made = 0; made < 62; made += 1) await make();
  await go("count");
  const more = page.getByRole("button", { name: /^Show more/ });
  await more.waitFor();
  const all = Number(/60 of (\d+)/.exec(await more.textContent())?.[1]);
  assert.ok(all >= 62, await more.textContent());
  await more.click();
  await until(async () => (await page.locator("li.thread").count()) === all, `${all} threads`);

  for (let key = 0; key < 102; key += 1) {
    const item = { namespace: ["many"], key: `item ${key}`, value: { key } };
    await fetch(`${server}/store/items`, { method: "PUT", headers: JSON_BODY, body: JSON.stringify(item) });
  }
  await page.getByRole("button", { name: "Store" }).click();
  await page.locator(".pick", { hasText: "many" }).click();
  await until(async () => (await page.locator(".items .card").count()) === 100, "a page of items");
  await more.click();
  await until(async () => (await page.locator(".items .card").count()) === 102, "all items");
  await page.getByRole("button", { name: "Threads" }).click();
});

await check("a page over plain HTTP, where browsers make no UUIDs, starts a thread", async () => {
  const { page: plain, errors: wrong } = await open(chromium, { colorScheme: "light" });
  await plain.addInitScript(() => delete Crypto.prototype.randomUUID);
  await plain.goto(`${server}/#/agent`);
  assert.equal(await plain.evaluate(() => typeof crypto.randomUUID), "undefined");
  await plain.getByLabel("Message").fill("What is 3 * 5?");
  await plain.getByLabel("Message").press("Enter");
  await until(async () => (await plain.locator(".chat").textContent()).includes("3 * 5 = 15"), "the answer");
  assert.deepEqual(wrong, []);
  await plain.close();
});

await check("dark and light, and the list of keys", async () => {
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), "light");
  await page.emulateMedia({ colorScheme: "dark" });
  await until(async () => (await theme()) === "dark", "it follows the system");
  await accessible("in the dark");
  await shot("dark");
  await page.getByRole("button", { name: /^Colours/ }).click();
  assert.equal(await theme(), "light");
  await page.locator("body").click({ position: { x: 720, y: 20 } });
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
});

await check("an assistant is made, changed, and an older version used again", async () => {
  await go("agent");
  await page.getByRole("button", { name: "Assistant" }).click();
  await page.getByRole("button", { name: "New assistant" }).click();
  await page.getByLabel("Name").fill("brief");
  await page.getByRole("textbox", { name: "Context" }).fill('{"prompt": "Be brief."}');
  await page.getByRole("button", { name: "Create" }).click();
  const versions = page.locator("[data-version]");
  await until(async () => (await page.getByRole("heading", { name: "brief" }).count()) === 1, "the new assistant");
  await page.getByLabel("Description").fill("Says little.");
  await page.getByRole("button", { name: "Save as a new version" }).click();
  await until(async () => (await versions.count()) === 2, "two versions");
  await shot("assistant");
  await accessible("an assistant");
  await page.getByRole("button", { name: "Version 1" }).click();
  await until(async () => (await page.locator('[data-version="1"]').textContent()).includes("in use"), "version 1 is in use");
  await page.getByRole("button", { name: "Threads" }).click();
  await say("What is 2 * 3?");
  await idle();
  await until(async () => (await page.locator(".chat").textContent()).includes("2 * 3 = 6"), "the answer");
  await page.getByRole("tab", { name: "Steps" }).click();
  await shot("steps");
  await page.getByRole("tab", { name: "Chat" }).click();
});

await check("a thread is copied and deleted", async () => {
  const count = await page.locator("li.thread").count();
  await page.getByRole("button", { name: "Copy the thread" }).click();
  await until(async () => (await page.locator("li.thread").count()) === count + 1, "a copy");
  page.once("dialog", (dialog) => void dialog.accept());
  await page.getByRole("button", { name: "Delete the thread" }).click();
  await until(async () => (await page.locator("li.thread").count()) === count, "it is gone");
});

await check("a server that asks who calls gets a token, and the token stays in the tab", async () => {
  const asked = [];
  await page.route("**/assistants/search", async (route) => {
    const given = route.request().headers().authorization;
    asked.push(given);
    if (given === "Bearer right") await route.continue();
    else await route.fulfill({ status: 401, json: { detail: "Unauthorized" } });
  });
  await page.goto(server);
  await page.reload();
  await page.getByLabel("Bearer token").fill("wrong");
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByText("did not accept the last token").waitFor();
  await accessible("a locked page");
  await page.getByLabel("Bearer token").fill("right");
  await page.getByRole("button", { name: "Go on" }).click();
  await page.locator(".react-flow__node").first().waitFor();
  assert.deepEqual(asked.slice(-2), ["Bearer wrong", "Bearer right"]);
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes("right")), false);
  errors.splice(0, errors.length, ...errors.filter((error) => !error.includes("401")));
});

await check("the page had no error", async () => assert.deepEqual(errors, []));

await chromium.close();
process.exit(report());
