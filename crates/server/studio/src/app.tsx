import { useEffect } from "react";
import type { Panel, Theme } from "./studio";
import { applyTheme, cell, fresh, paint, select, start, useStudio, view } from "./studio";
import { AssistantView } from "./views/assistant";
import { Chat } from "./views/chat";
import { Composer } from "./views/composer";
import { Export } from "./views/export";
import { Graph } from "./views/graph";
import { Help, Locked } from "./views/help";
import { Cross, Warn } from "./views/icons";
import { Interrupts } from "./views/interrupt";
import { Sidebar } from "./views/sidebar";
import { StateView } from "./views/state";
import { Steps } from "./views/steps";
import { StoreView } from "./views/store";
import { Timeline } from "./views/timeline";
import { Topbar } from "./views/topbar";

const THEMES: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

function Problem() {
  const problem = useStudio((state) => state.problem);
  if (!problem) return null;
  return (
    <div className="problem" role="alert">
      <Warn /> <span>{problem}</span>
      <button className="ghost small" onClick={() => cell.set({ problem: null })} aria-label="Close"><Cross /></button>
    </div>
  );
}

function Side() {
  const panel = useStudio((state) => state.panel);
  const chats = useStudio((state) => Boolean(state.stateSchema?.properties?.messages));
  const tabs: [Panel, string][] = [...(chats ? [["chat", "Chat"] as [Panel, string]] : []), ["steps", "Steps"], ["state", "State"]];
  const shown = tabs.some(([name]) => name === panel) ? panel : "steps";
  return (
    <section className="panel" aria-label="Thread">
      <div className="tablist" role="tablist" aria-label="Thread">
        {tabs.map(([name, label], index) => (
          <button
            key={name}
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === shown}
            aria-controls="panel"
            tabIndex={name === shown ? 0 : -1}
            onClick={() => cell.set({ panel: name })}
            onKeyDown={(event) => {
              const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
              const next = tabs[(index + step + tabs.length) % tabs.length];
              if (step && next) {
                cell.set({ panel: next[0] });
                requestAnimationFrame(() => document.getElementById(`tab-${next[0]}`)?.focus());
              }
            }}
          >
            {label}
          </button>
        ))}
      </div>
      <div className="body" role="tabpanel" id="panel" aria-labelledby={`tab-${shown}`} tabIndex={-1}>
        {shown === "chat" ? <Chat /> : shown === "steps" ? <Steps /> : <StateView />}
      </div>
      <div className="dock">
        <Interrupts />
        <Composer />
      </div>
    </section>
  );
}

function keys(event: globalThis.KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.metaKey || event.ctrlKey || event.altKey || cell.get().help || cell.get().exporting) return;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable) {
    if (event.key === "Escape") target.blur();
    return;
  }
  const { view: at, theme } = cell.get();
  const focus = (selector: string) => {
    document.querySelector<HTMLElement>(selector)?.focus();
    event.preventDefault();
  };
  switch (event.key) {
    case "?": cell.set({ help: true }); break;
    case "/": focus("#composer"); break;
    case "n": fresh(); focus("#composer"); break;
    case "1": cell.set({ panel: "chat" }); break;
    case "2": cell.set({ panel: "steps" }); break;
    case "3": cell.set({ panel: "state" }); break;
    case "h": focus('.timeline [aria-checked="true"]'); break;
    case "g": focus(".graph .react-flow__node[tabindex='0']"); break;
    case "s": view(at === "store" ? "threads" : "store"); break;
    case "t": paint(THEMES[theme]); break;
    case "Escape": select(null); break;
    default:
  }
}

export function App() {
  const connected = useStudio((state) => state.connected);
  const at = useStudio((state) => state.view);
  const said = useStudio((state) => state.said);
  const name = useStudio((state) => state.assistant?.graph_id);
  useEffect(() => {
    applyTheme();
    void start();
    const media = matchMedia("(prefers-color-scheme: dark)");
    media.addEventListener("change", applyTheme);
    window.addEventListener("keydown", keys);
    return () => {
      media.removeEventListener("change", applyTheme);
      window.removeEventListener("keydown", keys);
    };
  }, []);
  useEffect(() => {
    document.title = name ? `${name} · Studio` : "Studio";
  }, [name]);
  return (
    <>
      <Topbar />
      <Problem />
      {connected === "locked" ? (
        <Locked />
      ) : connected === "no" ? (
        <main className="locked" id="main"><p className="quiet">Connecting…</p></main>
      ) : at === "store" ? (
        <StoreView />
      ) : at === "assistant" ? (
        <AssistantView />
      ) : (
        <main className="threads-view" id="main" tabIndex={-1}>
          <Sidebar />
          <div className="center">
            <Graph />
            <Timeline />
          </div>
          <Side />
        </main>
      )}
      <div className="hidden" role="status" aria-live="polite">{said}</div>
      <Help />
      <Export />
    </>
  );
}
