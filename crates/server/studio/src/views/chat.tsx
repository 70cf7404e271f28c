import { useEffect, useRef } from "react";
import type { Call, Json, Message } from "../model/types";
import { isFields } from "../model/types";
import { loose } from "../model/schema";
import { messagesOf, textOf } from "../model/text";
import type { State } from "../studio";
import { isBusy, looked, useStudio } from "../studio";
import { Markdown } from "./markdown";
import { Tool } from "./icons";

/** The messages of the state, and those that are still being written. */
export function conversation(state: State): Message[] {
  const { live, selected } = state;
  const base = (live && selected === null ? messagesOf(live.values) : null) ?? messagesOf(looked(state)?.values) ?? [];
  if (!live || selected !== null) return base;
  const known = new Set(base.map((message) => message.id));
  const coming = live.messages.filter((message) => !known.has(message.id) && isBusy(live));
  return [...base, ...coming];
}

function Arguments({ args }: { args: Json }) {
  if (!isFields(args)) return <code>{typeof args === "string" ? args : JSON.stringify(args)}</code>;
  const entries = Object.entries(args);
  if (entries.length === 0) return <span className="quiet">no arguments</span>;
  return (
    <dl className="args">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Result({ message }: { message: Message }) {
  const text = textOf(message.content);
  const value = loose(text);
  const shown = typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : text;
  return (
    <details className={message.status === "error" ? "result bad" : "result"} open={shown.length < 160}>
      <summary>{message.status === "error" ? "Failed" : "Result"}</summary>
      <pre>{shown}</pre>
    </details>
  );
}

export function CallCard({ call, result, streaming = false }: { call: Call; result?: Message | undefined; streaming?: boolean }) {
  return (
    <div className="call" data-call={call.id}>
      <p className="call-name">
        <Tool /> <strong>{call.name || "…"}</strong>
        {streaming ? <span className="quiet">preparing</span> : result ? null : <span className="quiet">waiting</span>}
      </p>
      <Arguments args={call.args} />
      {result ? <Result message={result} /> : null}
    </div>
  );
}

const WHO: Record<string, string> = { human: "You", ai: "Assistant", system: "System", tool: "Tool" };

function Bubble({ message, results }: { message: Message; results: Map<string, Message> }) {
  const text = textOf(message.content);
  const calls: Call[] = message.tool_calls ?? message.partial?.map((one) => ({ name: one.name, args: loose(one.text) ?? {}, ...(one.id ? { id: one.id } : {}) })) ?? [];
  const images = Array.isArray(message.content)
    ? message.content.flatMap((part) => (isFields(part) && isFields(part.image_url) && typeof part.image_url.url === "string" && part.image_url.url.startsWith("data:") ? [part.image_url.url] : []))
    : [];
  return (
    <article className={`bubble ${message.type} ${message.streaming ? "streaming" : ""}`} data-message={message.type} aria-label={`${WHO[message.type] ?? message.type} said`}>
      {message.type !== "human" ? <p className="who">{message.name ?? WHO[message.type] ?? message.type}</p> : null}
      {images.map((url) => <img key={url.slice(0, 80)} src={url} alt="" />)}
      {text ? message.type === "human" ? <p className="said">{text}</p> : <Markdown text={text} /> : null}
      {calls.map((call, index) => <CallCard key={call.id ?? index} call={call} result={call.id ? results.get(call.id) : undefined} streaming={message.streaming ?? false} />)}
    </article>
  );
}

export function Chat() {
  const state = useStudio((state) => state);
  const messages = conversation(state);
  const bottom = useRef<HTMLDivElement>(null);
  const stick = useRef(true);
  const results = new Map(messages.flatMap((message) => (message.type === "tool" && message.tool_call_id ? [[message.tool_call_id, message] as const] : [])));
  const calls = new Set(messages.flatMap((message) => [...(message.tool_calls ?? []), ...(message.partial ?? [])].map((call) => call.id)));
  const shown = messages.filter((message) => !(message.type === "tool" && message.tool_call_id && calls.has(message.tool_call_id)) && message.type !== "remove");
  const busy = isBusy(state.live);
  const thinking = busy && !shown.some((message) => message.streaming);

  useEffect(() => {
    if (stick.current) bottom.current?.scrollIntoView({ block: "end" });
  }, [messages.length, state.live?.events, state.threadId]);

  if (shown.length === 0 && !busy) {
    return (
      <div className="welcome">
        <h2>{state.assistant?.name ?? "A graph"}</h2>
        <p>Ask something. The graph lights up as its nodes run, and each step stays on the line below.</p>
      </div>
    );
  }
  return (
    <div
      className="chat"
      role="log"
      aria-label="Conversation"
      aria-busy={busy}
      onScroll={(event) => {
        const box = event.currentTarget;
        stick.current = box.scrollHeight - box.scrollTop - box.clientHeight < 60;
      }}
    >
      {shown.map((message, index) => <Bubble key={message.id ?? index} message={message} results={results} />)}
      {thinking ? <p className="thinking" aria-hidden="true"><i /><i /><i /></p> : null}
      <div ref={bottom} />
    </div>
  );
}
