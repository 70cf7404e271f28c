"""Records what LangGraph for Python answers to the cases of the functional form.

    python3 tests/parity/record_functional.py [name ...]

It needs LangGraph (FORMAT.md says which version), runs each case, and writes its `expect`.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.func import entrypoint, task
from langgraph.types import CachePolicy, Command, RetryPolicy, interrupt

CASES = Path(__file__).parent / "cases" / "functional"


class Failure(Exception):
    """What `fail` raises."""


class Returned(Exception):
    """What `return` raises: the end of a function."""

    def __init__(self, value, save):
        self.value, self.save = value, save


class World:
    """A case's functions and what they have counted."""

    def __init__(self, case):
        self.spec = case["function"]
        self.runs = Counter()
        self.executed = Counter()
        self.failures = Counter()
        retry = RetryPolicy(max_attempts=3, retry_on=Failure, initial_interval=0, jitter=False)
        options = {"flaky": {"retry_policy": retry}, "cached": {"cache_policy": CachePolicy()}}
        names = ["a", "b", "c", "flaky", "cached"]
        self.tasks = {name: self.task(name, options.get(name, {})) for name in names}
        saver = InMemorySaver() if self.spec.get("checkpointer", True) else None

        @entrypoint(checkpointer=saver, cache=InMemoryCache())
        def workflow(input, *, previous=None):
            done = self.run("workflow", input, previous)
            return entrypoint.final(value=done.value, save=done.save)

        self.graph = workflow

    def task(self, name, options):
        def body(input):
            return self.run(name, input, None).value

        return task(name=name, **options)(body)

    def run(self, name, input, previous):
        self.runs[name] += 1
        self.executed[name] += 1
        variables = {"input": input, "previous": previous, "run": self.runs[name]}
        body = self.spec["body"] if name == "workflow" else self.spec["tasks"][name]
        try:
            self.block(body, variables)
        except Returned as returned:
            return returned
        return Returned(None, None)

    def block(self, statements, variables):
        for statement in statements:
            self.statement(statement, variables)

    def statement(self, s, variables):
        def value(e):
            return self.value(e, variables)

        result = None
        if "call" in s and "each" not in s:
            try:
                result = self.tasks[s["call"]](value(s["arg"])).result()
            except Failure:
                if "catch" not in s:
                    raise
                result = value(s["catch"])
        elif "call" in s:
            calls = [self.tasks[s["call"]](item) for item in value(s["each"])]
            result = [call.result() for call in calls]
        elif "parallel" in s:
            calls = [self.tasks[c["call"]](value(c["arg"])) for c in s["parallel"]]
            result = [call.result() for call in calls]
        elif "interrupt" in s:
            result = interrupt(value(s["interrupt"]))
        elif "for" in s:
            for item in value(s["in"]):
                variables[s["for"]] = item
                self.block(s["do"], variables)
        elif "when" in s:
            self.block(s["then"] if value(s["when"]) else s.get("else", []), variables)
        elif "fail" in s:
            self.failures[s["fail"]] += 1
            if self.failures[s["fail"]] <= s.get("times", 1_000_000):
                raise Failure(s["fail"])
        elif "emit" in s:
            get_stream_writer()(value(s["emit"]))
        elif "push" in s:
            variables[s["push"]] = variables.get(s["push"], []) + [value(s["value"])]
        elif "return" in s:
            done = value(s["return"])
            raise Returned(done, value(s["save"]) if "save" in s else done)
        else:
            result = value(s["value"])
        if "as" in s:
            variables[s["as"]] = result

    def value(self, e, variables):
        def inner(e):
            return self.value(e, variables)

        if isinstance(e, list):
            return [inner(item) for item in e]
        if not isinstance(e, dict):
            return e
        if "$" in e:
            return variables.get(e["$"])
        if "$add" in e:
            return sum(inner(item) or 0 for item in e["$add"])
        if "$concat" in e:
            return "".join(inner(item) for item in e["$concat"])
        if "$eq" in e:
            left, right = (inner(item) for item in e["$eq"])
            return left == right
        return {key: inner(item) for key, item in e.items()}

    def act(self, action):
        self.executed.clear()
        config = {"configurable": {"thread_id": action.get("thread", "t")}}
        if "at" in action:
            ended = [s for s in self.graph.get_state_history(config) if not s.next]
            config = ended[action["at"]].config
        do = action["do"]
        if do == "get_state":
            return {"state": self.snapshot(self.graph.get_state(config))}
        if do == "get_history":
            ended = [s for s in self.graph.get_state_history(config) if not s.next]
            return {"history": [s.values for s in ended]}
        given = action.get("input")
        command = action if do == "command" else action.get("command", {})
        if "resume" in command:
            given = Command(resume=command["resume"])
        if "resume_map" in command:
            given = Command(resume=self.answers(config, command["resume_map"]))
        try:
            if do == "stream":
                mode = action["mode"]
                chunks = self.graph.stream(given, config, stream_mode=mode)
                shown = [self.chunk(mode, chunk) for chunk in chunks]
                result = {"chunks": [[chunk] for chunk in shown if chunk is not None]}
            else:
                result = self.result(self.graph.invoke(given, config))
        except Failure as failure:
            result = {"error": {"kind": "node_error", "message": str(failure)}}
        return {**result, "executed": dict(sorted(self.executed.items()))}

    def answers(self, config, answers):
        open_now = list(self.graph.get_state(config).interrupts)
        found = {}
        for payload, value in answers:
            one = next((i for i in open_now if i.value == payload), None)
            if one is not None:
                open_now.remove(one)
                found[one.id] = value
        return found

    def result(self, result):
        interrupts = []
        if isinstance(result, dict) and "__interrupt__" in result:
            result = dict(result)
            interrupts = [i.value for i in result.pop("__interrupt__")]
            result = result or None
        return {"value": result, "interrupts": interrupts}

    def snapshot(self, state):
        return {
            "value": state.values or None,
            "next": list(state.next),
            "interrupts": [i.value for i in state.interrupts],
        }

    def chunk(self, mode, chunk):
        if mode == "tasks":
            if "input" in chunk:
                return ["start", chunk["name"]]
            return ["finish", chunk["name"], [i["value"] for i in chunk["interrupts"]]]
        if mode == "values":
            # Before its end, a run has no values.
            if chunk is None or "__interrupt__" in chunk:
                return None
            return chunk
        if mode == "updates" and "__interrupt__" in chunk:
            return {"__interrupt__": [i.value for i in chunk["__interrupt__"]]}
        if mode == "updates" and "__metadata__" in chunk:
            return {name: value for name, value in chunk.items() if name != "__metadata__"}
        return chunk


def main():
    for path in sorted(CASES.glob("*.json")):
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        case = json.loads(path.read_text())
        world = World(case)
        case["expect"] = {"results": [world.act(action) for action in case["runs"]]}
        path.write_text(text(case, 2) + "\n")


def text(value, levels, indent=""):
    """JSON with one item a line, down to a level."""
    brackets = {dict: "{}", list: "[]"}.get(type(value))
    line = json.dumps(value, ensure_ascii=False)
    if not brackets or not value or levels == 0 and len(line) + len(indent) < 110 or levels < -1:
        return line
    inner = indent + " "
    if isinstance(value, dict):
        items = [f"{json.dumps(k)}: {text(v, levels - 1, inner)}" for k, v in value.items()]
    else:
        items = [text(v, levels - 1, inner) for v in value]
    open_, close = brackets
    return f"{open_}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{close}"


if __name__ == "__main__":
    main()
