import type { Json, Message } from "./types";
import { isFields } from "./types";

/** The text of a message's content: a string, or a list of parts. */
export function textOf(content: Json | undefined): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) {
    return content
      .map((part) => (typeof part === "string" ? part : isFields(part) && typeof part.text === "string" ? part.text : ""))
      .join("");
  }
  return "";
}

/** The messages of a state, if it has any. */
export function messagesOf(values: Json | undefined): Message[] | null {
  if (!isFields(values)) return null;
  const found = values.messages;
  return Array.isArray(found) ? (found as unknown as Message[]) : null;
}

/** A line that names a thread: its first words, or what its state begins with. */
export function titleOf(values: Json | undefined): string | null {
  const messages = messagesOf(values);
  const first = messages?.find((message) => message.type === "human") ?? messages?.[0];
  if (first) return textOf(first.content).trim() || null;
  if (isFields(values)) {
    const named = ["title", "topic", "subject", "question", "query", "task", "name", "text", "input"].map((key) => values[key]);
    for (const value of [...named, ...Object.values(values)]) {
      if (typeof value === "string" && value.trim()) return value.trim();
    }
  }
  return typeof values === "string" && values ? values : null;
}

export function short(id: string): string {
  return id.length > 13 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
}

export function clock(time: string | number | null | undefined): string {
  if (time === null || time === undefined) return "";
  return new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
}

export function ago(time: string | null | undefined, now = Date.now()): string {
  if (!time) return "";
  const seconds = Math.max(0, Math.round((now - new Date(time).getTime()) / 1000));
  if (seconds < 45) return "just now";
  const steps: [number, string][] = [[60, "min"], [3600, "h"], [86400, "d"]];
  let text = "";
  for (const [size, unit] of steps) {
    if (seconds >= size * 0.75) text = `${Math.max(1, Math.round(seconds / size))} ${unit} ago`;
  }
  return text;
}

export function took(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** The message of an error, however it was thrown. */
export function problemOf(error: unknown): string {
  if (error instanceof Error) {
    const body = /\{.*\}$/s.exec(error.message)?.[0];
    if (body) {
      try {
        const detail = (JSON.parse(body) as { detail?: unknown }).detail;
        if (typeof detail === "string") return detail;
      } catch {
        return error.message;
      }
    }
    return error.message;
  }
  return String(error);
}
