// Records the Studio: `node recording.mjs http://127.0.0.1:2024 frames GRAPH`. A frame is named for its millisecond.
import { setTimeout as pause } from "node:timers/promises";
import { browser, page as open, until } from "./browser.mjs";

const [server, folder, graph] = process.argv.slice(2);
const chromium = await browser();
const { page, errors } = await open(chromium, { colorScheme: "light", reducedMotion: "reduce", viewport: { width: 1280, height: 800 } });
await page.goto(`${server}/#/${graph}`);
await page.locator(".react-flow__node").first().waitFor();

const light = (node) => page.locator(`[data-node="${node}"]`).getAttribute("data-light");
const question = page.getByRole("region", { name: "Question" });
const idle = () => until(async () => (await page.getByRole("button", { name: /^Stop/ }).count()) === 0, "the run ends");
const says = (text) => until(async () => (await page.locator(".chat").textContent()).includes(text), text, 90_000);
const say = async (text) => {
  await page.getByLabel("Message").pressSequentially(text, { delay: 40 });
  await page.getByLabel("Message").press("Enter");
};

const scenes = {
  essay: async () => {
    await page.getByLabel("Topic").pressSequentially("moss", { delay: 120 });
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await question.waitFor();
    await pause(1500);
    await question.getByLabel("Note for the writer").pressSequentially("warmer, please", { delay: 40 });
    await question.getByText("warm", { exact: true }).click();
    await question.getByRole("button", { name: "Answer" }).click();
    await until(async () => (await page.locator(".interrupt").textContent()).includes("Draft 2"), "a second draft");
    await pause(1200);
    await question.getByLabel("Publish it").check();
    await question.getByRole("button", { name: "Answer" }).click();
    await until(async () => (await light("publish")) === "done", "it is published");
    await pause(1200);
    // An older checkpoint runs on: a fork.
    await page.locator('[data-label="plan"]').first().click();
    await pause(1000);
    await page.getByRole("button", { name: "Run on" }).click();
    await question.waitFor();
  },
  research_agent: async () => {
    await say("Tea or coffee?");
    await says("The report is in /report.md.");
    await idle();
    await pause(1500);
    // What the sub-agents did, and the files that they left.
    await page.getByRole("tab", { name: "Steps" }).click();
    await pause(1500);
    await page.getByRole("tab", { name: "State" }).click();
    await page.getByRole("tree", { name: "State" }).getByRole("treeitem").first().focus();
    await page.keyboard.press("ArrowLeft");
  },
  support_agent: async () => {
    await say("The cup of order 7 is broken. My card is 4111 1111 1111 1111, write to ada@example.org.");
    await question.waitFor();
    await pause(1500);
    await question.getByRole("button", { name: "Approve" }).click();
    await says("Order 7 is settled.");
    await idle();
    await pause(1500);
    // Another thread knows what was remembered.
    await page.getByRole("button", { name: "New thread" }).click();
    await say("Hello, it is about the cup.");
    await says("Is the new cup whole?");
    await idle();
    await pause(1500);
    await page.getByRole("button", { name: "Store" }).click();
    await page.locator(".card").first().click();
  },
  coding_agent: async () => {
    await say("A test fails. Mend the code.");
    await says("The test passes now.");
    await idle();
    await pause(1500);
    await page.getByRole("tab", { name: "Steps" }).click();
  },
};

let recording = true;
const frames = (async () => {
  const began = Date.now();
  while (recording) {
    await page.screenshot({ path: `${folder}/${Date.now() - began}.png` });
    await pause(60);
  }
})();
await pause(800);
await scenes[graph]();
await pause(1500);
recording = false;
await frames;
await chromium.close();
if (errors.length) {
  console.error(errors.join("\n"));
  process.exit(1);
}
