"""LangGraph for Python with its own savers, durability `sync`: a thread for each chain."""

import asyncio
import os
from typing import TypedDict

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

import clock


class Chain(TypedDict, total=False):
    text: str
    at: float


def node(state):
    return {"text": clock.PAYLOAD, "at": clock.step(state.get("at", 0))}


async def node_async(state):
    return node(state)


def compiled(node, saver):
    graph = StateGraph(Chain)
    names = [f"step{number}" for number in range(clock.STEPS)]
    for name in names:
        graph.add_node(name, node)
    for source, target in zip([START, *names], names):
        graph.add_edge(source, target)
    return graph.compile(checkpointer=saver)


def arguments(name):
    return {"at": 0}, {"configurable": {"thread_id": name}}, {"durability": "sync"}


def threads(saver):
    graph = compiled(node, saver)

    def run(name):
        state, config, options = arguments(name)
        graph.invoke(state, config, **options)

    clock.measure(run)


async def tasks(saver):
    graph = compiled(node_async, saver)

    async def run(name):
        state, config, options = arguments(name)
        await graph.ainvoke(state, config, **options)

    await clock.measure_async(run)


def pool_options():
    connections = int(os.environ["CONNECTIONS"])
    kwargs = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    return {"min_size": connections, "max_size": connections, "kwargs": kwargs, "timeout": 60}


async def main_async():
    if "FILE" in os.environ:
        async with AsyncSqliteSaver.from_conn_string(os.environ["FILE"]) as saver:
            await saver.setup()
            await tasks(saver)
    else:
        async with AsyncConnectionPool(os.environ["DATABASE_URL"], **pool_options()) as pool:
            saver = AsyncPostgresSaver(pool)
            await saver.setup()
            await tasks(saver)


def main():
    if os.environ.get("ASYNC"):
        asyncio.run(main_async())
    elif "FILE" in os.environ:
        with SqliteSaver.from_conn_string(os.environ["FILE"]) as saver:
            saver.setup()
            threads(saver)
    else:
        with ConnectionPool(os.environ["DATABASE_URL"], **pool_options()) as pool:
            saver = PostgresSaver(pool)
            saver.setup()
            threads(saver)


main()
