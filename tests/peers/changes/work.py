"""Two parallel nodes and a join, as in `examples/examples/parallel.rs`; the second waits for an answer."""

from operator import add
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Work(TypedDict):
    """The state."""

    log: Annotated[list[str], add]


def task1(state: Work) -> dict[str, object]:
    """Do the first half."""
    return {"log": ["task1"]}


def task2(state: Work) -> dict[str, object]:
    """Do the second half, after an answer."""
    interrupt("Go on?")
    return {"log": ["task2"]}


def merge(state: Work) -> dict[str, object]:
    """Run once both have run."""
    return {"log": ["merge"]}


graph = StateGraph(Work)
graph.add_node("task1", task1)
graph.add_node("task2", task2)
graph.add_node("merge", merge)
graph.add_edge(START, "task1")
graph.add_edge(START, "task2")
graph.add_edge(["task1", "task2"], "merge")
graph.add_edge("merge", END)
