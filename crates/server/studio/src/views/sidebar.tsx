import { useEffect, useState } from "react";
import { ago, clock, problemOf, short, titleOf, took } from "../model/text";
import type { RunRow, ThreadRow } from "../model/types";
import { shown as used } from "../model/usage";
import { cell, copy, drop, fail, follow, fresh, more, open, remove, threads, useStudio } from "../studio";
import { Copy, Flask, Plus, Trash } from "./icons";

const FILTERS = ["all", "idle", "busy", "interrupted", "error"];

function Runs({ runs }: { runs: RunRow[] }) {
  const shown = useStudio((state) => state.live?.runId);
  if (runs.length === 0) return null;
  return (
    <ul className="runs" aria-label="Runs">
      {runs.map((run) => {
        const under = run.status === "running" || run.status === "pending";
        const usage = run.metadata?.usage_metadata;
        const time = took(new Date(run.updated_at).getTime() - new Date(run.created_at).getTime());
        return (
          <li key={run.run_id} className={run.run_id === shown ? "on" : ""}>
            <button className="run" onClick={() => void follow(run.run_id)} title={`Run ${run.run_id}: play its events`}>
              <span className={`lamp ${run.status}`} role="img" aria-label={run.status} />
              <span>{clock(run.created_at)}</span>
              <span className="quiet">{under ? run.status : run.status === "success" ? time : `${run.status}, ${time}`}</span>
              {usage ? <span className="quiet used" data-used="">{used(usage)}</span> : null}
            </button>
            {under ? null : (
              <button className="ghost small reveal" onClick={() => void drop(run.run_id)} aria-label={`Delete the run of ${clock(run.created_at)}`} title="Delete the run"><Trash /></button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Entry({ thread }: { thread: ThreadRow }) {
  const on = useStudio((state) => state.threadId === thread.thread_id);
  const runs = useStudio((state) => state.runs);
  const now = useStudio((state) => (state.threadId === thread.thread_id ? (state.history[0]?.values ?? state.live?.values) : undefined));
  const title = titleOf(now) ?? titleOf(thread.values) ?? short(thread.thread_id);
  return (
    <li className={on ? "thread on" : "thread"}>
      <div className="thread-row">
        <button className="pick" aria-current={on ? "true" : undefined} onClick={() => void open(thread.thread_id)} title={thread.thread_id}>
          <span className={`lamp ${thread.status}`} role="img" aria-label={thread.status} />
          <span className="title">{title}</span>
          <span className="quiet">{ago(thread.updated_at)}</span>
        </button>
        {on ? (
          <span className="row-tools">
            <button className="ghost small" onClick={() => cell.set({ exporting: thread.thread_id })} aria-label="Make a test of the thread" title="Make a test of the thread"><Flask /></button>
            <button className="ghost small" onClick={() => void copy(thread.thread_id)} aria-label="Copy the thread" title="Copy the thread"><Copy /></button>
            <button className="ghost small" onClick={() => confirm(`Delete this thread, its runs and its history?\n\n${title}`) && void remove(thread.thread_id)} aria-label="Delete the thread" title="Delete the thread"><Trash /></button>
          </span>
        ) : null}
      </div>
      {on ? <Runs runs={runs} /> : null}
    </li>
  );
}

export function Sidebar() {
  const list = useStudio((state) => state.threads);
  const total = useStudio((state) => state.allThreads);
  const filter = useStudio((state) => state.filter);
  const threadId = useStudio((state) => state.threadId);
  const live = useStudio((state) => state.live);
  const [words, setWords] = useState("");

  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible" && cell.get().connected === "yes") {
        threads().catch((error: unknown) => cell.set({ connected: "lost", problem: problemOf(error) }));
      }
    }, 8000);
    return () => clearInterval(timer);
  }, []);

  const wanted = words.trim().toLowerCase();
  const shown = wanted ? list.filter((thread) => `${titleOf(thread.values) ?? ""} ${thread.thread_id}`.toLowerCase().includes(wanted)) : list;
  return (
    <nav className="sidebar" aria-label="Threads">
      <div className="side-head">
        <button className="wide" onClick={fresh} disabled={!threadId && !live}><Plus /> New thread</button>
        <div className="line">
          <input type="search" aria-label="Find a thread" placeholder="Find" value={words} onChange={(event) => setWords(event.target.value)} />
          <select aria-label="Threads of which status" value={filter} onChange={(event) => { cell.set({ filter: event.target.value }); threads().catch(fail); }}>
            {FILTERS.map((name) => <option key={name}>{name}</option>)}
          </select>
        </div>
      </div>
      <ul className="threads">
        {shown.map((thread) => <Entry key={thread.thread_id} thread={thread} />)}
      </ul>
      {shown.length === 0 ? <p className="quiet none">{wanted || filter !== "all" ? "No thread fits." : "No thread yet."}</p> : null}
      {total > list.length && !wanted ? (
        <button className="wide" onClick={() => more().catch(fail)}>Show more: {list.length} of {total}</button>
      ) : null}
    </nav>
  );
}
