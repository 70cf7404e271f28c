import { useId, useState } from "react";
import type { Fields, Interrupt, Json, Schema } from "../model/types";
import { isFields } from "../model/types";
import { check, initial, loose } from "../model/schema";
import { answer, isBusy, looked, useStudio } from "../studio";
import type { State } from "../studio";
import { SchemaForm } from "./form";
import { Check, Cross, Pencil, Send, Warn } from "./icons";
import { Markdown } from "./markdown";
import { Tree } from "./tree";

/** What the thread asks: at the head, or at the checkpoint that is looked at. */
export function open(state: State): Interrupt[] {
  if (isBusy(state.live)) return [];
  const shown = looked(state);
  if (!shown) return [];
  const listed = shown.interrupts?.length ? shown.interrupts : shown.tasks.flatMap((task) => task.interrupts);
  const live = state.selected === null ? (state.live?.interrupts ?? []) : [];
  return listed.map((one) => ({ ...live.find((known) => known.id === one.id), ...one, response_schema: one.response_schema ?? live.find((known) => known.id === one.id)?.response_schema ?? null }));
}

type Answer = (value: Json) => void;

interface Call {
  name: string;
  arguments: Fields;
}

/** A tool call that waits for a person. */
function Approval({ request, onAnswer }: { request: Fields; onAnswer: Answer }) {
  const call = request.call as unknown as Call;
  const allowed = (Array.isArray(request.allowed) ? request.allowed : ["approve", "edit", "reject", "answer"]) as string[];
  const schema = isFields(request.parameters) ? (request.parameters as unknown as Schema) : null;
  const [mode, setMode] = useState<"ask" | "edit" | "reject" | "answer">("ask");
  const [args, setArgs] = useState<Json | undefined>(call.arguments);
  const [text, setText] = useState("");
  const id = useId();
  const digest: Fields = typeof request.digest === "string" && request.digest ? { digest: request.digest } : {};
  const [by, setBy] = useState("");
  const expires = typeof request.expires_at === "number" ? new Date(request.expires_at) : null;
  const give = (decision: Fields) => onAnswer({ ...decision, ...digest, ...(by.trim() ? { by: by.trim() } : {}) });
  const wrong = schema && mode === "edit" ? check(schema, schema, args) : [];
  return (
    <>
      <div className="ask"><Markdown text={typeof request.description === "string" && request.description ? request.description : `May \`${call.name}\` run?`} /></div>
      {mode === "edit" ? (
        schema?.properties ? (
          <SchemaForm schema={schema} value={args} onChange={setArgs} problems={Object.fromEntries(wrong.map((one) => [one.path, one.problem]))} name="Arguments" />
        ) : (
          <SchemaForm schema={{ title: "Arguments" }} value={args} onChange={setArgs} />
        )
      ) : (
        <div className="call">
          <p className="call-name"><strong>{call.name}</strong></p>
          <Tree value={call.arguments} label={`Arguments of ${call.name}`} />
        </div>
      )}
      {mode === "reject" || mode === "answer" ? (
        <div className="field">
          <label htmlFor={id}>{mode === "reject" ? "Why not? (for the model)" : "Answer instead of the tool"}</label>
          <textarea id={id} rows={2} autoFocus value={text} onChange={(event) => setText(event.target.value)} />
        </div>
      ) : null}
      {expires ? <p className="hint" data-expires="">{expires.getTime() < Date.now() ? "Expired" : "Expires"} {expires.toLocaleString()}{isFields(request.default) && typeof request.default.type === "string" ? `: then ${request.default.type}` : ""}</p> : null}
      <details>
        <summary>Decide in a name</summary>
        <div className="field">
          <label htmlFor={`${id}-by`}>Name</label>
          <input id={`${id}-by`} value={by} autoComplete="username" aria-describedby={`${id}-by-help`} onChange={(event) => setBy(event.target.value)} />
          <p id={`${id}-by-help`} className="hint">For approvals that name who takes them. A server that knows its users uses their names.</p>
        </div>
      </details>
      <div className="line">
        {mode === "ask" ? (
          <>
            {allowed.includes("approve") ? <button className="primary" onClick={() => give({ type: "approve" })}><Check /> Approve</button> : null}
            {allowed.includes("edit") ? <button onClick={() => setMode("edit")}><Pencil /> Edit</button> : null}
            {allowed.includes("reject") ? <button onClick={() => setMode("reject")}><Cross /> Reject</button> : null}
            {allowed.includes("answer") ? <button onClick={() => setMode("answer")}>Answer</button> : null}
          </>
        ) : (
          <>
            <button onClick={() => setMode("ask")}>Back</button>
            <span className="grow" />
            {mode === "edit" ? <button className="primary" disabled={wrong.length > 0} onClick={() => give({ type: "edit", arguments: args ?? {} })}><Check /> Run with these</button> : null}
            {mode === "reject" ? <button className="danger" onClick={() => give({ type: "reject", ...(text.trim() ? { message: text.trim() } : {}) })}><Cross /> Reject</button> : null}
            {mode === "answer" ? <button className="primary" disabled={!text.trim()} onClick={() => give({ type: "answer", content: text.trim() })}><Send /> Answer</button> : null}
          </>
        )}
      </div>
    </>
  );
}

