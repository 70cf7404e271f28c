import { Client } from "@langchain/langgraph-sdk/client";
import { Cell, useCell } from "./model/cell";
import type { Direction } from "./model/drawing";
import { groupsOf } from "./model/drawing";
import { checkpointOf, idOf } from "./model/history";
import type { Live, Told } from "./model/live";
import { begin, end, tell } from "./model/live";
import { problemOf } from "./model/text";
import type { AssistantRow, Drawn, ExportBody, Exported, Fields, Json, RunRow, Schema, Snapshot, ThreadRow } from "./model/types";

export type View = "threads" | "store" | "assistant";
export type Panel = "chat" | "steps" | "state";
export type Theme = "light" | "dark" | "system";

export interface Breaks {
  before: string[];
  after: string[];
}

const PAGE = 60;

export interface State {
  connected: "no" | "yes" | "lost" | "locked";
  version: string;
  problem: string | null;
  said: string;
  view: View;
  panel: Panel;
  theme: Theme;
  help: boolean;
  /** The thread of which a test is made. */
  exporting: string | null;
  assistants: AssistantRow[];
  assistant: AssistantRow | null;
  drawn: Drawn | null;
  open: Set<string>;
  direction: Direction;
  input: Schema | null;
  stateSchema: Schema | null;
  contextSchema: Schema | null;
  threads: ThreadRow[];
  allThreads: number;
  /** How many threads are listed at most. */
  listed: number;
  filter: string;
  threadId: string | null;
  thread: ThreadRow | null;
  history: Snapshot[];
  older: boolean;
  runs: RunRow[];
  /** The checkpoint that is looked at; null is the head, as it moves. */
  selected: string | null;
  live: Live | null;
  breaks: Breaks;
  /** A thread or a graph is being read. */
  loading: boolean;
}

const MODES = ["values", "messages-tuple", "tasks", "checkpoints", "custom"] as const;

function stored(key: string): string | null {
  try {
    return localStorage.getItem(`studio.${key}`);
  } catch {
    return null;
  }
}

function store(key: string, value: string): void {
  try {
    localStorage.setItem(`studio.${key}`, value);
  } catch {
    // A private window keeps nothing.
  }
}

export const cell = new Cell<State>({
  connected: "no",
  version: "",
  problem: null,
  said: "",
  view: "threads",
  panel: "chat",
  theme: (stored("theme") as Theme | null) ?? "system",
  help: false,
  exporting: null,
  assistants: [],
  assistant: null,
  drawn: null,
  open: new Set(),
  direction: (stored("direction") as Direction | null) ?? "TB",
  input: null,
  stateSchema: null,
  contextSchema: null,
  threads: [],
  allThreads: 0,
  listed: PAGE,
  filter: "all",
  threadId: null,
  thread: null,
  history: [],
  older: false,
  runs: [],
  selected: null,
  live: null,
  breaks: { before: [], after: [] },
  loading: false,
});

export function useStudio<P>(part: (state: State) => P): P {
  return useCell(cell, part);
}

let client = connect();

/** The way to the server. A token stays with the tab. */
function connect(): Client {
  const token = sessionStorage.getItem("studio.token");
  return new Client({
    apiUrl: location.origin,
    apiKey: null,
    callerOptions: { maxRetries: 1 },
    ...(token ? { defaultHeaders: { authorization: `Bearer ${token}` } } : {}),
  });
}

export function api(): Client {
  return client;
}

function isLocked(error: unknown): boolean {
  const status = (error as { status?: number } | null)?.status;
  return status === 401 || status === 403;
}

export function fail(error: unknown): void {
  if (isLocked(error)) cell.set({ connected: "locked" });
  else cell.set({ problem: problemOf(error) });
}

export function say(text: string): void {
  cell.set({ said: text });
}

export async function unlock(token: string): Promise<void> {
  sessionStorage.setItem("studio.token", token);
  client = connect();
  await start();
}

// --- The address of the page names what is shown. ---

