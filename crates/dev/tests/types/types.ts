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

/** The nodes of the graph `shop`. */
export type ShopNode = "ask" | "tools" | "signed";

export interface ShopFindItemsArguments {
  limit?: number | null;
  words: string[];
}

/**
 * Finds items.
 *
 * The best ones come first.
 */
export interface ShopFindItemsCall {
  name: "find_items";
  args: ShopFindItemsArguments;
  id?: string;
  type?: "tool_call";
}

export type ShopNowArguments = Record<string, never>;

/** The time. */
export interface ShopNowCall {
  name: "now";
  args: ShopNowArguments;
  id?: string;
  type?: "tool_call";
}

/** A call of a tool. */
export type ShopToolCall = ShopFindItemsCall | ShopNowCall;

export interface ShopState {
  count?: number | null;
  is_paid?: boolean;
  item?: string;
  messages?: Message<ShopToolCall>[];
  notes?: string[];
  price?: number;
}

export type ShopInput = ShopState;

export type ShopOutput = ShopState;

export interface ShopDiscount {
  percent: number;
}

/** What is for sale. */
export interface ShopSaleQuestion {
  discount?: ShopDiscount | null;
  item: string;
  price: number;
}

export interface ShopSaleAnswer1 {
  kind: "sell";
  price: number;
}

export interface ShopSaleAnswer2 {
  kind: "keep";
}

/** What the graph `shop` asks, by the keys of its interrupts. */
export interface ShopQuestions {
  "how many?": string;
  name: string;
  sale: ShopSaleQuestion;
}

/** What `ShopQuestions` are answered with. */
export interface ShopAnswers {
  "how many?": number;
  name: string | null;
  sale: ShopSaleAnswer1 | ShopSaleAnswer2;
}

export interface ShopEvent1 {
  type: "started";
}

export interface ShopEvent2 {
  count: number;
  item: string;
  type: "sold";
}

export type ShopEvent = ShopEvent1 | ShopEvent2;

/** The second argument of `useStream`, after `ShopState`. */
export interface ShopTypes {
  UpdateType: ShopInput;
  InterruptType: ShopQuestions[keyof ShopQuestions];
  CustomEventType: ShopEvent;
}

/** The nodes of the graph `signature`. */
export type SignatureNode = "sign";

export interface SignatureState {
  count?: number | null;
  is_paid?: boolean;
  item?: string;
  messages?: Message[];
  notes?: string[];
  price?: number;
}

export type SignatureInput = SignatureState;

export type SignatureOutput = SignatureState;

/** What the graph `signature` asks, by the keys of its interrupts. */
export interface SignatureQuestions {
  name: unknown;
}

/** What `SignatureQuestions` are answered with. */
export interface SignatureAnswers {
  name: string | null;
}

/** The second argument of `useStream`, after `SignatureState`. */
export interface SignatureTypes {
  UpdateType: SignatureInput;
  InterruptType: SignatureQuestions[keyof SignatureQuestions];
}