/** The text that a person reads first, and the rest of the payload. */
function split(value: Json): { ask: string | null; texts: [string, string][]; rest: Fields | null } {
  if (typeof value === "string") return { ask: value, texts: [], rest: null };
  if (!isFields(value)) return { ask: null, texts: [], rest: null };
  const { response_schema: _, question, message, prompt, ...rest } = value;
  const ask = [question, message, prompt].find((text) => typeof text === "string");
  const texts = Object.entries(rest).filter((entry): entry is [string, string] => typeof entry[1] === "string" && entry[1].length > 0);
  const other = Object.fromEntries(Object.entries(rest).filter(([, one]) => typeof one !== "string" || one.length === 0));
  return { ask: typeof ask === "string" ? ask : null, texts, rest: Object.keys(other).length ? other : null };
}

function schemaOf(interrupt: Interrupt): Schema | null {
  if (interrupt.response_schema) return interrupt.response_schema;
  const own = isFields(interrupt.value) ? interrupt.value.response_schema : null;
  return isFields(own) ? (own as unknown as Schema) : null;
}

function Question({ interrupt, onAnswer }: { interrupt: Interrupt; onAnswer: Answer }) {
  const schema = schemaOf(interrupt);
  const [value, setValue] = useState<Json | undefined>(() => (schema ? initial(schema, schema) : undefined));
  const [text, setText] = useState("");
  const [tried, setTried] = useState(false);
  const id = useId();
  const { ask, texts, rest } = split(interrupt.value);
  const options = isFields(interrupt.value) && Array.isArray(interrupt.value.options) ? interrupt.value.options : null;
  const wrong = schema ? check(schema, schema, value) : [];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (schema) {
          setTried(true);
          if (wrong.length === 0) onAnswer(value ?? null);
        } else onAnswer(loose(text) ?? "");
      }}
    >
      <div className="ask"><Markdown text={ask ?? "The graph asks for an answer."} /></div>
      {texts.map(([key, one]) => (
        <div key={key} className="quoted">
          <p className="who">{key}</p>
          <Markdown text={one} />
        </div>
      ))}
      {rest ? <Tree value={rest} label="What it asks" /> : null}
      {!isFields(interrupt.value) && typeof interrupt.value !== "string" ? <Tree value={interrupt.value} label="What it asks" /> : null}
      {schema ? (
        <SchemaForm schema={schema} value={value} onChange={setValue} problems={tried ? Object.fromEntries(wrong.map((one) => [one.path, one.problem])) : {}} />
      ) : options ? (
        <div className="line">
          {options.map((option) => (
            <button key={JSON.stringify(option)} type="button" onClick={() => onAnswer(option)}>{typeof option === "string" ? option : JSON.stringify(option)}</button>
          ))}
        </div>
      ) : (
        <div className="field">
          <label htmlFor={id}>Answer</label>
          <textarea id={id} rows={2} value={text} onChange={(event) => setText(event.target.value)} placeholder="Text, or JSON"
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey) {
                event.preventDefault();
                event.currentTarget.form?.requestSubmit();
              }
            }} />
        </div>
      )}
      {schema || !options ? (
        <div className="line">
          <span className="grow" />
          <button type="submit" className="primary"><Send /> Answer</button>
        </div>
      ) : null}
    </form>
  );
}

/** Until when a node sleeps whose interrupt asks nothing; null if it asks something. */
function sleepsUntil(value: Json): Date | null {
  const wait = isFields(value) ? value.$wait : null;
  if (!isFields(wait) || typeof wait.until !== "string" || wait.event || wait.one_of) return null;
  return new Date(wait.until);
}

/** A node that sleeps: the server goes on with it by itself. */
function Sleep({ until, onAnswer }: { until: Date; onAnswer: Answer }) {
  return (
    <div className="line">
      <p className="hint">Goes on by itself: {until.toLocaleString()}</p>
      <span className="grow" />
      <button type="button" onClick={() => onAnswer("time")}>Wake now</button>
    </div>
  );
}

/** The questions of the thread, each with a form. */
export function Interrupts() {
  const state = useStudio((state) => state);
  const list = open(state);
  if (list.length === 0) return null;
  return (
    <div className="interrupts">
      {list.map((interrupt, index) => {
        const onAnswer: Answer = (value) => void answer(interrupt.id ? { [interrupt.id]: value } : value);
        const isApproval = isFields(interrupt.value) && interrupt.value.type === "tool_approval" && isFields(interrupt.value.call);
        const until = sleepsUntil(interrupt.value);
        const kind = until ? "Sleep" : "Question";
        const head = isApproval ? "Approval" : until ? "Sleeping" : "Waiting for you";
        return (
          <section key={interrupt.id ?? index} className="interrupt" aria-label={list.length > 1 ? `${kind} ${index + 1} of ${list.length}` : kind} data-interrupt={interrupt.id}>
            <p className="interrupt-head"><Warn /> {head}{list.length > 1 ? ` · ${index + 1} of ${list.length}` : ""}</p>
            {isApproval ? <Approval request={interrupt.value as Fields} onAnswer={onAnswer} /> : until ? <Sleep until={until} onAnswer={onAnswer} /> : <Question interrupt={interrupt} onAnswer={onAnswer} />}
          </section>
        );
      })}
    </div>
  );
}
