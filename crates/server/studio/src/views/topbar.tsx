import type { ReactNode } from "react";
import type { Theme } from "../studio";
import { cell, choose, paint, useStudio, view } from "../studio";
import { Logo, Moon, Pencil, Question, Screen, Shelf, Sun, Threads } from "./icons";

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const ICONS: Record<Theme, ReactNode> = { system: <Screen />, light: <Sun />, dark: <Moon /> };

export function Topbar() {
  const assistants = useStudio((state) => state.assistants);
  const assistant = useStudio((state) => state.assistant);
  const theme = useStudio((state) => state.theme);
  const at = useStudio((state) => state.view);
  const connected = useStudio((state) => state.connected);
  return (
    <header className="topbar">
      <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
      <h1><Logo /> Studio</h1>
      <label className="picker">
        <span className="hidden">Graph</span>
        <select
          value={assistant?.assistant_id ?? ""}
          onChange={(event) => {
            const named = assistants.find((one) => one.assistant_id === event.target.value);
            if (named) { if (at === "store") view("threads"); void choose(named); }
          }}
        >
          {assistants.map((one) => (
            <option key={one.assistant_id} value={one.assistant_id}>{one.name && one.name !== one.graph_id ? `${one.name} (${one.graph_id})` : one.graph_id}</option>
          ))}
        </select>
      </label>
      <div className="tabs" role="group" aria-label="View">
        <button aria-pressed={at === "threads"} onClick={() => view("threads")}><Threads /> Threads</button>
        <button aria-pressed={at === "assistant"} onClick={() => view("assistant")}><Pencil /> Assistant</button>
        <button aria-pressed={at === "store"} onClick={() => view("store")}><Shelf /> Store</button>
      </div>
      <span className="grow" />
      {connected === "lost" ? <span className="offline" role="status">The server does not answer</span> : null}
      <button className="ghost" onClick={() => paint(NEXT[theme])} aria-label={`Colours: ${theme}`} title={`Colours: ${theme}`}>{ICONS[theme]}</button>
      <button className="ghost" onClick={() => cell.set({ help: true })} aria-label="Keys" title="Keys (?)"><Question /></button>
    </header>
  );
}
