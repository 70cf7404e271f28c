#!/usr/bin/env bash
# The types that `cargo langgraph types` writes, read by others: TypeScript's compiler takes each right use with
# LangGraph's SDK and its hook, and refuses each of the wrong ones; mypy takes the file for Python. Needs node 20,
# npm, and python3 with venv and pip. Packages stay in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/peers/node.sh

modules=$(node_packages "$root/crates/server/studio")
cp crates/dev/tests/types/types.ts tests/peers/js/types_right.ts tests/peers/js/types_wrong.ts "$work"
ln -s "$modules/node_modules" "$work/node_modules"
cat >"$work/tsconfig.json" <<'END'
{
  "compilerOptions": {
    "target": "es2022", "module": "esnext", "moduleResolution": "bundler", "lib": ["es2022", "dom"],
    "strict": true, "noEmit": true, "skipLibCheck": true
  },
  "include": ["*.ts"]
}
END
(cd "$work" && npx --no-install tsc)
# Each line with a mistake has a mark above it: the compiler says so if one is none.
echo "TypeScript refuses $(grep -c '@ts-expect-error' "$work/types_wrong.ts") wrong uses"

venv=$(tests/peers/venv.sh types 'mypy==1.18.2' 'typing_extensions==4.15.0')
cp crates/dev/tests/types/types.py "$work/graph_types.py"
cat >"$work/right.py" <<'END'
from graph_types import DeskEvent, DeskRefundApproval, DeskToolApproval, DeskToolDecisions
from graph_types import MyAgentContext, MyAgentInput, OrderNode, OrderState
from graph_types import ShopAnswers, ShopEvent, ShopQuestions, ShopToolCall, SignatureAnswers

order: OrderState = {"item": "lamps", "count": None, "messages": [{"type": "human", "content": "hi"}]}
node: OrderNode = "ship it"
input: MyAgentInput = {"question": "?", "answer": "!", "next": {"question": "?", "answer": "!"}}
context: MyAgentContext = {
    "prompt": "", "action": {"kind": "retry", "after": 3}, "examples": [input], "limits": {"a": 1},
    "pair": ("a", True), "max-tokens": 5,
}
questions: ShopQuestions = {"sale": {"item": "lamps", "price": 1.5}, "how many?": "?", "name": "?"}
answers: ShopAnswers = {"sale": {"kind": "sell", "price": 1.5}, "how many?": 3, "name": None}
signed: SignatureAnswers = {"name": "Ada"}
event: ShopEvent = {"type": "sold", "item": "lamps", "count": 2}
call: ShopToolCall = {"name": "find_items", "args": {"words": ["lamp"]}, "id": "c1"}
asked: DeskRefundApproval = {
    "type": "tool_approval", "call": {"id": "c1", "name": "refund", "arguments": {"order": "o1", "cents": 500}},
    "description": "?", "allowed": ["approve", "edit"], "parameters": {}, "digest": "d", "expires_at": 5,
    "default": {"type": "reject", "message": "too late"},
}
approval: DeskToolApproval = asked
reported: DeskEvent = {
    "type": "tool_approval_answered", "call": asked["call"], "digest": asked["digest"],
    "decision": {"type": "edit", "arguments": {"order": "o1", "cents": 100}}, "by": None, "expired": False,
}
own: DeskEvent = {"type": "sold", "item": "lamps", "count": 2}
of_tool: DeskEvent = {"type": "counted", "share": 0.5, "shelf": None}
decisions: DeskToolDecisions = {
    "refund": {"type": "edit", "arguments": {"order": "o1", "cents": 100}, "by": "ada", "digest": asked["digest"]},
    "close": {"type": "reject"},
}
END
cat >"$work/wrong.py" <<'END'
from graph_types import DeskCloseDecision, DeskEvent, DeskRefundApproval, DeskRefundDecision, DeskToolDecisions
from graph_types import MyAgentContext, MyAgentInput, OrderNode, OrderState
from graph_types import ShopAnswers, ShopEvent, ShopQuestions, ShopToolCall, SignatureAnswers

a: OrderState = {"item": 5}
b: OrderState = {"itme": "lamps"}
c: OrderNode = "ship"
d: MyAgentInput = {"question": "?"}
e: MyAgentInput = {"question": "?", "answer": "!", "next": {"question": 1, "answer": "!"}}
f: MyAgentContext = {"prompt": ""}
g: OrderState = {"messages": "hi"}
h: OrderState = {"price": "dear"}
i: ShopQuestions = {"sale": {"item": "lamps", "price": "1.5"}, "how many?": "?", "name": "?"}
j: ShopAnswers = {"sale": {"kind": "give"}, "how many?": 3, "name": None}
k: ShopAnswers = {"sale": {"kind": "keep"}, "how many?": "3", "name": None}
l: SignatureAnswers = {"name": 5}
m: ShopEvent = {"type": "sold", "item": "lamps"}
n: ShopToolCall = {"name": "find_items", "args": {"words": "lamp"}}
o: ShopToolCall = {"name": "find", "args": {}}
p: DeskRefundDecision = {"type": "edit"}
q: DeskRefundDecision = {"type": "edit", "arguments": {"order": "o1", "cents": "100"}}
r: DeskRefundDecision = {"type": "edit", "arguments": {"order": "o1"}}
s: DeskRefundDecision = {"type": "accept"}
t: DeskRefundDecision = {"type": "answer"}
u: DeskCloseDecision = {"type": "edit", "arguments": {"account": "a1"}}
v: DeskCloseDecision = {"type": "answer", "content": "Closed."}
w: DeskToolDecisions = {"refund": {"type": "approve"}}
x: DeskToolDecisions = {"refund": {"type": "approve"}, "close": {"type": "reject", "message": 5}}
z: DeskEvent = {"type": "tool_approval_answered", "call": {"id": "c1"}, "digest": "d"}
aa: DeskEvent = {"type": "counted", "share": "half", "shelf": None}
def y(asked: DeskRefundApproval) -> str: return asked["call"]["arguments"]["cents"]
END
(cd "$work" && "$venv/bin/mypy" --no-error-summary right.py)
wrong=$(cd "$work" && "$venv/bin/mypy" --no-error-summary wrong.py || true)
lines=$(cut -d: -f2 <<<"$wrong" | sort -u | wc -l)
((lines == 27)) || { echo "$wrong" >&2; exit 1; }
echo 'mypy refuses 27 wrong uses'
