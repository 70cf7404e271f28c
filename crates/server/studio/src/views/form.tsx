import { useEffect, useId, useState } from "react";
import type { Json, Fields, Schema } from "../model/types";
import { isFields } from "../model/types";
import { initial, loose, resolve, typeOf } from "../model/schema";
import { Cross, Plus } from "./icons";

interface FieldProps {
  schema: Schema;
  root: Schema;
  name: string;
  required: boolean;
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
  problems: Record<string, string>;
  path: string;
}

function join(path: string, name: string): string {
  return path ? `${path}.${name}` : name;
}

function Help({ id, text, problem }: { id: string; text?: string | undefined; problem?: string | undefined }) {
  if (!text && !problem) return null;
  return (
    <p id={id} className={problem ? "hint wrong" : "hint"}>
      {problem ?? text}
    </p>
  );
}

function shown(value: Json | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** Text that is kept as it was typed, and read as JSON where it is JSON. */
function Loose({ id, value, onChange, describe, wrong }: { id: string; value: Json | undefined; onChange: (value: Json | undefined) => void; describe: string; wrong: boolean }) {
  const [text, setText] = useState(() => shown(value));
  // The value changes without typing too: another item moves into this place of a list.
  useEffect(() => {
    if (JSON.stringify(loose(text)) !== JSON.stringify(value)) setText(shown(value));
  }, [value]);
  const lines = text.split("\n").length;
  return (
    <textarea
      id={id}
      rows={Math.min(10, Math.max(1, lines))}
      className="mono"
      value={text}
      aria-describedby={describe}
      aria-invalid={wrong}
      onChange={(event) => {
        setText(event.target.value);
        onChange(loose(event.target.value));
      }}
    />
  );
}

function Field(props: FieldProps) {
  const { root, name, required, value, onChange, problems, path } = props;
  const schema = resolve(props.schema, root);
  const id = useId();
  const help = `${id}-help`;
  const problem = problems[path];
  const type = typeOf(schema);
  const label = schema.title ?? name;
  const common = { id, "aria-describedby": help, "aria-invalid": problem !== undefined, "aria-required": required };

  if (type === "object" && schema.properties) {
    return (
      <fieldset className="group">
        <legend>{label}</legend>
        <Help id={help} text={schema.description} problem={problem} />
        <ObjectFields schema={schema} root={root} value={isFields(value) ? value : {}} onChange={onChange} problems={problems} path={path} />
      </fieldset>
    );
  }
  if (type === "boolean") {
    return (
      <div className="field">
        <label className="switch">
          <input type="checkbox" role="switch" {...common} checked={value === true} onChange={(event) => onChange(event.target.checked)} />
          <span>{label}</span>
        </label>
        <Help id={help} text={schema.description} problem={problem} />
      </div>
    );
  }
  const heading = (
    <label htmlFor={id}>
      {label}
      {required ? <span className="needed" aria-hidden="true"> *</span> : null}
    </label>
  );
  if (schema.enum && schema.enum.length <= 4) {
    return (
      <fieldset className="field choices">
        <legend>
          {label}
          {required ? <span className="needed" aria-hidden="true"> *</span> : null}
        </legend>
        <div className="segments" role="radiogroup" aria-label={label}>
          {schema.enum.map((option) => (
            <label key={JSON.stringify(option)} className={value === option ? "on" : ""}>
              <input type="radio" name={id} checked={value === option} onChange={() => onChange(option)} />
              {String(option)}
            </label>
          ))}
        </div>
        <Help id={help} text={schema.description} problem={problem} />
      </fieldset>
    );
  }
  if (schema.enum) {
    return (
      <div className="field">
        {heading}
        <select {...common} value={JSON.stringify(value ?? null)} onChange={(event) => onChange(JSON.parse(event.target.value) as Json)}>
          <option value="null">—</option>
          {schema.enum.map((option) => (
            <option key={JSON.stringify(option)} value={JSON.stringify(option)}>{String(option)}</option>
          ))}
        </select>
        <Help id={help} text={schema.description} problem={problem} />
      </div>
    );
  }
  if (type === "array" && schema.items) {
    const items = Array.isArray(value) ? value : [];
    const inner = resolve(schema.items, root);
    return (
      <fieldset className="group">
        <legend>{label}</legend>
        <Help id={help} text={schema.description} problem={problem} />
        {items.map((item, index) => (
          <div className="item" key={index}>
            <Field {...props} schema={inner} name={`${label} ${index + 1}`} required value={item} path={join(path, String(index))}
              onChange={(next) => onChange(items.map((old, at) => (at === index ? (next ?? null) : old)))} />
            <button type="button" className="ghost small" aria-label={`Remove ${label} ${index + 1}`} onClick={() => onChange(items.filter((_, at) => at !== index))}>
              <Cross />
            </button>
          </div>
        ))}
        <button type="button" className="ghost" onClick={() => onChange([...items, initial(inner, root) ?? (typeOf(inner) === "string" ? "" : null)])}>
          <Plus /> Add
        </button>
      </fieldset>
    );
  }
  if (type === "integer" || type === "number") {
    return (
      <div className="field">
        {heading}
        <input type="number" {...common} min={schema.minimum} max={schema.maximum} step={type === "integer" ? 1 : "any"} value={typeof value === "number" ? value : ""}
          onChange={(event) => onChange(event.target.value === "" ? undefined : Number(event.target.value))} />
        <Help id={help} text={schema.description} problem={problem} />
      </div>
    );
  }
  if (type === "string") {
    const long = (schema.maxLength ?? 0) > 120 || (typeof value === "string" && value.length > 60);
    return (
      <div className="field">
        {heading}
        {long ? (
          <textarea {...common} rows={3} value={typeof value === "string" ? value : ""} onChange={(event) => onChange(event.target.value)} />
        ) : (
          <input type="text" {...common} value={typeof value === "string" ? value : ""} onChange={(event) => onChange(event.target.value)} />
        )}
        <Help id={help} text={schema.description} problem={problem} />
      </div>
    );
  }
  return (
    <div className="field">
      {heading}
      <Loose id={id} value={value} onChange={onChange} describe={help} wrong={problem !== undefined} />
      <Help id={help} text={schema.description ?? "Text, or JSON"} problem={problem} />
    </div>
  );
}

/** What is needed comes first. */
function ordered(schema: Schema): [string, Schema][] {
  const needed = (name: string) => (schema.required?.includes(name) ? 0 : 1);
  return Object.entries(schema.properties ?? {}).sort(([one], [other]) => needed(one) - needed(other));
}

function ObjectFields({ schema, root, value, onChange, problems, path }: {
  schema: Schema;
  root: Schema;
  value: Fields;
  onChange: (value: Json) => void;
  problems: Record<string, string>;
  path: string;
}) {
  return (
    <>
      {ordered(schema).map(([name, field]) => (
        <Field key={name} schema={field} root={root} name={name} required={schema.required?.includes(name) ?? false} value={value[name]} problems={problems} path={join(path, name)}
          onChange={(next) => {
            const { [name]: _, ...rest } = value;
            onChange(next === undefined ? rest : { ...rest, [name]: next });
          }} />
      ))}
    </>
  );
}

/** A form for a value of that schema. */
export function SchemaForm({ schema, value, onChange, problems = {}, name = "Answer" }: {
  schema: Schema;
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
  problems?: Record<string, string>;
  name?: string;
}) {
  const top = resolve(schema, schema);
  if (typeOf(top) === "object" && top.properties) {
    return <ObjectFields schema={top} root={schema} value={isFields(value) ? value : {}} onChange={onChange} problems={problems} path="" />;
  }
  return <Field schema={top} root={schema} name={name} required value={value} onChange={onChange} problems={problems} path="" />;
}
