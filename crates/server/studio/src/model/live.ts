import type { Fields, Interrupt, Json, Message, Snapshot, Usage } from "./types";
import { isFields } from "./types";
import { usageOf } from "./usage";
import { textOf } from "./text";

export type StepStatus = "running" | "done" | "waiting" | "failed" | "stopped";

/** One task of a run. */
export interface Step {
  id: string;
  /** The nodes around it and its own, joined by `:`, as in the picture of the graph. */
  path: string;
  name: string;
  depth: number;
  status: StepStatus;
  startedAt: number | null;
  endedAt: number | null;
  /** The numbers of the events of its begin and its end. */
  begun: number;
  ended: number | null;
  input?: Json;
  result?: Json;
  error?: string;
  interrupts: Interrupt[];
  custom: Json[];
  messages: string[];
  /** What the models that it has called have used, with those of its subgraphs. */
  usage?: Usage;
}

export type LiveStatus = "starting" | "running" | "done" | "waiting" | "failed" | "stopped";

/** What a run has told so far. */
export interface Live {
  threadId: string;
  runId: string | null;
  status: LiveStatus;
  /** The head of the thread when the run began. */
  from: string | null;
  steps: Step[];
  messages: Message[];
  values?: Json;
  interrupts: Interrupt[];
  error: string | null;
  startedAt: number;
  endedAt: number | null;
  events: number;
}

export interface Told {
  event: string;
  data: unknown;
  id?: string;
}

export function begin(threadId: string, runId: string | null, from: string | null): Live {
  return {
    threadId,
    runId,
    status: "starting",
    from,
    steps: [],
    messages: [],
    interrupts: [],
    error: null,
    startedAt: Date.now(),
    endedAt: null,
    events: 0,
  };
}

/** `tasks|a:1|b:2` is an event of mode `tasks` in the subgraph of `b` in that of `a`. */
export function place(event: string): { mode: string; around: string[] } {
  const [mode = "", ...inner] = event.split("|");
  return { mode, around: inner.map((part) => part.replace(/:[^:]*$/, "")) };
}

function replaced<T>(list: T[], index: number, item: T): T[] {
  return list.map((old, at) => (at === index ? item : old));
}

function errorOf(error: unknown): string | undefined {
  if (!error) return undefined;
  if (typeof error === "string") return error;
  const message = (error as { message?: unknown }).message;
  return typeof message === "string" ? message : JSON.stringify(error);
}

function task(live: Live, data: Fields, around: string[]): Live {
  const id = String(data.id);
  const name = String(data.name);
  const index = live.steps.findIndex((step) => step.id === id);
  const known = live.steps[index];
  if (!known) {
    const step: Step = {
      id,
      path: [...around, name].join(":"),
      name,
      depth: around.length,
      status: "running",
      startedAt: Date.now(),
      endedAt: null,
      begun: live.events,
      ended: null,
      input: data.input,
      interrupts: [],
      custom: [],
      messages: [],
    };
    return { ...live, steps: [...live.steps, step] };
  }
  const interrupts = (data.interrupts ?? []) as unknown as Interrupt[];
  const error = errorOf(data.error);
  const status: StepStatus = error ? "failed" : interrupts.length ? "waiting" : "done";
  const usage = (data.metadata as { usage_metadata?: Usage } | undefined)?.usage_metadata;
  const step: Step = { ...known, status, endedAt: Date.now(), ended: live.events, result: data.result, interrupts, ...(error ? { error } : {}), ...(usage ? { usage } : {}) };
  return { ...live, steps: replaced(live.steps, index, step) };
}

/** The newest running step of a node, or of any node in that place. */
function running(live: Live, path: string[]): number {
  const wanted = path.join(":");
  return live.steps.findLastIndex((step) => step.status === "running" && (step.path === wanted || step.path.startsWith(wanted ? `${wanted}:` : "")));
}

interface CallChunk {
  id?: string | null;
  name?: string | null;
  args?: string | null;
  index?: number;
}

