"""PyPI `openai` as a client of graphs: models, completions in one piece and streamed, errors."""

import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
QUESTION = [{"role": "user", "content": "What is 6 * 7?"}]


def the_models():
    names = [model.id for model in client.models.list()]
    # Graphs that hold no conversation are no models.
    assert names == ["agent", "careful", "payment"], names
    assert client.models.retrieve("agent").id == "agent"
    refused(404, client.models.retrieve, "nothing")


def refused(status, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except openai.APIStatusError as error:
        assert error.status_code == status, (error.status_code, error)
        assert error.body["message"], error.body
        return error.body
    raise AssertionError(f"{call} was not refused")


def in_one_piece():
    answer = client.chat.completions.create(model="agent", messages=QUESTION)
    choice = answer.choices[0]
    assert choice.message.content == "6 * 7 = 42.", choice
    assert choice.finish_reason == "stop" and choice.message.role == "assistant"
    assert answer.object == "chat.completion" and answer.model == "agent"


def a_conversation():
    messages = [
        {"role": "system", "content": "Be brief."},
        *QUESTION,
        {"role": "assistant", "content": "42."},
        {"role": "user", "content": [{"type": "text", "text": "What is 3 + 4?"}]},
    ]
    answer = client.chat.completions.create(model="agent", messages=messages)
    assert answer.choices[0].message.content == "3 + 4 = 7.", answer


def streamed():
    options = {"include_usage": True}
    chunks = list(client.chat.completions.create(
        model="agent", messages=QUESTION, stream=True, stream_options=options))
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"
    pieces = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    pieces = [piece for piece in pieces if piece]
    assert len(pieces) > 2 and "".join(pieces) == "6 * 7 = 42.", pieces
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage.total_tokens >= 0 and not chunks[-1].choices


def the_errors():
    assert refused(404, client.chat.completions.create, model="nothing", messages=QUESTION)
    asks = [{"role": "user", "content": "How many .toml files are in this folder?"}]
    body = refused(422, client.chat.completions.create, model="careful", messages=asks)
    assert body["code"] == "interrupted", body
    try:
        list(client.chat.completions.create(model="careful", messages=asks, stream=True))
    except openai.APIError as error:
        assert "asks a question" in error.message, error
    else:
        raise AssertionError("a stream that ends with a question is an error")


for test in [the_models, in_one_piece, a_conversation, streamed, the_errors]:
    test()
    print("ok", test.__name__)
print("5 passed, 0 failed")
