// Written by `cargo langgraph types`. Do not edit.

import type { Message } from "@langchain/langgraph-sdk";

/** The nodes of the graph `order`. */
export type OrderNode = "check" | "ship it";

export interface OrderState {
  count?: number | null;
  is_paid?: boolean;
  item?: string;
  messages?: Message[];
  notes?: string[];
  price?: number;
}

export type OrderInput = OrderState;

export type OrderOutput = OrderState;

/** The second argument of `useStream`, after `OrderState`. */
export interface OrderTypes {
  UpdateType: OrderInput;
}

/** The nodes of the graph `my-agent`. */
export type MyAgentNode = "check" | "ship it";

export interface MyAgentState {
  count?: number | null;
  is_paid?: boolean;
  item?: string;
  messages?: Message[];
  notes?: string[];
  price?: number;
}

/** A question and its answer. */
export interface MyAgentInput {
  answer: string;
  next?: MyAgentInput | null;
  question: string;
}

export interface MyAgentOutputOf {
  x?: number | null;
}

export interface MyAgentOutput {
  any?: unknown;
  class?: string;
  of?: MyAgentOutputOf;
  one?: 1;
}

export interface MyAgentAction1 {
  kind: "stop";
}

export interface MyAgentAction2 {
  after: number;
  kind: "retry";
}

export type MyAgentAction = MyAgentAction1 | MyAgentAction2;

/** A question and its answer. */
export interface MyAgentExample {
  answer: string;
  next?: MyAgentExample | null;
  question: string;
}

export type MyAgentTone = "friendly" | "dry";

/** How the agent answers. */
export interface MyAgentContext {
  action: MyAgentAction;
  examples: MyAgentExample[];
  limits: Record<string, number>;
  "max-tokens"?: number | null;
  pair: [string, boolean];
  /**
   * What the model is given first.
   * It may be empty.
   */
  prompt: string;
  tone?: MyAgentTone | null;
}

/** The second argument of `useStream`, after `MyAgentState`. */
export interface MyAgentTypes {
  UpdateType: MyAgentInput;
  ConfigurableType: MyAgentContext & Record<string, unknown>;
}
