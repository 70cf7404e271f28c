"""Every method of every client class of `langgraph-sdk`, with the answers that it must give."""

import json
import sys
import threading
import time
import uuid

import httpx
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk import get_sync_client
from langgraph_sdk._sync import assistants as a, client as c, cron, runs as r, store as s, stream, threads as t

# Every class that a client gets from the library. A method that no step calls fails the test.
CLASSES = [
    c.SyncLangGraphClient, a.SyncAssistantsClient, t.SyncThreadsClient, r.SyncRunsClient,
    cron.SyncCronClient, s.SyncStoreClient, stream.SyncThreadStream, stream.SyncRunModule,
    stream._SyncAgentModule,
]
uncalled = set()


def watch(owner, name, method):
    full = f"{owner.__name__}.{name}"
    uncalled.add(full)

    def watched(*arguments, **options):
        uncalled.discard(full)
        return method(*arguments, **options)

    return watched


for owner in CLASSES:
    for name, member in list(vars(owner).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            setattr(owner, name, property(watch(owner, name, member.fget)))
        elif callable(member):
            setattr(owner, name, watch(owner, name, member))

url, kept = sys.argv[1], sys.argv[2]
client = get_sync_client(url=url)
assistants, threads, runs, store = client.assistants, client.threads, client.runs, client.store
HI = {"messages": [{"role": "user", "content": "What is 6 * 7?"}]}


def refused(status, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except Exception as error:
        found = getattr(getattr(error, "response", None), "status_code", None)
        assert found == status, (found, error)
        assert "detail" in error.response.json(), error.response.text
        return error.response.json()["detail"]
    raise AssertionError(f"{call} was not refused")


def events(stream):
    return [(part.event, part.data) for part in stream]


def names(parts):
    return [name for name, _ in parts]


def the_server():
    assert httpx.get(f"{url}/ok").json()["ok"] is True
    assert httpx.get(f"{url}/info").json()["flags"]["assistants"] is True
    headers = {"origin": "http://localhost:3000", "access-control-request-method": "PATCH",
               "access-control-request-headers": "x-api-key"}
    allowed = httpx.options(f"{url}/threads", headers=headers)
    assert allowed.headers["access-control-allow-origin"] == "http://localhost:3000"
    assert "PATCH" in allowed.headers["access-control-allow-methods"]
    assert allowed.headers["access-control-allow-headers"] == "x-api-key"
    exposed = httpx.get(f"{url}/ok", headers={"origin": "http://localhost:3000"}).headers
    assert "content-location" in exposed["access-control-expose-headers"]
    assert "x-pagination-total" in exposed["access-control-expose-headers"]
    assert httpx.get(f"{url}/nothing").status_code == 404


def the_assistants():
    default = assistants.search(graph_id="agent")[0]
    assert default["metadata"] == {"created_by": "system"} and default["name"] == "agent"
    assert assistants.get(default["assistant_id"])["graph_id"] == "agent"
    assert assistants.get("agent")["assistant_id"] == default["assistant_id"]
    graph = assistants.get_graph("agent", xray=True)
    assert {"__start__", "think", "act", "__end__"} == {node["id"] for node in graph["nodes"]}
    assert {"source": "act", "target": "think"} in graph["edges"]
    assert "messages" in assistants.get_schemas("agent")["input_schema"]["properties"]
    assert assistants.get_subgraphs("agent") == {}
    count = assistants.count()

    mine = assistants.create("agent", config={"configurable": {"k": 1}}, name="mine")
    assert mine["context"] == {"k": 1} and mine["version"] == 1
    assert assistants.count() == count + 1
    changed = assistants.update(mine["assistant_id"], metadata={"x": 1})
    assert changed["version"] == 2 and changed["metadata"] == {"x": 1}
    assert [v["version"] for v in assistants.get_versions(mine["assistant_id"])] == [2, 1]
    assert assistants.set_latest(mine["assistant_id"], 1)["metadata"] == {}
    assert [a["name"] for a in assistants.search(name="MIN")] == ["mine"]
    assert assistants.search(metadata={"x": 1}) == []
    refused(409, assistants.create, "agent", assistant_id=mine["assistant_id"])
    same = assistants.create("agent", assistant_id=mine["assistant_id"], if_exists="do_nothing")
    assert same["name"] == "mine"
    its = threads.create(metadata={"assistant_id": mine["assistant_id"]})["thread_id"]
    assistants.delete(mine["assistant_id"], delete_threads=True)
    refused(404, threads.get, its)
    refused(404, assistants.get, mine["assistant_id"])
    assert "registered graphs: agent" in refused(422, assistants.create, "nope")


def the_threads():
    mark = str(uuid.uuid4())
    one = threads.create(metadata={"mark": mark})
    assert one["status"] == "idle" and one["values"] is None
    assert uuid.UUID(one["thread_id"])
    refused(409, threads.create, thread_id=one["thread_id"])
    assert threads.create(thread_id=one["thread_id"], if_exists="do_nothing") == one
    assert threads.update(one["thread_id"], metadata={"y": 2})["metadata"] == {"mark": mark, "y": 2}
    two = threads.create(metadata={"mark": mark}, graph_id="review")
    assert two["metadata"]["graph_id"] == "review"

    found = threads.search(metadata={"mark": mark}, sort_by="created_at", sort_order="asc")
    assert [t["thread_id"] for t in found] == [one["thread_id"], two["thread_id"]]
    page = httpx.post(f"{url}/threads/search", json={"metadata": {"mark": mark}, "limit": 1})
    assert page.headers["x-pagination-total"] == "2" and page.headers["x-pagination-next"] == "1"
    picked = threads.search(metadata={"mark": mark}, limit=1, offset=1, select=["thread_id"])
    assert picked == [{"thread_id": one["thread_id"]}]
    assert threads.count(metadata={"mark": mark}) == 2
    assert threads.search(metadata={"mark": mark}, status="interrupted") == []

    runs.wait(one["thread_id"], "agent", input=HI)
    row = threads.get(one["thread_id"])
    assert row["metadata"]["graph_id"] == "agent" and row["status"] == "idle"
    assert row["values"]["messages"][0]["type"] == "human"
    places = {"last": "values.messages[-1].content", "kind": "values.messages[0].type", "none": "values.x"}
    taken = threads.search(ids=[one["thread_id"]], extract=places)[0]["extracted"]
    assert "42" in taken["last"] and taken["kind"] == "human" and taken["none"] is None, taken
    assert threads.update(one["thread_id"], metadata={"z": 3}, return_minimal=True) is None
    assert threads.get(one["thread_id"])["metadata"]["z"] == 3
    copy = threads.copy(one["thread_id"])
    assert threads.get_state(copy["thread_id"])["values"] == row["values"]
    threads.delete(one["thread_id"])
    refused(404, threads.get, one["thread_id"])
    assert threads.get_state(copy["thread_id"])["values"] == row["values"]
    assert "must be a UUID" in refused(422, threads.get, "not-a-uuid")
    refused(404, threads.get, "00000000-0000-0000-0000-000000000000")


def the_end_of_threads():
    """They are pruned, and their time ends."""
    kept, gone = threads.create()["thread_id"], threads.create()["thread_id"]
    runs.wait(kept, "agent", input=HI)
    state = threads.get_state(kept)
    assert len(threads.get_history(kept)) == 5
    assert threads.prune([kept], strategy="keep_latest") == {"pruned_count": 1}
    [only] = threads.get_history(kept)
    assert only["checkpoint_id"] == state["checkpoint_id"] and only["values"] == state["values"]
    assert "42" in runs.wait(kept, "agent", input=HI)["messages"][-1]["content"]
    assert threads.prune([gone, gone, str(uuid.uuid4())]) == {"pruned_count": 1}
    refused(404, threads.get, gone)
    refused(422, threads.prune, ["no-uuid"])

    short = threads.create(ttl=0.02)["thread_id"]
    ttl = threads.get(short, include=["ttl"])["ttl"]
    assert ttl["strategy"] == "delete" and ttl["ttl_minutes"] == 0.02 and ttl["expires_at"], ttl
    assert "ttl" not in threads.get(short)
    threads.update(kept, metadata={}, ttl={"ttl": 0.01, "strategy": "keep_latest"})
    long = threads.create(ttl=60)["thread_id"]
    for _ in range(100):
        history = threads.get_history(kept)
        if len(history) == 1 and not threads.search(ids=[short]):
            break
        time.sleep(0.1)
    else:
        raise AssertionError("the time of no thread has ended")
    assert threads.get(long)["thread_id"] == long
    refused(422, threads.create, ttl=-1)


def the_state():
    thread = threads.create()["thread_id"]
    assert threads.get_state(thread)["next"] == [] and threads.get_history(thread) == []
    runs.wait(thread, "agent", input=HI)
    state = threads.get_state(thread)
    kinds = [m["type"] for m in state["values"]["messages"]]
    assert kinds == ["human", "ai", "tool", "ai"], kinds
    call = state["values"]["messages"][1]["tool_calls"][0]
    assert call["type"] == "tool_call" and call["args"] == {"expression": "6 * 7"}, call
    assert state["values"]["messages"][2]["tool_call_id"] == call["id"]
    assert "42" in state["values"]["messages"][3]["content"]
    assert all(m["id"] for m in state["values"]["messages"])
    assert state["next"] == [] and state["checkpoint"]["thread_id"] == thread

    history = threads.get_history(thread)
    assert history[0]["checkpoint_id"] == state["checkpoint_id"]
    for newer, older in zip(history, history[1:]):
        assert newer["parent_checkpoint"]["checkpoint_id"] == older["checkpoint_id"]
    assert [s["metadata"]["step"] for s in history] == sorted(
        (s["metadata"]["step"] for s in history), reverse=True)
    older = threads.get_history(thread, limit=1, before=history[0]["checkpoint"])
    assert [s["checkpoint_id"] for s in older] == [history[1]["checkpoint_id"]]
    past = threads.get_state(thread, checkpoint=history[1]["checkpoint"])
    assert past["checkpoint_id"] == history[1]["checkpoint_id"]
    assert threads.get_state(thread, checkpoint_id=history[1]["checkpoint_id"])["values"] == past["values"]

    some = threads.get_state(thread, select=["values.messages", "next"])
    assert some == {"values": {"messages": state["values"]["messages"]}, "next": []}, some
    at = threads.get_state(thread, checkpoint=history[1]["checkpoint"], select=["next"])
    assert at == {"next": history[1]["next"]}, at
    assert threads.get_history(thread, limit=1, select=["checkpoint_id"]) == [
        {"checkpoint_id": state["checkpoint_id"]}]

    edit = {"messages": [{"type": "ai", "content": "changed", "id": "e1"}]}
    made = threads.update_state(thread, edit, as_node="think")
    state = threads.get_state(thread)
    assert state["checkpoint_id"] == made["checkpoint_id"]
    assert state["values"]["messages"][-1]["content"] == "changed"
    # Back to before the last answer: a fork.
    waiting = next(s for s in history if s["next"] == ["think"] and len(s["values"]["messages"]) == 3)
    again = runs.wait(thread, "agent", input=None, checkpoint=waiting["checkpoint"])
    assert [m["type"] for m in again["messages"]] == ["human", "ai", "tool", "ai"]
    refused(404, threads.get_state, thread, checkpoint_id="01a00000-0000-7000-8000-000000000000")
    refused(422, threads.update_state, thread, {"messages": 3}, as_node="think")


def the_subgraphs():
    """The history of a subgraph is there when its thread has gone on."""
    thread = threads.create()["thread_id"]
    runs.wait(thread, "essay", input={"topic": "moss"})
    history = threads.get_history(thread, limit=100)
    around, task = next((s, t) for s in history for t in s["tasks"] if t["name"] == "research")
    place = task["checkpoint"]
    inside = threads.get_history(thread, checkpoint=place)
    assert [s["next"] for s in inside][:3] == [[], ["check"], ["search"]], inside
    for newer, older in zip(inside, inside[1:]):
        assert newer["parent_checkpoint"] == older["checkpoint"]
        assert newer["checkpoint"]["checkpoint_map"][""] == around["checkpoint_id"]
    older = threads.get_history(thread, checkpoint=place, limit=1, before=inside[0]["checkpoint"])
    assert older == [inside[1]]
    assert threads.get_history(thread, checkpoint=place, metadata={"step": 0}) == [
        s for s in inside if s["metadata"]["step"] == 0]
    assert threads.get_history(thread, checkpoint=inside[1]["checkpoint"]) == [inside[1]]
    assert threads.get_state(thread, checkpoint=inside[1]["checkpoint"]) == inside[1]
    assert threads.get_history(thread, checkpoint={**place, "checkpoint_ns": "research:none"}) == []

    remote = RemoteGraph("essay", url=url)
    config = {"configurable": place}
    seen = list(remote.get_state_history(config))
    assert [s.config["configurable"] for s in seen] == [s["checkpoint"] for s in inside]
    assert [s.values for s in seen] == [s["values"] for s in inside]
    assert [s.next for s in remote.get_state_history(config, limit=1, before=seen[0].config)] == [("check",)]
    assert remote.get_state(config).values == seen[0].values
    # A checkpoint as a stream shows it.
    parts = events(runs.stream(thread, "essay", input={"topic": "fern"}, stream_mode="checkpoints"))
    shown = [data for name, data in parts if name == "checkpoints"]
    task = next(t for c in shown for t in c["tasks"] if t["name"] == "research")
    assert task["state"]["configurable"]["checkpoint_ns"] == f"research:{task['id']}", task
    assert shown[-1]["config"]["configurable"]["graph_id"] == "essay", shown[-1]["config"]
    assert list(remote.get_state_history(task["state"]))[0].values["topic"] == "fern"


def the_streams():
    thread = threads.create()["thread_id"]
    modes = ["values", "updates", "messages-tuple", "custom", "tasks", "checkpoints", "debug", "messages"]
    parts = events(runs.stream(thread, "agent", input=HI, stream_mode=modes))
    assert parts[0][0] == "metadata" and parts[0][1]["attempt"] == 1
    kinds = set(names(parts))
    assert kinds >= {"values", "updates", "messages", "tasks", "checkpoints", "debug",
                     "messages/metadata"}, kinds
    updates = [data for name, data in parts if name == "updates"]
    assert [list(u)[0] for u in updates] == ["think", "act", "think"], updates
    values = [data for name, data in parts if name == "values"]
    assert [len(v["messages"]) for v in values] == [1, 2, 3, 4]
    told = [data for name, data in parts if name == "messages"]
    # The answer comes in chunks.
    nodes = [m["langgraph_node"] for _, m in told]
    assert nodes[:3] == ["think", "act", "think"] and set(nodes[3:]) <= {"think"}, nodes
    assert told[1][0]["type"] == "tool" and told[0][1]["thread_id"] == thread
    tasks = [data for name, data in parts if name == "tasks"]
    assert [t["id"] for t in tasks[0::2]] == [t["id"] for t in tasks[1::2]]
    assert {d["type"] for name, d in parts if name == "debug"} == {"checkpoint", "task", "task_result"}

    counted = events(runs.stream(None, "count", input={"to": 3}, stream_mode="custom"))
    assert counted[1:] == [("custom", {"number": n}) for n in (1, 2, 3)], counted
    refused(422, lambda: events(runs.stream(thread, "agent", input=HI, stream_mode="nope")))
    assert "registered graphs: agent" in refused(422, runs.wait, thread, "nope", input=HI)
    refused(404, runs.wait, str(uuid.uuid4()), "agent", input=HI)
    new = str(uuid.uuid4())
    runs.wait(new, "agent", input=HI, if_not_exists="create")
    assert threads.get(new)["status"] == "idle"


def the_interrupts():
    thread = threads.create()["thread_id"]
    parts = events(runs.stream(thread, "review", input={"text": "a"}, stream_mode=["values", "updates"]))
    open_ = [d["__interrupt__"] for n, d in parts if n == "updates" and "__interrupt__" in d]
    assert open_[0][0]["value"]["question"] == "Is this right?"
    assert parts[-1][0] == "values" and parts[-1][1]["text"] == "a!" and "__interrupt__" in parts[-1][1]
    row = threads.get(thread)
    assert row["status"] == "interrupted"
    [[asked]] = row["interrupts"].values()
    assert asked["id"] == open_[0][0]["id"]
    assert threads.search(status="interrupted", limit=100)[0]["status"] == "interrupted"
    state = threads.get_state(thread)
    assert state["next"] == ["review"] and state["tasks"][0]["interrupts"][0]["id"] == asked["id"]
    assert runs.list(thread)[0]["status"] == "success"
    done = runs.wait(thread, "review", command={"resume": "yes"})
    assert done == {"text": "a!", "steps": ["write", "review: yes"]}, done
    assert threads.get(thread)["status"] == "idle" and threads.get(thread)["interrupts"] == {}

    # By id, and the breakpoints.
    waits = runs.wait(thread, "review", input={"text": "b"})
    answer = {waits["__interrupt__"][0]["id"]: "by id"}
    assert runs.wait(thread, "review", command={"resume": answer})["steps"][-1] == "review: by id"
    # A strict answer to what nobody asks fails, and changes nothing.
    waits = runs.wait(thread, "review", input={"text": "s"})
    before = threads.get(thread)
    try:
        runs.wait(thread, "review", command={"resume": answer}, strict_resume=True)
        raise AssertionError("the answer was taken")
    except Exception as error:
        assert "UnknownInterruptError" in str(error), error
    after = threads.get(thread)
    assert after["status"] == "interrupted" and after["error"] is None
    assert after["interrupts"] == before["interrupts"] and after["values"] == before["values"]
    answer = {waits["__interrupt__"][0]["id"]: "strictly"}
    done = runs.wait(thread, "review", command={"resume": answer}, strict_resume=True)
    assert done["steps"][-1] == "review: strictly"
    paused = runs.wait(thread, "review", input={"text": "c"}, interrupt_before=["review"])
    assert paused["text"] == "c!" and threads.get_state(thread)["next"] == ["review"]
    moved = runs.wait(thread, "review", command={"update": {"text": "z"}, "goto": "write"},
                      interrupt_after=["write"])
    assert moved["text"] == "z!", moved

    # A node that fails.
    failing = threads.create()["thread_id"]
    runs.wait(failing, "review", input={"text": "d"})
    try:
        runs.wait(failing, "review", command={"resume": "fail"})
        raise AssertionError("the run did not fail")
    except Exception as error:
        assert "not pleased" in str(error), error
    row = threads.get(failing)
    assert row["status"] == "error" and "not pleased" in row["error"]["message"]
    assert runs.list(failing)[0]["status"] == "error"
    runs.wait(failing, "review", input={"text": "d"})
    parts = events(runs.stream(failing, "review", command={"resume": "fail"}, stream_mode="values"))
    assert parts[-1][0] == "error" and "not pleased" in parts[-1][1]["message"]


def the_background():
    thread = threads.create()["thread_id"]
    run = runs.create(thread, "count", input={"to": 10}, stream_mode=["custom", "values"],
                      stream_resumable=True)
    assert run["status"] == "pending" and run["multitask_strategy"] == "enqueue"
    assert "already running" in refused(409, runs.create, thread, "count", input={"to": 1},
                                        multitask_strategy="reject")
    first = []
    for part in runs.join_stream(thread, run["run_id"], stream_mode="custom"):
        # It says which attempt it is, whatever the modes are.
        if part.event == "metadata":
            continue
        first.append((part.id, part.data["number"]))
        if len(first) == 4:
            break
    assert threads.get(thread)["status"] == "busy"
    rest = [(p.id, p.data["number"]) for p in runs.join_stream(
        thread, run["run_id"], stream_mode="custom", last_event_id=first[-1][0])]
    numbers = [n for _, n in first + rest]
    assert numbers == list(range(numbers[0], 11)), numbers
    # The same ids on a replay, after the end too.
    all_ = [(p.id, p.data) for p in runs.join_stream(thread, run["run_id"], last_event_id="-1")
            if p.event == "custom"]
    assert [n["number"] for _, n in all_] == list(range(1, 11))
    assert [(i, n["number"]) for i, n in all_][-len(rest):] == rest
    assert runs.join(thread, run["run_id"])["seen"][-1] == 10
    assert runs.get(thread, run["run_id"])["status"] == "success"

    # In line.
    slow = runs.create(thread, "count", input={"to": 3})
    queued = runs.create(thread, "count", input={"to": 1})
    assert runs.get(thread, queued["run_id"])["status"] == "pending"
    assert runs.join(thread, queued["run_id"])["to"] == 1
    assert runs.get(thread, slow["run_id"])["status"] == "success"
    # A run that stops the one before it, and one that takes it back.
    slow = runs.create(thread, "count", input={"to": 100})
    done = runs.wait(thread, "count", input={"to": 2}, multitask_strategy="interrupt")
    assert done["seen"][-1] == 2 and runs.get(thread, slow["run_id"])["status"] == "interrupted"
    before = threads.get_state(thread)["values"]
    slow = runs.create(thread, "count", input={"to": 100})
    time.sleep(0.2)
    done = runs.wait(thread, "count", input={"to": 1}, multitask_strategy="rollback")
    assert done["seen"] == before["seen"] + [1]
    refused(404, runs.get, thread, slow["run_id"])

    slow = runs.create(thread, "count", input={"to": 100})
    time.sleep(0.2)
    runs.cancel(thread, slow["run_id"], wait=True)
    assert runs.get(thread, slow["run_id"])["status"] == "interrupted"
    row = threads.get(thread)
    assert row["status"] == "interrupted" and row["error"]["error"] == "UserInterrupt"
    values = threads.get_state(thread)["values"]
    slow = runs.create(thread, "count", input={"to": 100})
    time.sleep(0.2)
    runs.cancel(thread, slow["run_id"], wait=True, action="rollback")
    refused(404, runs.get, thread, slow["run_id"])
    assert threads.get_state(thread)["values"] == values
    slow = runs.create(thread, "count", input={"to": 100})
    runs.cancel_many(thread_id=thread, run_ids=[slow["run_id"]])
    runs.join(thread, slow["run_id"])
    assert runs.get(thread, slow["run_id"])["status"] == "interrupted"

    assert runs.list(thread, limit=1, select=["run_id", "status"]) == [
        {"run_id": slow["run_id"], "status": "interrupted"}]
    listed = runs.list(thread, limit=2)
    assert listed[0]["run_id"] == slow["run_id"] and len(listed) == 2
    assert all(r["status"] == "success" for r in runs.list(thread, status="success"))
    runs.delete(thread, slow["run_id"])
    refused(404, runs.get, thread, slow["run_id"])
    refused(404, runs.get, threads.create()["thread_id"], listed[1]["run_id"])

    # A client that leaves: the run goes on, or stops.
    for policy, status in (("continue", "success"), ("cancel", "interrupted")):
        thread = threads.create()["thread_id"]
        for part in runs.stream(thread, "count", input={"to": 8}, stream_mode="custom",
                                on_disconnect=policy):
            if part.event == "custom":
                break
        run = runs.list(thread)[0]["run_id"]
        runs.join(thread, run)
        assert runs.get(thread, run)["status"] == status, policy


def the_stateless():
    count = threads.count()
    done = runs.wait(None, "agent", input=HI)
    assert "42" in done["messages"][-1]["content"]
    batch = runs.create_batch([{"assistant_id": "agent", "input": HI}] * 2)
    assert len(batch) == 2 and batch[0]["run_id"] != batch[1]["run_id"]
    waits = runs.wait(None, "review", input={"text": "a"})
    assert waits["__interrupt__"][0]["value"]["text"] == "a!"
    time.sleep(0.5)
    assert threads.count() == count
    runs.wait(None, "agent", input=HI, on_completion="keep")
    assert threads.count() == count + 1


def the_waits():
    """A thread that waits for a time is woken by the server."""
    thread = threads.create()["thread_id"]
    waits = runs.wait(thread, "later", input={"text": "tea"}, metadata={"of": "tea"})
    assert "$wait" in waits["__interrupt__"][0]["value"], waits
    assert threads.get(thread)["status"] == "interrupted"
    for _ in range(100):
        if threads.get(thread)["status"] == "idle":
            break
        time.sleep(0.1)
    assert threads.get_state(thread)["values"]["steps"] == ["write", "remind"]
    woken, first = runs.list(thread)
    assert woken["status"] == first["status"] == "success" and woken["metadata"]["of"] == "tea"


def the_store():
    store.put_item(["u", "1"], "k", {"a": 1, "b": "x"})
    store.put_item(["u", "2"], "k", {"a": 2})
    item = store.get_item(["u", "1"], "k")
    assert item["namespace"] == ["u", "1"] and item["value"] == {"a": 1, "b": "x"}
    found = store.search_items(["u"], filter={"a": 1}, limit=3)["items"]
    assert [i["value"]["b"] for i in found] == ["x"]
    assert len(store.search_items(["u"], filter={"a": {"$gte": 1}})["items"]) == 2
    assert store.list_namespaces(["u"])["namespaces"] == [["u", "1"], ["u", "2"]]
    store.delete_item(["u", "1"], "k")
    assert store.get_item(["u", "1"], "k") is None
    refused(422, store.put_item, [], "k", {"a": 1})


def the_crons():
    crons, mark = client.crons, {"mark": str(uuid.uuid4())}
    thread = threads.create()["thread_id"]
    every = crons.create_for_thread(thread, "count", schedule="* * * * * *", input={"to": 1}, metadata=mark)
    assert every["thread_id"] == thread and every["next_run_date"]
    daily = crons.create("agent", schedule="27 15 * * *", input=HI, timezone="America/New_York", metadata=mark)
    assert daily["thread_id"] is None and daily["payload"]["schedule"] == "27 15 * * *", daily
    assert crons.count(metadata=mark) == 2 and crons.count(thread_id=thread) == 1
    assert [c["cron_id"] for c in crons.search(metadata=mark, assistant_id="agent")] == [daily["cron_id"]]
    changed = crons.update(daily["cron_id"], schedule="0 0 1 1 *", enabled=False)
    assert changed["next_run_date"] is None and changed["schedule"] == "0 0 1 1 *"
    assert crons.search(metadata=mark, enabled=False)[0]["cron_id"] == daily["cron_id"]
    for _ in range(80):
        if any(r["status"] == "success" for r in runs.list(thread)):
            break
        time.sleep(0.1)
    else:
        raise AssertionError("the cron did not fire")
    crons.delete(every["cron_id"]), crons.delete(daily["cron_id"])
    assert crons.count(metadata=mark) == 0
    refused(404, crons.delete, daily["cron_id"])
    refused(422, crons.create, "agent", schedule="sometimes", input=HI)
    begun = time.monotonic()
    runs.wait(None, "agent", input=HI, after_seconds=1)
    assert time.monotonic() - begun > 0.9


def the_protocol():
    """Version 2 of the streaming protocol, and the stream of a whole thread.

    Most of its time is the client's own: the end of each `with` waits for the client's threads that read
    streams, a second for each, because a read on a socket goes on when another thread closes the stream.
    """
    with threads.stream(assistant_id="review") as thread:
        assert thread.run.start(input={"text": "v2"})["run_id"]
        for _ in range(100):
            if thread.interrupted:
                break
            time.sleep(0.05)
        [asked] = thread.interrupts
        assert asked["value"]["question"] == "Is this right?", asked
        thread.run.respond("fine")
        assert thread.output["steps"] == ["write", "review: fine"], thread.output
    with threads.stream(assistant_id="agent") as thread:
        assert "think" in {node["id"] for node in thread.agent.get_tree()["nodes"]}
    for look, expected in (
        (lambda thread: (event["method"] for event in thread.subscribe(["values"])), {"values"}),
        (lambda thread: (event["method"] for event in thread.events), {"values", "messages", "lifecycle"}),
        (lambda thread: (name for name, _ in thread.interleave_projections(["values", "messages"])),
         {"values", "messages"}),
    ):
        with threads.stream(assistant_id="agent") as thread:
            thread.run.start(input=HI)
            seen = set(look(thread))
            assert expected <= seen, seen
    with threads.stream(assistant_id="agent") as thread:
        thread.run.start(input=HI)
        told = [m.text for m in thread.messages]
        assert any("42" in str(text) for text in told), told
        assert "42" in thread.output["messages"][-1]["content"]

    thread = threads.create()["thread_id"]
    heard = []

    def listen():
        for part in threads.join_stream(thread):
            heard.append(part)
            if len([p for p in heard if p.event == "custom"]) == 4:
                return

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    time.sleep(0.3)
    for _ in range(2):
        runs.create(thread, "count", input={"to": 2}, stream_mode="custom", stream_resumable=True)
    listener.join(timeout=20)
    assert [p.data["number"] for p in heard if p.event == "custom"] == [1, 2, 1, 2], heard
    again = threads.join_stream(thread, last_event_id=heard[1].id)
    assert [next(again).id for _ in range(3)] == [p.id for p in heard[2:5]]


def the_remote_graph():
    remote = RemoteGraph("review", url=sys.argv[1])
    config = {"configurable": {"thread_id": str(uuid.uuid4())}}
    with remote.stream_events({"text": "a"}, config, version="v3") as run:
        assert [v for v in run.values][-1] == {"text": "a!", "steps": ["write"]}
        assert run.interrupted and run.interrupts[0]["value"]["question"] == "Is this right?"
    with remote.stream_events(Command(resume="yes"), config, version="v3") as run:
        assert run.output == {"text": "a!", "steps": ["write", "review: yes"]}, run.output
        assert not run.interrupted
    config = {"configurable": {"thread_id": str(uuid.uuid4())}}
    assert "__interrupt__" in list(remote.stream({"text": "b"}, config, stream_mode="updates"))[-1]
    assert remote.invoke(Command(resume="ok"), config)["steps"] == ["write", "review: ok"]
    assert remote.get_state(config).values["text"] == "b!"


def many_at_once():
    """One creates a thread, the others hear that it exists; runs of one thread wait in line."""
    thread, made = str(uuid.uuid4()), []

    def create():
        try:
            threads.create(thread_id=thread)
            made.append(1)
        except Exception as error:
            assert error.response.status_code == 409

    crew = [threading.Thread(target=create) for _ in range(8)]
    [t.start() for t in crew], [t.join() for t in crew]
    assert len(made) == 1
    crew = [threading.Thread(target=runs.wait, args=(thread, "count"), kwargs={"input": {"to": 1}})
            for _ in range(4)]
    [t.start() for t in crew], [t.join() for t in crew]
    assert threads.get_state(thread)["values"]["seen"] == [1] * 4


def keep():
    thread = threads.create(metadata={"kept": True})["thread_id"]
    waits = runs.wait(thread, "review", input={"text": "kept"})
    lost = threads.create()["thread_id"]
    run = runs.create(lost, "walk", input={"to": 60}, stream_resumable=True, stream_mode="updates")
    time.sleep(0.5)
    with open(kept, "w") as file:
        json.dump({"thread": thread, "waits": waits, "lost": lost, "run": run["run_id"]}, file)


def again():
    with open(kept) as file:
        was = json.load(file)
    assert threads.search(metadata={"kept": True})[0]["thread_id"] == was["thread"]
    done = runs.wait(was["thread"], "review", command={"resume": "after"})
    assert done["steps"] == ["write", "review: after"]
    # The run of the killed process goes on where it was, and every event has its id.
    assert runs.join(was["lost"], was["run"])["seen"] == list(range(1, 61))
    assert runs.get(was["lost"], was["run"])["status"] == "success"
    parts = list(runs.join_stream(was["lost"], was["run"], last_event_id="-1"))
    assert [int(p.id.split("-")[1]) for p in parts] == list(range(len(parts)))
    attempts = [p.data["attempt"] for p in parts if p.event == "metadata"]
    assert attempts == [1, 2], attempts
    assert runs.wait(was["lost"], "walk", input={"to": 1})["seen"][-1] == 61


steps = [again] if sys.argv[3:] else [
    the_server, the_assistants, the_threads, the_end_of_threads, the_state, the_subgraphs, the_streams,
    the_interrupts, the_background, the_stateless, the_waits, the_store, the_crons, the_protocol,
    the_remote_graph, many_at_once, keep,
]
for step in steps:
    begun = time.monotonic()
    step()
    print(f"{step.__name__.replace('_', ' ')}: {time.monotonic() - begun:.1f} s")
client.close()
if steps != [again]:
    assert not uncalled, f"no step calls {sorted(uncalled)}"
