// A page that uses the hooks of `@langchain/react`; `react.mjs` drives it.
import { useState } from "react";
import { createRoot } from "react-dom/client";
import {
  StreamProvider, useChannel, useChannelEffect, useExtension, useMessageMetadata, useMessages, useStreamContext,
  useSubmissionQueue, useToolCalls, useValues,
} from "@langchain/react";

const query = new URLSearchParams(location.search);

/** What a subgraph says. */
function Inside({ stream, place }) {
  const values = useValues(stream, place);
  window.inside = { ...window.inside, [place.namespace.join("|")]: values };
  return <pre>{JSON.stringify(values)}</pre>;
}

function Chat() {
  const stream = useStreamContext();
  const messages = useMessages(stream);
  const toolCalls = useToolCalls(stream);
  const values = useValues(stream);
  const queue = useSubmissionQueue(stream);
  const custom = useChannel(stream, ["custom"]);
  const latest = useExtension(stream, "custom");
  const [effects, setEffects] = useState(0);
  useChannelEffect(stream, ["lifecycle"], { onEvent: () => setEffects((count) => count + 1) });
  const last = useMessageMetadata(stream, messages.at(-1)?.id);
  window.hook = {
    submit: (input, options) => stream.submit(input, options),
    respond: (response) => stream.respond(response),
    respondAll: (responses) => stream.respondAll(responses),
    stop: () => stream.stop(),
    cancel: (id) => queue.cancel(id),
  };
  window.seen = {
    loading: stream.isLoading,
    threadLoading: stream.isThreadLoading,
    threadId: stream.threadId,
    assistant: stream.assistantId,
    values,
    error: stream.error ? String(stream.error.message ?? stream.error) : null,
    messages: messages.map((one) => ({ type: one.getType?.() ?? one.type, text: one.text ?? one.content, id: one.id })),
    toolCalls: toolCalls.map((call) => ({ name: call.name, status: call.status, output: call.output ?? null })),
    interrupts: stream.interrupts.map(({ id, value }) => ({ id, value })),
    interrupt: stream.interrupt?.value ?? null,
    subgraphs: [...stream.subgraphs.values()].map((one) => ({ namespace: one.namespace, status: one.status })),
    queue: queue.entries.map((entry) => ({ id: entry.id, values: entry.values })),
    custom: custom.map((event) => event.params.data),
    latest: latest ?? null,
    effects,
    forkOfLast: last?.parentCheckpointId ?? null,
  };
  window.texts ??= new Set();
  window.texts.add(window.seen.messages.at(-1)?.text ?? "");
  return (
    <>
      {[...stream.subgraphs.values()].map((place) => <Inside key={place.id} stream={stream} place={place} />)}
      <pre>{JSON.stringify(window.seen, null, 1)}</pre>
    </>
  );
}

function Page() {
  const [thread, setThread] = useState(query.get("thread"));
  const keep = (id) => {
    query.set("thread", id);
    history.replaceState(null, "", `?${query}`);
    setThread(id);
  };
  return (
    <StreamProvider apiUrl={query.get("server")} assistantId={query.get("assistant")} threadId={thread} onThreadId={keep}>
      <Chat />
    </StreamProvider>
  );
}

createRoot(document.getElementById("root")).render(<Page />);
