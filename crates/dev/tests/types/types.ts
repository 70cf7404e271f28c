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

/** The nodes of the graph `desk`. */
export type DeskNode = "model" | "tools" | "address";

export type DeskNowArguments = Record<string, never>;

/** The time. */
export interface DeskNowCall {
  name: "now";
  args: DeskNowArguments;
  id?: string;
  type?: "tool_call";
}

export interface DeskRefundArguments {
  cents: number;
  order: string;
  reason?: string | null;
}

/** Pays money back. */
export interface DeskRefundCall {
  name: "refund";
  args: DeskRefundArguments;
  id?: string;
  type?: "tool_call";
}

export interface DeskCloseArguments {
  account: string;
}

/** Deletes an account. */
export interface DeskCloseCall {
  name: "close";
  args: DeskCloseArguments;
  id?: string;
  type?: "tool_call";
}

export type DeskCountStockArguments = Record<string, never>;

/** Counts. */
export interface DeskCountStockCall {
  name: "count-stock";
  args: DeskCountStockArguments;
  id?: string;
  type?: "tool_call";
}

/** A call of a tool. */
export type DeskToolCall = DeskNowCall | DeskRefundCall | DeskCloseCall | DeskCountStockCall;

export interface DeskState {
  count?: number | null;
  is_paid?: boolean;
  item?: string;
  messages?: Message<DeskToolCall>[];
  notes?: string[];
  price?: number;
}

export type DeskInput = DeskState;

export type DeskOutput = DeskState;

export interface DeskAddressQuestion {
  customer: string;
  type: "address";
}

/** What the graph `desk` asks, by the keys of its interrupts. */
export interface DeskQuestions {
  address: DeskAddressQuestion;
}

/** What `DeskQuestions` are answered with. */
export interface DeskAnswers {
  address: string;
}

/** The tool runs. */
export interface DeskToolApproved {
  type: "approve";
  by?: string;
  digest?: string;
}

/** The tool does not run; the model is given the message. */
export interface DeskToolRejected {
  type: "reject";
  message?: string;
  by?: string;
  digest?: string;
}

/** The tool does not run; the content is its answer. */
export interface DeskToolAnswered {
  type: "answer";
  content: string | Record<string, unknown>[];
  by?: string;
  digest?: string;
}

/** The tool `refund` runs with these arguments. */
export interface DeskRefundEdited {
  type: "edit";
  arguments: DeskRefundArguments;
  by?: string;
  digest?: string;
}

/** A decision about a call of `refund`. */
export type DeskRefundDecision = DeskToolApproved | DeskRefundEdited | DeskToolRejected | DeskToolAnswered;

export interface DeskRefundRequest {
  id: string;
  name: "refund";
  arguments: DeskRefundArguments;
}

/** The interrupt before a call of `refund`. */
export interface DeskRefundApproval {
  type: "tool_approval";
  call: DeskRefundRequest;
  description: string;
  allowed: ("approve" | "edit" | "reject" | "answer")[];
  parameters: unknown;
  digest: string;
  turn?: string;
  expires_at?: number;
  default?: DeskToolApproved | DeskRefundEdited | DeskToolRejected | DeskToolAnswered;
}

/** The custom event that reports a decision about a call of `refund`. */
export interface DeskRefundApprovalAnswered {
  type: "tool_approval_answered";
  call: DeskRefundRequest;
  digest: string;
  decision: DeskToolApproved | DeskRefundEdited | DeskToolRejected | DeskToolAnswered;
  by: string | null;
  expired: boolean;
}

/** The tool `close` runs with these arguments. */
export interface DeskCloseEdited {
  type: "edit";
  arguments: DeskCloseArguments;
  by?: string;
  digest?: string;
}

/** A decision about a call of `close`. */
export type DeskCloseDecision = DeskToolApproved | DeskToolRejected;

export interface DeskCloseRequest {
  id: string;
  name: "close";
  arguments: DeskCloseArguments;
}

/** The interrupt before a call of `close`. */
export interface DeskCloseApproval {
  type: "tool_approval";
  call: DeskCloseRequest;
  description: string;
  allowed: ("approve" | "reject")[];
  parameters: unknown;
  digest: string;
  turn?: string;
  expires_at?: number;
  default?: DeskToolApproved | DeskCloseEdited | DeskToolRejected | DeskToolAnswered;
}

/** The custom event that reports a decision about a call of `close`. */
export interface DeskCloseApprovalAnswered {
  type: "tool_approval_answered";
  call: DeskCloseRequest;
  digest: string;
  decision: DeskToolApproved | DeskCloseEdited | DeskToolRejected | DeskToolAnswered;
  by: string | null;
  expired: boolean;
}

/** The interrupt before a call of a tool that needs an approval. */
export type DeskToolApproval = DeskRefundApproval | DeskCloseApproval;

/** What `DeskToolApproval` is answered with, by the names of the tools. */
export interface DeskToolDecisions {
  refund: DeskRefundDecision;
  close: DeskCloseDecision;
}

/** How far it is. */
export interface DeskCountStockEvent {
  share: number;
  shelf: string | null;
  type: "counted";
}

export interface DeskNodeEvent1 {
  type: "started";
}

export interface DeskNodeEvent2 {
  count: number;
  item: string;
  type: "sold";
}

/** A custom event of the graph `desk`: of a node, of a tool, or the answer to an approval. */
export type DeskEvent = DeskNodeEvent1 | DeskNodeEvent2 | DeskCountStockEvent | DeskRefundApprovalAnswered | DeskCloseApprovalAnswered;

/** The second argument of `useStream`, after `DeskState`. */
export interface DeskTypes {
  UpdateType: DeskInput;
  InterruptType: DeskQuestions[keyof DeskQuestions] | DeskToolApproval;
  CustomEventType: DeskEvent;
}