function address(): { assistant: string | null; thread: string | null; view: View } {
  const [, first = "", second = ""] = location.hash.replace(/^#/, "").split("/");
  if (first === "store") return { assistant: null, thread: null, view: "store" };
  if (first === "assistant") return { assistant: decodeURIComponent(second) || null, thread: null, view: "assistant" };
  return { assistant: decodeURIComponent(first) || null, thread: decodeURIComponent(second) || null, view: "threads" };
}

function show(): void {
  const { assistant, threadId, view } = cell.get();
  const id = assistant?.assistant_id ?? "";
  const parts = view === "store" ? ["store"] : view === "assistant" ? ["assistant", id] : [id, ...(threadId ? [threadId] : [])];
  const hash = `#/${parts.map(encodeURIComponent).join("/")}`;
  if (hash !== location.hash) history.replaceState(null, "", hash);
}

// --- Start ---

export async function start(): Promise<void> {
  try {
    const assistants = (await client.assistants.search({ limit: 100, sortBy: "name", sortOrder: "asc" })) as AssistantRow[];
    const wanted = address();
    cell.set({ connected: "yes", assistants, problem: null, view: wanted.view });
    const last = wanted.assistant ?? stored("assistant");
    const byId = assistants.find((one) => one.assistant_id === last || one.graph_id === last);
    const first = byId ?? assistants.find((one) => one.graph_id === "agent") ?? assistants[0];
    if (first) await choose(first, wanted.thread);
  } catch (error) {
    if (isLocked(error)) cell.set({ connected: "locked" });
    else cell.set({ connected: "lost", problem: problemOf(error) });
  }
}

/** Turns to a graph, and to one of its threads. */
export async function choose(assistant: AssistantRow, thread: string | null = null): Promise<void> {
  forget();
  cell.set({
    assistant,
    drawn: null,
    input: null,
    stateSchema: null,
    contextSchema: null,
    listed: PAGE,
    threadId: null,
    thread: null,
    history: [],
    runs: [],
    threads: [],
    breaks: { before: [], after: [] },
    loading: true,
  });
  store("assistant", assistant.assistant_id);
  try {
    const [drawn, schemas] = await Promise.all([
      client.assistants.getGraph(assistant.assistant_id, { xray: true }),
      client.assistants.getSchemas(assistant.assistant_id),
    ]);
    if (cell.get().assistant !== assistant) return;
    const picture = drawn as unknown as Drawn;
    const state = (schemas.state_schema ?? null) as Schema | null;
    const groups = groupsOf(picture);
    cell.set({
      drawn: picture,
      open: groups.size <= 6 ? groups : new Set(),
      input: (schemas.input_schema ?? null) as Schema | null,
      stateSchema: state,
      contextSchema: (schemas.context_schema ?? null) as Schema | null,
      panel: state?.properties?.messages ? "chat" : "steps",
    });
    await threads();
    if (thread) await open(thread);
    show();
  } catch (error) {
    fail(error);
  } finally {
    cell.set({ loading: false });
  }
}

// --- Assistants ---

/** Reads the assistants again, and turns to the one of that id. */
export async function assistants(id: string): Promise<void> {
  const found = (await client.assistants.search({ limit: 100, sortBy: "name", sortOrder: "asc" })) as AssistantRow[];
  const assistant = found.find((one) => one.assistant_id === id) ?? found[0];
  cell.set({ assistants: found });
  if (assistant) await choose(assistant);
}

// --- Threads ---

export async function threads(): Promise<void> {
  const { assistant, filter, listed } = cell.get();
  if (!assistant) return;
  const metadata = { graph_id: assistant.graph_id };
  const found = await client.threads.search({
    metadata,
    limit: listed,
    sortBy: "updated_at",
    sortOrder: "desc",
    ...(filter === "all" ? {} : { status: filter as "idle" }),
  });
  const all = await client.threads.count({ metadata, ...(filter === "all" ? {} : { status: filter as "idle" }) });
  if (cell.get().assistant === assistant) {
    cell.set({ threads: found as unknown as ThreadRow[], allThreads: all });
  }
}

/** Lists more threads. */
export async function more(): Promise<void> {
  cell.set({ listed: cell.get().listed + PAGE });
  await threads();
}

/** Opens a thread; a run that is under way there is followed. */
export async function open(threadId: string): Promise<void> {
  forget();
  cell.set({ threadId, view: "threads", history: [], runs: [], selected: null, loading: true });
  show();
  try {
    const [thread, runs] = await Promise.all([
      client.threads.get(threadId),
      client.runs.list(threadId, { limit: 50 }),
      past(),
    ]);
    if (cell.get().threadId !== threadId) return;
    cell.set({ thread: thread as unknown as ThreadRow, runs: runs as unknown as RunRow[] });
    const under = (runs as unknown as RunRow[]).find((run) => run.status === "running" || run.status === "pending");
    if (under) void follow(under.run_id);
  } catch (error) {
    cell.set({ threadId: null, thread: null });
    show();
    fail(error);
  } finally {
    cell.set({ loading: false });
  }
}

/** Puts the thread away; the next run begins a new one. */
export function fresh(): void {
  forget();
  cell.set({ threadId: null, thread: null, history: [], runs: [], selected: null, view: "threads" });
  show();
  say("New thread");
}

export async function remove(threadId: string): Promise<void> {
  try {
    await client.threads.delete(threadId);
    if (cell.get().threadId === threadId) fresh();
    await threads();
    say("Thread deleted");
  } catch (error) {
    fail(error);
  }
}

export async function copy(threadId: string): Promise<void> {
  try {
    const made = await client.threads.copy(threadId);
    await threads();
    await open((made as unknown as ThreadRow).thread_id);
  } catch (error) {
    fail(error);
  }
}

/** Makes a test of a thread; null if that failed. */
export async function exportThread(threadId: string, body: ExportBody): Promise<Exported | null> {
  const token = sessionStorage.getItem("studio.token");
  try {
    const response = await fetch(`/threads/${threadId}/export`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Exported & { detail?: string };
    if (!response.ok) throw Object.assign(new Error(answer.detail ?? response.statusText), { status: response.status });
    say("The test is made");
    return answer;
  } catch (error) {
    // The message would be behind the dialog.
    cell.set({ exporting: null });
    fail(error);
    return null;
  }
}

/** Reads the history of the thread again. */
async function past(): Promise<void> {
  const { threadId } = cell.get();
  if (!threadId) return;
  const history = (await client.threads.getHistory(threadId, { limit: 100 })) as unknown as Snapshot[];
  const [head] = history;
  const { drawn } = cell.get();
  const groups = drawn ? groupsOf(drawn) : new Set<string>();
  // Where its subgraphs have paused.
  if (head?.next.some((name) => groups.has(name))) {
    const state = await client.threads.getState(threadId, idOf(head), { subgraphs: true });
    history[0] = { ...head, tasks: (state as unknown as Snapshot).tasks };
  }
  if (cell.get().threadId === threadId) cell.set({ history, older: history.length === 100 });
}

export async function earlier(): Promise<void> {
  const { threadId, history } = cell.get();
  const last = history[history.length - 1];
  if (!threadId || !last) return;
  const more = (await client.threads.getHistory(threadId, {
    limit: 100,
    before: { configurable: { checkpoint_id: idOf(last) } } as never,
  })) as unknown as Snapshot[];
  if (cell.get().threadId === threadId) cell.set({ history: [...history, ...more], older: more.length === 100 });
}

async function refresh(): Promise<void> {
  const { threadId } = cell.get();
  try {
    await Promise.all([
      threads(),
      past(),
      threadId &&
        Promise.all([client.threads.get(threadId), client.runs.list(threadId, { limit: 50 })]).then(([thread, runs]) => {
          if (cell.get().threadId === threadId) {
            cell.set({ thread: thread as unknown as ThreadRow, runs: runs as unknown as RunRow[] });
          }
        }),
    ]);
  } catch (error) {
    fail(error);
  }
}

export function select(id: string | null): void {
  const { history } = cell.get();
  const head = history[0] ? idOf(history[0]) : null;
  cell.set({ selected: id === head ? null : id });
}

/** The checkpoint that is looked at. */
export function looked(state: State): Snapshot | null {
  if (state.selected === null) return state.history[0] ?? null;
  return state.history.find((snapshot) => idOf(snapshot) === state.selected) ?? null;
}

// --- Runs ---

let watching: AbortController | null = null;

/** Nothing of the run under way is shown any more; the run itself goes on. */
function forget(): void {
  watching?.abort();
  watching = null;
  cell.set({ live: null, selected: null });
}

export function isBusy(live: Live | null): boolean {
  return live !== null && (live.status === "starting" || live.status === "running");
}

async function follow_events(events: AsyncIterable<Told>, mine: AbortController, first: Live): Promise<void> {
  let live = first;
  let drawnAt = 0;
  let waiting = false;
  const publish = () => {
    waiting = false;
    drawnAt = performance.now();
    if (watching === mine) cell.set({ live });
  };
  cell.set({ live });
  for await (const told of events) {
    if (watching !== mine) return;
    const before = live.steps.length;
    live = tell(live, told);
    if (told.event === "checkpoints") {
      const snapshot = checkpointOf(told.data);
      const { history } = cell.get();
      const known = history.some((one) => idOf(one) === idOf(snapshot));
      cell.set({ history: known ? history.map((one) => (idOf(one) === idOf(snapshot) ? snapshot : one)) : [snapshot, ...history] });
    }
    const step = live.steps[live.steps.length - 1];
    if (live.steps.length > before && step) say(`${step.name} is running`);
    // Tokens come faster than a screen is drawn; what a node does is shown at once.
    if (told.event.startsWith("tasks") || performance.now() - drawnAt > 40) publish();
    else if (!waiting) {
      waiting = true;
      setTimeout(publish, 40);
    }
  }
  if (watching !== mine) return;
  live = end(live, stopping === live.runId && live.runId !== null);
  publish();
  say(
    live.status === "waiting"
      ? "The run waits for an answer"
      : live.status === "failed"
        ? `The run failed: ${live.error ?? ""}`
        : live.status === "stopped"
          ? "The run was stopped"
          : "The run is done",
  );
  await refresh();
}

let stopping: string | null = null;

async function stream(payload: Record<string, unknown>): Promise<void> {
  const { assistant, breaks } = cell.get();
  if (!assistant) return;
  const mine = new AbortController();
  watching?.abort();
  watching = mine;
  try {
    let { threadId } = cell.get();
    if (!threadId) {
      const made = await client.threads.create({ graphId: assistant.graph_id } as never);
      threadId = made.thread_id;
      cell.set({ threadId, thread: made as unknown as ThreadRow });
      show();
      void threads();
    }
    const { history, selected } = cell.get();
    const from = selected ?? (history[0] ? idOf(history[0]) : null);
    cell.set({ selected: null });
    const events = client.runs.stream(threadId, assistant.assistant_id, {
      streamMode: [...MODES],
      streamSubgraphs: true,
      streamResumable: true,
      onDisconnect: "continue",
      multitaskStrategy: "enqueue",
      signal: mine.signal,
      ...(breaks.before.length ? { interruptBefore: breaks.before } : {}),
      ...(breaks.after.length ? { interruptAfter: breaks.after } : {}),
      ...payload,
    } as never) as AsyncIterable<Told>;
    await follow_events(events, mine, begin(threadId, null, from));
  } catch (error) {
    if (mine.signal.aborted) return;
    cell.set({ live: null });
    fail(error);
    await refresh();
  }
}

/** Starts the graph with an input: at the head, or at the checkpoint that is looked at. */
export function send(input: Json): Promise<void> {
  return stream({ input, ...at() });
}

/** Goes on from the checkpoint that is looked at. */
export function proceed(): Promise<void> {
  return stream({ input: null, ...at() });
}

export function answer(resume: Json): Promise<void> {
  return stream({ command: { resume }, ...at() });
}

function at(): { checkpointId?: string } {
  const { selected } = cell.get();
  return selected === null ? {} : { checkpointId: selected };
}

/** Follows a run: from its first event, if its events are kept. */
export async function follow(runId: string): Promise<void> {
  const { threadId, history } = cell.get();
  if (!threadId) return;
  const mine = new AbortController();
  watching?.abort();
  watching = mine;
  try {
    const events = client.runs.joinStream(threadId, runId, {
      lastEventId: "-1",
      streamMode: [...MODES],
      signal: mine.signal,
    } as never) as AsyncIterable<Told>;
    const first = history.find((snapshot) => snapshot.metadata.run_id === runId);
    const own = history.filter((snapshot) => snapshot.metadata.run_id === runId);
    const before = own.length ? (own[own.length - 1]?.parent_checkpoint?.checkpoint_id ?? null) : first ? idOf(first) : (history[0] ? idOf(history[0]) : null);
    await follow_events(events, mine, begin(threadId, runId, before));
  } catch (error) {
    if (mine.signal.aborted) return;
    cell.set({ live: null });
    fail(error);
  }
}

export async function stop(): Promise<void> {
  const { live, threadId } = cell.get();
  if (!threadId || !live?.runId) return;
  stopping = live.runId;
  try {
    await client.runs.cancel(threadId, live.runId, false, "interrupt");
  } catch (error) {
    fail(error);
  }
}

export async function drop(runId: string): Promise<void> {
  const { threadId } = cell.get();
  if (!threadId) return;
  try {
    await client.runs.delete(threadId, runId);
    await refresh();
  } catch (error) {
    fail(error);
  }
}

/** Changes the state at the checkpoint that is looked at. The change is a new checkpoint. */
export async function edit(values: Fields, asNode: string | null): Promise<boolean> {
  const { threadId, selected } = cell.get();
  if (!threadId) return false;
  try {
    await client.threads.updateState(threadId, {
      values,
      ...(selected === null ? {} : { checkpointId: selected }),
      ...(asNode ? { asNode } : {}),
    } as never);
    forget();
    await refresh();
    say("State changed: a new checkpoint is the head");
    return true;
  } catch (error) {
    fail(error);
    return false;
  }
}

/** Returns the checkpoint that is looked at with the states of its subgraphs. */
export async function within(): Promise<Snapshot | null> {
  const { threadId, selected } = cell.get();
  if (!threadId) return null;
  try {
    const state = await client.threads.getState(threadId, selected ?? undefined, { subgraphs: true });
    return state as unknown as Snapshot;
  } catch (error) {
    fail(error);
    return null;
  }
}

/** Makes a copy of the checkpoint that is looked at the head of the thread. */
export async function fork(): Promise<void> {
  const { threadId, selected } = cell.get();
  if (!threadId || selected === null) return;
  try {
    await client.threads.updateState(threadId, { values: null, checkpointId: selected } as never);
    forget();
    await refresh();
    say("Forked: the copy is the head");
  } catch (error) {
    fail(error);
  }
}

// --- The page ---

export function toggle(path: string): void {
  const open = new Set(cell.get().open);
  if (!open.delete(path)) open.add(path);
  cell.set({ open });
}

export function turn(): void {
  const direction: Direction = cell.get().direction === "TB" ? "LR" : "TB";
  store("direction", direction);
  cell.set({ direction });
}

export function pause(node: string, when: "before" | "after"): void {
  const { breaks } = cell.get();
  const list = breaks[when];
  const next = list.includes(node) ? list.filter((name) => name !== node) : [...list, node];
  cell.set({ breaks: { ...breaks, [when]: next } });
}

export function paint(theme: Theme): void {
  store("theme", theme);
  cell.set({ theme });
  applyTheme();
}

export function applyTheme(): void {
  const { theme } = cell.get();
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

export function view(view: View): void {
  cell.set({ view });
  show();
}

window.addEventListener("hashchange", () => {
  const wanted = address();
  const { assistant, threadId, assistants } = cell.get();
  if (wanted.view === "store") return cell.set({ view: "store" });
  cell.set({ view: wanted.view });
  const named = assistants.find((one) => one.assistant_id === wanted.assistant || one.graph_id === wanted.assistant);
  if (named && named !== assistant) void choose(named, wanted.thread);
  else if (wanted.thread && wanted.thread !== threadId) void open(wanted.thread);
  else if (!wanted.thread && threadId && wanted.view === "threads") fresh();
});
