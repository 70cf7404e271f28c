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

# The nodes of the graph `desk`.
DeskNode = Literal["model", "tools", "address"]


class DeskNowArguments(TypedDict, total=False):
    pass


class DeskNowCall(TypedDict, total=False):
    """The time."""

    name: Required[Literal["now"]]
    args: Required[DeskNowArguments]
    id: str
    type: Literal["tool_call"]


class DeskRefundArguments(TypedDict, total=False):
    cents: Required[int]
    order: Required[str]
    reason: Union[str, None]


class DeskRefundCall(TypedDict, total=False):
    """Pays money back."""

    name: Required[Literal["refund"]]
    args: Required[DeskRefundArguments]
    id: str
    type: Literal["tool_call"]


class DeskCloseArguments(TypedDict, total=False):
    account: Required[str]


class DeskCloseCall(TypedDict, total=False):
    """Deletes an account."""

    name: Required[Literal["close"]]
    args: Required[DeskCloseArguments]
    id: str
    type: Literal["tool_call"]


class DeskCountStockArguments(TypedDict, total=False):
    pass


class DeskCountStockCall(TypedDict, total=False):
    """Counts."""

    name: Required[Literal["count-stock"]]
    args: Required[DeskCountStockArguments]
    id: str
    type: Literal["tool_call"]


# A call of a tool.
DeskToolCall = Union[DeskNowCall, DeskRefundCall, DeskCloseCall, DeskCountStockCall]


class DeskState(TypedDict, total=False):
    count: Union[int, None]
    is_paid: bool
    item: str
    messages: List[Message]
    notes: List[str]
    price: float


DeskInput = DeskState


DeskOutput = DeskState


class DeskAddressQuestion(TypedDict, total=False):
    customer: Required[str]
    type: Required[Literal["address"]]


class DeskQuestions(TypedDict, total=False):
    """What the graph `desk` asks, by the keys of its interrupts."""

    address: Required[DeskAddressQuestion]


class DeskAnswers(TypedDict, total=False):
    """What `DeskQuestions` are answered with."""

    address: Required[str]


class DeskToolApproved(TypedDict, total=False):
    """The tool runs."""

    type: Required[Literal["approve"]]
    by: str
    digest: str


class DeskToolRejected(TypedDict, total=False):
    """The tool does not run; the model is given the message."""

    type: Required[Literal["reject"]]
    message: str
    by: str
    digest: str


class DeskToolAnswered(TypedDict, total=False):
    """The tool does not run; the content is its answer."""

    type: Required[Literal["answer"]]
    content: Required[Union[str, List[Dict[str, Any]]]]
    by: str
    digest: str


class DeskRefundEdited(TypedDict, total=False):
    """The tool `refund` runs with these arguments."""

    type: Required[Literal["edit"]]
    arguments: Required[DeskRefundArguments]
    by: str
    digest: str


# A decision about a call of `refund`.
DeskRefundDecision = Union[DeskToolApproved, DeskRefundEdited, DeskToolRejected, DeskToolAnswered]


class DeskRefundRequest(TypedDict, total=False):
    id: Required[str]
    name: Required[Literal["refund"]]
    arguments: Required[DeskRefundArguments]


class DeskRefundApproval(TypedDict, total=False):
    """The interrupt before a call of `refund`."""

    type: Required[Literal["tool_approval"]]
    call: Required[DeskRefundRequest]
    description: Required[str]
    allowed: Required[List[Literal["approve", "edit", "reject", "answer"]]]
    parameters: Required[Any]
    digest: Required[str]
    turn: str
    expires_at: int
    default: Union[DeskToolApproved, DeskRefundEdited, DeskToolRejected, DeskToolAnswered]


class DeskRefundApprovalAnswered(TypedDict, total=False):
    """The custom event that reports a decision about a call of `refund`."""

    type: Required[Literal["tool_approval_answered"]]
    call: Required[DeskRefundRequest]
    digest: Required[str]
    decision: Required[Union[DeskToolApproved, DeskRefundEdited, DeskToolRejected, DeskToolAnswered]]
    by: Required[Union[str, None]]
    expired: Required[bool]


class DeskCloseEdited(TypedDict, total=False):
    """The tool `close` runs with these arguments."""

    type: Required[Literal["edit"]]
    arguments: Required[DeskCloseArguments]
    by: str
    digest: str


# A decision about a call of `close`.
DeskCloseDecision = Union[DeskToolApproved, DeskToolRejected]


class DeskCloseRequest(TypedDict, total=False):
    id: Required[str]
    name: Required[Literal["close"]]
    arguments: Required[DeskCloseArguments]


class DeskCloseApproval(TypedDict, total=False):
    """The interrupt before a call of `close`."""

    type: Required[Literal["tool_approval"]]
    call: Required[DeskCloseRequest]
    description: Required[str]
    allowed: Required[List[Literal["approve", "reject"]]]
    parameters: Required[Any]
    digest: Required[str]
    turn: str
    expires_at: int
    default: Union[DeskToolApproved, DeskCloseEdited, DeskToolRejected, DeskToolAnswered]


class DeskCloseApprovalAnswered(TypedDict, total=False):
    """The custom event that reports a decision about a call of `close`."""

    type: Required[Literal["tool_approval_answered"]]
    call: Required[DeskCloseRequest]
    digest: Required[str]
    decision: Required[Union[DeskToolApproved, DeskCloseEdited, DeskToolRejected, DeskToolAnswered]]
    by: Required[Union[str, None]]
    expired: Required[bool]


# The interrupt before a call of a tool that needs an approval.
DeskToolApproval = Union[DeskRefundApproval, DeskCloseApproval]


class DeskToolDecisions(TypedDict, total=False):
    """What `DeskToolApproval` is answered with, by the names of the tools."""

    refund: Required[DeskRefundDecision]
    close: Required[DeskCloseDecision]


class DeskCountStockEvent(TypedDict, total=False):
    """How far it is."""

    share: Required[float]
    shelf: Required[Union[str, None]]
    type: Required[Literal["counted"]]


class DeskNodeEvent1(TypedDict, total=False):
    type: Required[Literal["started"]]


class DeskNodeEvent2(TypedDict, total=False):
    count: Required[int]
    item: Required[str]
    type: Required[Literal["sold"]]


# A custom event of the graph `desk`: of a node, of a tool, or the answer to an approval.
DeskEvent = Union[DeskNodeEvent1, DeskNodeEvent2, DeskCountStockEvent, DeskRefundApprovalAnswered, DeskCloseApprovalAnswered]
