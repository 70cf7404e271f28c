// A page that uses the hook of `@langchain/langgraph-sdk/react`; `hooks.mjs` drives it.
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { useStream } from "@langchain/langgraph-sdk/react";

const query = new URLSearchParams(location.search);
const server = query.get("server");
const assistantId = query.get("assistant");

function set(name, value) {
  query.set(name, value);
  history.replaceState(null, "", `?${query}`);
}

function Chat() {
  const [custom, setCustom] = useState([]);
  const [ended, setEnded] = useState([]);
  const stream = useStream({
    apiUrl: server,
    assistantId,
    threadId: query.get("thread"),
    reconnectOnMount: true,
    fetchStateHistory: true,
    onThreadId: (id) => set("thread", id),
    onCreated: (run) => setEnded((known) => [...known, `created ${Boolean(run.run_id)}`]),
    onFinish: () => setEnded((known) => [...known, "finished"]),
    onStop: () => setEnded((known) => [...known, "stopped"]),
    onError: (error) => setEnded((known) => [...known, `error ${error.message}`]),
    onCustomEvent: (event) => setCustom((known) => [...known, event]),
  });
  const options = { streamResumable: true, onDisconnect: "continue", streamSubgraphs: true };
  window.hook = {
    submit: (input, more = {}) => stream.submit(input, { ...options, ...more }),
    stop: () => stream.stop(),
    setBranch: (branch) => stream.setBranch(branch),
    meta: (index) => {
      const message = stream.messages[index];
      const meta = message && stream.getMessagesMetadata(message, index);
      return meta && { branch: meta.branch, branchOptions: meta.branchOptions, parent: meta.firstSeenState?.parent_checkpoint };
    },
  };
  window.seen = {
    loading: stream.isLoading,
    values: stream.values,
    error: stream.error ? String(stream.error.message ?? stream.error) : null,
    messages: stream.messages.map((message) => ({ type: message.type, content: message.content, id: message.id })),
    interrupt: stream.interrupt?.value ?? null,
    interrupts: stream.interrupts?.length ?? null,
    toolCalls: stream.toolCalls?.map((call) => ({ name: call.call.name, state: call.state })) ?? null,
    history: stream.history.length,
    branch: stream.branch,
    custom,
    ended,
  };
  window.contents ??= new Set();
  window.contents.add(JSON.stringify(window.seen.messages.at(-1)?.content ?? null));
  return <pre>{JSON.stringify(window.seen, null, 1)}</pre>;
}

createRoot(document.getElementById("root")).render(<Chat />);
