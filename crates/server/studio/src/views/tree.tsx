import { useMemo, useRef, useState } from "react";
import type { KeyboardEvent } from "react";
import type { Diff } from "../model/diff";
import { compare, words } from "../model/diff";
import type { Json } from "../model/types";
import { isFields } from "../model/types";
import { Chevron, Pencil } from "./icons";

interface Row {
  path: string;
  depth: number;
  diff: Diff;
  open: boolean;
  parent: string | null;
  /** The parent is new as well. */
  inherited: boolean;
  place: number;
  of: number;
}

function brief(value: Json | undefined): string {
  if (Array.isArray(value)) return value.length === 1 ? "1 item" : `${value.length} items`;
  if (isFields(value)) {
    const known = ["type", "role", "name", "id"].map((key) => value[key]).find((text) => typeof text === "string");
    const text = typeof value.content === "string" && value.content ? value.content : null;
    const head = typeof known === "string" ? known : (Object.keys(value).length === 1 ? "1 field" : `${Object.keys(value).length} fields`);
    return text ? `${head} · ${text.length > 60 ? `${text.slice(0, 60)}…` : text}` : head;
  }
  return JSON.stringify(value) ?? "";
}

function kind(value: Json | undefined): string {
  if (value === null) return "null";
  return typeof value;
}

function rows(diff: Diff, open: (path: string, diff: Diff, depth: number) => boolean, onlyChanges: boolean): Row[] {
  const out: Row[] = [];
  const visit = (children: Diff[], parent: string | null, depth: number, above: Diff | null) => {
    const shown = onlyChanges ? children.filter((child) => child.mark !== "same") : children;
    shown.forEach((child, index) => {
      const path = parent === null ? child.key : `${parent}\u0000${child.key}`;
      const isOpen = child.children !== null && child.children.length > 0 && open(path, child, depth);
      out.push({ path, depth, diff: child, open: isOpen, parent, inherited: above !== null && above.mark === child.mark && child.mark !== "changed", place: index + 1, of: shown.length });
      if (isOpen && child.children) visit(child.children, path, depth + 1, child);
    });
  };
  visit(diff.children ?? [diff], null, 0, null);
  return out;
}

const MARKS = { added: "new", removed: "removed", changed: "changed", same: "" } as const;

function Leaf({ value }: { value: Json | undefined }) {
  return <span className={`is-${kind(value)}`}>{typeof value === "string" ? (value === "" ? '""' : value) : brief(value)}</span>;
}

/** What was there, and what is there now: word by word in a text. */
function Changed({ before, now }: { before: Json | undefined; now: Json | undefined }) {
  if (typeof before === "string" && typeof now === "string" && before !== "" && now !== "") {
    const { head, gone, come, tail } = words(before, now);
    return (
      <>
        {head}
        {gone ? <del>{gone}</del> : null}
        {come ? <ins>{come}</ins> : null}
        {tail}
      </>
    );
  }
  return (
    <>
      {before === "" || before === null ? null : <><del>{brief(before)}</del> <span aria-hidden="true">→</span> </>}
      <Leaf value={now} />
    </>
  );
}

/** A value as a tree, beside the value before it. Arrow keys walk through it. */
export function Tree({ value, before, label, onlyChanges = false, onEdit }: {
  value: Json | undefined;
  before?: Json | undefined;
  label: string;
  onlyChanges?: boolean;
  onEdit?: ((field: string) => void) | undefined;
}) {
  const [chosen, setChosen] = useState<Record<string, boolean>>({});
  const [at, setAt] = useState<string | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const compared = before !== undefined;
  const diff = useMemo(() => compare("", value, compared ? before : value), [value, before, compared]);
  const list = rows(
    diff,
    (path, child, depth) => chosen[path] ?? (depth < 1 ? (child.children?.length ?? 0) <= 12 || child.mark !== "same" : child.mark !== "same" && depth < 3),
    onlyChanges,
  );
  const focused = list.find((row) => row.path === at) ?? list[0];

  const go = (row: Row | undefined) => {
    if (!row) return;
    setAt(row.path);
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus());
  };
  const set = (row: Row, open: boolean) => setChosen((known) => ({ ...known, [row.path]: open }));
  const onKey = (event: KeyboardEvent) => {
    if (!focused || (event.target as HTMLElement).tagName === "BUTTON") return;
    const index = list.indexOf(focused);
    const hasChildren = (focused.diff.children?.length ?? 0) > 0;
    switch (event.key) {
      case "ArrowDown": go(list[index + 1]); break;
      case "ArrowUp": go(list[index - 1]); break;
      case "Home": go(list[0]); break;
      case "End": go(list[list.length - 1]); break;
      case "ArrowRight": hasChildren && (focused.open ? go(list[index + 1]) : set(focused, true)); break;
      case "ArrowLeft": focused.open ? set(focused, false) : go(list.find((row) => row.path === focused.parent)); break;
      case "Enter":
      case " ": hasChildren && set(focused, !focused.open); break;
      default: return;
    }
    event.preventDefault();
  };

  if (list.length === 0) return <p className="quiet">{onlyChanges ? "Nothing changed here." : "The state is empty."}</p>;
  return (
    <div className="tree" role="tree" aria-label={label} ref={box} onKeyDown={onKey}>
      {list.map((row) => {
        const { diff } = row;
        const shown = diff.value === undefined ? diff.before : diff.value;
        const hasChildren = (diff.children?.length ?? 0) > 0;
        const leaf = diff.children === null;
        return (
          <div
            key={row.path}
            role="treeitem"
            aria-level={row.depth + 1}
            aria-setsize={row.of}
            aria-posinset={row.place}
            {...(hasChildren ? { "aria-expanded": row.open } : {})}
            aria-selected={row === focused}
            tabIndex={row === focused ? 0 : -1}
            className={`row ${compared ? diff.mark : "same"}`}
            style={{ paddingInlineStart: 8 + row.depth * 16 }}
            onClick={(event) => {
              if ((event.target as HTMLElement).closest("button")) return;
              setAt(row.path);
              if (hasChildren) set(row, !row.open);
            }}
          >
            <span className={`twist ${row.open ? "open" : ""}`}>{hasChildren ? <Chevron /> : null}</span>
            <span className="key">{diff.key}</span>
            {leaf ? (
              <span className="value">
                {compared && diff.mark === "changed" && !isFields(diff.before) && !Array.isArray(diff.before) ? <Changed before={diff.before} now={diff.value} /> : <Leaf value={shown} />}
              </span>
            ) : (
              <span className="brief">{hasChildren ? brief(shown) : diff.isList ? "empty list" : "empty"}</span>
            )}
            {compared && diff.mark !== "same" && !row.inherited ? <span className={`mark ${diff.mark}`}>{MARKS[diff.mark]}</span> : null}
            {onEdit && row.depth === 0 ? (
              <button className="ghost small" onClick={() => onEdit(diff.key)} aria-label={`Edit ${diff.key}`} title={`Edit ${diff.key}`}>
                <Pencil />
              </button>
            ) : null}
          </div>
        );
      })}
    </div>
  );
}
