import type { Json } from "./types";
import { isFields } from "./types";

export type Mark = "added" | "removed" | "changed" | "same";

/** A value beside the one before it. */
export interface Diff {
  key: string;
  mark: Mark;
  value: Json | undefined;
  before: Json | undefined;
  children: Diff[] | null;
  isList: boolean;
}

export function equal(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => equal(item, other[index]));
  }
  if (isFields(one) && isFields(other)) {
    const keys = Object.keys(one);
    return keys.length === Object.keys(other).length && keys.every((key) => key in other && equal(one[key], other[key]));
  }
  return false;
}

function idOf(value: Json | undefined): string | null {
  return isFields(value) && typeof value.id === "string" ? value.id : null;
}

/** Pairs the items of two lists: by id where they have one, by place otherwise. */
function pairs(now: Json[], before: Json[]): [Json | undefined, Json | undefined][] {
  const ids = new Map(before.map((item, index) => [idOf(item), index] as const).filter(([id]) => id !== null));
  if (ids.size !== before.length || now.some((item) => idOf(item) === null)) {
    const length = Math.max(now.length, before.length);
    return Array.from({ length }, (_, index) => [now[index], before[index]]);
  }
  const left = new Set(before.keys());
  const out: [Json | undefined, Json | undefined][] = now.map((item) => {
    const place = ids.get(idOf(item));
    if (place === undefined) return [item, undefined];
    left.delete(place);
    return [item, before[place]];
  });
  return [...out, ...[...left].map((place): [undefined, Json | undefined] => [undefined, before[place]])];
}

/** Compares two values, field by field. `undefined` is a value that is not there. */
export function compare(key: string, value: Json | undefined, before: Json | undefined): Diff {
  const mark: Mark =
    before === undefined && value !== undefined
      ? "added"
      : value === undefined && before !== undefined
        ? "removed"
        : equal(value, before)
          ? "same"
          : "changed";
  const shown = value === undefined ? before : value;
  let children: Diff[] | null = null;
  if (Array.isArray(shown)) {
    const now = Array.isArray(value) ? value : [];
    const old = Array.isArray(before) ? before : [];
    children = pairs(now, old).map(([item, past], index) => compare(String(index), item, past));
  } else if (isFields(shown)) {
    const now = isFields(value) ? value : {};
    const old = isFields(before) ? before : {};
    const keys = [...new Set([...Object.keys(now), ...Object.keys(old)])];
    children = keys.map((name) => compare(name, now[name], old[name]));
  }
  return { key, mark, value, before, children, isList: Array.isArray(shown) };
}

/** The names of the fields that differ between two states. */
export function changed(value: Json | undefined, before: Json | undefined): string[] {
  if (!isFields(value)) return equal(value, before) ? [] : ["value"];
  const old = isFields(before) ? before : {};
  return Object.keys(value).filter((key) => !equal(value[key], old[key]));
}

/** The words that both texts begin and end with, and what is between. */
export function words(before: string, now: string): { head: string; gone: string; come: string; tail: string } {
  const one = before.split(/(?<=\s)/);
  const other = now.split(/(?<=\s)/);
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < one.length - start && end < other.length - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  return {
    head: other.slice(0, start).join(""),
    gone: one.slice(start, one.length - end).join(""),
    come: other.slice(start, other.length - end).join(""),
    tail: end ? other.slice(-end).join("") : "",
  };
}
