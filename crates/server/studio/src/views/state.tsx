import { useEffect, useId, useState } from "react";
import { idOf, parentOf } from "../model/history";
import type { Json, Snapshot } from "../model/types";
import { isFields } from "../model/types";
import { cell, edit, isBusy, looked, useStudio, within } from "../studio";
import { Pencil } from "./icons";
import { Tree } from "./tree";

function Editor({ field, value, nodes, writer, onDone }: { field: string; value: Json | undefined; nodes: string[]; writer: string; onDone: () => void }) {
  const [text, setText] = useState(() => JSON.stringify(value ?? null, null, 2));
  const [asNode, setAsNode] = useState(writer);
  const [wrong, setWrong] = useState<string | null>(null);
  const id = useId();
  const save = async () => {
    let parsed: Json;
    try {
      parsed = JSON.parse(text) as Json;
    } catch (error) {
      setWrong(error instanceof Error ? error.message : "this is not JSON");
      return;
    }
    if (await edit(field === "" && isFields(parsed) ? parsed : { [field]: parsed }, asNode || null)) onDone();
  };
  return (
    <form
      className="editor"
      aria-label={`Edit ${field || "the state"}`}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onDone();
        if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void save();
      }}
    >
      <label htmlFor={id}>{field ? <>New value of <code>{field}</code></> : "Values to write"}</label>
      <textarea id={id} className="mono" autoFocus rows={Math.min(16, text.split("\n").length + 1)} value={text} spellCheck={false} aria-invalid={wrong !== null} aria-describedby={`${id}-help`} onChange={(event) => { setText(event.target.value); setWrong(null); }} />
      <p id={`${id}-help`} className={wrong ? "hint wrong" : "hint"}>{wrong ?? "As if a node had returned it: the field's reducer merges it. The change is a new checkpoint, so nothing is lost."}</p>
      <div className="line">
        <label className="inline">
          as if written by
          <select value={asNode} onChange={(event) => setAsNode(event.target.value)}>
            <option value="">nobody</option>
            {nodes.map((name) => <option key={name}>{name}</option>)}
          </select>
        </label>
        <span className="grow" />
        <button type="button" onClick={onDone}>Cancel</button>
        <button type="submit" className="primary">Save</button>
      </div>
    </form>
  );
}

/** The states of the subgraphs of open tasks, with those of their own subgraphs. */
function inner(snapshot: Snapshot, path = ""): [string, Json][] {
  return snapshot.tasks.flatMap((task, index) => {
    if (!task.state) return [];
    const many = snapshot.tasks.filter((one) => one.name === task.name).length > 1;
    const name = `${path}${task.name}${many ? ` ${index + 1}` : ""}`;
    return [[name, task.state.values] as [string, Json], ...inner(task.state, `${name} › `)];
  });
}

function Subgraphs({ at }: { at: string | null }) {
  const [states, setStates] = useState<[string, Json][] | null>(null);
  useEffect(() => setStates(null), [at]);
  return (
    <details className="about" onToggle={(event) => { if (event.currentTarget.open && states === null) void within().then((state) => setStates(state ? inner(state) : [])); }}>
      <summary>Subgraphs</summary>
      {states?.map(([name, values]) => (
        <section key={name} data-subgraph={name}>
          <h3>{name}</h3>
          <Tree value={values} label={`State of ${name}`} />
        </section>
      ))}
      {states?.length === 0 ? <p className="quiet">No task of this checkpoint has a subgraph that is open.</p> : null}
    </details>
  );
}

/** The state at a checkpoint, beside the one before it. */
export function StateView() {
  const shown = useStudio(looked);
  const history = useStudio((state) => state.history);
  const drawn = useStudio((state) => state.drawn);
  const busy = useStudio((state) => isBusy(state.live));
  const stateSchema = useStudio((state) => state.stateSchema);
  const [only, setOnly] = useState(false);
  const [field, setField] = useState<string | null>(null);
  const at = shown ? idOf(shown) : null;
  useEffect(() => setField(null), [at]);
  if (!shown) {
    return (
      <div className="welcome">
        <h2>State</h2>
        <p>Here stands what the thread knows, and what each superstep changed.</p>
      </div>
    );
  }
  const parent = parentOf(shown);
  const last = history.find((one) => idOf(one) === parent);
  const before = last?.values;
  const ran = [...new Set(last?.tasks.map((task) => task.name))];
  const nodes = (drawn?.nodes ?? []).map((node) => node.id).filter((id) => !id.includes("__") && !id.includes(":"));
  const plain = !isFields(shown.values);
  const missing = Object.keys(stateSchema?.properties ?? {}).filter((name) => !plain && !(name in (shown.values as object)));
  return (
    <div className="state">
      <div className="line">
        <label className="switch small">
          <input type="checkbox" role="switch" checked={only} onChange={(event) => setOnly(event.target.checked)} />
          <span>Only what this step changed</span>
        </label>
        <span className="grow" />
        {missing.length && !busy ? (
          <select aria-label="Set a field that has no value" value="" onChange={(event) => event.target.value && setField(event.target.value)}>
            <option value="">Set…</option>
            {missing.map((name) => <option key={name}>{name}</option>)}
          </select>
        ) : null}
        {plain && !busy ? <button className="ghost" onClick={() => setField("")}><Pencil /> Edit</button> : null}
      </div>
      {field !== null ? <Editor key={`${at}:${field}`} field={field} value={isFields(shown.values) ? shown.values[field] : shown.values} nodes={nodes} writer={ran.length > 1 ? (ran[ran.length - 1] ?? "") : ""} onDone={() => setField(null)} /> : null}
      <Tree key={at} value={shown.values} before={before ?? (isFields(shown.values) ? {} : null)} label="State" onlyChanges={only} onEdit={busy ? undefined : setField} />
      {shown.tasks.length ? <Subgraphs at={at} /> : null}
      <details className="about">
        <summary>About this checkpoint</summary>
        <Tree value={{ checkpoint_id: at, parent, ...(shown.metadata as Record<string, Json>) }} label="About this checkpoint" />
        <button className="ghost" onClick={() => void navigator.clipboard?.writeText(at ?? "").then(() => cell.set({ said: "Copied" }))}>Copy the id</button>
      </details>
    </div>
  );
}
