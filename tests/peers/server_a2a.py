"""Talks to the server's assistants at `/a2a/{assistant}`, with the protocol's own Python client."""

import asyncio
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers.proto_helpers import new_text_message
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    TaskState,
)

URL = sys.argv[1]


def message(text, context=None):
    ask = new_text_message(text, role=Role.ROLE_USER)
    if context:
        ask.context_id = context
    return SendMessageRequest(message=ask)


def texts(task):
    parts = [part for artifact in task.artifacts for part in artifact.parts]
    return "".join(part.text for part in parts)


async def whole(client, request):
    [last] = [event async for event in client.send_message(request)][-1:]
    assert last.HasField("task"), last
    return last.task


async def clients(http, assistant):
    card = await A2ACardResolver(http, f"{URL}/a2a/{assistant}").get_agent_card()
    assert card.name == assistant, card

    def client(streaming):
        return ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)

    return client(True), client(False)


async def main():
    async with httpx.AsyncClient(timeout=30) as http:
        streaming, plain = await clients(http, "agent")

        # A context is a thread: the second message belongs to the first.
        first = await whole(plain, message("What is 6 * 7?"))
        assert first.status.state == TaskState.TASK_STATE_COMPLETED, first
        assert "42" in texts(first), first
        second = await whole(plain, message("What is 2 * 3?", first.context_id))
        assert second.context_id == first.context_id and second.id != first.id, second
        thread = (await http.get(f"{URL}/threads/{first.context_id}/state")).json()
        said = [one["content"] for one in thread["values"]["messages"] if one["type"] == "human"]
        assert said == ["What is 6 * 7?", "What is 2 * 3?"], said
        got = await plain.get_task(GetTaskRequest(id=first.id))
        assert got.status.state == TaskState.TASK_STATE_COMPLETED, got

        # A stream has the task, the answer in pieces, and the end.
        seen = [event async for event in streaming.send_message(message("What is 37 * 21?"))]
        pieces = [event.artifact_update for event in seen if event.HasField("artifact_update")]
        assert "777" in "".join(part.text for piece in pieces for part in piece.artifact.parts), seen
        assert seen[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED, seen[-1]

        # An interrupt requires input, and the next message of the context is the answer.
        _, review = await clients(http, "review")
        asked = await whole(review, message("hello"))
        assert asked.status.state == TaskState.TASK_STATE_INPUT_REQUIRED, asked
        assert "Is this right?" in asked.status.message.parts[0].text, asked
        answered = await whole(review, message("fine", asked.context_id))
        assert answered.status.state == TaskState.TASK_STATE_COMPLETED, answered

        # A task that runs is cancelled.
        _, later = await clients(http, "count")
        request = message("count")
        request.message.parts[0].Clear()
        request.message.parts[0].data.struct_value.update({"to": 600})
        request.configuration.CopyFrom(SendMessageConfiguration(return_immediately=True))
        running = await whole(later, request)
        canceled = await later.cancel_task(CancelTaskRequest(id=running.id))
        assert canceled.status.state == TaskState.TASK_STATE_CANCELED, canceled
        try:
            await plain.cancel_task(CancelTaskRequest(id=first.id))
        except Exception as error:
            assert "ended" in str(error) or "cancel" in str(error), error
        else:
            raise AssertionError("a task that has ended cannot be cancelled")
        try:
            await plain.get_task(GetTaskRequest(id="00000000-0000-4000-8000-000000000000"))
        except Exception as error:
            assert "no such task" in str(error), error
        else:
            raise AssertionError("there is no such task")
    print("the official A2A client: ok")


asyncio.run(main())
