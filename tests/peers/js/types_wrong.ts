// Wrong uses of the types of some graphs: each line below a mark is refused.
import { useStream } from "@langchain/langgraph-sdk/react";

import type { DeskEvent, DeskState, DeskToolApproval, DeskToolDecisions, DeskTypes, MyAgentAction, MyAgentContext, MyAgentInput, MyAgentOutput, OrderNode, OrderState, OrderTypes, ShopAnswers, ShopEvent, ShopFindItemsArguments, ShopQuestions, ShopState, ShopToolCall, ShopTypes, SignatureAnswers } from "./types";

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

export let q: ShopQuestions["sale"], r: ShopAnswers, w: SignatureAnswers, e: ShopEvent, f: ShopFindItemsArguments, t: ShopToolCall;
const shop = useStream<ShopState, ShopTypes>({ assistantId: "shop" });
const message = shop.values.messages?.[0];
const called = message?.type === "ai" ? message.tool_calls?.[0] : undefined;

// @ts-expect-error
q = { item: 5, price: 1 };
// @ts-expect-error
q = { item: "lamps" };
// @ts-expect-error
q = { item: "lamps", price: "1" };
// @ts-expect-error
q = { item: "lamps", price: 1, discount: 10 };
// @ts-expect-error
q = { item: "lamps", price: 1, discount: { percent: "10" } };
// @ts-expect-error
q = { item: "lamps", price: 1, discounted: true };
// @ts-expect-error
q = "lamps";
// @ts-expect-error
r = { sale: { kind: "keep" }, "how many?": 3 };
// @ts-expect-error
r = { sale: { kind: "keep" }, "how many?": "3", name: null };
// @ts-expect-error
r = { sale: { kind: "keep" }, "how many?": 3, name: 5 };
// @ts-expect-error
r = { sale: "keep", "how many?": 3, name: null };
// @ts-expect-error
r = { sale: { kind: "give" }, "how many?": 3, name: null };
// @ts-expect-error
r = { sale: { kind: "sell" }, "how many?": 3, name: null };
// @ts-expect-error
r = { sale: { kind: "keep", price: 1 }, "how many?": 3, name: null };
// @ts-expect-error
r = { sale: { kind: "sell", price: "1" }, "how many?": 3, name: null };
// @ts-expect-error
r = { sale: { kind: "keep" }, "how many": 3, name: null };
// @ts-expect-error
w = { name: 5 };
// @ts-expect-error
w = { name: undefined };
// @ts-expect-error
w = { nom: "Ada" };
// @ts-expect-error
e = { type: "sold", item: "lamps" };
// @ts-expect-error
e = { type: "sold", item: "lamps", count: "2" };
// @ts-expect-error
e = { type: "started", item: "lamps" };
// @ts-expect-error
e = { type: "stopped" };
// @ts-expect-error
e = { item: "lamps", count: 2 };
// @ts-expect-error
e = "started";
// @ts-expect-error
f = { words: "lamp" };
// @ts-expect-error
f = { words: [1] };
// @ts-expect-error
f = { limit: 5 };
// @ts-expect-error
f = { words: [], limit: "5" };
// @ts-expect-error
f = { words: [], most: 5 };
// @ts-expect-error
t = { name: "find_items", args: {} };
// @ts-expect-error
t = { name: "find_items", args: { words: "lamp" } };
// @ts-expect-error
t = { name: "find", args: { words: [] } };
// @ts-expect-error
t = { name: "now" };
// @ts-expect-error
t = { name: "now", args: { zone: "UTC" } };
// @ts-expect-error
t = { name: "now", args: {}, id: 1 };
// @ts-expect-error
t = { args: { words: [] } };
// @ts-expect-error
shop.submit({ notes: "soon" });
// @ts-expect-error
shop.interrupt?.value?.item;
// @ts-expect-error
const asked: number | undefined = shop.interrupt?.value;
// @ts-expect-error
if (typeof shop.interrupt?.value === "object") shop.interrupt.value.itme;
// @ts-expect-error
if (called?.name === "find") shop.submit(null);
// @ts-expect-error
if (called?.name === "find_items") called.args.word;
// @ts-expect-error
shop.submit(null, { command: { resume: true satisfies ShopAnswers["sale"] } });
// @ts-expect-error
useStream<ShopState, ShopTypes>({ assistantId: "shop", onCustomEvent: (event) => event.percent });
// @ts-expect-error
useStream<ShopState, ShopTypes>({ assistantId: "shop", onCustomEvent: (event) => event.count });
// @ts-expect-error
useStream<ShopState, ShopTypes>({ assistantId: "shop", onCustomEvent: (event) => event.type === "stopped" });

