"""A graph as a node of another one, as in `examples/examples/subgraph.rs`; it waits for an answer."""

from operator import add
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Order(TypedDict):
    """The state."""

    log: Annotated[list[str], add]


class Parcel(TypedDict):
    """The state of the subgraph, whose log is its own."""

    log: list[str]
    steps: Annotated[list[str], add]


def receive(state: Order) -> dict[str, object]:
    """Receive the order."""
    return {"log": ["received"]}


def check(state: Parcel) -> dict[str, object]:
    """Check the goods, after an answer."""
    interrupt("Complete?")
    return {"steps": ["checked"]}


def pack(state: Parcel) -> dict[str, object]:
    """Pack the goods."""
    return {"log": [*state["steps"], "packed"]}


inner = StateGraph(Parcel)
inner.add_node("check", check)
inner.add_node("pack", pack)
inner.add_edge(START, "check")
inner.add_edge("check", "pack")
inner.add_edge("pack", END)
warehouse = inner.compile()

graph = StateGraph(Order)
graph.add_node("receive", receive)
graph.add_node("warehouse", warehouse)
graph.add_edge(START, "receive")
graph.add_edge("receive", "warehouse")
graph.add_edge("warehouse", END)
