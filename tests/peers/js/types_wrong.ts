// Wrong uses of the types of two graphs: each line below a mark is refused.
import { useStream } from "@langchain/langgraph-sdk/react";

import type { MyAgentAction, MyAgentContext, MyAgentInput, MyAgentOutput, OrderNode, OrderState, OrderTypes } from "./types";

export let s: OrderState, n: OrderNode, i: MyAgentInput, a: MyAgentAction, c: MyAgentContext, o: MyAgentOutput;
const stream = useStream<OrderState, OrderTypes>({ assistantId: "order" });

// @ts-expect-error
s = { item: 5 };
// @ts-expect-error
s = { item: null };
// @ts-expect-error
s = { count: "2" };
// @ts-expect-error
s = { count: true };
// @ts-expect-error
s = { notes: "soon" };
// @ts-expect-error
s = { notes: [1] };
// @ts-expect-error
s = { notes: [null] };
// @ts-expect-error
s = { is_paid: "yes" };
// @ts-expect-error
s = { is_paid: 1 };
// @ts-expect-error
s = { price: "1.50" };
// @ts-expect-error
s = { price: [1] };
// @ts-expect-error
s = { messages: "hi" };
// @ts-expect-error
s = { messages: ["hi"] };
// @ts-expect-error
s = { messages: [{ type: "person", content: "hi" }] };
// @ts-expect-error
s = { messages: [{ content: "hi" }] };
// @ts-expect-error
s = { messages: { type: "human", content: "hi" } };
// @ts-expect-error
s = { itme: "lamps" };
// @ts-expect-error
s = { isPaid: true };
// @ts-expect-error
s = [];
// @ts-expect-error
s = "lamps";
// @ts-expect-error
n = "ship";
// @ts-expect-error
n = "CHECK";
// @ts-expect-error
n = "";
// @ts-expect-error
n = 5;
// @ts-expect-error
n = "__start__";
// @ts-expect-error
i = { question: "?" };
// @ts-expect-error
i = { answer: "!" };
// @ts-expect-error
i = {};
// @ts-expect-error
i = { question: 1, answer: "!" };
// @ts-expect-error
i = { question: "?", answer: "!", next: "?" };
// @ts-expect-error
i = { question: "?", answer: "!", next: { question: "?" } };
// @ts-expect-error
i = { question: "?", answer: "!", previous: null };
// @ts-expect-error
a = { kind: "halt" };
// @ts-expect-error
a = { kind: "retry" };
// @ts-expect-error
a = { kind: "retry", after: "3" };
// @ts-expect-error
a = { kind: "stop", after: 3 };
// @ts-expect-error
a = { after: 3 };
// @ts-expect-error
a = "stop";
// @ts-expect-error
c = { action: { kind: "stop" }, examples: [], limits: {}, pair: ["a", true], prompt: "", tone: "angry" };
// @ts-expect-error
c = { action: { kind: "stop" }, examples: [], limits: {}, pair: ["a", true], prompt: "", tone: 5 };
// @ts-expect-error
c = { action: { kind: "stop" }, examples: [], limits: {}, pair: ["a", true], prompt: "", "max-tokens": "5" };
// @ts-expect-error
c = { action: { kind: "stop" }, examples: [], limits: {}, pair: ["a", true], prompt: "", max_tokens: 5 };
// @ts-expect-error
c = { action: { kind: "stop" }, examples: [], limits: {}, pair: ["a", true], prompt: "", examples: [{ question: "?" }] };
// @ts-expect-error
c = { action: { kind: "stop" }, examples: [], limits: {}, pair: ["a", true], prompt: "", limits: { tokens: "5" } };
// @ts-expect-error
c = { action: { kind: "stop" }, examples: [], limits: {}, pair: ["a", true], prompt: "", limits: 5 };
// @ts-expect-error
c = { action: { kind: "stop" }, examples: [], limits: {}, pair: ["a", true], prompt: "", pair: ["a"] };
// @ts-expect-error
c = { action: { kind: "stop" }, examples: [], limits: {}, pair: ["a", true], prompt: "", pair: [true, "a"] };
// @ts-expect-error
c = { action: { kind: "stop" }, examples: [], limits: {}, pair: ["a", true], prompt: "", pair: ["a", true, 1] };
// @ts-expect-error
c = { prompt: "" };
// @ts-expect-error
o = { one: 2 };
// @ts-expect-error
o = { of: { x: "1" } };
// @ts-expect-error
o = { class: 5 };
// @ts-expect-error
stream.submit({ item: 5 });
// @ts-expect-error
stream.submit({ itme: "lamps" });
// @ts-expect-error
const text: string = stream.values.count;
// @ts-expect-error
stream.values.itme;
// @ts-expect-error
stream.values.notes.length;