export let d: DeskToolDecisions["refund"], k: DeskToolDecisions["close"], m: DeskToolDecisions;
declare const p: DeskToolApproval;
const desk = useStream<DeskState, DeskTypes>({ assistantId: "desk" });
const question = desk.interrupt?.value;

// @ts-expect-error
d = { type: "edit" };
// @ts-expect-error
d = { type: "edit", arguments: { order: "o1" } };
// @ts-expect-error
d = { type: "edit", arguments: { order: "o1", cents: "100" } };
// @ts-expect-error
d = { type: "edit", arguments: { order: "o1", cents: 100, cent: 1 } };
// @ts-expect-error
d = { type: "edit", args: { order: "o1", cents: 100 } };
// @ts-expect-error
d = { type: "approve", arguments: { order: "o1", cents: 100 } };
// @ts-expect-error
d = { type: "accept" };
// @ts-expect-error
d = { type: "approve", by: 5 };
// @ts-expect-error
d = { type: "reject", message: 5 };
// @ts-expect-error
d = { type: "answer" };
// @ts-expect-error
d = { decision: "approve" };
// @ts-expect-error
d = "approve";
// @ts-expect-error
d = true;
// @ts-expect-error
k = { type: "edit", arguments: { account: "a1" } };
// @ts-expect-error
k = { type: "answer", content: "Closed." };
// @ts-expect-error
m = { refund: { type: "approve" } };
// @ts-expect-error
m = { refund: { type: "approve" }, close: { type: "approve" }, now: { type: "approve" } };
// @ts-expect-error
m = { refund: { type: "approve" }, close: { type: "answer", content: "" } };
// @ts-expect-error
p.call = { id: "c1", name: "now", arguments: {} };
// @ts-expect-error
p.call = { id: "c1", name: "close", arguments: { order: "o1", cents: 1 } };
// @ts-expect-error
if (p.call.name === "refund") p.call.arguments.account;
// @ts-expect-error
if (p.call.name === "close") p.call.arguments.cents;
// @ts-expect-error
if (p.call.name === "now") desk.submit(null);
// @ts-expect-error
p.call.arguments.cents;
// @ts-expect-error
desk.interrupt?.value?.call;
// @ts-expect-error
if (question?.type === "address") question.call;
// @ts-expect-error
if (question?.type === "tool_approval") question.customer;
// @ts-expect-error
if (question?.type === "approval") desk.submit(null);
// @ts-expect-error
if (question?.type === "tool_approval" && question.call.name === "close") d = { type: "edit", arguments: question.call.arguments };
// @ts-expect-error
if (question?.type === "tool_approval" && question.default?.type === "edit") question.default.arguments.text;
// @ts-expect-error
if (question?.type === "tool_approval") question.allowed.push("accept");
// @ts-expect-error
desk.submit(null, { command: { resume: { type: "edit", arguments: { account: 1 } } satisfies DeskToolDecisions["refund"] } });
declare const reported: DeskEvent;
// @ts-expect-error
if (reported.type === "tool_approval_answered") reported.item;
// @ts-expect-error
if (reported.type === "tool_approval_answered") reported.by.trim();
// @ts-expect-error
if (reported.type === "tool_approval_answered" && reported.call.name === "now") desk.submit(null);
// @ts-expect-error
if (reported.type === "counted") reported.by;
// @ts-expect-error
if (reported.type === "counted") reported.shelf.trim();
