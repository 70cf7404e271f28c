"""A graph asks the Python agent of `a2a_server.py`: the program `a2a_ask` is run as at a terminal."""

import json
import subprocess
import sys
import time
import urllib.request

URL, ASK = sys.argv[1:3]


def ask(question, answers="", seconds="20"):
    done = subprocess.run(
        [ASK, URL, question, seconds], input=answers, capture_output=True, text=True, timeout=60
    )
    return done.stdout, done.stderr


def expect(found, expected):
    assert found == expected, f"expected {expected!r}, found {found!r}"


# A reply, what is streamed, a question and its answer, and what only the status says.
expect(ask("hello"), ("olleh\nreply: olleh\n", ""))
expect(ask("count"), ("0 1 2 3 4 \nreply: 0 1 2 3 4 \n", ""))
expect(ask("ask", "red\n"), ("the agent asks: Which colour?\nit is red\nreply: it is red\n", ""))
expect(ask("status"), ("reply: all is well\n", ""))
out, error = ask("fail")
assert "the agent answered with an error (failed): there is no ink" in error, error

# A request that is given up is cancelled at the agent.
out, error = ask("wait", seconds="0.5")
assert "no complete reply within 500ms" in error, error
for _ in range(50):
    cancelled = json.load(urllib.request.urlopen(f"{URL}/cancelled"))
    if cancelled:
        break
    time.sleep(0.1)
assert len(cancelled) == 1, cancelled
print("a2a-sdk as server: replies, streams, questions, failures, cancellation")
