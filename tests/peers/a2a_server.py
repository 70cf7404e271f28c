"""An A2A agent on the protocol's own Python library: it streams, asks, waits, fails and answers data.

It prints its address, and keeps what was cancelled under `/cancelled`."""

import asyncio
import socket

import uvicorn
from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers.default_request_handler_v2 import DefaultRequestHandlerV2
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, TaskState
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

CANCELLED = []


class Agent(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        waiting = context.current_task
        asked = waiting and waiting.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        if not waiting:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        task = TaskUpdater(event_queue, context.task_id, context.context_id)
        await task.start_work()
        said = context.get_user_input()
        if asked:
            await task.add_artifact([new_text_part(f"it is {said}")], name="answer")
            return await task.complete()
        match said:
            case "count":
                for number in range(5):
                    await task.add_artifact(
                        [new_text_part(f"{number} ")],
                        artifact_id="count",
                        append=number > 0,
                        last_chunk=number == 4,
                    )
                    await asyncio.sleep(0.05)
                await task.complete()
            case "ask":
                question = task.new_agent_message([new_text_part("Which colour?")])
                await task.requires_input(question)
            case "wait":
                await asyncio.sleep(3600)
            case "fail":
                why = task.new_agent_message([new_text_part("there is no ink")])
                await task.failed(why)
            case "status":
                await task.complete(task.new_agent_message([new_text_part("all is well")]))
            case _:
                await task.add_artifact([new_text_part(said[::-1])])
                await task.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        CANCELLED.append(context.task_id)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def main():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    card = AgentCard(
        name="python",
        description="An agent in Python.",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="talk", name="talk", description="Talks.", tags=["talk"])],
    )
    handler = DefaultRequestHandlerV2(Agent(), InMemoryTaskStore(), card)
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/"),
        Route("/cancelled", lambda _: JSONResponse(CANCELLED)),
    ]
    print(url, flush=True)
    config = uvicorn.Config(Starlette(routes=routes), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


main()
