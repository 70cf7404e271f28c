import { memo, useCallback, useEffect, useMemo, useRef } from "react";
import type { ReactNode } from "react";
import { Background, BackgroundVariant, BaseEdge, EdgeLabelRenderer, Handle, Panel, Position, ReactFlow, ReactFlowProvider, getViewportForBounds, useReactFlow, useStore } from "@xyflow/react";
import type { Edge, EdgeProps, Node, NodeProps } from "@xyflow/react";
import type { Direction, Layout } from "../model/drawing";
import type { Follows } from "../model/course";
import { courseOf, withCourse } from "../model/course";
import { place } from "../model/drawing";
import { lineage, idOf } from "../model/history";
import type { Step } from "../model/live";
import type { Snapshot } from "../model/types";
import type { State } from "../studio";
import { isBusy, looked, pause, toggle, turn, useStudio } from "../studio";
import { Box, Fit, Pause, Turn, Unbox } from "./icons";

export type Light = "idle" | "next" | "running" | "done" | "waiting" | "failed" | "stopped";

const WORDS: Record<Light, string> = {
  idle: "",
  next: "next",
  running: "running",
  done: "done",
  waiting: "waiting for an answer",
  failed: "failed",
  stopped: "stopped",
};

export interface Lit {
  light: Light;
  count: number;
}

/** Marks the nodes that ran since the last input, up to the end of that path. */
function ran(out: Map<string, Lit>, path: Snapshot[]): void {
  const since = path.findLastIndex((one) => one.metadata.source === "input");
  path.slice(Math.max(0, since)).forEach((one, index, all) => {
    if (index === all.length - 1) return;
    out.set("__start__", { light: "done", count: 1 });
    for (const task of one.tasks) out.set(task.name, { light: "done", count: (out.get(task.name)?.count ?? 0) + 1 });
  });
}

/** What each node is doing: by the run that is shown, or by the checkpoint that is looked at. */
export function lights(state: State): Map<string, Lit> {
  const out = new Map<string, Lit>();
  const { live, selected, history } = state;
  if (live && selected === null) {
    const by = (step: Step): Light => step.status;
    // A run that goes on stands on what ran before it.
    const own = history.filter((one) => one.metadata.run_id === live.runId);
    if (live.from !== null && !own.some((one) => one.metadata.source === "input")) ran(out, lineage(history, live.from));
    for (const step of live.steps) {
      const known = out.get(step.path);
      out.set(step.path, { light: by(step), count: (known?.count ?? 0) + 1 });
    }
    // A subgraph runs while anything in it does.
    for (const step of live.steps) {
      if (step.status !== "running") continue;
      out.set(step.path, { light: "running", count: out.get(step.path)?.count ?? 1 });
    }
    if (!isBusy(live)) {
      if (live.status === "done") out.set("__end__", { light: "done", count: 1 });
      if (history[0]) upcoming(out, history[0]);
    }
    if (live.steps.length) out.set("__start__", { light: "done", count: 1 });
    return out;
  }
  const snapshot = looked(state);
  if (!snapshot) return out;
  const path = lineage(history, idOf(snapshot));
  ran(out, path);
  upcoming(out, snapshot);
  for (const task of snapshot.tasks) {
    const count = out.get(task.name)?.count ?? 0;
    if (task.error) out.set(task.name, { light: "failed", count });
    else if (task.interrupts.length) out.set(task.name, { light: "waiting", count });
  }
  if (snapshot.next.length === 0 && path.length > 1) out.set("__end__", { light: "done", count: 1 });
  return out;
}

/** Marks the nodes that come next, also those of subgraphs that have paused. */
function upcoming(out: Map<string, Lit>, snapshot: Snapshot, around = ""): void {
  const open = snapshot.tasks.filter((task) => task.result === undefined || task.result === null);
  for (const name of snapshot.next) {
    // Its result is stored, and it waits for other tasks of the superstep.
    if (open.length && !open.some((task) => task.name === name)) continue;
    const known = out.get(around + name);
    if (!known || known.light === "done") out.set(around + name, { light: "next", count: known?.count ?? 0 });
  }
  for (const task of snapshot.tasks) if (task.state) upcoming(out, task.state, `${around}${task.name}:`);
}

