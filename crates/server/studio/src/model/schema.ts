import type { Fields, Json, Schema } from "./types";
import { isFields } from "./types";

/** Follows `$ref` and a lonely `allOf`, and looks through `anyOf` with null. */
export function resolve(schema: Schema | undefined, root: Schema): Schema {
  let at = schema ?? {};
  for (let depth = 0; depth < 16; depth += 1) {
    if (at.$ref) {
      const name = at.$ref.split("/").pop() ?? "";
      at = { ...(root.$defs?.[name] ?? root.definitions?.[name] ?? {}), ...without(at, "$ref") };
      continue;
    }
    if (at.allOf?.length === 1) {
      at = { ...at.allOf[0], ...without(at, "allOf") };
      continue;
    }
    const options = at.anyOf ?? at.oneOf;
    const real = options?.filter((option) => option.type !== "null");
    if (options && real?.length === 1) {
      at = { ...real[0], ...without(without(at, "anyOf"), "oneOf") };
      continue;
    }
    break;
  }
  return at;
}

function without<K extends keyof Schema>(schema: Schema, key: K): Schema {
  const { [key]: _, ...rest } = schema;
  return rest as Schema;
}

/** The one type of a schema; `string` of `["string", "null"]`. */
export function typeOf(schema: Schema): string | null {
  if (Array.isArray(schema.type)) return schema.type.find((type) => type !== "null") ?? null;
  if (schema.type) return schema.type;
  if (schema.properties) return "object";
  return null;
}

/** The value that a form begins with. */
export function initial(schema: Schema | undefined, root: Schema): Json | undefined {
  const at = resolve(schema, root);
  if (at.default !== undefined) return at.default;
  if (at.const !== undefined) return at.const;
  switch (typeOf(at)) {
    case "object": {
      const out: Fields = {};
      for (const [name, field] of Object.entries(at.properties ?? {})) {
        const inner = resolve(field, root);
        // An optional switch stays unset: its field may have a value already.
        if (typeOf(inner) === "boolean" && inner.default === undefined && !at.required?.includes(name)) continue;
        const value = initial(field, root);
        if (value !== undefined) out[name] = value;
      }
      return out;
    }
    case "boolean":
      return false;
    default:
      return undefined;
  }
}

export interface Wrong {
  path: string;
  problem: string;
}

/** What is wrong with a value; a short list for people, not a whole validator. */
export function check(schema: Schema | undefined, root: Schema, value: Json | undefined, path = "", required = true): Wrong[] {
  const at = resolve(schema, root);
  const empty = value === undefined || value === null || value === "";
  if (empty) return required && typeOf(at) !== null ? [{ path, problem: "is needed" }] : [];
  if (at.enum && !at.enum.includes(value)) return [{ path, problem: "is none of the choices" }];
  switch (typeOf(at)) {
    case "object": {
      if (!isFields(value)) return [{ path, problem: "is not an object" }];
      return Object.entries(at.properties ?? {}).flatMap(([name, field]) =>
        check(field, root, value[name], path ? `${path}.${name}` : name, at.required?.includes(name) ?? false),
      );
    }
    case "array":
      if (!Array.isArray(value)) return [{ path, problem: "is not a list" }];
      return value.flatMap((item, index) => check(at.items, root, item, `${path}.${index}`));
    case "integer":
    case "number": {
      if (typeof value !== "number" || Number.isNaN(value)) return [{ path, problem: "is not a number" }];
      if (typeOf(at) === "integer" && !Number.isInteger(value)) return [{ path, problem: "is not a whole number" }];
      if (at.minimum !== undefined && value < at.minimum) return [{ path, problem: `is less than ${at.minimum}` }];
      if (at.maximum !== undefined && value > at.maximum) return [{ path, problem: `is more than ${at.maximum}` }];
      return [];
    }
    case "string":
      if (typeof value !== "string") return [{ path, problem: "is not a text" }];
      if (at.minLength !== undefined && value.length < at.minLength) return [{ path, problem: "is too short" }];
      if (at.maxLength !== undefined && value.length > at.maxLength) return [{ path, problem: `is longer than ${at.maxLength} characters` }];
      return [];
    default:
      return [];
  }
}

/** Reads what somebody typed where the type is not known: JSON if it is, text otherwise. */
export function loose(text: string): Json | undefined {
  const trimmed = text.trim();
  if (!trimmed) return undefined;
  try {
    return JSON.parse(trimmed) as Json;
  } catch {
    return text;
  }
}
