"""The workloads of main.rs in LangGraph for Python: library, workload, size, runs at once, microseconds."""

import asyncio
import operator
import time
import uuid
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

# Each workload has this long, and at least three runs.
SECONDS = 5

# So many runs are at once.
RUNS = 1000


class Counter(TypedDict):
    total: Annotated[int, operator.add]


def count(state):
    return {"total": 1}


def names(nodes):
    return [f"n{index}" for index in range(nodes)]


def row_of(nodes):
    graph = StateGraph(Counter)
    for name in names(nodes):
        graph.add_node(name, count)
    for first, second in zip([START, *names(nodes)], [*names(nodes), END]):
        graph.add_edge(first, second)
    return graph.compile()


def chain(nodes):
    return summed(row_of(nodes), nodes)


def at_once(nodes):
    graph = row_of(nodes)

    def run():
        states = graph.batch([{"total": 0}] * RUNS)
        assert sum(state["total"] for state in states) == RUNS * nodes

    return run


def loop(turns):
    graph = StateGraph(Counter)
    graph.add_node("count", count)
    graph.add_edge(START, "count")
    more = lambda state: "count" if state["total"] < turns else END
    graph.add_conditional_edges("count", more, ["count", END])
    return summed(graph.compile(), turns)


def fan_out(width):
    # Side by side, coroutines are faster than what `invoke` uses, threads; one by one they are slower.
    async def count(state):
        return {"total": 1}

    graph = StateGraph(Counter)
    graph.add_node("source", count)
    graph.add_node("join", count)
    graph.add_edge(START, "source")
    for name in names(width):
        graph.add_node(name, count)
        graph.add_edge("source", name)
    graph.add_edge(names(width), "join")
    graph.add_edge("join", END)
    graph = graph.compile()
    events = asyncio.new_event_loop()

    def run():
        state = events.run_until_complete(graph.ainvoke({"total": 0}))
        assert state["total"] == width + 2

    return run


def summed(graph, nodes):
    def run():
        assert graph.invoke({"total": 0}, {"recursion_limit": nodes + 1})["total"] == nodes

    return run


def agent(turns, saver=None):
    def model(state):
        if len(state["messages"]) < 2 * turns:
            return {"messages": [AIMessage("", tool_calls=[{"id": "call", "name": "add", "args": {}}])]}
        return {"messages": [AIMessage("done")]}

    def tool(state):
        calls = state["messages"][-1].tool_calls
        return {"messages": [ToolMessage("5", tool_call_id=call["id"]) for call in calls]}

    wants_tool = lambda state: "tool" if state["messages"][-1].tool_calls else END
    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tool", tool)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", wants_tool, ["tool", END])
    graph.add_edge("tool", "model")
    return graph.compile(checkpointer=saver)


def call(turns):
    config = {"recursion_limit": 2 * turns + 2, "configurable": {"thread_id": str(uuid.uuid4())}}
    return {"messages": [HumanMessage("What is 2 + 3?")]}, config


def react(turns, saver=None):
    graph = agent(turns, saver)

    def run():
        assert len(graph.invoke(*call(turns))["messages"]) == 2 * turns + 2

    return run


def observed(turns):
    graph = agent(turns)

    def run():
        assert sum(1 for _ in graph.stream(*call(turns), stream_mode="updates")) == 2 * turns + 1

    return run


def stored(turns):
    return react(turns, InMemorySaver())


for name, make, size, runs in (
    ("chain", chain, 10, 1),
    ("chain", at_once, 10, RUNS),
    ("chain", chain, 1000, 1),
    ("loop", loop, 1000, 1),
    ("fan-out", fan_out, 100, 1),
    ("react", react, 100, 1),
    ("observed", observed, 100, 1),
    ("stored", stored, 100, 1),
):
    run = make(size)
    run()
    samples = []
    end = time.perf_counter() + SECONDS
    while len(samples) < 3 or (len(samples) < 100 and time.perf_counter() < end):
        start = time.perf_counter()
        run()
        samples.append(time.perf_counter() - start)
    print(f"Python\t{name}\t{size}\t{runs}\t{min(samples) * 1e6:.1f}", flush=True)