interface NodeData extends Record<string, unknown> {
  label: string;
  kind: "start" | "end" | "node" | "closed" | "open";
  lit: Lit;
  direction: Direction;
  before: boolean;
  after: boolean;
  pausable: boolean;
  inner: boolean;
}

type GraphNode = Node<NodeData>;

function Handles({ direction }: { direction: Direction }) {
  const down = direction === "TB";
  return (
    <>
      <Handle type="target" position={down ? Position.Top : Position.Left} isConnectable={false} />
      <Handle type="source" position={down ? Position.Bottom : Position.Right} isConnectable={false} />
    </>
  );
}

function Breaks({ id, data }: { id: string; data: NodeData }) {
  if (!data.pausable) return null;
  const button = (when: "before" | "after", on: boolean): ReactNode => (
    <button
      type="button"
      className={`break ${when} ${on ? "on" : ""} nodrag nopan`}
      aria-pressed={on}
      aria-label={`Pause ${when} ${data.label}`}
      title={`Pause ${when} ${data.label}`}
      onClick={(event) => {
        event.stopPropagation();
        pause(id, when);
      }}
    >
      <Pause />
    </button>
  );
  return (
    <>
      {button("before", data.before)}
      {button("after", data.after)}
    </>
  );
}

const GraphNodeView = memo(function GraphNodeView({ id, data }: NodeProps<GraphNode>) {
  const { light, count } = data.lit;
  const isGroup = data.kind === "closed" || data.kind === "open";
  const badge = light === "failed" ? "!" : count > 1 ? `×${count}` : null;
  return (
    <div className={`node ${data.kind} ${data.inner ? "inner" : ""} ${light}`} data-node={id} data-light={light}>
      <Handles direction={data.direction} />
      <Breaks id={id} data={data} />
      <span className="lamp" aria-hidden="true" />
      <span className="name" title={data.label}>{data.label}</span>
      {badge ? <span className="count">{badge}</span> : null}
      {isGroup ? (
        <button
          type="button"
          className="ghost small nodrag nopan"
          aria-expanded={data.kind === "open"}
          aria-label={data.kind === "open" ? `Close the subgraph ${data.label}` : `Open the subgraph ${data.label}`}
          onClick={() => toggle(id)}
        >
          {data.kind === "open" ? <Unbox /> : <Box />}
        </button>
      ) : null}
    </div>
  );
});

interface EdgeData extends Record<string, unknown> {
  label: string | null;
  conditional: boolean;
  back: boolean;
  flow: "idle" | "passed" | "running";
  direction: Direction;
}

/** An edge on bends once; its label is nearer to where it leads, away from its siblings. */
function straight(direction: Direction, sx: number, sy: number, tx: number, ty: number): [string, number, number] {
  const down = direction === "TB";
  const bend = Math.max(24, (down ? ty - sy : tx - sx) * 0.5);
  const [ax, ay] = down ? [sx, sy + bend] : [sx + bend, sy];
  const [bx, by] = down ? [tx, ty - bend] : [tx - bend, ty];
  const at = (s: number, a: number, b: number, t: number) => s * 0.064 + a * 0.288 + b * 0.432 + t * 0.216;
  return [`M${sx},${sy} C${ax},${ay} ${bx},${by} ${tx},${ty}`, at(sx, ax, bx, tx), at(sy, ay, by, ty)];
}

/** An edge back goes around the nodes between. */
function around(direction: Direction, sx: number, sy: number, tx: number, ty: number): [string, number, number] {
  if (direction === "TB") {
    const right = Math.max(sx, tx) + 96;
    const path = `M${sx},${sy} C${sx},${sy + 44} ${right},${sy + 44} ${right},${(sy + ty) / 2} C${right},${ty - 44} ${tx},${ty - 44} ${tx},${ty}`;
    return [path, right, (sy + ty) / 2];
  }
  const low = Math.max(sy, ty) + 76;
  const path = `M${sx},${sy} C${sx + 44},${sy} ${sx + 44},${low} ${(sx + tx) / 2},${low} C${tx - 44},${low} ${tx - 44},${ty} ${tx},${ty}`;
  return [path, (sx + tx) / 2, low];
}

