"""Drives a graph behind our MCP server with the protocol's own Python client.

    python mcp_client.py PROGRAM

PROGRAM is the example `serve_agent`: with `--stdio` it speaks over standard input and output, with
`--http 0` it prints its address.
"""

import asyncio
import subprocess
import sys

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

PROGRAM = sys.argv[1]


def answering(asked, result):
    async def answer(_context, params):
        asked.append(params)
        return result

    return answer


async def check(server, mode, version):
    asked = []
    yes = ElicitResult(action="accept", content={"decision": "approve"})
    async with Client(server(), mode=mode, elicitation_callback=answering(asked, yes)) as client:
        assert client.protocol_version == version, client.protocol_version
        assert client.server_info.name == "refund desk"
        [tool] = (await client.list_tools()).tools
        assert tool.name == "refund_desk" and tool.input_schema["required"] == ["message"], tool

        told = []

        async def progress(done, _total, message):
            told.append((done, message))

        found = await client.call_tool(
            "refund_desk", {"message": "Where is order 7?"}, progress_callback=progress
        )
        assert not found.is_error
        assert found.content[0].text.startswith("Here it is: order 7: one teapot"), found
        assert not asked
        done = [step for step, _ in told]
        assert done == sorted(set(done)) and "`agent` is done" in [text for _, text in told], told

        paid = await client.call_tool("refund_desk", {"message": "Refund order 7"})
        assert paid.content[0].text == "Here it is: order 7 is paid back.", paid
        [question] = asked
        assert question.message == 'May `refund` run with {"number":7}?', question
        form = question.requested_schema
        assert "approve" in form["properties"]["decision"]["enum"], form

        wrong = await client.call_tool("refund_desk", {"text": "?"})
        assert wrong.is_error and "missing field `message`" in wrong.content[0].text, wrong
        try:
            await client.call_tool("no_such_tool", {})
        except Exception as error:
            assert "no_such_tool" in str(error), error
        else:
            raise AssertionError("an unknown tool is an error of the protocol")

    for answer in (ElicitResult(action="decline"), ElicitResult(action="cancel")):
        async with Client(server(), mode=mode, elicitation_callback=answering([], answer)) as client:
            kept = await client.call_tool("refund_desk", {"message": "Refund order 7"})
            assert kept.content[0].text == "Here it is: The user does not want that..", kept

    # Calls side by side, each with its own question.
    asked = []
    async with Client(server(), mode=mode, elicitation_callback=answering(asked, yes)) as client:
        orders = range(5)
        calls = [client.call_tool("refund_desk", {"message": f"Refund order {n}"}) for n in orders]
        paid = await asyncio.gather(*calls)
        for n, one in zip(orders, paid):
            assert one.content[0].text == f"Here it is: order {n} is paid back.", one
        assert len(asked) == 5

    # A client that cannot ask is told so.
    async with Client(server(), mode=mode) as client:
        stuck = await client.call_tool("refund_desk", {"message": "Refund order 7"})
        assert stuck.is_error and "does not support elicitation" in stuck.content[0].text, stuck


async def main():
    process = subprocess.Popen([PROGRAM, "--http", "0"], stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        for place, server in (
            ("stdio", lambda: StdioServerParameters(command=PROGRAM, args=["--stdio"])),
            ("http", lambda: address),
        ):
            for mode, version in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
                await check(server, mode, version)
                print(f"{place}, {version}: ok")
    finally:
        process.terminate()
        process.wait()


asyncio.run(main())
