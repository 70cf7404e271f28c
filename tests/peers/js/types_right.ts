// Right uses of the types of some graphs.
import { Client } from "@langchain/langgraph-sdk";
import { useStream } from "@langchain/langgraph-sdk/react";

import type {
  MyAgentAction,
  MyAgentContext,
  MyAgentInput,
  MyAgentOutput,
  OrderNode,
  OrderState,
  OrderTypes,
  ShopAnswers,
  ShopEvent,
  ShopFindItemsArguments,
  ShopQuestions,
  ShopState,
  ShopToolCall,
  ShopTypes,
  SignatureAnswers,
} from "./types";

export const context: MyAgentContext = {
  action: { kind: "retry", after: 3 },
  examples: [{ question: "?", answer: "!" }],
  limits: { tokens: 5 },
  pair: ["a", true],
  prompt: "Be brief.",
  tone: "dry",
  "max-tokens": null,
};
export const action: MyAgentAction = { kind: "stop" };
export const input: MyAgentInput = { question: "?", answer: "!", next: { question: "?", answer: "!" } };
export const output: MyAgentOutput = { any: 5, class: "a", of: { x: null }, one: 1 };
export const nodes: OrderNode[] = ["check", "ship it"];

export function Page() {
  const stream = useStream<OrderState, OrderTypes>({ assistantId: "order", apiUrl: "http://127.0.0.1:2024" });
  const item: string | undefined = stream.values.item;
  const count: number | null | undefined = stream.values.count;
  const first = stream.messages[0]?.content;
  stream.submit({ item: "lamps", count: 2, notes: ["soon"] });
  return [item, count, first];
}

// Interrupts with their answers, custom events, tools.
export const sale: ShopQuestions["sale"] = { item: "lamps", price: 1.5, discount: { percent: 10 } };
export const answers: ShopAnswers = { sale: { kind: "sell", price: 2 }, "how many?": 3, name: null };
export const keep: ShopAnswers["sale"] = { kind: "keep" };
export const signed: SignatureAnswers["name"] = "Ada";
export const found: ShopFindItemsArguments = { words: ["lamp"] };
export const calls: ShopToolCall[] = [{ name: "now", args: {} }, { name: "find_items", args: found, id: "c1" }];

export function Shop() {
  const shown: string[] = [];
  const stream = useStream<ShopState, ShopTypes>({
    assistantId: "shop",
    onCustomEvent: (event) => {
      shown.push(event.type === "sold" ? `${event.count} ${event.item}` : event.type);
    },
  });
  const asked = stream.interrupt?.value;
  if (typeof asked === "object") {
    shown.push(asked.item, asked.price.toFixed(2), String(asked.discount?.percent));
    stream.submit(null, { command: { resume: { kind: "keep" } satisfies ShopAnswers["sale"] } });
  }
  for (const message of stream.values.messages ?? []) {
    for (const call of message.type === "ai" ? (message.tool_calls ?? []) : []) {
      shown.push(...(call.name === "find_items" ? call.args.words : [call.name]));
    }
  }
  return shown;
}

export function percent(event: ShopEvent): number {
  switch (event.type) {
    case "started":
      return 0;
    case "sold":
      return event.count;
  }
}

export async function call() {
  const client = new Client<OrderState>();
  const state = await client.threads.getState<OrderState>("thread");
  return state.values.item?.length;
}
