#!/usr/bin/env python3
"""Runs the agent example against `llmock`, a server of its own that speaks OpenAI's
protocol, and lets it judge how the agent behaves when the server fails.

    python3 tests/peers/llmock.py

Needs Python 3.10, a Rust toolchain, and the package index once. Nothing leaves this machine while
it runs.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
VENV = TARGET / "peers" / "llmock"
LLMOCK = "llmock==0.2.2"
KEYS = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "OLLAMA_HOST", "MODEL"]


def prepare():
    """Installs the server and builds the example."""
    if not (VENV / "bin" / "llmock").exists():
        venv.create(VENV, with_pip=True)
        subprocess.run([VENV / "bin" / "pip", "install", "--quiet", LLMOCK], check=True)
    build = ["cargo", "build", "--package", "langgraph-examples", "--example", "agent"]
    subprocess.run([*build, "--features", "models"], cwd=ROOT, check=True)


class Server:
    """The server, on a free port of this machine."""

    def __enter__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        serve = [VENV / "bin" / "llmock", "serve", "--host", "127.0.0.1", "--port", str(port)]
        self.process = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            try:
                self.get("/health")
                return self
            except OSError:
                time.sleep(0.1)
        raise SystemExit("llmock does not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=10) as reply:
            return json.loads(reply.read() or b"null")

    def post(self, path, body=None):
        data = json.dumps(body or {}).encode()
        request = urllib.request.Request(self.url + path, data=data, method="POST")
        urllib.request.urlopen(request, timeout=10).close()

    def behave(self, *behaviors):
        """What the server does next, after forgetting everything before."""
        self.post("/_llmock/reset")
        if behaviors:
            self.post("/_llmock/scenario", {"behaviors": list(behaviors)})

    def findings(self):
        """What the server holds against its client."""
        verdict = self.get("/_llmock/verdict")
        return [finding["code"] for finding in verdict["findings"]]


def ask(question, **variables):
    """What the agent prints, and whether it succeeds."""
    environment = {key: value for key, value in os.environ.items() if key not in KEYS}
    run = subprocess.run(
        [TARGET / "debug" / "examples" / "agent", question],
        cwd=ROOT,
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return run.returncode == 0, run.stdout + run.stderr


def check(name, condition, printed):
    print(f"{'ok    ' if condition else 'FAILED'} {name}")
    if not condition:
        print(printed)
        sys.exit(1)


def call(name, arguments):
    return {"type": "reply", "tool_calls": [{"name": name, "arguments": arguments}]}


def main():
    prepare()
    with Server() as server:
        openai = {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "none"}

        server.behave(call("calculate", {"expression": "37 * 21"}), {"type": "reply", "text": "It is 777."})
        good, printed = ask("What is 37 * 21?", **openai)
        steps = ['calls calculate(expression: "37 * 21")', "calculate -> 777", "It is 777."]
        check("a scripted call and its answer", good and all(s in printed for s in steps), printed)

        server.behave()
        good, printed = ask("What is the current time?", **openai)
        check("the server picks a tool and answers from its result", good and "calls " in printed, printed)

        server.behave({"type": "tool_fault", "kind": "malformed_arguments"})
        good, printed = ask("Please calculate 1 + 1", **openai)
        check("arguments that are no JSON go back to the model", good and "failed: " in printed, printed)

        server.behave({"type": "tool_fault", "kind": "unknown_tool"})
        good, printed = ask("Please calculate 1 + 1", **openai)
        check("a tool that does not exist goes back to the model", good and "failed: " in printed, printed)

        server.behave({"type": "fail", "status": 429, "retry_after": 1, "times": 2})
        good, printed = ask("hello", **openai)
        check("a rate limit is waited for", good and not server.findings(), f"{printed}{server.findings()}")

        server.behave({"type": "fail", "status": 503, "times": 1})
        good, printed = ask("hello", **openai)
        check("an outage is outlived", good and not server.findings(), f"{printed}{server.findings()}")

        server.behave({"type": "fail", "status": 401, "times": None})
        good, printed = ask("hello", **openai)
        blamed = "error: node `think` failed" in printed
        check("a wrong key is an error, at once", not good and blamed and not server.findings(), printed)
    print("all is well")


if __name__ == "__main__":
    main()