const EdgeView = memo(function EdgeView(props: EdgeProps<Edge<EdgeData>>) {
  const { sourceX, sourceY, targetX, targetY, data } = props;
  if (!data) return null;
  const [path, x, y] = (data.back ? around : straight)(data.direction, sourceX, sourceY, targetX, targetY);
  const style = `edge ${data.flow} ${data.conditional ? "conditional" : ""}`;
  return (
    <>
      <BaseEdge id={props.id} path={path} className={style} markerEnd={`url(#arrow-${data.flow})`} />
      {data.label ? (
        <EdgeLabelRenderer>
          <span className={`edge-label ${data.flow}`} style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}>
            {data.label}
          </span>
        </EdgeLabelRenderer>
      ) : null}
    </>
  );
});

const nodeTypes = { node: GraphNodeView };
const edgeTypes = { edge: EdgeView };

function Markers() {
  return (
    <svg className="markers" aria-hidden="true">
      <defs>
        {(["idle", "passed", "running"] as const).map((flow) => (
          <marker key={flow} id={`arrow-${flow}`} viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse" className={`arrow ${flow}`}>
            <path d="M1.500 1.500 8.500 5 1.500 8.500Z" />
          </marker>
        ))}
      </defs>
    </svg>
  );
}

const IDLE: Lit = { light: "idle", count: 0 };

const ZOOM = { least: 0.2, fitted: 1.3, most: 2 };

/** Fits the picture when it changes, and when its frame does. Returns what fits it again. */
function useFit(layout: Layout | null): () => void {
  const { setViewport, viewportInitialized } = useReactFlow();
  const width = useStore((store) => store.width);
  const height = useStore((store) => store.height);
  const first = useRef(true);
  const fit = useCallback(() => {
    if (!layout || !viewportInitialized || !width || !height) return;
    const duration = first.current || matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 240;
    first.current = false;
    // By the sizes of the layout: the page has those of nodes that have just opened only later.
    const bounds = { x: 0, y: 0, width: layout.width, height: layout.height };
    void setViewport(getViewportForBounds(bounds, width, height, ZOOM.least, ZOOM.fitted, 0.15), { duration });
  }, [setViewport, viewportInitialized, layout, width, height]);
  useEffect(fit, [fit]);
  return fit;
}

function Controls({ layout }: { layout: Layout | null }) {
  const flow = useReactFlow();
  const fit = useFit(layout);
  const direction = useStudio((state) => state.direction);
  return (
    <Panel position="bottom-right" className="controls">
      <button type="button" onClick={() => void flow.zoomIn()} aria-label="Zoom in" title="Zoom in">+</button>
      <button type="button" onClick={() => void flow.zoomOut()} aria-label="Zoom out" title="Zoom out">−</button>
      <button type="button" onClick={fit} aria-label="Fit the graph" title="Fit the graph"><Fit /></button>
      <button type="button" onClick={turn} aria-label={direction === "TB" ? "Lay out from left to right" : "Lay out from top to bottom"} title="Turn the graph"><Turn /></button>
    </Panel>
  );
}

/** The same picture for those who do not see it. */
function Spoken({ lit }: { lit: Map<string, Lit> }) {
  const drawn = useStudio((state) => state.drawn);
  if (!drawn) return null;
  const busy = [...lit].filter(([, one]) => one.light !== "idle" && one.light !== "done");
  return (
    <div className="hidden">
      <h3>Nodes</h3>
      <ul>
        {drawn.nodes
          .filter((node) => !node.id.endsWith("__"))
          .map((node) => {
            const to = drawn.edges.filter((edge) => edge.source === node.id).map((edge) => edge.target.replace("__end__", "the end"));
            return (
              <li key={node.id}>
                {node.id.replaceAll(":", ", then ")}
                {to.length ? `, leads to ${[...new Set(to)].join(" or ")}` : ""}
                {WORDS[lit.get(node.id)?.light ?? "idle"] ? `: ${WORDS[lit.get(node.id)?.light ?? "idle"]}` : ""}
              </li>
            );
          })}
      </ul>
      {busy.length ? null : <p>No node is running.</p>}
    </div>
  );
}

