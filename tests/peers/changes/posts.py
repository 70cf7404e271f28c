"""A person approves a post, as in `examples/examples/human_in_the_loop.rs`."""

from operator import add
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Post(TypedDict):
    """The state."""

    topic: str
    text: str
    approved: bool
    log: Annotated[list[str], add]


def write(state: Post) -> dict[str, object]:
    """Write the text."""
    return {"text": f"All about {state['topic']}.", "log": ["written"]}


def ask(state: Post) -> dict[str, object]:
    """Interrupt, and receive the answer."""
    approved: bool = interrupt("Publish?")
    return {"approved": approved}


def publish(state: Post) -> dict[str, object]:
    """Publish the text."""
    return {"log": ["published"]}


def discard(state: Post) -> dict[str, object]:
    """Discard the text."""
    return {"log": ["discarded"]}


def decide(state: Post) -> str:
    """Return where to go after the answer."""
    return "publish" if state["approved"] else "discard"


graph = StateGraph(Post)
graph.add_node("write", write)
graph.add_node("ask", ask)
graph.add_node("publish", publish)
graph.add_node("discard", discard)
graph.add_edge(START, "write")
graph.add_edge("write", "ask")
graph.add_conditional_edges("ask", decide, ["publish", "discard"])
graph.add_edge("publish", END)
graph.add_edge("discard", END)
