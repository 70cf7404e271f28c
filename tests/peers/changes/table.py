"""Asks Python's tools about changes of graphs on which threads wait, and lets the threads go on.

Usage: table.py FOLDER. It copies the graphs to FOLDER, changes them there one by one, and prints a table in
Markdown: whether `compile()` of LangGraph, mypy, pyright and ruff report more than before the change, and what a
thread that waits since before does afterwards.
"""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
from collections import Counter

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

HERE = pathlib.Path(__file__).parent

# What changes, the graph, the replacements, and what `graph.lock` says: `examples/tests/lock.rs` has the same changes.
CHANGES = [
    ("the node that waits is renamed", "posts", [('"ask"', '"approve"')], "refused"),
    (
        "the node that a route leads to is removed (the answer is no)",
        "posts",
        [
            ('graph.add_node("discard", discard)\n', ""),
            ('graph.add_edge("discard", END)\n', ""),
            ('["publish", "discard"]', '["publish", END]'),
            ('else "discard"', "else END"),
        ],
        "refused",
    ),
    ("a field is renamed", "posts", [("topic", "subject")], "refused"),
    (
        "a field has another type",
        "posts",
        [
            ("    text: str", "    text: list[str]"),
            ('{"text": f"All about {state[\'topic\']}."', '{"text": [f"All about {state[\'topic\']}."]'),
            ('{"log": ["published"]}', '{"log": [*state["text"], "published"]}'),
        ],
        "refused",
    ),
    (
        "a field loses its reducer",
        "posts",
        [("log: Annotated[list[str], add]", "log: list[str]"), ("from operator import add\n", ""), ("Annotated, ", "")],
        "refused",
    ),
    (
        "an interrupt takes another answer",
        "posts",
        [
            ("approved: bool\n", "approved: str\n"),
            ("approved: bool =", "approved: str ="),
            ('if state["approved"]', 'if state["approved"] == "yes"'),
        ],
        "refused",
    ),
    (
        "an interrupt is removed",
        "posts",
        [
            ('    approved: bool = interrupt("Publish?")\n    return {"approved": approved}', '    return {"approved": False}'),
            ("from langgraph.types import interrupt\n", ""),
        ],
        "refused",
    ),
    (
        "another interrupt is added before it",
        "posts",
        [('    approved: bool = interrupt("Publish?")', '    interrupt("Why?")\n    approved: bool = interrupt("Publish?")')],
        "accepted",
    ),
    (
        "the waiting node leads elsewhere",
        "posts",
        [
            ('graph.add_conditional_edges("ask", decide, ["publish", "discard"])', 'graph.add_edge("ask", "discard")'),
            ('graph.add_edge("write", "ask")', 'graph.add_edge("write", "ask")\ngraph.add_edge("write", "publish")'),
        ],
        "refused",
    ),
    (
        "a join has another source",
        "work",
        [
            ('["task1", "task2"]', '["task1", "task2", "task3"]'),
            ('graph.add_node("merge", merge)', 'graph.add_node("task3", task1)\ngraph.add_node("merge", merge)'),
            ('graph.add_edge(START, "task2")', 'graph.add_edge(START, "task2")\ngraph.add_edge(START, "task3")'),
        ],
        "refused",
    ),
    (
        "a join becomes two edges",
        "work",
        [('graph.add_edge(["task1", "task2"], "merge")', 'graph.add_edge("task1", "merge")\ngraph.add_edge("task2", "merge")')],
        "refused",
    ),
    ("a node of a subgraph is renamed", "shop", [('"check"', '"inspect"')], "refused"),
    (
        "a subgraph is exchanged",
        "shop",
        [
            ('inner.add_node("check", check)', 'inner.add_node("weigh", pack)'),
            ('"check")', '"weigh")'),
            ('"check", "pack")', '"weigh", "pack")'),
        ],
        "refused",
    ),
    (
        "a node is added between two others",
        "posts",
        [
            ("graph = StateGraph(Post)", 'def tell(state: Post) -> dict[str, object]:\n    """Do nothing."""\n    return {}\n\n\ngraph = StateGraph(Post)'),
            ('graph.add_edge("publish", END)', 'graph.add_node("tell", tell)\ngraph.add_edge("publish", "tell")\ngraph.add_edge("tell", END)'),
        ],
        "accepted",
    ),
    ("a field is added", "posts", [("    text: str", "    text: str\n    by: str")], "accepted"),
]


