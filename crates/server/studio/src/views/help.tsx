import { useEffect, useRef, useState } from "react";
import { cell, unlock, useStudio } from "../studio";

const KEYS: [string, string][] = [
  ["/", "to the message, or the input"],
  ["n", "new thread"],
  ["1 2 3", "chat, steps, state"],
  ["h", "to the history; ← → walk, ↑ ↓ change the branch, End is the head"],
  ["g", "to the graph; Tab walks through its nodes"],
  ["s", "store and back"],
  ["t", "light, dark, or as the system is"],
  ["Esc", "back to the head"],
  ["?", "this list"],
];

export function Help() {
  const shown = useStudio((state) => state.help);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (shown) dialog.current?.showModal();
    else dialog.current?.close();
  }, [shown]);
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="help-title" onClose={() => cell.set({ help: false })}>
      <h2 id="help-title">Keys</h2>
      <dl className="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>{keys.split(" ").map((key) => <kbd key={key}>{key}</kbd>)}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div className="line"><span className="grow" /><button autoFocus onClick={() => cell.set({ help: false })}>Close</button></div>
    </dialog>
  );
}

/** Asks for a token when the server wants one. */
export function Locked() {
  const [token, setToken] = useState("");
  const [again, setAgain] = useState(() => sessionStorage.getItem("studio.token") !== null);
  return (
    <main className="locked" id="main" tabIndex={-1}>
      <form
        className="editor"
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim()) void unlock(token.trim()).then(() => setAgain(true));
        }}
      >
        <h2>This server asks who you are</h2>
        <label htmlFor="token">Bearer token</label>
        <input id="token" type="password" autoComplete="off" autoFocus value={token} onChange={(event) => setToken(event.target.value)} />
        <p className={again ? "hint wrong" : "hint"}>{again ? "The server did not accept the last token." : "It stays in this tab, and goes to this server only."}</p>
        <div className="line"><span className="grow" /><button className="primary" type="submit">Go on</button></div>
      </form>
    </main>
  );
}
