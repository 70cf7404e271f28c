"""The graphs of main.rs in LangGraph for Python: form, workload, size, nanoseconds of each node."""

import operator
import time
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph


class Counter(TypedDict):
    total: Annotated[int, operator.add]


def count(state):
    return {"total": 1}


def chain(nodes):
    graph = StateGraph(Counter)
    names = [f"n{index}" for index in range(nodes)]
    for name in names:
        graph.add_node(name, count)
    for first, second in zip([START, *names], [*names, END]):
        graph.add_edge(first, second)
    return graph.compile()


def turns(number):
    graph = StateGraph(Counter)
    graph.add_node("count", count)
    graph.add_edge(START, "count")
    more = lambda state: "count" if state["total"] < number else END
    graph.add_conditional_edges("count", more, ["count", END])
    return graph.compile()


for workload, make, size, samples in (("chain", chain, 10, 10), ("chain", chain, 1000, 3), ("loop", turns, 1000, 3)):
    graph = make(size)
    best = float("inf")
    for _ in range(samples):
        start = time.perf_counter()
        assert graph.invoke({"total": 0}, {"recursion_limit": size + 1})["total"] == size
        best = min(best, time.perf_counter() - start)
    print(f"Python LangGraph\t{workload}\t{size}\t{best * 1e9 / size:.1f}", flush=True)
