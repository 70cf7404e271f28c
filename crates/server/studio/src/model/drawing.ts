import dagre from "@dagrejs/dagre";
import type { Drawn } from "./types";

export type Direction = "TB" | "LR";

export interface Placed {
  id: string;
  label: string;
  kind: "start" | "end" | "node" | "closed" | "open";
  parent: string | null;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Arrow {
  id: string;
  source: string;
  target: string;
  label: string | null;
  conditional: boolean;
  /** It runs against the direction of the picture. */
  back: boolean;
}

export interface Layout {
  width: number;
  height: number;
  nodes: Placed[];
  arrows: Arrow[];
}

const START = "__start__";
const END = "__end__";

function parentIn(id: string, groups: Set<string>): string | null {
  const at = id.lastIndexOf(":");
  if (at < 0) return null;
  const parent = id.slice(0, at);
  return groups.has(parent) ? parent : parentIn(parent, groups);
}

/** The nodes that hold a subgraph. */
export function groupsOf(drawn: Drawn): Set<string> {
  const ids = new Set(drawn.nodes.map((node) => node.id));
  return new Set([...ids].filter((id) => ids.has(`${id}:${START}`)));
}

/** `Step::CallTools` is `CallTools` for people; a label that repeats the target says nothing. */
function wordOf(edge: Drawn["edges"][number]): string | null {
  const word = edge.data?.split("::").pop()?.trim() || null;
  return word === nameOf(edge.target) ? null : word;
}

function nameOf(id: string): string {
  return id.slice(id.lastIndexOf(":") + 1);
}

function sizeOf(label: string, kind: Placed["kind"], inner: boolean): { width: number; height: number } {
  if (kind === "start" || kind === "end") return inner ? { width: 14, height: 14 } : { width: 58, height: 26 };
  return { width: Math.max(116, Math.min(240, label.length * 8 + 58)), height: 42 };
}

/** Places the nodes, level by level: an open subgraph is as large as what is in it. */
export function place(drawn: Drawn, open: Set<string>, direction: Direction): Layout {
  const groups = groupsOf(drawn);
  const nodes: Placed[] = [];
  const arrows: Arrow[] = [];

  const level = (parent: string | null): { width: number; height: number } => {
    const graph = new dagre.graphlib.Graph({ multigraph: true });
    graph.setGraph({ rankdir: direction, nodesep: 44, ranksep: parent === null ? 46 : 30, edgesep: 18, marginx: 0, marginy: 0 });
    graph.setDefaultEdgeLabel(() => ({}));
    const members = drawn.nodes.filter((node) => parentIn(node.id, groups) === parent);
    const inside = new Set(members.map((node) => node.id));
    const edges = drawn.edges.filter((edge) => inside.has(edge.source) && inside.has(edge.target));
    // A virtual end that nothing touches is left out.
    const touched = new Set(edges.flatMap((edge) => [edge.source, edge.target]));
    const own: Placed[] = [];
    for (const node of members) {
      const name = nameOf(node.id);
      if ((name === START || name === END) && !touched.has(node.id)) continue;
      const isOpen = groups.has(node.id) && open.has(node.id);
      const kind: Placed["kind"] = name === START ? "start" : name === END ? "end" : isOpen ? "open" : groups.has(node.id) ? "closed" : "node";
      const label = name === START ? "start" : name === END ? "end" : name;
      let size = sizeOf(label, kind, parent !== null);
      if (isOpen) {
        const inner = level(node.id);
        size = { width: Math.max(inner.width + 36, 170), height: inner.height + 58 };
      }
      const placed: Placed = { id: node.id, label, kind, parent, x: 0, y: 0, ...size };
      own.push(placed);
      graph.setNode(node.id, { ...size });
    }
    edges.forEach((edge, index) => {
      const label = wordOf(edge);
      const width = label ? label.length * 6.4 + 12 : 0;
      graph.setEdge(edge.source, edge.target, { width, height: label ? 20 : 0, labelpos: "c" }, String(index));
    });
    dagre.layout(graph);
    let left = Infinity;
    let top = Infinity;
    let right = 0;
    let bottom = 0;
    for (const node of own) {
      const at = graph.node(node.id) as { x: number; y: number };
      node.x = at.x - node.width / 2;
      node.y = at.y - node.height / 2;
      left = Math.min(left, node.x);
      top = Math.min(top, node.y);
      right = Math.max(right, node.x + node.width);
      bottom = Math.max(bottom, node.y + node.height);
    }
    const shiftX = parent === null ? 0 : 18;
    const shiftY = parent === null ? 0 : 44;
    for (const node of own) {
      node.x += shiftX - left;
      node.y += shiftY - top;
    }
    nodes.push(...own);
    const byId = new Map(own.map((node) => [node.id, node]));
    edges.forEach((edge, index) => {
      const source = byId.get(edge.source);
      const target = byId.get(edge.target);
      if (!source || !target) return;
      const back = direction === "TB" ? target.y + target.height / 2 < source.y : target.x + target.width / 2 < source.x;
      arrows.push({
        id: `${edge.source}→${edge.target}#${index}`,
        source: edge.source,
        target: edge.target,
        label: wordOf(edge),
        conditional: edge.conditional ?? false,
        back,
      });
    });
    return { width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
  };
  const size = level(null);
  // A parent stands before its children.
  nodes.sort((one, other) => one.id.split(":").length - other.id.split(":").length);
  return { ...size, nodes, arrows };
}
