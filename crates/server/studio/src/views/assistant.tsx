import { useCallback, useEffect, useId, useState } from "react";
import { check, initial } from "../model/schema";
import { ago } from "../model/text";
import type { AssistantRow, Fields, Json, Schema } from "../model/types";
import { isFields } from "../model/types";
import { api, assistants, fail, say, useStudio } from "../studio";
import { SchemaForm } from "./form";
import { Check, Plus, Trash } from "./icons";
import { Tree } from "./tree";

function isDefault(assistant: AssistantRow): boolean {
  return assistant.metadata?.created_by === "system";
}

/** A form for the name and the context of an assistant. */
function Editor({ assistant, schema, isNew, onSaved }: { assistant: AssistantRow; schema: Schema | null; isNew: boolean; onSaved: (id: string) => void }) {
  const [name, setName] = useState(isNew ? "" : assistant.name);
  const [description, setDescription] = useState(isNew ? "" : (assistant.description ?? ""));
  const [context, setContext] = useState<Json | undefined>(() => ({
    ...(schema ? ((initial(schema, schema) as Fields | undefined) ?? {}) : {}),
    ...(assistant.context ?? {}),
  }));
  const [tried, setTried] = useState(false);
  const id = useId();
  const wrong = schema ? check(schema, schema, context) : [];
  const save = async () => {
    setTried(true);
    if (wrong.length || !name.trim()) return;
    const given = { name: name.trim(), description: description.trim(), context: (isFields(context) ? context : {}) as never };
    try {
      const saved = isNew
        ? await api().assistants.create({ graphId: assistant.graph_id, ...given })
        : await api().assistants.update(assistant.assistant_id, given);
      say(`Version ${(saved as AssistantRow).version ?? 1} of ${name.trim()} is saved`);
      onSaved(saved.assistant_id);
    } catch (error) {
      fail(error);
    }
  };
  return (
    <form className="editor" aria-label={isNew ? "New assistant" : `Edit ${assistant.name}`} onSubmit={(event) => { event.preventDefault(); void save(); }}>
      <div className="pair">
        <div className="field">
          <label htmlFor={`${id}-n`}>Name</label>
          <input id={`${id}-n`} value={name} aria-invalid={tried && !name.trim()} onChange={(event) => setName(event.target.value)} />
        </div>
        <div className="field">
          <label htmlFor={`${id}-d`}>Description</label>
          <input id={`${id}-d`} value={description} onChange={(event) => setDescription(event.target.value)} />
        </div>
      </div>
      {schema ? (
        <SchemaForm schema={schema} value={context} onChange={setContext} problems={tried ? Object.fromEntries(wrong.map((one) => [one.path, one.problem])) : {}} />
      ) : (
        <SchemaForm schema={{ title: "Context", description: "JSON. The graph has not declared what it reads of it." }} value={context} onChange={setContext} />
      )}
      <p className="hint">The next run uses it.</p>
      <div className="line">
        <span className="grow" />
        <button type="submit" className="primary"><Check /> {isNew ? "Create" : "Save as a new version"}</button>
      </div>
    </form>
  );
}

/** The assistant: its context as a form, and its versions. */
export function AssistantView() {
  const assistant = useStudio((state) => state.assistant);
  const schema = useStudio((state) => state.contextSchema);
  const loading = useStudio((state) => state.loading);
  const [versions, setVersions] = useState<AssistantRow[]>([]);
  const [isNew, setIsNew] = useState(false);
  const id = assistant?.assistant_id;
  const read = useCallback(async () => {
    if (!id) return;
    try {
      setVersions((await api().assistants.getVersions(id, { limit: 100 })) as unknown as AssistantRow[]);
    } catch (error) {
      fail(error);
    }
  }, [id]);
  useEffect(() => {
    setIsNew(false);
    void read();
  }, [read, assistant]);
  if (!assistant || loading) return <main className="locked" id="main"><p className="quiet">Loading…</p></main>;
  const own = !isDefault(assistant);
  const use = async (version: number) => {
    try {
      await api().assistants.setLatest(assistant.assistant_id, version);
      say(`Version ${version} is used from now on`);
      await assistants(assistant.assistant_id);
    } catch (error) {
      fail(error);
    }
  };
  return (
    <main className="store" id="main" tabIndex={-1}>
      <nav className="sidebar" aria-label="Versions">
        <div className="side-head">
          <button className="wide" onClick={() => setIsNew(true)} disabled={isNew}><Plus /> New assistant</button>
        </div>
        <ul className="threads">
          {versions.map((one) => {
            const on = one.version === assistant.version;
            return (
              <li key={one.version} className={on ? "thread on" : "thread"} data-version={one.version}>
                <button className="pick" aria-current={on} disabled={on} onClick={() => void use(one.version ?? 1)} title={on ? "The version in use" : "Use this version"}>
                  <span className="title">Version {one.version}{on ? ", in use" : ""}</span>
                  <span className="quiet">{ago(one.updated_at ?? one.created_at ?? "")}</span>
                </button>
              </li>
            );
          })}
        </ul>
      </nav>
      <section className="items" aria-label="Assistant">
        <div className="line">
          <h2>{isNew ? `New assistant of ${assistant.graph_id}` : assistant.name}</h2>
          <span className="grow" />
          {own && !isNew ? (
            <button className="danger" onClick={() => {
              if (!confirm(`Delete ${assistant.name}?`)) return;
              api().assistants.delete(assistant.assistant_id).then(() => assistants("")).catch(fail);
            }}><Trash /> Delete</button>
          ) : null}
        </div>
        <Editor key={`${assistant.assistant_id}:${assistant.version}:${isNew}`} assistant={assistant} schema={schema} isNew={isNew} onSaved={(saved) => void assistants(saved)} />
      </section>
      <section className="detail" aria-label="Context">
        <h2>Context</h2>
        <Tree value={(assistant.context ?? {}) as Json} label="Context" />
      </section>
    </main>
  );
}
