"""The graph of the bench `load`, in LangGraph for Python: a node that sends as many events as it is asked for."""

from typing import TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph


class Reported(TypedDict):
    events: int
    stays: bool


async def report(state):
    write = get_stream_writer()
    for number in range(state["events"]):
        write({"number": number, "text": "x" * 200})
    return {}


graph = StateGraph(Reported).add_node(report).add_edge(START, "report").add_edge("report", END).compile()
