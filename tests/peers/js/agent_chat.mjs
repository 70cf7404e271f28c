// Drives the Vite template of npm `create-agent-chat-app` in a real Chromium against the server:
// `node agent_chat.mjs http://127.0.0.1:2024 FOLDER`, where the built template is.
import assert from "node:assert/strict";
import { browser, check, page as open, report, until } from "./browser.mjs";
import { serve } from "./static.mjs";

const [server, folder] = process.argv.slice(2);
const shots = process.env.SHOTS;
const site = await serve(folder);
const chromium = await browser();
const { page, errors } = await open(chromium);
const LONG = Array.from({ length: 14 }, (_, index) => `What is ${index + 2} + 7?`).join(" ");

const shot = async (name) => {
  if (shots) await page.screenshot({ path: `${shots}/chat-${name}.png` });
};
const box = page.getByPlaceholder("Type your message...");
const text = () => page.locator("body").innerText();
const says = (what, ms) => until(async () => (await text()).includes(what), `the page says ${what}`, ms);
const idle = () => until(async () => (await page.getByRole("button", { name: "Cancel", exact: true }).count()) === 0, "the run ends");
const ask = async (question) => {
  await box.fill(question);
  await box.press("Enter");
};
const thread = () => new URL(page.url()).searchParams.get("threadId");
const state = async () => (await fetch(`${server}/threads/${thread()}/state`)).json();

await check("a question is answered, token by token", async () => {
  await page.goto(`${site}/?apiUrl=${encodeURIComponent(server)}&assistantId=careful`);
  await page.evaluate(() => {
    window.lengths = new Set();
    new MutationObserver(() => window.lengths.add(document.body.innerText.length)).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await ask("What is 6 * 7?");
  await says("6 * 7 = 42.");
  await idle();
  assert.ok((await page.evaluate(() => window.lengths.size)) > 5);
  assert.ok(thread(), "the thread is in the address");
  await shot("question");
});

await check("the answer is made again: a second branch", async () => {
  await page.getByText("6 * 7 = 42.").last().hover();
  await page.getByRole("button", { name: "Refresh" }).last().click();
  await says("2 / 2");
  await idle();
  await says("6 * 7 = 42.");
  await shot("regenerated");
});

await check("the question is edited: another branch, and back", async () => {
  await page.getByText("What is 6 * 7?").hover();
  await page.getByRole("button", { name: "Edit" }).first().click();
  await page.getByRole("textbox").first().fill("What is 9 * 9?");
  await page.getByRole("button", { name: "Submit" }).click();
  await says("9 * 9 = 81.");
  await idle();
  await says("2 / 2");
  assert.ok(!(await text()).includes("42."));
  await shot("edited");
  await page.getByText("2 / 2").first().locator("xpath=preceding-sibling::button").click();
  await says("What is 6 * 7?");
});

await check("a tool call waits for approval in the inbox of the page", async () => {
  await page.getByRole("button", { name: "New thread" }).click();
  await ask("How many .toml files are in this folder?");
  await page.getByRole("button", { name: "Accept", exact: true }).waitFor();
  await shot("approval");
  assert.equal((await state()).interrupts.length, 1);
  await page.getByRole("button", { name: "Accept", exact: true }).click();
  await says("There are");
  await idle();
  assert.equal((await state()).next.length, 0);
});

await check("its arguments are edited", async () => {
  await page.getByRole("button", { name: "New thread" }).click();
  await ask("How many .toml files are in this folder?");
  await page.getByRole("button", { name: "Accept", exact: true }).waitFor();
  await page.getByRole("textbox").filter({ hasText: "toml" }).first().fill("lock");
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await until(async () => (await state()).next.length === 0, "the run goes on");
  const messages = (await state()).values.messages;
  assert.ok(messages.some((message) => message.type === "tool" && message.content.includes(".lock")), JSON.stringify(messages));
});

await check("a run is stopped", async () => {
  await page.getByRole("button", { name: "New thread" }).click();
  await ask(LONG);
  await says("2 + 7 = 9,");
  await page.getByRole("button", { name: "Cancel" }).click();
  await idle();
  assert.ok(!(await text()).includes("15 + 7 = 22."));
  await shot("stopped");
});

await check("a reload in the middle of a stream: the run stops with its page, and the thread goes on", async () => {
  await page.getByRole("button", { name: "New thread" }).click();
  await ask(LONG);
  await says("2 + 7 = 9,");
  await page.reload();
  // The page asks for that: `on_disconnect` is `cancel`.
  await until(async () => (await (await fetch(`${server}/threads/${thread()}`)).json()).status === "interrupted", "the run stops");
  await says("What is 2 + 7?");
  await ask("What is 1 + 1?");
  await says("1 + 1 = 2.");
  await idle();
  await shot("reloaded");
});

await check("the page had no error of the server", async () => {
  assert.deepEqual(errors.filter((error) => /status of (4|5)\d\d/.test(error)), []);
});

await chromium.close();
process.exit(report());
