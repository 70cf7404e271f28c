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

# The nodes of the graph `shop`.
ShopNode = Literal["ask", "tools", "signed"]


class ShopFindItemsArguments(TypedDict, total=False):
    limit: Union[int, None]
    words: Required[List[str]]


class ShopFindItemsCall(TypedDict, total=False):
    """Finds items.

    The best ones come first."""

    name: Required[Literal["find_items"]]
    args: Required[ShopFindItemsArguments]
    id: str
    type: Literal["tool_call"]


class ShopNowArguments(TypedDict, total=False):
    pass


class ShopNowCall(TypedDict, total=False):
    """The time."""

    name: Required[Literal["now"]]
    args: Required[ShopNowArguments]
    id: str
    type: Literal["tool_call"]


# A call of a tool.
ShopToolCall = Union[ShopFindItemsCall, ShopNowCall]


class ShopState(TypedDict, total=False):
    count: Union[int, None]
    is_paid: bool
    item: str
    messages: List[Message]
    notes: List[str]
    price: float


ShopInput = ShopState


ShopOutput = ShopState


class ShopDiscount(TypedDict, total=False):
    percent: Required[int]


class ShopSaleQuestion(TypedDict, total=False):
    """What is for sale."""

    discount: Union[ShopDiscount, None]
    item: Required[str]
    price: Required[float]


class ShopSaleAnswer1(TypedDict, total=False):
    kind: Required[Literal["sell"]]
    price: Required[float]


class ShopSaleAnswer2(TypedDict, total=False):
    kind: Required[Literal["keep"]]


# What the graph `shop` asks, by the keys of its interrupts.
ShopQuestions = TypedDict("ShopQuestions", {
    "how many?": "Required[str]",
    "name": "Required[str]",
    "sale": "Required[ShopSaleQuestion]",
}, total=False)


# What `ShopQuestions` are answered with.
ShopAnswers = TypedDict("ShopAnswers", {
    "how many?": "Required[int]",
    "name": "Required[Union[str, None]]",
    "sale": "Required[Union[ShopSaleAnswer1, ShopSaleAnswer2]]",
}, total=False)


class ShopEvent1(TypedDict, total=False):
    type: Required[Literal["started"]]


class ShopEvent2(TypedDict, total=False):
    count: Required[int]
    item: Required[str]
    type: Required[Literal["sold"]]


ShopEvent = Union[ShopEvent1, ShopEvent2]

# The nodes of the graph `signature`.
SignatureNode = Literal["sign"]


class SignatureState(TypedDict, total=False):
    count: Union[int, None]
    is_paid: bool
    item: str
    messages: List[Message]
    notes: List[str]
    price: float


SignatureInput = SignatureState


SignatureOutput = SignatureState


class SignatureQuestions(TypedDict, total=False):
    """What the graph `signature` asks, by the keys of its interrupts."""

    name: Required[Any]


class SignatureAnswers(TypedDict, total=False):
    """What `SignatureQuestions` are answered with."""

    name: Required[Union[str, None]]
