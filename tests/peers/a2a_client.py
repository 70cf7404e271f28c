"""The protocol's own Python client asks the agent of `a2a_agent`: every method, over both bindings."""

import asyncio
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers.proto_helpers import new_text_message
from a2a.types import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)

OPEN, CLOSED = sys.argv[1:3]
COMPLETED = TaskState.TASK_STATE_COMPLETED


def message(text, task=None, context=None):
    ask = new_text_message(text, role=Role.ROLE_USER)
    if task:
        ask.task_id = task.id
        ask.context_id = task.context_id
    if context:
        ask.context_id = context
    return SendMessageRequest(message=ask)


def texts(task):
    return {a.name or "stream": "".join(p.text for p in a.parts) for a in task.artifacts}


async def events(stream):
    return [event async for event in stream]


async def whole(client, request):
    """Sends without streaming: the last event is the task."""
    return (await events(client.send_message(request)))[-1].task


async def refused(what, call):
    try:
        await call
    except Exception as error:
        return str(error) or type(error).__name__
    raise AssertionError(f"{what} was not refused")


async def methods(http, card, binding):
    def client(streaming):
        config = ClientConfig(
            httpx_client=http,
            streaming=streaming,
            supported_protocol_bindings=[binding],
            use_client_preference=True,
        )
        return ClientFactory(config).create(card)

    streaming, plain = client(True), client(False)

    # One message, one reply; the context is a thread of the graph.
    first = await whole(plain, message("hello"))
    assert first.status.state == COMPLETED, first
    assert texts(first) == {"reply": "HELLO (1)"}, first
    second = await whole(plain, message("again", context=first.context_id))
    assert texts(second) == {"reply": "AGAIN (2)"}, second
    assert second.id != first.id and second.context_id == first.context_id

    # A stream: the task, its work, the chunks as they come, the reply, the end.
    seen = await events(streaming.send_message(message("story")))
    assert seen[0].HasField("task"), seen[0]
    chunks = [
        "".join(part.text for part in e.artifact_update.artifact.parts)
        for e in seen
        if e.HasField("artifact_update") and e.artifact_update.artifact.name != "reply"
    ]
    assert [chunk for chunk in chunks if chunk] == ["Once ", "upon ", "a ", "time."], chunks
    assert seen[-1].status_update.status.state == COMPLETED, seen[-1]
    story = await plain.get_task(GetTaskRequest(id=seen[0].task.id))
    assert texts(story) == {"stream": "Once upon a time.", "reply": "Once upon a time."}, story

    # A question: input is required, and the next message of the task answers.
    asked = await whole(plain, message("send a letter"))
    assert asked.status.state == TaskState.TASK_STATE_INPUT_REQUIRED, asked
    assert asked.status.message.parts[0].text == "Send `a letter`?", asked
    done = await events(streaming.send_message(message("yes", task=asked)))
    assert done[-1].status_update.status.state == COMPLETED, done
    sent = await plain.get_task(GetTaskRequest(id=asked.id))
    assert texts(sent) == {"reply": "sent: a letter"}, sent
    assert [m.role for m in sent.history] == [Role.ROLE_USER, Role.ROLE_AGENT, Role.ROLE_USER]
    no = await refused("a message to a task that has ended", whole(plain, message("x", task=sent)))
    assert "has ended" in no, no
    dropped = await whole(plain, message("send a bill"))
    dropped = await whole(plain, message("no", task=dropped))
    assert texts(dropped) == {"reply": "not sent"}, dropped

    # A failure says why.
    failed = await whole(plain, message("fail"))
    assert failed.status.state == TaskState.TASK_STATE_FAILED, failed
    assert "there is no paper left" in failed.status.message.parts[0].text, failed

    # A task goes on without its client, is followed again, and is cancelled.
    request = message("wait")
    request.configuration.CopyFrom(SendMessageConfiguration(return_immediately=True))
    at_work = await whole(plain, request)
    assert at_work.status.state == TaskState.TASK_STATE_WORKING, at_work
    followed = asyncio.create_task(
        events(streaming.subscribe(SubscribeToTaskRequest(id=at_work.id)))
    )
    await asyncio.sleep(0.3)
    assert not followed.done()
    canceled = await plain.cancel_task(CancelTaskRequest(id=at_work.id))
    assert canceled.status.state == TaskState.TASK_STATE_CANCELED, canceled
    followed = await asyncio.wait_for(followed, 5)
    assert followed[0].task.id == at_work.id
    last = followed[-1].status_update.status.state
    assert last == TaskState.TASK_STATE_CANCELED, followed
    no = await refused("a cancelled task", plain.cancel_task(CancelTaskRequest(id=first.id)))
    assert "cancel" in no.lower(), no
    no = await refused("following an ended task", events(streaming.subscribe(SubscribeToTaskRequest(id=first.id))))
    assert "ended" in no, no

    # Lists, by context and state, in pages.
    mine = await plain.list_tasks(ListTasksRequest(context_id=first.context_id))
    assert [task.id for task in mine.tasks] == [second.id, first.id], mine
    page = await plain.list_tasks(ListTasksRequest(status=COMPLETED, page_size=2))
    assert len(page.tasks) == 2 and page.next_page_token, page
    rest = await plain.list_tasks(
        ListTasksRequest(status=COMPLETED, page_size=2, page_token=page.next_page_token)
    )
    assert not {task.id for task in page.tasks} & {task.id for task in rest.tasks}
    no = await refused("an unknown task", plain.get_task(GetTaskRequest(id="nobody's")))
    assert "not found" in no.lower(), no


