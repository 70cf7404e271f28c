// Right uses of the types of two graphs.
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

export async function call() {
  const client = new Client<OrderState>();
  const state = await client.threads.getState<OrderState>("thread");
  return state.values.item?.length;
}