def load(path: pathlib.Path):
    """Return the graph of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.graph


def reports(folder: pathlib.Path, path: pathlib.Path) -> dict[str, Counter]:
    """Return what each tool reports, without the places."""
    binaries = pathlib.Path(sys.executable).parent

    def output(*command: str) -> str:
        command = (str(binaries / command[0]), *command[1:], str(path))
        return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False).stdout

    mypy = re.findall(r"error: (.*)", output("mypy", "--strict", "--no-error-summary"))
    pyright = json.loads(output("pyright", "--outputjson", "--pythonpath", sys.executable))
    ruff = json.loads(output("ruff", "check", "--select", "ALL", "--ignore", "ARG001,CPY001,E501", "--output-format", "json", "--no-cache"))
    try:
        load(path).compile()
        compiles = []
    except Exception as error:  # noqa: BLE001 - whatever it reports counts
        compiles = [str(error)]
    return {
        "compile()": Counter(compiles),
        "mypy": Counter(mypy),
        "pyright": Counter(one["message"] for one in pyright["generalDiagnostics"]),
        "ruff": Counter(one["message"] for one in ruff),
    }


def go_on(before: pathlib.Path, now: pathlib.Path, *, answer: object) -> str:
    """Return what a thread that waits since before the change does after it."""
    config = {"configurable": {"thread_id": "1"}}
    given = {"topic": "moss"} if before.stem == "posts" else {}

    def start():
        saver = InMemorySaver()
        load(before).compile(checkpointer=saver).invoke(given, config)
        return saver

    promised = load(before).compile(checkpointer=start()).invoke(Command(resume=answer), config)
    try:
        end = load(now).compile(checkpointer=start()).invoke(Command(resume=answer), config)
    except Exception as error:  # noqa: BLE001 - whatever stops the thread counts
        return f"fails: {type(error).__name__}"
    if "__interrupt__" in end:
        return f"waits again: {end['__interrupt__'][0].value}"
    missing = [field for field in promised if field not in end]
    if missing:
        return f"ends without the value of `{missing[0]}`, without an error"
    done, due = end.get("log") or [], promised["log"]
    if done == due:
        return "ends as before"
    steps = ", ".join(done) or "nothing"
    return f"ends with `{steps}` instead of `{', '.join(due)}`, without an error"


def main() -> None:
    """Print the table."""
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = ["posts", "work", "shop"]
    for name in names:
        shutil.copy(HERE / f"{name}.py", folder)
    known = {name: reports(folder, folder / f"{name}.py") for name in names}
    print(f"# Before a change: {known}", file=sys.stderr)
    print("| Change | `graph.lock` | `compile()` | mypy | pyright | ruff | A waiting thread in Python |")
    print("|---|---|---|---|---|---|---|")
    for number, (title, name, replacements, verdict) in enumerate(CHANGES):
        before = folder / f"{name}.py"
        text = before.read_text()
        for old, new in replacements:
            if old not in text:
                sys.exit(f"{title}: {name}.py does not contain {old!r}")
            text = text.replace(old, new)
        changed = folder / f"change{number}"
        changed.mkdir()
        now = changed / f"{name}.py"
        now.write_text(text)
        found = reports(changed, now)
        said = ["refused" if found[tool] - known[name][tool] else "silent" for tool in found]
        for tool in found:
            if new := found[tool] - known[name][tool]:
                print(f"# {title}: {tool}: {new}", file=sys.stderr)
        thread = go_on(before, now, answer="no)" not in title)
        print("|", " | ".join([title, verdict, *said, thread]), "|", flush=True)


main()