class Webhook(BaseHTTPRequestHandler):
    got = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Webhook.got.append((self.headers.get("A2A-Notification-Token"), body))
        # The first call fails: the agent tries again.
        self.send_response(500 if len(Webhook.got) == 1 else 200)
        self.end_headers()

    def log_message(self, *_):
        pass


async def webhooks(http, card):
    server = HTTPServer(("127.0.0.1", 0), Webhook)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/hook"
    client = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
    request = message("story")
    config = TaskPushNotificationConfig(url=url, token="mine")
    request.configuration.CopyFrom(
        SendMessageConfiguration(return_immediately=True, task_push_notification_config=config)
    )
    task = await whole(client, request)
    saved = await client.list_task_push_notification_configs(
        ListTaskPushNotificationConfigsRequest(task_id=task.id)
    )
    assert [one.url for one in saved.configs] == [url], saved
    for _ in range(100):
        if b"TASK_STATE_COMPLETED" in b"".join(body for _, body in Webhook.got):
            break
        await asyncio.sleep(0.1)
    tokens = {token for token, _ in Webhook.got}
    assert tokens == {"mine"}, tokens
    said = b"".join(body for _, body in Webhook.got)
    assert b"upon " in said and b"TASK_STATE_COMPLETED" in said, Webhook.got
    one = await client.create_task_push_notification_config(
        TaskPushNotificationConfig(task_id=task.id, url=url)
    )
    found = await client.get_task_push_notification_config(
        GetTaskPushNotificationConfigRequest(task_id=task.id, id=one.id)
    )
    assert found.url == url
    await client.delete_task_push_notification_config(
        DeleteTaskPushNotificationConfigRequest(task_id=task.id, id=one.id)
    )
    server.shutdown()


async def main():
    async with httpx.AsyncClient(timeout=20) as http:
        card = await A2ACardResolver(http, OPEN).get_agent_card()
        assert card.name == "writer" and card.capabilities.streaming, card
        assert card.capabilities.push_notifications, card
        assert "Writes stories and letters." in card.description, card
        assert "Counts the requests of a conversation." in card.description, card
        assert list(card.skills[0].examples) == ["story", "send a letter to Ada"], card
        for binding in ("JSONRPC", "HTTP+JSON"):
            await methods(http, card, binding)
        await webhooks(http, card)

        closed = await A2ACardResolver(http, CLOSED).get_agent_card()
        assert closed.security_schemes["bearer"].http_auth_security_scheme.scheme == "Bearer"
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(closed)
        await refused("a client without a token", whole(client, message("hello")))
        http.headers["Authorization"] = "Bearer secret"
        assert texts(await whole(client, message("hello"))) == {"reply": "HELLO (1)"}
    print("a2a-sdk as client: all methods, over JSON-RPC and HTTP+JSON")


asyncio.run(main())
