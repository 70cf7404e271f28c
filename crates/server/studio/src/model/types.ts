/** The forms of the interface that the page reads. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Fields = { [key: string]: Json };

export interface Interrupt {
  id?: string;
  value: Json;
  response_schema?: Schema | null;
}

export interface Task {
  id: string;
  name: string;
  error?: { error?: string; message?: string } | string | null;
  interrupts: Interrupt[];
  result?: Json;
  /** The state of its subgraph, if it was asked for. */
  state?: Snapshot | null;
}

export interface Checkpoint {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id: string;
}

/** A checkpoint of a thread, with the state that it holds. */
export interface Snapshot {
  values: Json;
  next: string[];
  tasks: Task[];
  metadata: { source?: string; step?: number; run_id?: string; [key: string]: unknown };
  created_at: string | null;
  checkpoint: Checkpoint;
  parent_checkpoint: Checkpoint | null;
  interrupts?: Interrupt[];
}

/** A task that did not do what it should. */
export interface MadeMistake {
  superstep: number;
  node: string;
}

export interface ExportBody {
  graph?: string;
  mistake?: MadeMistake;
  secrets: string[];
}

/** The files of a test that is made of a thread. */
export interface Exported {
  name: string;
  files: Record<string, string>;
  is_same: boolean;
}

/** What the answers of models have used: LangChain's `usage_metadata`, and what that costs. */
export interface Usage {
  total_tokens: number;
  total_cost?: number;
}

export interface Call {
  id?: string;
  name: string;
  args: Json;
}

export interface Message {
  id?: string | null;
  type: string;
  name?: string | null;
  content: Json;
  tool_calls?: Call[];
  tool_call_id?: string;
  status?: string;
  /** The arguments of calls that are still coming, by index. */
  partial?: { id?: string; name: string; text: string }[];
  /** The node that is writing it. */
  node?: string;
  streaming?: boolean;
}

export interface Drawn {
  nodes: { id: string; data?: { name?: string } }[];
  edges: { source: string; target: string; data?: string | null; conditional?: boolean }[];
}

export interface Schema {
  $ref?: string;
  $defs?: { [name: string]: Schema };
  definitions?: { [name: string]: Schema };
  title?: string;
  description?: string;
  type?: string | string[];
  enum?: Json[];
  const?: Json;
  default?: Json;
  properties?: { [name: string]: Schema };
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  additionalProperties?: Schema | boolean;
}

export interface RunRow {
  run_id: string;
  thread_id: string;
  status: string;
  created_at: string;
  updated_at: string;
  metadata?: { usage_metadata?: Usage; [key: string]: unknown };
}

export interface ThreadRow {
  thread_id: string;
  status: string;
  created_at: string;
  updated_at: string;
  metadata?: { [key: string]: unknown } | null;
  values?: Json;
}

export interface AssistantRow {
  assistant_id: string;
  graph_id: string;
  name: string;
  description?: string | null;
  metadata?: { [key: string]: unknown } | null;
  context?: Fields | null;
  version?: number;
  created_at?: string;
  updated_at?: string;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
