"""Calls the server's assistants as tools of `/mcp/`, with the protocol's own Python client."""

import asyncio
import sys

from mcp import Client

URL = f"{sys.argv[1]}/mcp/"


async def check(mode):
    async with Client(URL, mode=mode) as client:
        print(f"mode {mode}: version {client.protocol_version}, {client.server_info.name}")
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"agent", "count", "review"} <= set(tools), tools
        assert "to" in tools["count"].input_schema["properties"], tools["count"]

        answer = await client.call_tool(
            "agent", {"messages": [{"role": "user", "content": "What is 6 * 7?"}]}
        )
        assert not answer.is_error and "42" in answer.content[0].text, answer
        assert answer.structured_content["messages"][-1]["type"] == "ai", answer

        counted = await client.call_tool("count", {"to": 3})
        assert counted.structured_content["seen"] == [1, 2, 3], counted

        # A tool cannot ask: the run waits, and the answer says so.
        asks = await client.call_tool("review", {"text": "hello"})
        assert asks.is_error and "Is this right?" in asks.content[0].text, asks

        wrong = await client.call_tool("count", {"to": "many"})
        assert wrong.is_error, wrong
        try:
            await client.call_tool("no_such_tool", {})
        except Exception as error:
            assert "no_such_tool" in str(error), error
        else:
            raise AssertionError("an unknown tool is an error of the protocol")

        both = await asyncio.gather(*[client.call_tool("count", {"to": n}) for n in range(1, 6)])
        assert [len(one.structured_content["seen"]) for one in both] == [1, 2, 3, 4, 5], both


async def main():
    for mode in ("auto", "legacy"):
        await check(mode)
    print("the official MCP client: ok")


asyncio.run(main())
