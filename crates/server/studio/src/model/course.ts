import type { Step } from "./live";
import type { Drawn } from "./types";

/** One task follows another, in the node of that path; `null` stands for the start. */
export interface Follows {
  around: string;
  before: string | null;
  after: string;
}

/** The tasks that have run and are no nodes of the graph, those of an entrypoint: each follows those that had ended when it began. */
export function courseOf(drawn: Drawn, steps: Step[]): Follows[] {
  const nodes = new Set(drawn.nodes.map((node) => node.id));
  const out = new Map<string, Follows>();
  const levels = new Map<string, Step[]>();
  for (const step of steps) {
    if (nodes.has(step.path) || step.depth === 0) continue;
    const around = step.path.slice(0, step.path.lastIndexOf(":"));
    levels.set(around, [...(levels.get(around) ?? []), step]);
  }
  for (const [around, list] of levels) {
    list.sort((one, other) => one.begun - other.begun);
    let before: (string | null)[] = [null];
    let from = 0;
    for (const step of list) {
      const ended = list.filter((one) => one.ended !== null && one.ended > from && one.ended < step.begun);
      if (ended.length) before = ended.map((one) => one.path);
      from = step.begun;
      for (const path of before) out.set(`${path} ${step.path}`, { around, before: path, after: step.path });
    }
  }
  return [...out.values()];
}

/** The picture with these tasks, in the nodes that have called them. */
export function withCourse(drawn: Drawn, course: Follows[]): Drawn {
  if (!course.length) return drawn;
  const nodes = [...drawn.nodes];
  const known = new Set(nodes.map((node) => node.id));
  const add = (id: string): void => {
    if (!known.has(id)) nodes.push({ id });
    known.add(id);
  };
  for (const { around, after } of course) {
    add(`${around}:__start__`);
    add(after);
  }
  const edges = course.map(({ around, before, after }) => ({ source: before ?? `${around}:__start__`, target: after }));
  return { nodes, edges: [...drawn.edges, ...edges] };
}
