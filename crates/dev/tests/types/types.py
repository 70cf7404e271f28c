# Written by `cargo langgraph types`. Do not edit.

from __future__ import annotations

from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union

from typing_extensions import Required

# A message in LangChain's form.
Message = Dict[str, Any]

# The nodes of the graph `order`.
OrderNode = Literal["check", "ship it"]


class OrderState(TypedDict, total=False):
    count: Union[int, None]
    is_paid: bool
    item: str
    messages: List[Message]
    notes: List[str]
    price: float


OrderInput = OrderState


OrderOutput = OrderState

# The nodes of the graph `my-agent`.
MyAgentNode = Literal["check", "ship it"]


class MyAgentState(TypedDict, total=False):
    count: Union[int, None]
    is_paid: bool
    item: str
    messages: List[Message]
    notes: List[str]
    price: float


class MyAgentInput(TypedDict, total=False):
    """A question and its answer."""

    answer: Required[str]
    next: Union[MyAgentInput, None]
    question: Required[str]


class MyAgentOutputOf(TypedDict, total=False):
    x: Union[int, None]


MyAgentOutput = TypedDict("MyAgentOutput", {
    "any": "Any",
    "class": "str",
    "of": "MyAgentOutputOf",
    "one": "Literal[1]",
}, total=False)


class MyAgentAction1(TypedDict, total=False):
    kind: Required[Literal["stop"]]


class MyAgentAction2(TypedDict, total=False):
    after: Required[int]
    kind: Required[Literal["retry"]]


MyAgentAction = Union[MyAgentAction1, MyAgentAction2]


class MyAgentExample(TypedDict, total=False):
    """A question and its answer."""

    answer: Required[str]
    next: Union[MyAgentExample, None]
    question: Required[str]


MyAgentTone = Literal["friendly", "dry"]


# How the agent answers.
MyAgentContext = TypedDict("MyAgentContext", {
    "action": "Required[MyAgentAction]",
    "examples": "Required[List[MyAgentExample]]",
    "limits": "Required[Dict[str, int]]",
    "max-tokens": "Union[int, None]",
    "pair": "Required[Tuple[str, bool]]",
    "prompt": "Required[str]",
    "tone": "Union[MyAgentTone, None]",
}, total=False)
