import { useEffect, useRef } from "react";
import { lineage, idOf } from "../model/history";
import type { Step } from "../model/live";
import { stepsOf } from "../model/live";
import { took, textOf } from "../model/text";
import type { Json } from "../model/types";
import { isFields } from "../model/types";
import { shown, sum } from "../model/usage";
import type { State } from "../studio";
import { isBusy, looked, useStudio } from "../studio";
import { Tree } from "./tree";

/** The steps up to the checkpoint that is looked at, and those of the run that is shown. */
function steps(state: State): Step[] {
  const { live, history, selected } = state;
  if (live && selected === null) {
    const before = lineage(history, live.from);
    return [...stepsOf(before.slice(0, -1), -1), ...nested(live.steps.map((step) => paused(step, state)))];
  }
  const shown = looked(state);
  return shown ? stepsOf(lineage(history, idOf(shown))) : [];
}

function wrote(step: Step): boolean {
  return step.result !== undefined && step.result !== null && !(isFields(step.result) && Object.keys(step.result).length === 0);
}

/** The task of a subgraph that has paused ends without a result: it is the next one. */
function paused(step: Step, state: State): Step {
  const open = state.history[0]?.tasks.some((task) => task.state && task.name === step.path);
  return step.status === "done" && !wrote(step) && open && !isBusy(state.live) ? { ...step, status: "stopped" } : step;
}

/** The steps of a subgraph follow the step that they belong to. */
function nested(list: Step[]): Step[] {
  const out: Step[] = [];
  for (const step of list) {
    const around = step.path.split(":").slice(0, -1).join(":");
    const owner = out.findLastIndex((one) => one.path === around);
    let at = owner + 1;
    while (around && out[at]?.path.startsWith(`${around}:`)) at += 1;
    if (!around || owner < 0) out.push(step);
    else out.splice(at, 0, step);
  }
  return out;
}

const STATUS = { running: "running", done: "done", waiting: "waits", failed: "failed", stopped: "next" } as const;

function brief(value: Json): string {
  if (isFields(value)) {
    return Object.entries(value)
      .map(([key, one]) => `${key}: ${typeof one === "string" ? one : JSON.stringify(one)}`)
      .join(" · ");
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Entry({ step, texts }: { step: Step; texts: string[] }) {
  const time = step.startedAt !== null && step.endedAt !== null ? took(step.endedAt - step.startedAt) : "";
  return (
    <li className={`step ${step.status}`} style={{ marginInlineStart: step.depth * 18 }} data-step={step.path} data-status={step.status}>
      <p className="step-head">
        <span className="lamp" aria-hidden="true" />
        <strong>{step.name}</strong>
        {step.depth ? <span className="quiet">in {step.path.split(":").slice(0, -1).join(" › ")}</span> : null}
        <span className="grow" />
        {step.usage ? <span className="quiet" data-usage="">{shown(step.usage)}</span> : null}
        <span className="quiet">{step.status === "done" ? time : STATUS[step.status]}</span>
      </p>
      {step.custom.length ? (
        <ul className="custom" aria-label="Progress">
          {step.custom.map((value, index) => <li key={index}>{brief(value)}</li>)}
        </ul>
      ) : null}
      {texts.map((text, index) => (
        <p key={index} className={step.status === "running" ? "typed streaming" : "typed"} data-typed="">{text}</p>
      ))}
      {step.error ? <p className="wrong" role="alert">{step.error}</p> : null}
      {wrote(step) ? (
        <details open={!texts.length && step.status !== "running" && JSON.stringify(step.result).length < 400}>
          <summary>wrote {isFields(step.result) ? Object.keys(step.result).join(", ") : "a value"}</summary>
          <Tree value={step.result} label={`What ${step.name} wrote`} />
        </details>
      ) : null}
    </li>
  );
}

/** What the steps have used together. Those of subgraphs are in those around them. */
function Total({ steps }: { steps: Step[] }) {
  const usage = sum(steps.flatMap((step) => (step.depth === 0 && step.usage ? [step.usage] : [])));
  return usage ? <p className="quiet" data-total="">In all: {shown(usage)}</p> : null;
}

export function Steps() {
  const state = useStudio((state) => state);
  const list = steps(state);
  const busy = isBusy(state.live);
  const texts = new Map(state.live?.messages.map((message) => [message.id ?? "", textOf(message.content)]));
  const bottom = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (busy) bottom.current?.scrollIntoView({ block: "end" });
  }, [busy, state.live?.events]);
  if (list.length === 0) {
    return (
      <div className="welcome">
        <h2>{state.assistant?.name ?? "A graph"}</h2>
        <p>{busy ? "The run begins." : "Each node that runs is a line here: how long it took, what it said, what it wrote."}</p>
      </div>
    );
  }
  return (
    <div className="steps" role="log" aria-label="Steps" aria-busy={busy}>
      <ol>
        {list.map((step) => <Entry key={step.id} step={step} texts={step.messages.map((id) => texts.get(id) ?? "").filter(Boolean)} />)}
      </ol>
      <Total steps={list} />
      {state.live?.error && !list.some((step) => step.error) ? <p className="wrong" role="alert">{state.live.error}</p> : null}
      <div ref={bottom} />
    </div>
  );
}
