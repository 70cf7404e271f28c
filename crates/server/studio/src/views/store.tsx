import { useCallback, useEffect, useId, useState } from "react";
import type { Fields, Json } from "../model/types";
import { isFields } from "../model/types";
import { ago } from "../model/text";
import { api, fail, say } from "../studio";
import { Pencil, Plus, Trash } from "./icons";
import { Tree } from "./tree";

/** How many items are read at a time. */
const PAGE = 100;

interface Item {
  namespace: string[];
  key: string;
  value: Fields;
  created_at?: string;
  updated_at?: string;
  updatedAt?: string;
}

function EditItem({ item, onDone }: { item: Item | null; onDone: (saved: boolean) => void }) {
  const [namespace, setNamespace] = useState(item?.namespace.join(" / ") ?? "");
  const [key, setKey] = useState(item?.key ?? "");
  const [text, setText] = useState(JSON.stringify(item?.value ?? {}, null, 2));
  const [wrong, setWrong] = useState<string | null>(null);
  const id = useId();
  const save = async () => {
    const parts = namespace.split("/").map((part) => part.trim()).filter(Boolean);
    try {
      const value = JSON.parse(text) as Json;
      if (!isFields(value)) throw new Error("the value is an object");
      if (!parts.length || !key.trim()) throw new Error("an item has a namespace and a key");
      await api().store.putItem(parts, key.trim(), value);
      say(`${key} is saved`);
      onDone(true);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form className="editor" aria-label={item ? `Edit ${item.key}` : "New item"} onSubmit={(event) => { event.preventDefault(); void save(); }}>
      <div className="pair">
        <div className="field">
          <label htmlFor={`${id}-n`}>Namespace</label>
          <input id={`${id}-n`} value={namespace} disabled={item !== null} placeholder="users / ada" onChange={(event) => setNamespace(event.target.value)} />
        </div>
        <div className="field">
          <label htmlFor={`${id}-k`}>Key</label>
          <input id={`${id}-k`} value={key} disabled={item !== null} onChange={(event) => setKey(event.target.value)} />
        </div>
      </div>
      <div className="field">
        <label htmlFor={`${id}-v`}>Value</label>
        <textarea id={`${id}-v`} className="mono" rows={Math.min(18, text.split("\n").length + 1)} spellCheck={false} value={text} onChange={(event) => { setText(event.target.value); setWrong(null); }} />
      </div>
      {wrong ? <p className="hint wrong" role="alert">{wrong}</p> : null}
      <div className="line">
        <span className="grow" />
        <button type="button" onClick={() => onDone(false)}>Cancel</button>
        <button type="submit" className="primary">Save</button>
      </div>
    </form>
  );
}

/** The long-term memory: namespaces, their items, and a form for each. */
export function StoreView() {
  const [namespaces, setNamespaces] = useState<string[][]>([]);
  const [at, setAt] = useState<string[] | null>(null);
  const [items, setItems] = useState<Item[]>([]);
  const [limit, setLimit] = useState(PAGE);
  const [chosen, setChosen] = useState<string | null>(null);
  const [editing, setEditing] = useState<Item | "new" | null>(null);

  const read = useCallback(async (namespace: string[] | null, limit: number) => {
    try {
      const [names, found] = await Promise.all([
        api().store.listNamespaces({ limit: 500 }),
        api().store.searchItems(namespace ?? [], { limit }),
      ]);
      setNamespaces(names.namespaces);
      setItems(found.items as unknown as Item[]);
    } catch (error) {
      fail(error);
    }
  }, []);
  useEffect(() => void read(at, limit), [read, at, limit]);

  const id = (item: Item) => [...item.namespace, item.key].join("\u0000");
  const item = items.find((one) => id(one) === chosen) ?? null;
  return (
    <main className="store" id="main" tabIndex={-1}>
      <nav className="sidebar" aria-label="Namespaces">
        <div className="side-head">
          <button className="wide" onClick={() => { setEditing("new"); setChosen(null); }}><Plus /> New item</button>
        </div>
        <ul className="threads">
          <li className={at === null ? "thread on" : "thread"}>
            <button className="pick" aria-current={at === null} onClick={() => { setAt(null); setLimit(PAGE); }}><span className="title">All namespaces</span></button>
          </li>
          {namespaces.map((namespace) => {
            const on = at?.join("\u0000") === namespace.join("\u0000");
            return (
              <li key={namespace.join("\u0000")} className={on ? "thread on" : "thread"}>
                <button className="pick" aria-current={on} onClick={() => { setAt(namespace); setLimit(PAGE); }}><span className="title">{namespace.join(" / ")}</span></button>
              </li>
            );
          })}
        </ul>
      </nav>
      <section className="items" aria-label="Items">
        <h2>{at?.join(" / ") ?? "Store"}</h2>
        {items.length === 0 ? <p className="quiet">Nothing is kept here. Nodes write with <code>cx.store()</code>.</p> : null}
        <ul>
          {items.map((one) => (
            <li key={id(one)}>
              <button className={id(one) === chosen ? "card on" : "card"} aria-pressed={id(one) === chosen} onClick={() => { setChosen(id(one)); setEditing(null); }}>
                <span className="card-key">{one.key}</span>
                <span className="quiet">{one.namespace.join(" / ")}</span>
                <span className="quiet when">{ago(one.updatedAt ?? one.updated_at)}</span>
                <span className="peek">{JSON.stringify(one.value)}</span>
              </button>
            </li>
          ))}
        </ul>
        {items.length === limit ? <button className="wide" onClick={() => setLimit(limit + PAGE)}>Show more</button> : null}
      </section>
      <section className="detail" aria-label="Item">
        {editing !== null ? (
          <EditItem key={editing === "new" ? "new" : id(editing)} item={editing === "new" ? null : editing} onDone={(saved) => { setEditing(null); if (saved) void read(at, limit); }} />
        ) : item ? (
          <>
            <div className="line">
              <h2>{item.key}</h2>
              <span className="grow" />
              <button onClick={() => setEditing(item)}><Pencil /> Edit</button>
              <button
                className="danger"
                onClick={() => {
                  if (!confirm(`Delete ${item.key}?`)) return;
                  api().store.deleteItem(item.namespace, item.key).then(() => { setChosen(null); return read(at, limit); }).catch(fail);
                }}
              >
                <Trash /> Delete
              </button>
            </div>
            <p className="quiet">{item.namespace.join(" / ")}</p>
            <Tree key={chosen} value={item.value} label={item.key} />
          </>
        ) : (
          <div className="welcome"><h2>Store</h2><p>Pick an item to see its value, or write a new one.</p></div>
        )}
      </section>
    </main>
  );
}