function message(live: Live, data: unknown, around: string[]): Live {
  const [chunk, about] = data as [Message & { tool_call_chunks?: CallChunk[] }, { langgraph_node?: string }?];
  if (!chunk?.id) return live;
  const node = about?.langgraph_node;
  const at = live.messages.findIndex((known) => known.id === chunk.id);
  const known = live.messages[at];
  const isChunk = chunk.type === "AIMessageChunk";
  let next: Message;
  if (isChunk) {
    const partial = [...(known?.partial ?? [])];
    for (const call of chunk.tool_call_chunks ?? []) {
      const index = call.index ?? partial.length;
      const so = partial[index];
      const id = call.id ?? so?.id;
      partial[index] = {
        ...(id ? { id } : {}),
        name: (so?.name ?? "") + (call.name ?? ""),
        text: (so?.text ?? "") + (call.args ?? ""),
      };
    }
    next = {
      id: chunk.id,
      type: "ai",
      content: textOf(known?.content) + textOf(chunk.content),
      partial,
      ...(node ? { node } : {}),
      streaming: (chunk as { chunk_position?: string | null }).chunk_position !== "last",
    };
  } else {
    next = { ...chunk, ...(node ? { node } : {}), streaming: false };
  }
  const messages = known ? replaced(live.messages, at, next) : [...live.messages, next];
  let steps = live.steps;
  if (!known && node) {
    const owner = running(live, [...around, node]);
    const step = live.steps[owner];
    if (step) steps = replaced(live.steps, owner, { ...step, messages: [...step.messages, chunk.id] });
  }
  return { ...live, messages, steps };
}

/** Adds one event of the stream to what is known. */
export function tell(live: Live, told: Told): Live {
  const { mode, around } = place(told.event);
  const data = told.data as Fields;
  const next: Live = { ...live, events: live.events + 1, status: live.status === "starting" ? "running" : live.status };
  switch (mode) {
    case "metadata":
      return { ...next, runId: typeof data.run_id === "string" ? data.run_id : next.runId };
    case "values": {
      if (around.length) return next;
      const open = isFields(data) ? (data.__interrupt__ as unknown as Interrupt[] | undefined) : undefined;
      if (!open) return { ...next, values: data };
      const fresh = open.filter((one) => !next.interrupts.some((known) => known.id === one.id));
      return { ...next, interrupts: [...next.interrupts, ...fresh] };
    }
    case "tasks":
      return task(next, data, around);
    case "messages":
      return message(next, told.data, around);
    case "custom": {
      const index = running(next, around);
      const step = next.steps[index];
      if (!step) return next;
      return { ...next, steps: replaced(next.steps, index, { ...step, custom: [...step.custom, data] }) };
    }
    case "error":
      return { ...next, error: errorOf(data) ?? "the run failed" };
    default:
      return next;
  }
}

/** The run tells nothing more. */
export function end(live: Live, stopped: boolean): Live {
  const waits = live.interrupts.length > 0 || live.steps.some((step) => step.status === "waiting");
  const status: LiveStatus = live.error ? "failed" : stopped ? "stopped" : waits ? "waiting" : "done";
  const steps = live.steps.map((step): Step =>
    step.status === "running" ? { ...step, status: live.error ? "failed" : stopped ? "stopped" : waits ? "waiting" : "done", endedAt: Date.now() } : step,
  );
  const messages = live.messages.map((known) => ({ ...known, streaming: false }));
  return { ...live, steps, messages, status, endedAt: Date.now() };
}

/** The steps that a history holds: what each checkpoint's tasks came to. Those of its end may be open. */
export function stepsOf(history: Snapshot[], end = history.length - 1): Step[] {
  return history.flatMap((snapshot, index) => {
    const last = index === end;
    const tasks = snapshot.tasks.filter((task) => task.name !== "__start__");
    return tasks.map((task): Step => {
      const error = errorOf(task.error);
      const waits = task.interrupts.length > 0 && last;
      const usage = usageOf(task.result);
      return {
        id: `${snapshot.checkpoint.checkpoint_id}:${task.id}`,
        path: task.name,
        name: task.name,
        depth: 0,
        status: error && last ? "failed" : waits ? "waiting" : last ? "stopped" : "done",
        startedAt: null,
        endedAt: null,
        begun: 0,
        ended: 0,
        ...(task.result === null || task.result === undefined ? {} : { result: task.result }),
        ...(error ? { error } : {}),
        interrupts: task.interrupts,
        custom: [],
        messages: [],
        ...(usage ? { usage } : {}),
      };
    });
  });
}
