"""What the programs in Python have in common, as `clock.rs` for those in Rust."""

import asyncio
import sys
import threading
import time

STEPS = 20
PAYLOAD = "x" * 500
WARM = 1
THREADS, SECONDS = (int(argument) for argument in sys.argv[1:3])

times = []


def step(last):
    """Begins a step, and returns its time. `last` is that of the step before it; 0: there is none."""
    now = time.perf_counter()
    if last:
        times.append(now - last)
    return now


def report(measured):
    """Prints the line of a measurement: supersteps, seconds, p50 and p99 in microseconds."""
    runs, seconds = measured
    times.sort()
    p50, p99 = (times[min(len(times) * of // 100, len(times) - 1)] * 1e6 for of in (50, 99))
    print(runs * STEPS, seconds, round(p50), round(p99), flush=True)
    sys.stdin.readline()


def ready():
    print("ready", flush=True)
    sys.stdin.readline()
    times.clear()


def measure(run):
    """Runs chains in threads: `run` takes the name of one."""
    clients(run, "warm", WARM)
    ready()
    report(clients(run, "run", SECONDS))


def clients(run, kind, seconds):
    begun = time.perf_counter()
    runs = [0] * THREADS

    def client(number):
        while runs[number] == 0 or time.perf_counter() - begun < seconds:
            run(f"{kind}-{number}-{runs[number]}")
            runs[number] += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(runs), time.perf_counter() - begun


async def measure_async(run):
    """The same as tasks of one event loop: `run` is a coroutine."""
    await clients_async(run, "warm", WARM)
    await asyncio.to_thread(ready)
    report(await clients_async(run, "run", SECONDS))


async def clients_async(run, kind, seconds):
    begun = time.perf_counter()

    async def client(number):
        runs = 0
        while runs == 0 or time.perf_counter() - begun < seconds:
            await run(f"{kind}-{number}-{runs}")
            runs += 1
        return runs

    runs = await asyncio.gather(*(client(number) for number in range(THREADS)))
    return sum(runs), time.perf_counter() - begun
