"""DBOS for Python: a workflow for each chain."""

import asyncio
import os

from dbos import DBOS, SetWorkflowID

import clock

DBOS(
    config={
        "name": "durable-chain",
        "system_database_url": os.environ["DATABASE_URL"],
        "sys_db_pool_size": int(os.environ["CONNECTIONS"]),
        "run_admin_server": False,
        "log_level": "WARNING",
    }
)


@DBOS.step()
def step(last):
    return {"text": clock.PAYLOAD, "at": clock.step(last)}


@DBOS.workflow()
def chain():
    at = 0
    for _ in range(clock.STEPS):
        at = step(at)["at"]


def run(name):
    with SetWorkflowID(name):
        chain()


@DBOS.step()
async def step_async(last):
    return {"text": clock.PAYLOAD, "at": clock.step(last)}


@DBOS.workflow()
async def chain_async():
    at = 0
    for _ in range(clock.STEPS):
        at = (await step_async(at))["at"]


async def run_async(name):
    with SetWorkflowID(name):
        await chain_async()


DBOS.launch()
if os.environ.get("ASYNC"):
    asyncio.run(clock.measure_async(run_async))
else:
    clock.measure(run)
DBOS.destroy()
