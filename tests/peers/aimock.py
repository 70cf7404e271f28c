"""Asks the agent examples in three dialects, and reads the journal of the server.

    python aimock.py SERVER EXAMPLES
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

SERVER, EXAMPLES = sys.argv[1], Path(sys.argv[2])

# How each dialect is chosen, where its requests go, and in one piece too.
DIALECTS = {
    "openai": (
        {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "k"},
        "/v1/chat/completions",
        "/v1/chat/completions",
    ),
    "anthropic": (
        {"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "k"},
        "/v1/messages",
        "/v1/messages",
    ),
    "gemini": (
        {"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": "k"},
        "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
        "/v1beta/models/gemini-2.5-flash:generateContent",
    ),
}
CLOCK = {"toolCalls": [{"name": "get_current_time", "arguments": "{}"}]}
NOON = "It is noon, as far as the clock of this machine knows."


def fixtures(dialect):
    """What the server answers to questions in a dialect."""

    def answers(question, *responses):
        for response, options in responses:
            match = {"userMessage": f"{question} in {dialect}", **options.pop("match", {})}
            yield {"match": match, "response": response, **options}

    def when(**match):
        return {"match": match}

    tools = [
        {"name": "calculate", "arguments": json.dumps({"expression": "37 * 21"})},
        {"name": "find_files", "arguments": json.dumps({"pattern": "Cargo.toml"})},
    ]
    limited = {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429}
    limited["retryAfter"] = 1
    yield from answers(
        "two tools",
        ({"toolCalls": tools}, when(hasToolResult=False)),
        ({"content": "It is 777."}, when(hasToolResult=True)),
    )
    yield from answers(
        "a stream",
        (CLOCK, when(hasToolResult=False)),
        ({"content": NOON, "reasoning": "The clock says so."}, when(hasToolResult=True)),
    )
    yield from answers(
        "a limit",
        (limited, when(hasToolResult=False, sequenceIndex=0)),
        (CLOCK, when(hasToolResult=False, sequenceIndex=1)),
        ({"content": NOON}, when(hasToolResult=True)),
    )
    yield from answers(
        "a broken stream",
        (CLOCK, when(hasToolResult=False)),
        ({"content": NOON}, {"match": {"hasToolResult": True, "sequenceIndex": 0}, "truncateAfterChunks": 3}),
        ({"content": NOON}, when(hasToolResult=True, sequenceIndex=1)),
    )


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def journal(url):
    with urllib.request.urlopen(f"{url}/__aimock/journal", timeout=10) as reply:
        return json.load(reply)


def ask(url, dialect, example, question):
    """What the example prints, and what it sent."""
    variables, *_ = DIALECTS[dialect]
    known = ("OPENAI_", "ANTHROPIC_", "GEMINI_", "GOOGLE_GEMINI_", "OLLAMA_", "MODEL")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(known)}
    environment |= {key: value.format(url=url) for key, value in variables.items()}
    before = len(journal(url))
    began = time.monotonic()
    run = subprocess.run(
        [EXAMPLES / example, f"{question} in {dialect}"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    sent = journal(url)[before:]
    assert run.returncode == 0, run.stdout + run.stderr + json.dumps(sent, indent=1)
    return run.stdout, sent, time.monotonic() - began


def check(url, dialect):
    _, streamed, whole = DIALECTS[dialect]

    printed, sent, _ = ask(url, dialect, "agent", "two tools")
    assert 'calls calculate(expression: "37 * 21")' in printed, printed
    assert "calculate -> 777" in printed and printed.endswith("\nIt is 777.\n"), printed
    assert [entry["path"] for entry in sent] == [whole, whole], sent
    # Both results go back, each to its call.
    messages = sent[1]["body"]["messages"]
    calls = [call["id"] for message in messages for call in message.get("tool_calls") or []]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert len(calls) == 2 and calls == results, messages
    print(f"ok {dialect}: two tools side by side")

    printed, sent, _ = ask(url, dialect, "resilient", "a stream")
    pieces = int(printed.split("-> ")[1].split(" pieces")[0])
    assert pieces >= 6 and printed.endswith(f"1 tool calls: {NOON}\n"), printed
    assert [entry["path"] for entry in sent] == [streamed, streamed], sent
    assert all(entry["body"]["stream"] for entry in sent), sent
    names = [tool["function"]["name"] for tool in sent[0]["body"]["tools"]]
    assert names == ["get_current_time"], sent
    print(f"ok {dialect}: {pieces} pieces of a streamed answer, its reasoning apart")

    printed, sent, took = ask(url, dialect, "resilient", "a limit")
    assert printed.endswith(f"1 tool calls: {NOON}\n"), printed
    assert [entry["response"]["status"] for entry in sent] == [429, 200, 200], sent
    assert took >= 1, f"the server asked to wait for a second, and the agent came back after {took} s"
    print(f"ok {dialect}: a limit is waited for")

    printed, sent, _ = ask(url, dialect, "resilient", "a broken stream")
    assert printed.endswith(f"1 tool calls: {NOON}\n"), printed
    assert len(sent) == 3, sent
    print(f"ok {dialect}: a broken stream is asked for again")


def main():
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fixtures.json"
        every = [fixture for dialect in DIALECTS for fixture in fixtures(dialect)]
        path.write_text(json.dumps({"fixtures": every}))
        with (Path(folder) / "log").open("w+") as log:
            serve = ["node", SERVER, "--port", str(port), "--fixtures", str(path), "--strict"]
            serve += ["--validate-on-load", "--chunk-size", "6", "--latency", "5"]
            server = subprocess.Popen(serve, stdout=log, stderr=subprocess.STDOUT)
            try:
                for _ in range(100):
                    try:
                        journal(url)
                        break
                    except OSError:
                        time.sleep(0.1)
                for dialect in DIALECTS:
                    check(url, dialect)
            except BaseException:
                log.seek(0)
                print(log.read(), file=sys.stderr)
                raise
            finally:
                server.terminate()
                server.wait()


main()
