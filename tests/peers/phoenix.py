"""Reads the spans of two runs of `examples/traces` back from Phoenix: the first without content, the second
with.

    python phoenix.py URL
"""

import json
import sys
import time
import urllib.request

URL = sys.argv[1]


def spans():
    with urllib.request.urlopen(f"{URL}/v1/projects/default/spans?limit=200", timeout=30) as reply:
        return json.load(reply)["data"]


# The back end takes spans up after it has accepted them.
found, refused, began = [], None, time.monotonic()
while time.monotonic() - began < 100:
    try:
        found = spans()
    except OSError as error:
        refused = error
    if sum(span["name"].startswith("invoke_agent") for span in found) == 2 and len(found) >= 34:
        break
    time.sleep(0.5)
assert len(found) >= 34, f"{len(found)} spans after {time.monotonic() - began:.0f} s; {refused}"

traces = {}
for span in found:
    traces.setdefault(span["context"]["trace_id"], []).append(span)
assert len(traces) == 2, sorted(traces)


def path(span, by_id):
    names = []
    while span:
        names.insert(0, span["name"])
        span = by_id.get(span["parent_id"])
    return " / ".join(names)


contents = []
for trace in traces.values():
    by_id = {span["context"]["span_id"]: span for span in trace}
    paths = {}
    for span in trace:
        paths.setdefault(path(span, by_id), []).append(span)
    run = "invoke_agent refund_desk"
    [root] = paths[run]
    assert root["attributes"]["gen_ai.conversation.id"] == "customer-1", root
    assert root["attributes"]["gen_ai.operation.name"] == "invoke_agent", root

    chats = paths[f"{run} / superstep / node agent / chat gpt-desk"]
    assert len(chats) == 2, sorted(paths)
    tokens = sorted(
        (chat["attributes"]["gen_ai.usage.input_tokens"], chat["attributes"]["gen_ai.usage.output_tokens"])
        for chat in chats
    )
    assert tokens == [(300, 40), (420, 12)], tokens
    costs = sorted(chat["attributes"]["langgraph.usage.cost"] for chat in chats)
    assert costs == [0.00144, 0.0015], costs

    tools = paths[f"{run} / superstep / node tools / execute_tool find_order"]
    states = {tool["attributes"]["gen_ai.tool.call.id"]: tool["status_code"] for tool in tools}
    assert states == {"c1": "UNSET", "c2": "ERROR"}, states
    # Only what went wrong, where it went wrong.
    errors = [span["name"] for span in trace if span["status_code"] == "ERROR"]
    assert errors == ["execute_tool find_order"], errors
    checkpoints = [span for span in trace if span["name"] == "checkpoint"]
    assert sorted(span["attributes"]["step"] for span in checkpoints) == [-1, 0, 1, 2, 3], checkpoints

    text = json.dumps(trace)
    contents.append("What were orders 7 and 8?" in text and "one teapot, 40 euros" in text)
    if not contents[-1]:
        for said in ("What were orders", "teapot", "such order"):
            assert said not in text, f"`{said}` is in a span, and nobody has asked for content"
assert sorted(contents) == [False, True], contents
print(f"{len(found)} spans of 2 runs: ok")
