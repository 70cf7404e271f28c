// Records the Studio: `node recording.mjs http://127.0.0.1:2024 frames`. A frame is named for its millisecond.
import { setTimeout as pause } from "node:timers/promises";
import { browser, page as open, until } from "./browser.mjs";

const [server, folder] = process.argv.slice(2);
const chromium = await browser();
const { page, errors } = await open(chromium, { colorScheme: "light", viewport: { width: 1280, height: 800 } });
await page.goto(`${server}/#/essay`);
await page.locator(".react-flow__node").first().waitFor();

let recording = true;
const frames = (async () => {
  const began = Date.now();
  while (recording) {
    await page.screenshot({ path: `${folder}/${Date.now() - began}.png` });
    await pause(60);
  }
})();

const light = (node) => page.locator(`[data-node="${node}"]`).getAttribute("data-light");
const question = page.getByRole("region", { name: "Question" });

await pause(800);
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
await pause(1500);

recording = false;
await frames;
await chromium.close();
if (errors.length) {
  console.error(errors.join("\n"));
  process.exit(1);
}
