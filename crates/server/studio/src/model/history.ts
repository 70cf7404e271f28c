import type { MadeMistake, Snapshot } from "./types";

/** A checkpoint on the line of a thread: how far it is, and on which branch. */
export interface Place {
  snapshot: Snapshot;
  id: string;
  parent: string | null;
  column: number;
  lane: number;
  onHead: boolean;
}

export interface Line {
  places: Place[];
  columns: number;
  lanes: number;
  head: string | null;
}

export function idOf(snapshot: Snapshot): string {
  return snapshot.checkpoint.checkpoint_id;
}

export function parentOf(snapshot: Snapshot): string | null {
  return snapshot.parent_checkpoint?.checkpoint_id ?? null;
}

/** The checkpoint of an event. It names the places of the subgraphs in its tasks, and has no states of them. */
export function checkpointOf(data: unknown): Snapshot {
  const snapshot = data as Snapshot;
  return { ...snapshot, tasks: snapshot.tasks.map((task) => ({ ...task, state: null })) };
}

/** The tasks of a history, the oldest first: each may have made a mistake. */
export function mistakes(history: Snapshot[]): MadeMistake[] {
  const head = history[0];
  return lineage(history, head ? idOf(head) : null).flatMap((snapshot) => {
    const names = [...new Set(snapshot.tasks.map((task) => task.name))].filter((name) => name !== "__start__");
    return names.map((node) => ({ superstep: (snapshot.metadata.step ?? 0) + 1, node }));
  });
}

/** The checkpoints from the first one to that one, along its parents. */
export function lineage(history: Snapshot[], id: string | null): Snapshot[] {
  const byId = new Map(history.map((snapshot) => [idOf(snapshot), snapshot]));
  const path: Snapshot[] = [];
  let at = id === null ? undefined : byId.get(id);
  while (at && !path.includes(at)) {
    path.unshift(at);
    const parent = parentOf(at);
    at = parent === null ? undefined : byId.get(parent);
  }
  return path;
}

/** Lays the checkpoints out: time goes right, each branch has a lane. The newest is the head. */
export function lay(history: Snapshot[]): Line {
  const head = history[0] ? idOf(history[0]) : null;
  const onHead = new Set(lineage(history, head).map(idOf));
  const known = new Set(history.map(idOf));
  const children = new Map<string | null, Snapshot[]>();
  for (const snapshot of [...history].reverse()) {
    const parent = parentOf(snapshot);
    const key = parent !== null && known.has(parent) ? parent : null;
    children.set(key, [...(children.get(key) ?? []), snapshot]);
  }
  const places: Place[] = [];
  /** How far each lane is taken. */
  const taken: number[] = [];
  const visit = (snapshot: Snapshot, column: number, lane: number) => {
    taken[lane] = Math.max(taken[lane] ?? -1, column);
    places.push({ snapshot, id: idOf(snapshot), parent: parentOf(snapshot), column, lane, onHead: onHead.has(idOf(snapshot)) });
    const next = children.get(idOf(snapshot)) ?? [];
    // The branch of the head goes straight on; without it, the newest one does.
    const straight = next.find((child) => onHead.has(idOf(child))) ?? next[next.length - 1];
    if (straight) visit(straight, column + 1, lane);
    for (const child of [...next].reverse()) {
      if (child !== straight) visit(child, column + 1, free(lane, column));
    }
  };
  const free = (above: number, column: number): number => {
    let lane = above + 1;
    while ((taken[lane] ?? -1) >= column) lane += 1;
    return lane;
  };
  const roots = children.get(null) ?? [];
  const first = roots.find((root) => onHead.has(idOf(root)));
  for (const root of [...(first ? [first] : []), ...roots.filter((root) => root !== first)]) {
    visit(root, 0, root === first ? 0 : free(-1, 0));
  }
  places.sort((one, other) => one.column - other.column || one.lane - other.lane);
  return {
    places,
    columns: Math.max(0, ...places.map((place) => place.column + 1)),
    lanes: Math.max(0, ...places.map((place) => place.lane + 1)),
    head,
  };
}

/** What a checkpoint is called: the nodes that ran before it, or where it came from. */
export function labelOf(snapshot: Snapshot, parent: Snapshot | undefined): string {
  const source = snapshot.metadata.source;
  if (source === "input") return "input";
  if (source === "update") return "edited";
  if (source === "fork") return "fork";
  const ran = parent?.tasks.map((task) => task.name) ?? [];
  const names = [...new Set(ran.length ? ran : (parent?.next ?? []))];
  if (names.length === 1 && names[0] === "__start__") return "start";
  return names.join(", ") || (source === "loop" ? "step" : (source ?? "step"));
}
