"""Kills one of two servers while runs are under way, or cuts the power, and counts what clients see."""

import asyncio
import collections
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import sys
import time
import uuid

import httpx

program = sys.argv[1]
# The program of the first server at the beginning: an earlier one, maybe.
before = sys.argv[2] if len(sys.argv) > 2 else program
RUNS, STEPS = int(os.environ.get("RUNS", "200")), 30
CUTS = int(os.environ.get("CUTS", "10"))
environment = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
servers = {}
logs = tempfile.TemporaryDirectory()
if "DATABASE_URL" in os.environ:
    environment["LANGGRAPH_POSTGRES"] = os.environ["DATABASE_URL"]
else:
    files = os.path.realpath(os.path.join(logs.name, "files"))
    os.mkdir(files)
    environment["LANGGRAPH_DB"] = os.path.join(files, "threads.db")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def log_of(port):
    return os.path.join(logs.name, f"{port}.log")


def start(port, program=program):
    log = open(log_of(port), "a")
    own = environment | {"PORT": str(port)} | disk()
    process = subprocess.Popen([program], env=own, stdout=log, stderr=log)
    servers[port] = process
    for _ in range(200):
        try:
            if httpx.get(f"http://127.0.0.1:{port}/ok").status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.05)
    raise SystemExit("a server does not start")


def disk():
    """The disk whose power is cut, as a server begins to use it: `tests/attack/disk.c`."""
    if "ATTACK_DISK_LIBRARY" not in environment:
        return {}
    before = os.path.join(logs.name, "before")
    shutil.rmtree(before, ignore_errors=True)
    shutil.copytree(files, before, ignore=shutil.ignore_patterns("*-shm"))
    return {"LD_PRELOAD": environment["ATTACK_DISK_LIBRARY"], "ATTACK_DISK_FOLDER": files,
            "ATTACK_DISK_LOG": os.path.join(logs.name, "disk")}


def cut_power(port, seed):
    """Kills the server; what it has not synced may be gone. Returns the number of such changes."""
    servers[port].send_signal(signal.SIGKILL)
    servers[port].wait()
    names = [files, os.path.join(logs.name, "before"), os.path.join(logs.name, "disk")]
    cut = subprocess.run([environment["ATTACK_POWER"], "cut-power", *names, str(seed)],
                         check=True, capture_output=True, text=True)
    return int(cut.stdout)


def living():
    alive = [port for port, process in servers.items() if process.poll() is None]
    # While the power is off, one that answers later.
    return alive or list(servers)


async def ask(client, method, path, **options):
    """Asks any living server, until one answers."""
    while True:
        port = random.choice(living())
        try:
            answer = await client.request(method, f"http://127.0.0.1:{port}{path}", **options)
            if answer.status_code != 503:
                return answer
        except httpx.HTTPError:
            pass
        await asyncio.sleep(0.05)


class Watcher:
    """A client that reads the events of one run, and comes again where it stopped."""

    def __init__(self, thread, run):
        self.path = f"/threads/{thread}/runs/{run}"
        self.run, self.thread = run, thread
        self.ids, self.events, self.reconnects = [], [], 0

    async def watch(self, client):
        while True:
            headers = {"last-event-id": self.ids[-1] if self.ids else "-1"}
            port = random.choice(living())
            try:
                url = f"http://127.0.0.1:{port}{self.path}/stream"
                async with client.stream("GET", url, headers=headers) as answer:
                    assert answer.status_code == 200, answer.status_code
                    await self.read(answer)
            except httpx.HTTPError:
                pass
            row = (await ask(client, "GET", self.path)).json()
            if row["status"] not in ("pending", "running") and self.complete:
                return row["status"]
            self.reconnects += 1
            await asyncio.sleep(0.05)

    complete = False

    async def read(self, answer):
        event, data = None, None
        self.complete = False
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: "):
                data = line[6:]
            elif line.startswith("id: "):
                self.ids.append(line[4:])
                self.events.append((event, data))
        self.complete = True


