import { useEffect, useRef, useState } from "react";
import type { Json, Schema } from "../model/types";
import { check, initial, loose } from "../model/schema";
import { v4 } from "../sdk/uuid";
import { isBusy, send, stop, useStudio } from "../studio";
import { SchemaForm } from "./form";
import { open } from "./interrupt";
import { Play, Send, Stop } from "./icons";

/** A schema without its messages: what else an input can hold. */
function besides(schema: Schema): Schema | null {
  const { messages: _, ...rest } = schema.properties ?? {};
  return Object.keys(rest).length ? { ...schema, properties: rest, required: (schema.required ?? []).filter((name) => name !== "messages") } : null;
}

function Ask({ schema }: { schema: Schema }) {
  const [text, setText] = useState("");
  const [extra, setExtra] = useState<Json | undefined>(() => {
    const rest = besides(schema);
    return rest ? initial(rest, schema) : undefined;
  });
  const busy = useStudio((state) => isBusy(state.live));
  const selected = useStudio((state) => state.selected);
  const threadId = useStudio((state) => state.threadId);
  const box = useRef<HTMLTextAreaElement>(null);
  const rest = besides(schema);
  useEffect(() => box.current?.focus(), [threadId]);
  useEffect(() => {
    const area = box.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(180, area.scrollHeight)}px`;
  }, [text]);
  const go = () => {
    if (!text.trim() || busy) return;
    const message = { type: "human", content: text.trim(), id: v4() };
    void send({ ...(typeof extra === "object" && extra !== null && !Array.isArray(extra) ? extra : {}), messages: [message] });
    setText("");
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      {rest ? (
        <details>
          <summary>More input</summary>
          <SchemaForm schema={rest} value={extra} onChange={setExtra} />
        </details>
      ) : null}
      <div className="ask-row">
        <textarea
          ref={box}
          id="composer"
          rows={1}
          aria-label="Message"
          placeholder={selected === null ? "Ask something" : "Ask from this checkpoint: the answer is a new branch"}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault();
              go();
            }
          }}
        />
        {busy ? (
          <button type="button" className="round danger" onClick={() => void stop()} aria-label="Stop the run" title="Stop the run"><Stop /></button>
        ) : (
          <button type="submit" className="round primary" disabled={!text.trim()} aria-label="Send" title="Send (Enter)"><Send /></button>
        )}
      </div>
    </form>
  );
}

function Input({ schema }: { schema: Schema | null }) {
  const [value, setValue] = useState<Json | undefined>(() => (schema ? initial(schema, schema) : {}));
  const [raw, setRaw] = useState<string | null>(null);
  const [tried, setTried] = useState(false);
  const busy = useStudio((state) => isBusy(state.live));
  const selected = useStudio((state) => state.selected);
  const known = schema?.properties && Object.keys(schema.properties).length > 0 ? schema : null;
  const asJson = raw !== null || !known;
  const wrong = known && !asJson ? check(known, known, value) : [];
  const go = () => {
    if (busy) return;
    setTried(true);
    if (wrong.length) return;
    void send(asJson ? (loose(raw ?? JSON.stringify(value)) ?? {}) : (value ?? {}));
  };
  if (busy) {
    return (
      <div className="line">
        <span className="quiet">The graph is running.</span>
        <span className="grow" />
        <button type="button" className="danger" onClick={() => void stop()}><Stop /> Stop</button>
      </div>
    );
  }
  return (
    <form
      className="composer form"
      aria-label="Input"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) go();
      }}
    >
      {asJson ? (
        <div className="field">
          <label htmlFor="composer">Input as JSON</label>
          <textarea id="composer" className="mono" rows={4} spellCheck={false} value={raw ?? JSON.stringify(value ?? {}, null, 2)} onChange={(event) => setRaw(event.target.value)} />
        </div>
      ) : (
        <SchemaForm schema={known} value={value} onChange={setValue} problems={tried ? Object.fromEntries(wrong.map((one) => [one.path, one.problem])) : {}} name="Input" />
      )}
      <div className="line">
        {known ? (
          <button
            type="button"
            className="ghost"
            onClick={() => {
              if (raw === null) setRaw(JSON.stringify(value ?? {}, null, 2));
              else {
                setValue(loose(raw));
                setRaw(null);
              }
            }}
          >
            {raw === null ? "as JSON" : "as a form"}
          </button>
        ) : null}
        <span className="grow" />
        <button type="submit" className="primary"><Play /> {selected === null ? "Run" : "Run from here"}</button>
      </div>
    </form>
  );
}

/** Where a person speaks to the graph: a question, or a form for its input. */
export function Composer() {
  const schema = useStudio((state) => state.input);
  const assistant = useStudio((state) => state.assistant);
  const asks = useStudio((state) => open(state).length > 0);
  const loading = useStudio((state) => state.drawn === null);
  const [more, setMore] = useState(false);
  useEffect(() => setMore(false), [asks]);
  if (loading) return null;
  if (asks && !more) return <button className="ghost more" onClick={() => setMore(true)}>New input instead of an answer</button>;
  if (schema?.properties?.messages) return <Ask key={assistant?.assistant_id} schema={schema} />;
  return <Input key={assistant?.assistant_id} schema={schema} />;
}
