import type { Usage } from "./types";

/** What several answers have used together. There is a cost only if each of them has one. */
export function sum(all: Usage[]): Usage | undefined {
  if (!all.length) return undefined;
  const tokens = all.reduce((sum, one) => sum + one.total_tokens, 0);
  if (all.some((one) => one.total_cost === undefined)) return { total_tokens: tokens };
  return { total_tokens: tokens, total_cost: all.reduce((sum, one) => sum + (one.total_cost ?? 0), 0) };
}

function answers(value: unknown): Usage[] {
  if (Array.isArray(value)) return value.flatMap(answers);
  if (typeof value !== "object" || value === null) return [];
  const usage = (value as { usage_metadata?: Usage | null }).usage_metadata;
  return usage ? [usage] : Object.values(value).flatMap(answers);
}

/** What the messages in a value have used, as their models have counted it. */
export function usageOf(value: unknown): Usage | undefined {
  return sum(answers(value));
}

/** Tokens, and what they cost in the currency of the server's prices: two digits that are not 0, at least. */
export function shown(usage: Usage): string {
  const tokens = `${usage.total_tokens.toLocaleString()} tokens`;
  const cost = usage.total_cost;
  if (cost === undefined) return tokens;
  const digits = cost > 0 ? Math.min(8, Math.max(2, 1 - Math.floor(Math.log10(cost)))) : 2;
  return `${tokens}, cost ${cost.toFixed(digits)}`;
}
