import { useEffect, useRef, useState } from "react";
import { cell, exportThread, useStudio } from "../studio";
import type { Exported, MadeMistake } from "../model/types";
import { mistakes } from "../model/history";

const RIGHT = "right";

/** Makes a test of the thread: three files to be saved. */
export function Export() {
  const threadId = useStudio((state) => state.exporting);
  const history = useStudio((state) => state.history);
  const dialog = useRef<HTMLDialogElement>(null);
  const [graph, setGraph] = useState("");
  const [chosen, setChosen] = useState(RIGHT);
  const [secrets, setSecrets] = useState("");
  const [made, setMade] = useState<Exported | null>(null);
  const [busy, setBusy] = useState(false);
  const close = () => cell.set({ exporting: null });
  useEffect(() => {
    setMade(null);
    setChosen(RIGHT);
    if (threadId) dialog.current?.showModal();
    else dialog.current?.close();
  }, [threadId]);
  const places = mistakes(history);
  const make = async () => {
    if (!threadId) return;
    setBusy(true);
    const mistake: MadeMistake | undefined = places[Number(chosen)];
    const texts = secrets.split("\n").map((text) => text.trim()).filter(Boolean);
    setMade(await exportThread(threadId, { ...(graph.trim() ? { graph: graph.trim() } : {}), ...(mistake ? { mistake } : {}), secrets: texts }));
    setBusy(false);
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="export-title" onClose={close}>
      <form className="editor" onSubmit={(event) => { event.preventDefault(); void make(); }}>
        <h2 id="export-title">Make a test of this thread</h2>
        <label htmlFor="export-graph">Rust code that makes the graph</label>
        <input id="export-graph" className="mono" placeholder="my_package::graph()?" value={graph} onChange={(event) => setGraph(event.target.value)} />
        <label htmlFor="export-mistake">The thread</label>
        <select id="export-mistake" value={chosen} onChange={(event) => setChosen(event.target.value)}>
          <option value={RIGHT}>went right, or failed: the test keeps its way, or fails until the failure is mended</option>
          {places.map((place, index) => (
            <option key={`${place.superstep} ${place.node}`} value={index}>made a mistake in superstep {place.superstep}, {place.node}</option>
          ))}
        </select>
        <label htmlFor="export-secrets">Texts to take out, one a line</label>
        <textarea id="export-secrets" rows={2} value={secrets} onChange={(event) => setSecrets(event.target.value)} />
        <p className="hint">Keys, tokens and passwords are taken out in any case. Models and tools are not called.</p>
        {made ? (
          <ul className="files" aria-label="Files">
            {Object.entries(made.files).map(([name, content]) => (
              <li key={name}><a download={name} href={`data:text/plain;charset=utf-8,${encodeURIComponent(content)}`}>{name}</a></li>
            ))}
          </ul>
        ) : null}
        <div className="line">
          <span className="grow" />
          <button type="button" onClick={close}>Close</button>
          <button className="primary" type="submit" disabled={busy}>{made ? "Make it again" : "Make the test"}</button>
        </div>
      </form>
    </dialog>
  );
}