function Picture() {
  const state = useStudio((state) => state);
  const { drawn, open, direction, breaks } = state;
  const steps = state.selected === null ? state.live?.steps : undefined;
  const course = JSON.stringify(drawn && steps ? courseOf(drawn, steps) : []);
  const layout = useMemo(() => {
    if (!drawn) return null;
    const follows = JSON.parse(course) as Follows[];
    const opened = new Set(open);
    // A node whose tasks appear is open until it is closed.
    for (const { around } of follows) {
      if (open.has(around)) opened.delete(around);
      else opened.add(around);
    }
    return place(withCourse(drawn, follows), opened, direction);
  }, [drawn, course, open, direction]);
  const lit = useMemo(() => lights(state), [state.live, state.selected, state.history, state.drawn]);

  const nodes = useMemo<GraphNode[]>(() => {
    if (!layout) return [];
    const known = new Set(drawn?.nodes.map((node) => node.id));
    return layout.nodes.map((node) => {
      let own = lit.get(node.id) ?? IDLE;
      if (node.kind === "closed") {
        const inside = [...lit].filter(([path]) => path.startsWith(`${node.id}:`)).map(([, one]) => one);
        if (inside.some((one) => one.light === "running")) own = { light: "running", count: own.count };
      }
      const ends = node.kind === "start" || node.kind === "end";
      if (ends && node.parent !== null) {
        const parent = lit.get(node.parent)?.light;
        if (parent === "done" || (parent === "running" && node.kind === "start")) own = { light: "done", count: 1 };
      }
      return {
        id: node.id,
        type: "node",
        position: { x: node.x, y: node.y },
        ...(node.parent === null ? {} : { parentId: node.parent, extent: "parent" as const }),
        width: node.width,
        height: node.height,
        draggable: false,
        connectable: false,
        selectable: false,
        focusable: !ends,
        ariaRole: ends ? "img" : "group",
        ariaLabel: ends ? node.label : `Node ${node.label}${WORDS[own.light] ? `, ${WORDS[own.light]}` : ""}`,
        data: {
          label: node.label,
          kind: node.kind,
          lit: own,
          direction,
          before: breaks.before.includes(node.id),
          after: breaks.after.includes(node.id),
          // Tasks of an entrypoint have no pauses.
          pausable: !ends && known.has(node.id),
          inner: node.parent !== null,
        },
      };
    });
  }, [layout, drawn, lit, breaks, direction]);

  const edges = useMemo<Edge<EdgeData>[]>(() => {
    if (!layout) return [];
    const light = (id: string): Light => {
      const own = lit.get(id)?.light;
      if (own) return own;
      if (id.endsWith(":__start__")) return lit.get(id.slice(0, -10))?.light === "running" || lit.get(id.slice(0, -10))?.light === "done" ? "done" : "idle";
      if (id.endsWith(":__end__")) return lit.get(id.slice(0, -8))?.light === "done" ? "done" : "idle";
      return "idle";
    };
    return layout.arrows.map((arrow) => {
      const from = light(arrow.source);
      const to = light(arrow.target);
      const came = from === "done";
      const flow = came && to === "running" ? "running" : came && to !== "idle" && to !== "next" ? "passed" : "idle";
      return {
        id: arrow.id,
        source: arrow.source,
        target: arrow.target,
        type: "edge",
        focusable: false,
        selectable: false,
        zIndex: arrow.source.split(":").length,
        data: { label: arrow.label, conditional: arrow.conditional, back: arrow.back, flow, direction },
      };
    });
  }, [layout, lit, direction]);

  const name = state.assistant?.graph_id ?? "";
  return (
    <section className="graph" aria-label={`Graph ${name}`}>
      <Markers />
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        minZoom={ZOOM.least}
        maxZoom={ZOOM.most}
        nodesDraggable={false}
        nodesConnectable={false}
        elementsSelectable={false}
        edgesFocusable={false}
        proOptions={{ hideAttribution: true }}
        ariaLabelConfig={{ "node.a11yDescription.default": "A node of the graph.", "node.a11yDescription.keyboardDisabled": "A node of the graph." }}
      >
        <Background variant={BackgroundVariant.Dots} gap={22} size={1.2} />
        <Controls layout={layout} />
      </ReactFlow>
      <Spoken lit={lit} />
    </section>
  );
}

export function Graph() {
  return (
    <ReactFlowProvider>
      <Picture />
    </ReactFlowProvider>
  );
}
