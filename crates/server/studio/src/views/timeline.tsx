import { useEffect, useMemo, useRef } from "react";
import type { KeyboardEvent } from "react";
import { changed } from "../model/diff";
import type { Place } from "../model/history";
import { idOf, labelOf, lay, parentOf } from "../model/history";
import { clock } from "../model/text";
import type { Snapshot } from "../model/types";
import { earlier, fork, isBusy, looked, proceed, select, useStudio } from "../studio";
import { Fork, Play } from "./icons";

const STEP = 92;
const LANE = 46;
const LEFT = 46;
const TOP = 26;

function Mark({ place }: { place: Place }) {
  const source = place.snapshot.metadata.source;
  const waits = place.snapshot.tasks.some((task) => task.interrupts.length > 0);
  const failed = place.snapshot.tasks.some((task) => task.error);
  const style = `dot ${failed ? "failed" : waits ? "waiting" : ""} ${place.onHead ? "on-head" : ""}`;
  if (source === "input") return <rect className={style} x={-6} y={-6} width={12} height={12} rx={3} />;
  if (source === "update") return <path className={style} d="M0-8 8 0 0 8-8 0Z" />;
  if (source === "fork") return <path className={style} d="M-7-6h14L0 8Z" />;
  return <circle className={style} r={6.500} />;
}

function say(place: Place, label: string, what: string[], isHead: boolean): string {
  const step = place.snapshot.metadata.step;
  return [
    `Checkpoint ${step ?? place.column}, ${label}`,
    what.length ? `changed ${what.join(", ")}` : "",
    place.snapshot.tasks.some((task) => task.interrupts.length) ? "waits for an answer" : "",
    place.onHead ? "" : "on another branch",
    isHead ? "the head" : "",
  ].filter(Boolean).join(", ");
}

