// A Chromium for the scripts beside it, and the small words of their checks.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

export async function browser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** Opens a page that tells of every error. */
export async function page(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  return { page, errors };
}

let passed = 0;
let failed = 0;

/** Runs one check, and says how it went. */
export async function check(name, body) {
  const began = Date.now();
  try {
    await body();
    passed += 1;
    console.log(`ok   ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}: ${error.stack ?? error}`);
  }
}

/** Waits until `body` returns something true. */
export async function until(body, what, ms = 20_000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await body();
    if (found) return found;
    if (Date.now() > end) assert.fail(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** The closing line; returns the exit code. */
export function report() {
  console.log(`${passed} passed, ${failed} failed`);
  return failed ? 1 : 0;
}
