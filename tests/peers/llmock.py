"""Asks the agent examples while the server fails.

    python llmock.py SERVER EXAMPLES
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

SERVER, EXAMPLES = sys.argv[1], Path(sys.argv[2])


class Server:
    """The server, on a free port of this machine."""

    def __enter__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        serve = [SERVER, "serve", "--host", "127.0.0.1", "--port", str(port)]
        serve += ["--log-level", "warning", "--response-style", "echo", "--stream-chunk-delay-ms", "5"]
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

    def ask(self, example, question):
        """What the example prints, and whether it succeeds."""
        known = ("OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_GEMINI_", "OLLAMA_", "MODEL")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(known)}
        environment |= {"OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_API_KEY": "none"}
        run = subprocess.run(
            [EXAMPLES / example, question],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return run.returncode == 0, run.stdout + run.stderr


def check(name, condition, printed, server):
    findings = server.findings()
    print(f"{'ok    ' if condition and not findings else 'FAILED'} {name}")
    if not condition or findings:
        print(printed, findings)
        sys.exit(1)


def fail(status, **options):
    return {"type": "fail", "status": status, **options}


def agent(server):
    """Answers in one piece, and what a server can do to them."""
    call = {"name": "calculate", "arguments": {"expression": "37 * 21"}}
    server.behave({"type": "reply", "tool_calls": [call]}, {"type": "reply", "text": "It is 777."})
    good, printed = server.ask("agent", "What is 37 * 21?")
    steps = ['calls calculate(expression: "37 * 21")', "calculate -> 777", "It is 777."]
    check("a scripted call and its answer", good and all(s in printed for s in steps), printed, server)

    server.behave()
    good, printed = server.ask("agent", "What is the current time?")
    check("the server picks a tool and answers from its result", good and "calls " in printed, printed, server)

    for kind in ("malformed_arguments", "unknown_tool"):
        server.behave({"type": "tool_fault", "kind": kind})
        good, printed = server.ask("agent", "Please calculate 1 + 1")
        check(f"{kind} goes back to the model", good and "failed: " in printed, printed, server)

    server.behave(fail(429, retry_after=1, times=2))
    good, printed = server.ask("agent", "hello")
    check("a rate limit is waited for", good, printed, server)

    server.behave(fail(503, times=1))
    good, printed = server.ask("agent", "hello")
    check("an outage is outlived", good, printed, server)

    server.behave(fail(401, times=None))
    good, printed = server.ask("agent", "hello")
    blamed = "error: node `think` failed" in printed
    check("a wrong key is an error, at once", not good and blamed, printed, server)


def streams(server):
    """The same agent, streamed."""

    def breaks(kind, after):
        return {"type": "stream_fault", "kind": kind, "after_chunks": after}

    for name, behaviors in {
        "all is well": [],
        "too many requests": [fail(429, retry_after=1, times=2), fail(503)],
        "a stream that ends early": [breaks("truncate", 2)],
        "a connection that breaks": [breaks("disconnect", 1)],
        "a piece that is broken": [breaks("malformed", 2)],
    }.items():
        server.behave(*behaviors)
        good, printed = server.ask("resilient", name)
        answer = f"1 tool calls: Hello! You said: You have a clock. {name} 2024-01-01 12:00:00"
        check(f"streamed: {name}", good and answer in printed, printed, server)
    for kind in ("malformed_arguments", "unknown_tool"):
        server.behave({"type": "tool_fault", "kind": kind})
        good, printed = server.ask("resilient", kind)
        check(f"streamed: {kind} goes back to the model", good and "1 tool calls: " in printed, printed, server)


with Server() as server:
    agent(server)
    streams(server)