/** The history of a thread as a line: time goes right, forks go down. */
export function Timeline() {
  const history = useStudio((state) => state.history);
  const older = useStudio((state) => state.older);
  const live = useStudio((state) => state.live);
  const shown = useStudio(looked);
  const selected = useStudio((state) => state.selected);
  const threadId = useStudio((state) => state.threadId);
  const box = useRef<HTMLDivElement>(null);
  const line = useMemo(() => lay(history), [history]);
  const byId = useMemo(() => new Map(line.places.map((place) => [place.id, place])), [line]);
  const at = shown ? idOf(shown) : null;
  const busy = isBusy(live);

  const focusedPlace = at === null ? undefined : byId.get(at);
  useEffect(() => {
    const view = box.current;
    if (!view || !focusedPlace) return;
    const x = LEFT + focusedPlace.column * STEP;
    if (x > view.scrollLeft + view.clientWidth - 70 || x < view.scrollLeft + 40) {
      view.scrollTo({ left: x - view.clientWidth / 2, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    }
    const y = TOP + focusedPlace.lane * LANE;
    if (y > view.scrollTop + view.clientHeight - 30 || y < view.scrollTop) view.scrollTop = Math.max(0, y - 40);
  }, [focusedPlace]);

  const parent = (snapshot: Snapshot): Snapshot | undefined => {
    const id = parentOf(snapshot);
    return id === null ? undefined : byId.get(id)?.snapshot;
  };
  const onKey = (event: KeyboardEvent) => {
    if (!focusedPlace) return;
    const { column, lane } = focusedPlace;
    const pick = (found: Place | undefined) => found && choose(found.id);
    const nearest = (direction: number) =>
      line.places
        .filter((place) => Math.sign(place.lane - lane) === direction)
        .sort((one, other) => Math.abs(one.lane - lane) - Math.abs(other.lane - lane) || Math.abs(one.column - column) - Math.abs(other.column - column))[0];
    switch (event.key) {
      case "ArrowLeft": pick(focusedPlace.parent === null ? undefined : byId.get(focusedPlace.parent)); break;
      case "ArrowRight": pick(line.places.filter((place) => place.parent === focusedPlace.id).sort((one, other) => one.lane - other.lane)[0]); break;
      case "ArrowDown": pick(nearest(1)); break;
      case "ArrowUp": pick(nearest(-1)); break;
      case "Home": pick(line.places[0]); break;
      case "End": select(null); break;
      default: return;
    }
    event.preventDefault();
  };
  const choose = (id: string) => {
    select(id);
    requestAnimationFrame(() => box.current?.querySelector<SVGElement>('[aria-checked="true"]')?.focus());
  };

  if (!threadId || history.length === 0) {
    return (
      <section className="timeline empty" aria-label="History">
        <p className="quiet">{threadId ? "No checkpoint yet." : "The history of a thread stands here, as a line on which you can go back."}</p>
      </section>
    );
  }
  const width = LEFT * 2 + (line.columns - 1) * STEP;
  const height = TOP + line.lanes * LANE + 4;
  return (
    <section className="timeline" aria-label="History">
      <div className="track" ref={box} onKeyDown={onKey}>
        {older ? (
          <button className="ghost older" onClick={() => void earlier()}>Load older</button>
        ) : null}
        <svg width={width} height={height} role="radiogroup" aria-label="Checkpoints, from the first to the last. Arrow keys walk.">
          {line.places.map((place) => {
            const from = place.parent === null ? undefined : byId.get(place.parent);
            if (!from) return null;
            const [x1, y1] = [LEFT + from.column * STEP, TOP + from.lane * LANE];
            const [x2, y2] = [LEFT + place.column * STEP, TOP + place.lane * LANE];
            const path = y1 === y2 ? `M${x1},${y1}H${x2}` : `M${x1},${y1}C${x1 + STEP * 0.55},${y1} ${x1 + STEP * 0.35},${y2} ${x2},${y2}`;
            return <path key={`e${place.id}`} className={`link ${place.onHead ? "on-head" : ""}`} d={path} />;
          })}
          {line.places.map((place) => {
            const before = parent(place.snapshot);
            const label = labelOf(place.snapshot, before);
            const what = changed(place.snapshot.values, before?.values);
            const isHead = place.id === line.head;
            return (
              <g
                key={place.id}
                role="radio"
                aria-checked={place.id === at}
                aria-label={say(place, label, what, isHead)}
                data-checkpoint={place.id}
                data-label={label}
                tabIndex={place.id === at ? 0 : -1}
                className={`stop ${place.id === at ? "at" : ""} ${isHead && busy ? "moving" : ""}`}
                transform={`translate(${LEFT + place.column * STEP} ${TOP + place.lane * LANE})`}
                onClick={() => choose(place.id)}
                onKeyDown={(event) => {
                  if (event.key === "Enter" || event.key === " ") choose(place.id);
                }}
              >
                <title>{`${label} · ${clock(place.snapshot.created_at)}${what.length ? `\nchanged ${what.join(", ")}` : ""}`}</title>
                <rect className="hit" x={-STEP / 2} y={-18} width={STEP} height={LANE - 2} />
                <circle className="ring" r={11.500} />
                <Mark place={place} />
                <text y={25} textAnchor="middle">{label.length > 14 ? `${label.slice(0, 13)}…` : label}</text>
              </g>
            );
          })}
        </svg>
      </div>
      <div className="tools">
        {shown ? (
          <p className="where">
            <strong>{selected === null ? "Head" : `Step ${String(shown.metadata.step ?? "")}`}</strong>
            <span className="quiet">{clock(shown.created_at)}</span>
            {shown.next.length ? <span className="quiet">next: {[...new Set(shown.next)].join(", ")}</span> : <span className="quiet">at its end</span>}
          </p>
        ) : null}
        <div className="actions">
          {selected !== null ? (
            <>
              <button onClick={() => select(null)}>Back to the head</button>
              <button onClick={() => void fork()} disabled={busy} title="A copy of this checkpoint becomes the head">
                <Fork /> Fork
              </button>
            </>
          ) : null}
          {shown && shown.next.length > 0 && !shown.tasks.some((task) => task.interrupts.length) ? (
            <button className="primary" onClick={() => void proceed()} disabled={busy}>
              <Play /> Run on
            </button>
          ) : null}
          {shown && selected !== null && shown.tasks.some((task) => task.interrupts.length) ? (
            <span className="quiet">Answer in the panel to fork from here.</span>
          ) : null}
        </div>
      </div>
    </section>
  );
}