async def many(client, what, then, meanwhile=None):
    """Starts runs, lets `then` happen, and returns what their clients have seen."""
    watchers = []
    meanwhile = meanwhile and asyncio.create_task(meanwhile())
    for _ in range(RUNS):
        # A request that was not answered is sent again, and counts once.
        thread = str(uuid.uuid4())
        new = {"thread_id": thread, "if_exists": "do_nothing"}
        assert (await ask(client, "POST", "/threads", json=new)).status_code == 200
        body = {"assistant_id": "walk", "input": {"to": STEPS}, "stream_mode": ["updates"],
                "stream_resumable": True}
        run = (await ask(client, "POST", f"/threads/{thread}/runs", json=body,
                         headers={"idempotency-key": thread})).json()
        assert "run_id" in run, run
        watchers.append(Watcher(thread, run["run_id"]))
        if len(watchers) == RUNS // 2:
            tasks = [asyncio.create_task(watcher.watch(client)) for watcher in watchers]
    tasks += [asyncio.create_task(watcher.watch(client)) for watcher in watchers[RUNS // 2:]]
    begun = time.monotonic()
    await then(client)
    if meanwhile:
        await meanwhile
    statuses = collections.Counter(await asyncio.gather(*tasks))
    assert statuses == {"success": RUNS}, (what, statuses)

    again = 0
    for watcher in watchers:
        numbers = [int(id.split("-")[1]) for id in watcher.ids]
        # The end of a run has a number that its own stream does not show. A process may be lost
        # between writing it and ending the run: then another attempt follows.
        expected = 0
        for number, (event, _) in zip(numbers, watcher.events):
            hidden = number == expected + 1 and event == "metadata"
            assert number == expected or hidden, (what, watcher.run, numbers)
            expected = number + 1
        # Every superstep is in the state once, whoever has carried it out.
        state = (await ask(client, "GET", f"/threads/{watcher.thread}/state")).json()
        assert state["values"]["seen"] == list(range(1, STEPS + 1)), (what, state["values"])
        assert state["next"] == []
        runs = (await ask(client, "GET", f"/threads/{watcher.thread}/runs")).json()
        assert [run["status"] for run in runs] == ["success"], runs
        names = collections.Counter(event for event, _ in watcher.events)
        assert names["updates"] >= STEPS and "error" not in names, names
        again += names["metadata"] > 1
        # The same events, with the same ids, for one who comes late.
        late = Watcher(watcher.thread, watcher.run)
        await late.watch(client)
        assert (late.ids, late.events) == (watcher.ids, watcher.events), (what, watcher.run)
    reconnects = sum(watcher.reconnects for watcher in watchers)
    took = time.monotonic() - begun
    print(f"{what}: {RUNS} runs in {took:.1f} s, {reconnects} times a client came again, "
          f"{again} runs went on elsewhere")
    return watchers, again


async def delays(client, one, other):
    """Streams a run at both servers at once, and returns by how much one was behind the other."""
    thread = (await ask(client, "POST", "/threads", json={})).json()["thread_id"]
    body = {"assistant_id": "count", "input": {"to": 10}, "stream_mode": ["custom"]}
    url = f"/threads/{thread}/runs"
    run = (await client.post(f"http://127.0.0.1:{one}{url}", json=body)).json()["run_id"]

    async def arrivals(port):
        seen = {}
        path = f"http://127.0.0.1:{port}{url}/{run}/stream"
        async with client.stream("GET", path, headers={"last-event-id": "-1"}) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("id: "):
                    seen[line] = time.monotonic()
        return seen

    here, there = await asyncio.gather(arrivals(one), arrivals(other))
    assert len(here) > 10 and here.keys() == there.keys(), (here, there)
    # The first events were there before both listened.
    return [abs(here[event] - there[event]) for event in list(here)[2:]]


async def power(client):
    """Cuts the power of the only server while runs begin and are under way: twice under the same runs,
    as one that is lost three times ends with an error. On a fast disk, few cuts may all find that everything
    is synced: then more follow."""
    port, unsynced, cut_off = free_port(), 0, 0
    start(port)
    for seed in range(0, 5 * CUTS, 2):
        if seed >= CUTS and unsynced > 0:
            break
        cut_off += 2

        async def cuts():
            nonlocal unsynced
            for cut in (seed, seed + 1):
                await asyncio.sleep(random.Random(cut).uniform(0.05, 0.5))
                unsynced += cut_power(port, cut)
                start(port)

        async def nothing(_):
            pass

        await many(client, f"power, seed {seed}", nothing, cuts)
    print(f"{cut_off} cuts of the power, {unsynced} changes of files not synced")
    assert unsynced > 0, "everything was synced"


async def main():
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=30, limits=limits) as client:
        if "ATTACK_POWER" in environment:
            await power(client)
            return
        one, other = free_port(), free_port()
        # The earlier program has made the tables when the other one starts.
        start(one, before), start(other)

        async def end(_):
            await asyncio.sleep(0.3)
            servers[other].send_signal(signal.SIGTERM)

        watchers, again = await many(client, "SIGTERM", end)
        assert again > 0, "nothing was drained"
        servers[other].wait(timeout=30)
        for watcher in watchers:
            attempts = {data for event, data in watcher.events if event == "metadata"}
            assert all('"attempt":1' in data for data in attempts), attempts
            # Nothing of a superstep is told twice.
            updates = [data for event, data in watcher.events if event == "updates"]
            assert len(updates) == STEPS, updates
        start(other)

        async def kill(_):
            await asyncio.sleep(0.3)
            servers[one].send_signal(signal.SIGKILL)

        _, again = await many(client, "kill -9", kill)
        assert again > 0, "nothing was killed"
        start(one)

        # A run is cancelled through the server that does not carry it out.
        for _ in range(10):
            thread = (await ask(client, "POST", "/threads", json={})).json()["thread_id"]
            body = {"assistant_id": "count", "input": {"to": 1000}}
            url = f"/threads/{thread}/runs"
            run = (await client.post(f"http://127.0.0.1:{one}{url}", json=body)).json()["run_id"]
            await asyncio.sleep(0.1)
            cancel = f"http://127.0.0.1:{other}{url}/{run}/cancel?wait=1"
            assert (await client.post(cancel)).status_code == 200
            row = (await ask(client, "GET", f"{url}/{run}")).json()
            assert row["status"] == "interrupted", row
        # A result comes from the server that is asked, also without a thread.
        for port in (one, other) * 5:
            body = {"assistant_id": "walk", "input": {"to": 2}}
            done = await client.post(f"http://127.0.0.1:{port}/runs/wait", json=body)
            assert done.json()["seen"] == [1, 2], done.text
        print("cancelled and waited for across processes")

        if "LANGGRAPH_DB" in environment:
            late = sorted([delay for _ in range(5) for delay in await delays(client, one, other)])
            print(f"events of the other process arrive after {late[len(late) // 2] * 1000:.0f} ms, "
                  f"at most {late[-1] * 1000:.0f} ms")
            assert late[len(late) // 2] < 0.1, late


try:
    asyncio.run(main())
except BaseException:
    for port in servers:
        print(open(log_of(port)).read()[-3000:], file=sys.stderr)
    raise
finally:
    for process in servers.values():
        process.kill()
