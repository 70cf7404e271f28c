// Right uses of the types of some graphs.
import { Client } from "@langchain/langgraph-sdk";
import { useStream } from "@langchain/langgraph-sdk/react";

import type {
  DeskEvent,
  DeskState,
  DeskToolApproval,
  DeskToolDecisions,
  DeskTypes,
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

// Approvals of tools: a switch on the interrupt, then on the tool.
export const wired: DeskToolDecisions = {
  refund: { type: "edit", arguments: { order: "o1", cents: 100, reason: null }, by: "ada", digest: "d" },
  close: { type: "reject", message: "Not this one." },
};
export const known: DeskToolDecisions["refund"] = { type: "answer", content: "It was paid back before." };

export function Desk() {
  const shown: string[] = [];
  const stream = useStream<DeskState, DeskTypes>({ assistantId: "desk" });
  const asked = stream.interrupt?.value;
  switch (asked?.type) {
    case "address":
      shown.push(asked.customer);
      break;
    case "tool_approval": {
      const { call, digest } = asked;
      shown.push(asked.description, ...asked.allowed, String(asked.expires_at));
      switch (call.name) {
        case "refund": {
          const less = { ...call.arguments, cents: call.arguments.cents / 2 };
          const resume: DeskToolDecisions["refund"] = { type: "edit", arguments: less, digest };
          stream.submit(null, { command: { resume } });
          break;
        }
        case "close": {
          shown.push(call.arguments.account);
          const resume: DeskToolDecisions["close"] = { type: "approve", digest };
          stream.submit(null, { command: { resume } });
          break;
        }
        default:
          return call satisfies never;
      }
    }
  }
  return shown;
}

export function what(approval: DeskToolApproval): DeskToolApproval["call"]["name"] {
  return approval.call.name;
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

export function decided(event: DeskEvent): string {
  switch (event.type) {
    case "started":
      return "";
    case "sold":
      return event.item;
    case "counted":
      return `${event.share.toFixed(2)} ${event.shelf?.trim() ?? "everywhere"}`;
    case "tool_approval_answered": {
      const { call, decision, by, expired } = event;
      const changed = decision.type === "edit" && call.name === "refund" ? JSON.stringify(decision.arguments) : "";
      return `${by?.trim() ?? "a person"}: ${decision.type} ${call.name} ${changed} ${expired}`;
    }
  }
}
